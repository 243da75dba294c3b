#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "../deadline.hpp"
#include "../graph.hpp"
#include "ged.hpp"

namespace uge::ged {

/// Branch and bound for uniform costs, in integers. Needs left.n <= right.n, so no node of `left` is deleted.
///
/// With c(u, v) = [labels differ], the distance is m - n + |E1| + |E2| + sum c(u, f(u)) - 2 |edges kept|. The reward
/// of 2 for keeping edge (u, w) as (v, x) is split between the cells (u, v) and (w, x): each cell takes the best
/// matching of its neighbors under its shares, and a linear assignment over the cells is a lower bound for any split.
/// Even halves give the branch bound; moving shares to cells with slack (dual ascent) takes the bound near the linear
/// relaxation, which for molecules is mostly the distance itself. Cells whose reduced cost exceeds the gap are
/// dropped, duals are repaired rather than solved anew, and of nodes with equal neighborhoods only one is tried.
class UniformSearch {
  public:
    /// Whether the graphs are small enough to be searched within sane memory.
    static auto fits(const GraphView& left, const GraphView& right) -> bool;

    /// Precondition: fits, left.n <= right.n; `mapping` maps every node, at cost `upper`; `lower` is a known bound.
    /// The mapping is replaced by better ones as they are found.
    auto run(const GraphView& left, const GraphView& right, const Deadline& deadline, std::int64_t lower,
             std::int64_t upper, std::span<Node> mapping) -> Bounds;

    std::int64_t nodes = 0;   ///< search nodes of the last run
    std::int64_t sweeps = 0;  ///< dual ascent sweeps of the last run
    int max_rounds = 20;
    int min_gain = 12;

  private:
    using Cost = std::int32_t;

    struct Side {
        Node n = 0;
        std::vector<Node> first, neighbor, reverse, twin;  // twin: id of the class of interchangeable nodes
        std::vector<Label> label;
        auto assign(const GraphView& graph) -> void;
        [[nodiscard]] auto degree() const -> Node;
    };

    /// The problem that is left after some pairs are fixed and some cells are dropped.
    struct Level {
        std::vector<Cost> unary;          // n x stride: relabelling less the edges kept to fixed nodes
        std::vector<Cost> cost;           // (n + 1) x stride: unary less the best matching; the last row is "inserted"
        std::vector<std::uint8_t> share;  // directed edges of left x of right: this end's part of the reward
        std::vector<Cost> row_dual, col_dual;
        std::vector<Node> row_to_col, col_to_row;
        std::vector<Node> rows;                    // not yet fixed
        std::vector<Node> row_degree, col_degree;  // neighbors not yet fixed
        std::int64_t lower = 0;                    // scaled
    };

    auto search(std::size_t depth) -> void;
    auto bound(Level& level) -> bool;
    auto solve(Level& level) -> bool;
    auto augment(Level& level, Node row) -> bool;
    auto evaluate(const Level& level) -> void;
    auto filter(Level& level) -> bool;
    auto force(Level& level, Node u, Node v) -> void;
    auto forbid(Level& level, Node u, Node v) -> void;
    auto refresh(Level& level) -> void;
    auto ascend(Level& level) -> void;
    template <bool Give>
    auto cell(Level& level, Node u, Node v) -> Cost;
    auto refresh_cell(Level& level, Node u, Node v) -> void;
    auto repair_rows(Level& level) -> void;
    [[nodiscard]] auto pruned(std::int64_t lower_scaled) const -> bool { return lower_scaled > target_; }
    auto set_upper(std::int64_t upper) -> void;

    Side left_, right_;
    Node stride_ = 0;
    std::size_t right_arcs_ = 0;
    bool sweeping_ = false;
    std::vector<std::uint8_t> adjacent_;  // right x right
    std::vector<Level> levels_;
    std::vector<Node> image_, candidate_;
    std::vector<Cost> key_, block_;
    std::vector<Node> pred_, scanned_;
    std::vector<Cost> scanned_at_;
    std::span<Node> best_;
    std::int64_t work_ = 0;
    std::int64_t constant_ = 0, upper_ = 0, step_ = 1, target_ = 0;
    const Deadline* deadline_ = nullptr;
    bool stopped_ = false;
};

}  // namespace uge::ged
