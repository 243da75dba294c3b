#include "refine.hpp"

#include "node_order.hpp"

namespace uge::ged {

namespace {

/// Whether some node is better deleted, and another inserted, than relabeled.
auto deletion_pays(const GraphView& left, const GraphView& right, const EditCosts& costs) -> bool {
    const double around = costs.node_delete + costs.node_insert;
    if (costs.node_matrix == nullptr) {
        return costs.node_relabel > around;
    }
    for (Node u = 0; u < left.n; ++u) {
        for (Node x = 0; x < right.n; ++x) {
            if (costs.relabel_node(left.labels[u], right.labels[x]) > around) {
                return true;
            }
        }
    }
    return false;
}

/// Keeps of `best` what lies within a random ball of `left`; -1 elsewhere.
template <class Search>
auto keep_ball(const GraphView& left, std::span<const Node> best, Search& search, RefineWorkspace& workspace) -> void {
    auto& [arena, large, trial, queue, seen, codes] = workspace;
    std::fill(trial.begin(), trial.end(), Node{-1});
    std::fill(seen.begin(), seen.end(), char{0});
    queue.clear();
    const auto reach = [&](Node u) {
        if (seen[static_cast<std::size_t>(u)] == 0) {
            seen[static_cast<std::size_t>(u)] = 1;
            queue.push_back(u);
        }
    };
    const auto size = static_cast<std::size_t>(1 + search.random().below(std::max(1, 2 * left.n / 3)));
    reach(search.random().below(left.n));
    for (std::size_t i = 0; i < queue.size() && i < size; ++i) {
        const auto u = static_cast<std::size_t>(queue[i]);
        trial[u] = best[u];
        for (const Node v : left.neighbors(queue[i])) {
            reach(v);
        }
    }
}

/// The search of `refine` on dense tables.
template <class Score, int kVectors, bool kLabeled>
auto refine_dense(const GraphView& left, const GraphView& right, const EditCosts& costs, int slots,
                  const Effort& effort, double lower, const Deadline& deadline, RefineWorkspace& workspace,
                  std::span<Node> mapping) -> void {
    SwapSearch<Score, kVectors, kLabeled> search(left, right, costs, slots, workspace.codes, workspace.arena);
    auto& trial = workspace.trial;
    trial.assign(mapping.begin(), mapping.end());
    workspace.seen.resize(mapping.size());
    if (slots == right.n) {
        search.grow(trial);
    }
    const double enough = search.score_at(lower);
    double best = std::numeric_limits<double>::lowest();
    search.load(trial);
    search.climb(effort.patience, enough, deadline, best, mapping);
    for (int start = 0; start < effort.starts && best < enough && !deadline.expired(); ++start) {
        if (start <= effort.starts / 3) {
            std::fill(trial.begin(), trial.end(), Node{-1});
            const Node u = search.random().below(left.n);
            trial[static_cast<std::size_t>(u)] = search.most_alike(u);
        } else {
            keep_ball(left, mapping, search, workspace);
        }
        search.grow(trial);
        search.load(trial);
        search.climb(effort.patience, enough, deadline, best, mapping);
    }
}

}  // namespace

auto refine(const GraphView& left, const GraphView& right, const EditCosts& costs, const Effort& effort, double lower,
            const Deadline& deadline, RefineWorkspace& workspace, std::span<Node> mapping) -> double {
    constexpr int max_dense = 256;
    constexpr Node max_degree_of_bytes = 6;
    if (left.n == 0 || right.n == 0) {
        return edit_cost(left, right, costs, mapping);
    }
    const bool labeled = edge_labels_count(left, right, costs);
    const bool integers = costs.uniform() && left.n <= right.n && (!labeled || workspace.codes.assign(left, right));
    const auto dense = [&]<class Score, int kVectors>(int slots) {
        if (integers && labeled) {
            if constexpr (std::is_integral_v<Score>) {
                refine_dense<Score, kVectors, true>(left, right, costs, slots, effort, lower, deadline, workspace,
                                                    mapping);
            }
        } else {
            refine_dense<Score, kVectors, false>(left, right, costs, slots, effort, lower, deadline, workspace,
                                                 mapping);
        }
        return edit_cost(left, right, costs, mapping);
    };
    if (deadline.expired()) {
        return settled_cost(left, right, costs, deadline, mapping);
    }
    const int m = right.n;
    if (integers && m <= 128 && std::max(max_degree(left), max_degree(right)) <= max_degree_of_bytes) {
        return m <= 32   ? dense.template operator()<std::int8_t, 1>(m)
               : m <= 64 ? dense.template operator()<std::int8_t, 2>(m)
                         : dense.template operator()<std::int8_t, 4>(m);
    }
    if (integers && m <= max_dense) {
        return m <= 16   ? dense.template operator()<std::int16_t, 1>(m)
               : m <= 32 ? dense.template operator()<std::int16_t, 2>(m)
                         : dense.template operator()<std::int16_t, 0>(m);
    }
    if (!integers && left.n + right.n <= max_dense) {
        const int spare = deletion_pays(left, right, costs) ? left.n : std::max(0, left.n - right.n);
        return dense.template operator()<double, 0>(m + spare);
    }
    auto& trial = workspace.trial;
    double best = workspace.large.improve(left, right, costs, deadline, mapping);
    if (best > lower && !deadline.expired()) {
        trial.assign(mapping.size(), -1);
        workspace.large.grow(left, right, deadline, trial);
        const double cost = workspace.large.improve(left, right, costs, deadline, trial);
        if (cost < best) {
            best = cost;
            std::copy(trial.begin(), trial.end(), mapping.begin());
        }
    }
    return best;
}

auto refine(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
            RefineWorkspace& workspace, std::span<Node> mapping) -> double {
    return refine(left, right, costs, Effort{}, 0, deadline, workspace, mapping);
}

}  // namespace uge::ged
