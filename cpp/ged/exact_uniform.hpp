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

/// Branch and bound for uniform costs, in integers. Needs left.n <= right.n, so no node of `left` is deleted.
///
/// With c(u, v) = [labels differ], the distance is m - n + |E1| + |E2| + sum c(u, f(u)) - 2 |edges kept|; where edge
/// labels count, a kept edge whose label changes counts 1. The reward for keeping edge (u, w) as (v, x) is split
/// between the cells (u, v) and (w, x): each cell takes the best matching of its neighbors under its shares, and a
/// linear assignment over the cells is a lower bound for any split. Even halves give the branch bound; moving shares to
/// cells with slack (dual ascent) takes the bound near the linear relaxation, which for molecules is mostly the
/// distance itself. Cells whose reduced cost exceeds the gap are dropped, duals are repaired rather than solved anew,
/// and of nodes with equal neighborhoods only one is tried.
class UniformSearch {
  public:
    /// Whether the graphs are small enough to be searched with limited memory.
    static auto fits(const GraphView& left, const GraphView& right) -> bool;

    /// Precondition: fits, left.n <= right.n; `mapping` maps every node, at cost `upper`; `lower` is a known bound.
    /// The mapping is replaced by better ones as they are found. Only maps of cost `limit` or less are searched.
    /// With `edge_labels`, keeping an edge with another label costs 1.
    auto run(const GraphView& left, const GraphView& right, bool edge_labels, const Deadline& deadline,
             std::int64_t lower, std::int64_t upper, std::int64_t limit, std::span<Node> mapping) -> Bounds;

    std::int64_t nodes = 0;   ///< search nodes of the last run
    std::int64_t sweeps = 0;  ///< passes of dual ascent of the last run

  private:
    using Cost = std::int32_t;

    struct Side {
        Node n = 0;
        std::vector<Node> first, neighbor, reverse, twin;  // twin: id of the class of interchangeable nodes
        std::vector<Label> label;
        std::vector<Label> edge_label;  // beside `neighbor`, where edge labels count
        std::vector<Star> stars;        // of each node: how many of its edges are in each of eight groups of labels
        auto assign(const GraphView& graph, bool edge_labels) -> void;
        auto find_twins(const GraphView& graph, bool edge_labels) -> void;
        [[nodiscard]] auto degree() const -> Node;
        [[nodiscard]] auto neighbors(Node u) const -> std::span<const Node> {
            const auto at = static_cast<std::size_t>(u);
            return {neighbor.data() + first[at], static_cast<std::size_t>(first[at + 1] - first[at])};
        }
    };

    /// The problem that is left after some pairs are fixed and some cells are dropped.
    struct Level {
        std::vector<Cost> unary;          // n x stride: relabeling less the edges kept to fixed nodes
        std::vector<Cost> cost;           // (n + 1) x stride: unary less the best matching; the last row is "inserted"
        std::vector<std::uint8_t> share;  // directed edges of left x places: this end's part of the reward
        std::vector<Cost> row_dual, col_dual;
        std::vector<Node> row_to_col, col_to_row;
        std::vector<Node> rows;                    // not yet fixed
        std::vector<Node> row_degree, col_degree;  // neighbors not yet fixed
        std::vector<Star> row_stars, col_stars;
        std::int64_t lower = 0;  // scaled
    };

    struct Choice {
        Node row;
        Node cells;
    };
    /// An edge kept by the matching of one cell: directed edges of left and of right.
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
    /// Reward of keeping a directed edge of left as one of right.
    [[nodiscard]] auto reward_of(std::size_t e, std::size_t f) const -> Cost {
        return labeled_ && left_.edge_label[e] != right_.edge_label[f] ? uniform::reward - uniform::scale
                                                                       : uniform::reward;
    }
    /// Half the reward of `most` edges, where two stars say how many of them can keep their labels.
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
    std::size_t share_row_ = 0;                 // shares of one directed edge of left
    std::size_t planes_ = 0;                    // 0: shares are in the order of the edges of right
    std::vector<std::uint32_t> place_;          // of each directed edge of right among the shares of one of left
    std::vector<std::uint32_t> reverse_place_;  // of the same edge from its other end
    std::vector<std::uint8_t> whole_;           // by place: whole rewards, for each edge label of left
    std::vector<std::uint8_t> out_;             // by place: no_share for edges to dropped cells of the current row
    std::vector<std::uint32_t> whole_of_;       // of each directed edge of left: which of these
    bool sharing_ = false;                      // rewards are split unevenly; else always in halves
    const GraphView* graphs_[2] = {};
    bool twins_known_ = false;            // they are looked for at the first branching
    bool labeled_ = false;                // edge labels count
    bool starred_ = false;                // and no degree overflows a star
    std::vector<std::uint8_t> adjacent_;  // right x right
    std::vector<Label> label_between_;    // right x right: where there is an edge, and labels count
    std::vector<Level> levels_;
    std::vector<Node> image_;
    std::span<Node> best_;
    std::int64_t constant_ = 0, upper_ = 0, target_ = 0;
    std::int64_t root_lower_ = 0;  // scaled: the best so far
    std::int64_t step_ = 1;        // by which two costs differ at least

    std::vector<Cost> key_, block_;  // of the shortest path search
    std::vector<Node> pred_, scanned_;
    std::vector<Cost> scanned_at_;

    std::vector<std::uint32_t> row_arcs_;  // of the current row, to rows not fixed
    std::vector<std::uint32_t> col_arcs_;  // of all columns, to columns not fixed
    std::vector<std::uint32_t> col_first_;
    std::vector<Kept> kept_;
    std::vector<std::uint8_t> mark_;

    const Deadline* deadline_ = nullptr;
    std::int64_t work_ = 0;
    std::int64_t budget_ = 0;  // of sweeps, before the root is strengthened
    bool stopped_ = false, unwinding_ = false;
};

}  // namespace uge::ged
