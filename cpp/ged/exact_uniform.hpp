#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "../deadline.hpp"
#include "../graph.hpp"
#include "exact_scale.hpp"
#include "ged.hpp"
#include "stars.hpp"

namespace uge::ged {

/// Branch and bound for uniform costs, in integer arithmetic. Needs left.n <= right.n, so no node of `left` is deleted.
///
/// With c(u, v) = [labels differ], a map f costs m - n + |E1| + |E2| + sum c(u, f(u)) - 2 |edges kept|; where edge
/// labels count, a kept edge whose label changes costs 1. Mapping u to v is called cell (u, v): row u, column v. The
/// reward for keeping edge (u, w) as (v, x) is split into a share for cell (u, v) and one for cell (w, x). A cell costs
/// c(u, v) minus the maximum weight matching of its edges under its shares; the optimal linear assignment over the
/// cells is a lower bound for any split. Equal halves give the branch bound. Moving shares to cells with slack (dual
/// ascent) brings the bound close to the linear relaxation, which for molecules mostly equals the distance. Cells whose
/// reduced cost exceeds the gap are dropped, dual variables are repaired rather than computed from scratch, and of
/// nodes with equal neighborhoods only one is tried.
class UniformSearch {
  public:
    /// Whether left.n <= right.n and the graphs are small enough for the memory limits.
    static auto fits(const GraphView& left, const GraphView& right) -> bool;

    /// Precondition: `fits`; `mapping` maps every node, at cost `upper`; `lower` is a known lower bound.
    /// `mapping` is replaced by better maps as they are found. Only maps of cost `limit` or less are searched for.
    /// With `edge_labels`, keeping an edge with a different label costs 1.
    auto run(const GraphView& left, const GraphView& right, bool edge_labels, const Deadline& deadline,
             std::int64_t lower, std::int64_t upper, std::int64_t limit, std::span<Node> mapping) -> Bounds;

    std::int64_t nodes = 0;   ///< number of search nodes of the last run
    std::int64_t sweeps = 0;  ///< number of dual ascent passes of the last run

  private:
    using Cost = std::int32_t;

    struct Side {
        Node n = 0;
        std::vector<Node> first, neighbor, reverse, twin;  // twin: class of interchangeable nodes
        std::vector<Label> label;
        std::vector<Label> edge_label;  // parallel to `neighbor`; empty if edge labels do not count
        std::vector<Star> stars;        // per node: number of its edges in each of eight groups of labels
        auto assign(const GraphView& graph, bool edge_labels) -> void;
        auto find_twins(const GraphView& graph, bool edge_labels) -> void;
        [[nodiscard]] auto degree() const -> Node;
        [[nodiscard]] auto neighbors(Node u) const -> std::span<const Node> {
            const auto at = static_cast<std::size_t>(u);
            return {neighbor.data() + first[at], static_cast<std::size_t>(first[at + 1] - first[at])};
        }
    };

    /// A subproblem: some pairs are fixed and some cells are dropped.
    struct Level {
        std::vector<Cost> unary;          // n x stride: relabeling minus rewards of edges kept to fixed nodes
        std::vector<Cost> cost;           // (n + 1) x stride: unary minus the best matching; last row: "inserted"
        std::vector<std::uint8_t> share;  // directed edges of left x places: share of the source's cell
        std::vector<Cost> row_dual, col_dual;
        std::vector<Node> row_to_col, col_to_row;
        std::vector<Node> rows;                    // not fixed
        std::vector<Node> row_degree, col_degree;  // number of neighbors that are not fixed
        std::vector<Star> row_stars, col_stars;
        std::int64_t lower = 0;  // scaled
    };

    struct Choice {
        Node row;
        Node cells;
    };
    /// An edge kept by the matching of one cell, as directed edges of left and of right.
    struct Kept {
        std::uint32_t left;
        std::uint32_t right;
    };

    auto set_upper(std::int64_t upper) -> void;
    auto start(const GraphView& left, const GraphView& right) -> bool;
    auto search(std::size_t depth) -> void;
    auto strengthen(Level& root) -> bool;
    [[nodiscard]] auto branching_row(const Level& level) const -> Choice;
    auto force(Level& level, Node u, Node v) -> void;
    auto forbid(Level& level, Node u, Node v) -> void;
    auto expired(std::int64_t work) -> bool;
    [[nodiscard]] auto pruned(std::int64_t lower) const -> bool { return lower > target_; }

    auto bound(Level& level) -> bool;
    auto solve(Level& level) -> bool;
    auto augment(Level& level, Node row) -> bool;
    auto repair(Level& level) -> void;
    auto repair_row(Level& level, Node u) -> void;
    auto evaluate(const Level& level) -> void;
    auto filter(Level& level) -> void;
    auto ascend(Level& level) -> void;
    auto settle(Level& level, int steps) -> bool;
    auto refresh(Level& level) -> bool;
    auto refresh_row(Level& level, Node u) -> void;
    /// Reward for keeping directed edge e of left as directed edge f of right.
    [[nodiscard]] auto reward_of(std::size_t e, std::size_t f) const -> Cost {
        return labeled_ && left_.edge_label[e] != right_.edge_label[f] ? uniform::reward - uniform::scale
                                                                       : uniform::reward;
    }
    /// Upper bound on half the reward of `most` edges; the stars limit how many of them keep their labels.
    [[nodiscard]] auto same_edges(Star star, Star other, Node most) const -> Cost {
        return starred_ ? uniform::scale / 2 * (most + std::min(most, star_overlap(star, other)))
                        : uniform::scale * most;
    }
    auto refresh_cell(Level& level, Node u, Node v) -> void;
    auto list_arcs(const Level& level) -> void;
    auto list_row_arcs(const Level& level, Node u) -> void;
    auto drop(Level& level, Node u, Node v) -> void;
    auto drop_above(Level& level, Node u, Cost limit) -> void;
    template <class Use>
    auto with_matching(const Level& level, Node v, const Use& use) -> Cost;
    auto gain(const Level& level, Node u, Node v) -> Cost;
    auto gain_row(Level& level, Node u) -> void;
    auto give_row(Level& level, Node u) -> void;
    auto give_back(Level& level, const Cost* cost, std::uint8_t* const* share, const std::uint8_t* const* whole)
        -> void;
    [[nodiscard]] auto by_rows() const -> bool {
        return planes_ > 0 && !row_arcs_.empty() && row_arcs_.size() <= uniform::max_row_arcs;
    }
    auto lay_out(bool in_planes) -> void;
    auto give(Level& level, Node u, Node v) -> void;
    auto kept(const Level& level, Node u, Node v) -> void;

    Side left_, right_;
    Node stride_ = 0;
    std::size_t share_row_ = 0;                 // number of places: shares per directed edge of left
    std::size_t planes_ = 0;                    // number of planes; 0: shares are in the order of the edges of right
    std::vector<std::uint32_t> place_;          // place of each directed edge of right in a row of shares
    std::vector<std::uint32_t> reverse_place_;  // place of its reverse
    std::vector<std::uint8_t> whole_;           // whole rewards: one row of places per edge label of left
    std::vector<std::uint8_t> out_;             // per place: no_share for edges to dropped cells of the current row
    std::vector<std::uint32_t> whole_of_;       // per directed edge of left: its row of `whole_`
    bool sharing_ = false;                      // rewards may be split unevenly; otherwise always in halves
    const GraphView* graphs_[2] = {};
    bool twins_known_ = false;            // they are computed at the first branching
    bool labeled_ = false;                // edge labels count
    bool starred_ = false;                // edge labels count and no degree overflows a star
    std::vector<std::uint8_t> adjacent_;  // right x right
    std::vector<Label> label_between_;    // right x right: edge label; defined where there is an edge
    std::vector<Level> levels_;
    std::vector<Node> image_;
    std::span<Node> best_;
    std::int64_t constant_ = 0, upper_ = 0, target_ = 0;
    std::int64_t root_lower_ = 0;  // scaled: the best lower bound at the root so far
    std::int64_t step_ = 1;        // different costs differ by at least this

    std::vector<Cost> key_, block_;  // for the shortest path search
    std::vector<Node> pred_, scanned_;
    std::vector<Cost> scanned_at_;

    std::vector<std::uint32_t> row_arcs_;  // edges of the current row to rows that are not fixed
    std::vector<std::uint32_t> col_arcs_;  // edges between columns that are not fixed
    std::vector<std::uint32_t> col_first_;
    std::vector<Kept> kept_;
    std::vector<std::uint8_t> mark_;

    const Deadline* deadline_ = nullptr;
    std::int64_t work_ = 0;
    std::int64_t budget_ = 0;  // number of sweeps after which the root bound is strengthened
    bool stopped_ = false, unwinding_ = false;
};

}  // namespace uge::ged
