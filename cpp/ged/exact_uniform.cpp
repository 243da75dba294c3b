#include "exact_uniform.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "edit_cost.hpp"
#include "exact_scale.hpp"

namespace uge::ged {

using namespace uniform;

auto UniformSearch::fits(const GraphView& left, const GraphView& right) -> bool {
    constexpr std::int64_t max_cells = 1 << 23;  // in all levels together
    return left.n <= right.n && right.n <= max_columns && std::int64_t{left.n} * left.n * right.n <= max_cells;
}

auto UniformSearch::set_upper(std::int64_t upper) -> void {
    upper_ = upper;
    target_ = (upper_ - step_) * scale;
}

auto UniformSearch::expired(std::int64_t work) -> bool {
    constexpr std::int64_t between_looks = 1 << 12;
    work_ += work;
    if (work_ > between_looks) {
        work_ = 0;
        stopped_ = stopped_ || deadline_->expired();
    }
    return stopped_;
}

auto UniformSearch::run(const GraphView& left, const GraphView& right, bool edge_labels, const Deadline& deadline,
                        std::int64_t lower, std::int64_t upper, std::int64_t limit, std::span<Node> mapping) -> Bounds {
    deadline_ = &deadline;
    stopped_ = unwinding_ = false;
    nodes = sweeps = work_ = root_lower_ = 0;
    labeled_ = edge_labels;
    graphs_[0] = &left;
    graphs_[1] = &right;
    twins_known_ = false;
    best_ = mapping;
    // With a single node label and no edge labels, the cost of every map has the parity of the constant.
    constant_ = right.n - left.n + left.num_edges() + right.num_edges();
    const auto first_label = [&](Label label) { return label == right.labels[0]; };
    const bool one_label = std::all_of(left.labels, left.labels + left.n, first_label) &&
                           std::all_of(right.labels, right.labels + right.n, first_label);
    step_ = one_label && !labeled_ ? 2 : 1;
    // The search is for maps of lower cost than this, as if a map of this cost were known.
    std::int64_t pretended = std::min(upper, limit + 1);
    pretended += (upper - pretended) % step_;
    set_upper(pretended);
    if (!pruned(lower * scale) && start(left, right)) {
        search(0);
    }
    if (upper_ == pretended && pretended < upper) {  // no map was found
        // The lower bounds of the search are valid only for maps below the pretended cost.
        const std::int64_t shown = stopped_ ? std::min(pretended, (root_lower_ + scale - 1) / scale) : pretended;
        std::int64_t reached = std::max(lower, shown);
        reached += (upper - reached) % step_;
        return {static_cast<double>(reached), static_cast<double>(upper), reached >= upper};
    }
    if (!stopped_) {
        return {static_cast<double>(upper_), static_cast<double>(upper_), true};
    }
    std::int64_t reached = std::max(lower, (root_lower_ + scale - 1) / scale);
    reached += (reached - constant_) % step_ == 0 ? 0 : 1;
    return {static_cast<double>(std::min(reached, upper_)), static_cast<double>(upper_), reached >= upper_};
}

/// Each iteration bounds the level and branches on a pair of its assignment: all maps that contain the pair are
/// searched one level down, then the pair is forbidden at this level.
auto UniformSearch::search(std::size_t depth) -> void {
    Level& level = levels_[depth];
    while (!expired(std::int64_t{stride_} * stride_)) {
        ++nodes;
        const bool hopeful = bound(level);
        if (depth == 0) {  // the bound may decrease when shares are moved
            root_lower_ = std::max(root_lower_, level.lower);
        }
        if (!hopeful || stopped_) {
            return;
        }
        if (sweeps > budget_) {
            unwinding_ = depth > 0;
            if (unwinding_ || !strengthen(level) || stopped_) {  // a level that was stopped may have unmatched rows
                return;
            }
        }
        const auto [u, cells] = branching_row(level);
        const Node v = level.row_to_col[index(u)];
        assert(v >= 0);
        if (cells == 1) {
            force(level, u, v);
            continue;
        }
        levels_[depth + 1] = level;
        force(levels_[depth + 1], u, v);
        search(depth + 1);
        if (stopped_) {  // the subtree of the pair was not searched completely
            return;
        }
        if (!unwinding_) {
            forbid(level, u, v);
        } else if (depth > 0) {
            return;
        }
        unwinding_ = false;
    }
}

/// Computes a better lower bound at the root after a long search; all levels below benefit from it. False if the root
/// is pruned or the deadline has passed.
auto UniformSearch::strengthen(Level& root) -> bool {
    constexpr int rounds = 2;
    constexpr int steps = 100;
    for (int round = 0; round < rounds; ++round) {
        if (!settle(root, steps) || stopped_ || !bound(root) || stopped_) {
            return false;
        }
    }
    budget_ = sweeps * 2;
    return true;
}

/// Chooses the row with a large regret (extra cost of the second best cell), many undecided edges and few allowed
/// cells. The exponents are tuned on the ten nearest neighbors of hard queries (docs/decisions.md).
auto UniformSearch::branching_row(const Level& level) const -> Choice {
    constexpr Cost some = scale / 10;  // so that rows with two best cells have a positive score
    const auto width = index(stride_);
    const Cost* dual = level.col_dual.data();
    Choice choice{open, 0};
    double best = -1;
    for (const Node u : level.rows) {
        const Cost* cost = level.cost.data() + index(u) * width;
        const Node mate = level.row_to_col[index(u)];
        Cost count = 0;
        Cost second = dropped;
        for (std::size_t x = 0; x < width; ++x) {
            count += cost[x] < allowed ? 1 : 0;
            second = std::min(second, static_cast<Node>(x) == mate ? dropped : cost[x] - dual[x]);
        }
        const double regret = second - level.row_dual[index(u)] + some;
        const double edges = 1 + level.row_degree[index(u)];
        const double score = regret * edges * edges / std::sqrt(count);
        if (score > best) {
            best = score;
            choice = {u, count};
        }
    }
    return choice;
}

/// Fixes u -> v, a pair of the optimal assignment.
auto UniformSearch::force(Level& level, Node u, Node v) -> void {
    const auto width = index(stride_);
    level.lower += level.unary[index(u) * width + index(v)] - level.row_dual[index(u)] - level.col_dual[index(v)];
    level.rows.erase(std::find(level.rows.begin(), level.rows.end(), u));
    level.row_to_col[index(u)] = gone;
    level.col_to_row[index(v)] = gone;
    image_[index(u)] = v;
    std::fill_n(level.cost.begin() + static_cast<std::ptrdiff_t>(index(u) * width), width, dropped);
    for (Node w = 0; w <= left_.n; ++w) {
        level.cost[index(w) * width + index(v)] = dropped;
    }
    const std::span row_neighbors = left_.neighbors(u);
    const std::span col_neighbors = right_.neighbors(v);
    for (Node e = left_.first[index(u)]; e < left_.first[index(u) + 1]; ++e) {
        const auto w = index(left_.neighbor[index(e)]);
        --level.row_degree[w];
        level.row_stars[w] -= labeled_ ? star_of(left_.edge_label[index(e)]) : 0;
        for (Node f = right_.first[index(v)]; f < right_.first[index(v) + 1]; ++f) {
            level.unary[w * width + index(right_.neighbor[index(f)])] -= reward_of(index(e), index(f));
        }
    }
    for (Node f = right_.first[index(v)]; f < right_.first[index(v) + 1]; ++f) {
        const auto x = index(right_.neighbor[index(f)]);
        --level.col_degree[x];
        level.col_stars[x] -= labeled_ ? star_of(right_.edge_label[index(f)]) : 0;
        for (std::size_t e = 0; planes_ > 0 && e < left_.neighbor.size(); ++e) {
            level.share[e * share_row_ + reverse_place_[index(f)]] = no_share;
        }
    }
    list_arcs(level);
    for (const Node w : row_neighbors) {
        if (level.row_to_col[index(w)] != gone) {
            refresh_row(level, w);
        }
    }
    for (const Node x : col_neighbors) {
        for (const Node w : level.rows) {
            refresh_cell(level, w, x);
        }
    }
    repair(level);
}

/// Drops the cell and all cells that are equivalent to it by symmetry.
auto UniformSearch::forbid(Level& level, Node u, Node v) -> void {
    if (!twins_known_) {
        left_.find_twins(*graphs_[0], labeled_);
        right_.find_twins(*graphs_[1], labeled_);
        twins_known_ = true;
    }
    for (const Node w : level.rows) {
        for (Node x = 0; left_.twin[index(w)] == left_.twin[index(u)] && x < right_.n; ++x) {
            if (right_.twin[index(x)] == right_.twin[index(v)]) {
                drop(level, w, x);
            }
        }
    }
    list_arcs(level);
    for (const Node w : left_.neighbors(u)) {
        for (const Node x : right_.neighbors(v)) {
            if (level.row_to_col[index(w)] != gone) {
                refresh_cell(level, w, x);
            }
        }
    }
    repair(level);
}

}  // namespace uge::ged
