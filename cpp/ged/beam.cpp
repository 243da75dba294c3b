#include "beam.hpp"

#include <algorithm>
#include <limits>

#include "edit_cost.hpp"
#include "node_order.hpp"
#include "uniform_beam.hpp"

namespace uge::ged {

namespace {

using Choice = BeamWorkspace::Choice;
constexpr Node deleted = -2;

auto index(Node u) -> std::size_t {
    return static_cast<std::size_t>(u);
}

/// The beam for any costs, ranked by cost so far.
auto general_beam(const GraphView& left, const GraphView& right, const EditCosts& costs, int width,
                  const Deadline& deadline, BeamWorkspace& workspace, std::span<Node> mapping) -> void {
    const auto n = index(left.n);
    const auto m = index(right.n);
    const auto& order = workspace.order;
    auto& chosen = workspace.chosen;
    auto& cost = workspace.costs;
    auto& maps = workspace.maps;
    auto& used = workspace.used;
    auto& steps = workspace.steps;
    std::size_t now = 0;
    cost[0].assign(1, 0);
    maps[0].assign(n, -1);
    used[0].assign(2 * m, 0);  // for each node of `right`: whether it is used, and how many of its neighbors are
    const auto cheaper = [](const Choice& a, const Choice& b) {
        return a.rank != b.rank ? a.rank < b.rank : a.state != b.state ? a.state < b.state : a.image < b.image;
    };
    WorkMeter meter(deadline);
    bool expired = false;
    for (std::size_t k = 0; k < n && !expired; ++k) {
        const Node u = order[k];
        chosen.clear();
        for (std::size_t s = 0; s < cost[now].size() && !expired; ++s) {
            expired = meter.expired(static_cast<std::int64_t>(4 * m + n));
            const Node* map = maps[now].data() + s * n;
            const Node* taken = used[now].data() + s * 2 * m;
            steps.assign(m, 0);
            double lost = 0;
            for (auto e = left.indptr[u]; e < left.indptr[u + 1]; ++e) {
                const Node v = left.indices[e];
                if (map[v] == -1) {
                    continue;
                }
                lost += costs.edge_delete;
                expired = expired || (map[v] >= 0 && meter.expired(4 * right.degree(map[v])));
                for (auto f = map[v] < 0 ? 0 : right.indptr[map[v]]; map[v] >= 0 && f < right.indptr[map[v] + 1]; ++f) {
                    steps[index(right.indices[f])] +=
                        keep_edge(costs, edge_label_at(left, e), edge_label_at(right, f)) - costs.edge_delete -
                        costs.edge_insert;
                }
            }
            const auto offer = [&](Node x, double step) {
                chosen.push_back({static_cast<int>(s), x, cost[now][s] + lost + step});
            };
            offer(deleted, costs.node_delete);
            for (Node x = 0; x < right.n; ++x) {
                if (taken[index(x)] == 0) {
                    offer(x, steps[index(x)] + costs.edge_insert * taken[m + index(x)] - costs.node_insert +
                                 costs.relabel_node(left.labels[u], right.labels[x]));
                }
            }
        }
        if (expired) {
            break;
        }
        if (chosen.size() > index(width)) {
            std::nth_element(chosen.begin(), chosen.begin() + width, chosen.end(), cheaper);
            chosen.resize(index(width));
        }
        const std::size_t next = now ^ 1;
        cost[next].resize(chosen.size());
        maps[next].resize(chosen.size() * n);
        used[next].resize(chosen.size() * 2 * m);
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            const auto from = index(chosen[i].state);
            const Node x = chosen[i].image;
            cost[next][i] = chosen[i].rank;
            std::copy_n(maps[now].data() + from * n, n, maps[next].data() + i * n);
            std::copy_n(used[now].data() + from * 2 * m, 2 * m, used[next].data() + i * 2 * m);
            maps[next][i * n + index(u)] = x;
            if (x >= 0) {
                Node* taken = used[next].data() + i * 2 * m;
                taken[index(x)] = 1;
                for (const Node y : right.neighbors(x)) {
                    ++taken[m + index(y)];
                }
            }
        }
        now = next;
    }
    if (expired) {
        std::copy_n(maps[now].data(), n, mapping.begin());
        std::replace(mapping.begin(), mapping.end(), deleted, Node{-1});
        complete_in_order(left, right, costs, mapping);
        return;
    }
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t s = 0; s < cost[now].size(); ++s) {
        const std::span<Node> map(maps[now].data() + s * n, n);
        std::replace(map.begin(), map.end(), deleted, Node{-1});
        const double total = edit_cost(left, right, costs, map);
        if (total < best) {
            best = total;
            std::copy(map.begin(), map.end(), mapping.begin());
        }
    }
}

}  // namespace

auto beam(const GraphView& left, const GraphView& right, const EditCosts& costs, int width, const Deadline& deadline,
          BeamWorkspace& workspace, std::span<Node> mapping) -> double {
    breadth_first(left, deadline, workspace.seen, workspace.order);
    const bool labeled = edge_labels_count(left, right, costs);
    const auto run = [&]<class Score, int kVectors>() {
        if (labeled) {
            UniformBeam<Score, kVectors, true>(left, right, width, workspace).run(deadline, mapping);
        } else {
            UniformBeam<Score, kVectors, false>(left, right, width, workspace).run(deadline, mapping);
        }
    };
    const Node m = std::max(left.n, right.n);
    if (!costs.uniform() || m > 512 || (labeled && !workspace.codes.assign(left, right))) {
        general_beam(left, right, costs, width, deadline, workspace, mapping);
    } else if (m <= 128 && std::max(max_degree(left), max_degree(right)) <= 6) {
        m <= 32   ? run.template operator()<std::int8_t, 1>()
        : m <= 64 ? run.template operator()<std::int8_t, 2>()
                  : run.template operator()<std::int8_t, 4>();
    } else {
        m <= 16   ? run.template operator()<std::int16_t, 1>()
        : m <= 32 ? run.template operator()<std::int16_t, 2>()
                  : run.template operator()<std::int16_t, 0>();
    }
    return settled_cost(left, right, costs, deadline, mapping);
}

}  // namespace uge::ged
