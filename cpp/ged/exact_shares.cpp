#include <algorithm>
#include <array>

#include "exact_matching.hpp"
#include "exact_scale.hpp"
#include "exact_uniform.hpp"

/// The shares of UniformSearch: how the rewards of edges are split between cells, and how dual ascent moves them.
namespace uge::ged {

using namespace uniform;

/// One pass of dual ascent: each cell raises its shares as far as its reduced cost stays nonnegative. This lowers the
/// shares of the cells at the other ends of its edges and so raises their costs.
auto UniformSearch::ascend(Level& level) -> void {
    const auto width = index(stride_);
    const bool backward = ++sweeps % 2 == 1;
    const std::size_t count = level.rows.size();
    list_arcs(level);
    for (std::size_t i = 0; i < count && !expired(stride_); ++i) {
        const Node u = level.rows[backward ? count - 1 - i : i];
        list_row_arcs(level, u);
        if (by_rows()) {
            give_row(level, u);
            continue;
        }
        const Cost* cost = level.cost.data() + index(u) * width;
        for (Node v = 0; v < right_.n; ++v) {
            if (cost[v] < allowed) {
                give(level, u, v);
            }
        }
    }
}

/// Recomputes all costs and repairs the dual variables; false if the level is pruned. Precondition: no reduced cost is
/// negative, so that the lower bound only grows from row to row.
auto UniformSearch::refresh(Level& level) -> bool {
    for (const Node u : level.rows) {
        if (expired(stride_)) {
            return true;
        }
        refresh_row(level, u);
        repair_row(level, u);
        if (pruned(level.lower)) {
            return false;
        }
    }
    return true;
}

auto UniformSearch::refresh_row(Level& level, Node u) -> void {
    Cost* cost = level.cost.data() + index(u) * index(stride_);
    const Cost* unary = level.unary.data() + index(u) * index(stride_);
    list_row_arcs(level, u);
    if (by_rows()) {
        gain_row(level, u);
        return;
    }
    for (Node v = 0; v < right_.n; ++v) {
        if (cost[v] < allowed) {
            cost[v] = unary[v] - gain(level, u, v);
        }
    }
}

auto UniformSearch::refresh_cell(Level& level, Node u, Node v) -> void {
    Cost& cost = level.cost[index(u) * index(stride_) + index(v)];
    if (cost < allowed) {
        list_row_arcs(level, u);
        cost = level.unary[index(u) * index(stride_) + index(v)] - gain(level, u, v);
    }
}

/// Lists the edges of right between nodes that are not fixed.
auto UniformSearch::list_arcs(const Level& level) -> void {
    if (!sharing_) {
        return;
    }
    col_first_.resize(index(right_.n) + 1);
    col_arcs_.clear();
    for (Node v = 0; v < right_.n; ++v) {
        col_first_[index(v)] = static_cast<std::uint32_t>(col_arcs_.size());
        for (Node f = right_.first[index(v)]; level.col_to_row[index(v)] != gone && f < right_.first[index(v) + 1];
             ++f) {
            if (level.col_to_row[index(right_.neighbor[index(f)])] != gone) {
                col_arcs_.push_back(static_cast<std::uint32_t>(f));
            }
        }
    }
    col_first_[index(right_.n)] = static_cast<std::uint32_t>(col_arcs_.size());
}

/// Lists the edges of row u to rows that are not fixed.
auto UniformSearch::list_row_arcs(const Level& level, Node u) -> void {
    row_arcs_.clear();
    for (Node e = left_.first[index(u)]; sharing_ && e < left_.first[index(u) + 1]; ++e) {
        if (level.row_to_col[index(left_.neighbor[index(e)])] != gone) {
            row_arcs_.push_back(static_cast<std::uint32_t>(e));
        }
    }
}

namespace {

constexpr int max_small = 4;  // larger matchings are replaced by an upper bound

/// Upper bound on a matching with many items on both sides: each small item takes its best partner, also one already
/// taken.
struct LooseMatching {
    std::array<std::array<Cost, max_degree>, max_degree> weight;
    std::array<Cost, max_degree> top;
    int small;

    auto best(int large) -> Cost {
        Cost total = 0;
        for (int s = 0; s < small; ++s) {
            Cost most = 0;
            for (int i = 0; i < large; ++i) {
                most = std::max(most, weight[index(i)][index(s)]);
            }
            top[index(s)] = most;
            total += most;
        }
        return total;
    }
    auto best_only(int large) -> Cost { return best(large); }
    template <class Report>
    auto pairs(int large, Report report) const -> void {
        for (int s = 0; s < small; ++s) {
            for (int i = 0; i < large && top[index(s)] > 0; ++i) {
                if (weight[index(i)][index(s)] == top[index(s)]) {
                    report(i, s);
                    break;
                }
            }
        }
    }
};

}  // namespace

/// Calls use(matching, small, large, arcs) with the weights of cell (u, v) filled in, where arcs(i, s) are the edges
/// of a weight. Precondition: `list_arcs` was called, and `list_row_arcs` for row u.
template <class Use>
auto UniformSearch::with_matching(const Level& level, Node v, const Use& use) -> Cost {
    const std::size_t from = col_first_[index(v)];
    const int num_rows = static_cast<int>(row_arcs_.size());
    const int num_cols = static_cast<int>(col_first_[index(v) + 1] - from);
    const bool rows_small = num_rows <= num_cols;
    const int small = rows_small ? num_rows : num_cols;
    const int large = rows_small ? num_cols : num_rows;
    const auto arcs = [&](int i, int s) {
        return rows_small ? Kept{row_arcs_[index(s)], col_arcs_[from + index(i)]}
                          : Kept{row_arcs_[index(i)], col_arcs_[from + index(s)]};
    };
    const auto fill = [&](auto& matching, int count) -> Cost {
        for (int i = 0; i < large; ++i) {
            for (int s = 0; s < count; ++s) {
                const auto [e, f] = arcs(i, s);
                const std::uint8_t share = level.share[e * share_row_ + place_[f]];
                matching.weight[index(i)][index(s)] = share == no_share ? -dropped : Cost{share};
            }
        }
        return use(matching, small, large, arcs);
    };
    switch (small) {
        case 0:
            return 0;
        case 1: {
            SmallMatching<1, max_degree> matching;
            return fill(matching, 1);
        }
        case 2: {
            SmallMatching<2, max_degree> matching;
            return fill(matching, 2);
        }
        case 3: {
            SmallMatching<3, max_degree> matching;
            return fill(matching, 3);
        }
        case max_small: {
            SmallMatching<max_small, max_degree> matching;
            return fill(matching, max_small);
        }
        default: {
            LooseMatching matching;
            matching.small = small;
            return fill(matching, small);
        }
    }
}

/// Upper bound on the reward of cell (u, v) under its shares: the maximum weight matching of its edges.
auto UniformSearch::gain(const Level& level, Node u, Node v) -> Cost {
    if (!sharing_) {
        const Node most = std::min(level.row_degree[index(u)], level.col_degree[index(v)]);
        return same_edges(level.row_stars[index(u)], level.col_stars[index(v)], most);
    }
    return with_matching(level, v,
                         [](auto& matching, int, int large, const auto&) { return matching.best_only(large); });
}

/// Raises the shares of cell (u, v) while its reduced cost stays nonnegative. No matching has more than `small` pairs,
/// so each pair may take 1 / small of the slack of the best matching that contains it.
auto UniformSearch::give(Level& level, Node u, Node v) -> void {
    const std::size_t at = index(u) * index(stride_) + index(v);
    const Cost most = level.unary[at] - level.row_dual[index(u)] - level.col_dual[index(v)];
    with_matching(level, v, [&](auto& matching, int small, int large, const auto& arcs) {
        const auto raise = [&](int i, int s, Cost to) {
            if (matching.weight[index(i)][index(s)] >= 0) {
                const auto [e, f] = arcs(i, s);
                const Cost whole = reward_of(e, f);
                const Cost share = std::min(whole, to);
                level.share[e * share_row_ + place_[f]] = static_cast<std::uint8_t>(share);
                level.share[index(left_.reverse[e]) * share_row_ + reverse_place_[f]] =
                    static_cast<std::uint8_t>(whole - share);
            }
        };
        if (small == 1) {
            for (int i = 0; i < large; ++i) {
                raise(i, 0, most);
            }
            return most;
        }
        const Cost best = matching.best(large);
        if constexpr (requires { matching.top; }) {
            const Cost part = (most - best) / small;
            for (int s = 0; s < small; ++s) {
                for (int i = 0; i < large; ++i) {
                    raise(i, s, matching.top[index(s)] + part);
                }
            }
        } else {
            matching.marginals(large, [&](int i, int s, Cost with) {
                raise(i, s, matching.weight[index(i)][index(s)] + (most - with) / small);
            });
        }
        return best;
    });
}

/// Appends the edges that the matching of cell (u, v) keeps to `kept_`.
auto UniformSearch::kept(const Level& level, Node u, Node v) -> void {
    list_row_arcs(level, u);
    with_matching(level, v, [&](auto& matching, int, int large, const auto& arcs) {
        const Cost best = matching.best(large);
        matching.pairs(large, [&](int i, int s) { kept_.push_back(arcs(i, s)); });
        return best;
    });
}

}  // namespace uge::ged
