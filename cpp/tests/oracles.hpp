#pragma once
#include <algorithm>
#include <limits>
#include <queue>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "../costs.hpp"
#include "../graph.hpp"

/// Slow and simple reference implementations, with which the solvers are compared. They share no code with them.
namespace oracle {

using uge::EditCosts;
using uge::GraphView;
using uge::Label;
using uge::Node;

/// A graph that owns its arrays.
struct Graph {
    std::vector<std::int64_t> indptr{0};
    std::vector<Node> indices;
    std::vector<Label> labels;
    std::vector<Label> edge_labels;  ///< empty: edges carry no labels

    [[nodiscard]] auto view() const -> GraphView {
        return {.n = static_cast<Node>(labels.size()),
                .indptr = indptr.data(),
                .indices = indices.data(),
                .labels = labels.data(),
                .edge_labels = edge_labels.empty() ? nullptr : edge_labels.data()};
    }
};

struct Edge {
    Node u;
    Node v;
    Label label = 0;
};

/// The graph with these node labels and edges. Each edge once, no loops.
inline auto graph(std::vector<Label> labels, const std::vector<Edge>& edges, bool edge_labels = false) -> Graph {
    std::set<std::tuple<Node, Node, Label>> rows;
    for (const auto& [u, v, label] : edges) {
        rows.insert({u, v, label});
        rows.insert({v, u, label});
    }
    Graph made;
    made.indptr.assign(labels.size() + 1, 0);
    made.labels = std::move(labels);
    for (const auto& [u, v, label] : rows) {
        ++made.indptr[static_cast<std::size_t>(u) + 1];
        made.indices.push_back(v);
        if (edge_labels) {
            made.edge_labels.push_back(label);
        }
    }
    for (std::size_t u = 0; u + 1 < made.indptr.size(); ++u) {
        made.indptr[u + 1] += made.indptr[u];
    }
    return made;
}

using Random = std::mt19937_64;

inline auto draw(Random& random, int from, int to) -> int {
    return std::uniform_int_distribution<int>(from, to)(random);
}

inline auto draw(Random& random) -> double {
    return std::uniform_real_distribution<double>(0, 1)(random);
}

/// n nodes, every edge with probability `density`, labels uniform. `num_edge_labels` 0: edges carry none.
inline auto random_graph(Random& random, int n, double density, int num_labels, int num_edge_labels = 0) -> Graph {
    std::vector<Label> labels(static_cast<std::size_t>(n));
    for (auto& label : labels) {
        label = draw(random, 0, num_labels - 1);
    }
    std::vector<Edge> edges;
    for (Node u = 0; u < n; ++u) {
        for (Node v = u + 1; v < n; ++v) {
            if (draw(random) < density) {
                edges.push_back({u, v, num_edge_labels > 0 ? draw(random, 0, num_edge_labels - 1) : 0});
            }
        }
    }
    return graph(std::move(labels), edges, num_edge_labels > 0);
}

/// A random tree-like sparse graph of any size in linear time: a random tree and `extra` edges more.
inline auto random_sparse_graph(Random& random, int n, int extra, int num_labels) -> Graph {
    std::vector<Label> labels(static_cast<std::size_t>(n));
    for (auto& label : labels) {
        label = draw(random, 0, num_labels - 1);
    }
    std::set<std::pair<Node, Node>> seen;
    std::vector<Edge> edges;
    const auto add = [&](Node u, Node v) {
        if (u != v && seen.insert({std::min(u, v), std::max(u, v)}).second) {
            edges.push_back({u, v});
        }
    };
    for (Node v = 1; v < n; ++v) {
        add(draw(random, 0, v - 1), v);
    }
    for (int i = 0; i < extra && n > 1; ++i) {
        add(draw(random, 0, n - 1), draw(random, 0, n - 1));
    }
    return graph(std::move(labels), edges);
}

/// The same graph with its nodes in another order.
inline auto shuffled(Random& random, const Graph& from) -> Graph {
    const GraphView view = from.view();
    std::vector<Node> to(static_cast<std::size_t>(view.n));
    for (Node u = 0; u < view.n; ++u) {
        to[static_cast<std::size_t>(u)] = u;
    }
    std::shuffle(to.begin(), to.end(), random);
    std::vector<Label> labels(to.size());
    std::vector<Edge> edges;
    for (Node u = 0; u < view.n; ++u) {
        const Node image = to[static_cast<std::size_t>(u)];
        labels[static_cast<std::size_t>(image)] = view.labels[u];
        for (std::int64_t e = view.indptr[u]; e < view.indptr[u + 1]; ++e) {
            if (view.indices[e] < u) {
                edges.push_back({image, to[static_cast<std::size_t>(view.indices[e])],
                                 view.edge_labels == nullptr ? 0 : view.edge_labels[e]});
            }
        }
    }
    return graph(std::move(labels), edges, view.edge_labels != nullptr);
}

/// Costs with their matrices. Keep it alive, and in place, while `costs` is used.
struct Costs {
    EditCosts costs;
    std::vector<double> node_matrix;
    std::vector<double> edge_matrix;

    Costs() = default;
    Costs(const Costs&) = delete;
    auto operator=(const Costs&) -> Costs& = delete;
};

/// Fills `into` with random costs of every kind, mostly neither metric nor symmetric. Multiples of 1/4, so that sums
/// are exact.
inline auto random_costs(Random& random, int num_labels, int num_edge_labels, Costs& into) -> void {
    const auto one = [&] { return draw(random, 0, 12) / 4.0; };
    into.costs = {};
    into.costs.node_insert = one();
    into.costs.node_delete = one();
    into.costs.node_relabel = one();
    into.costs.edge_insert = one();
    into.costs.edge_delete = one();
    into.costs.edge_relabel = draw(random, 0, 1) == 0 ? 0 : one();
    const auto matrix = [&](int side, std::vector<double>& entries) {
        entries.resize(static_cast<std::size_t>(side * side));
        for (int i = 0; i < side * side; ++i) {
            entries[static_cast<std::size_t>(i)] = i % (side + 1) == 0 && draw(random, 0, 3) > 0 ? 0 : one();
        }
        return entries.data();
    };
    if (draw(random, 0, 1) == 0) {
        into.costs.node_matrix = matrix(num_labels, into.node_matrix);
        into.costs.num_node_labels = num_labels;
    }
    if (num_edge_labels > 0 && draw(random, 0, 1) == 0) {
        into.costs.edge_matrix = matrix(num_edge_labels, into.edge_matrix);
        into.costs.num_edge_labels = num_edge_labels;
    }
}

/// Edges as a matrix: the label, or -1 where there is none.
class Adjacency {
  public:
    explicit Adjacency(const GraphView& graph) : n_(static_cast<std::size_t>(graph.n)), labels_(n_ * n_, -1) {
        for (Node u = 0; u < graph.n; ++u) {
            for (std::int64_t e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e) {
                labels_[static_cast<std::size_t>(u) * n_ + static_cast<std::size_t>(graph.indices[e])] =
                    graph.edge_labels == nullptr ? 0 : graph.edge_labels[e];
            }
        }
    }
    /// -1 also where a node is -1.
    [[nodiscard]] auto operator()(Node u, Node v) const -> Label {
        return u < 0 || v < 0 ? -1 : labels_[static_cast<std::size_t>(u) * n_ + static_cast<std::size_t>(v)];
    }

  private:
    std::size_t n_;
    std::vector<Label> labels_;
};

/// Cost of turning one edge slot into another; -1 is no edge.
inline auto edge_cost(const EditCosts& costs, Label from, Label to) -> double {
    if (from < 0) {
        return to < 0 ? 0 : costs.edge_insert;
    }
    return to < 0 ? costs.edge_delete : std::min(costs.relabel_edge(from, to), costs.edge_delete + costs.edge_insert);
}

/// Cost of a node map, from the definition: every pair of nodes looked at.
inline auto edit_cost(const GraphView& left, const GraphView& right, const EditCosts& costs,
                      const std::vector<Node>& mapping) -> double {
    const Adjacency from(left);
    const Adjacency to(right);
    std::vector<Node> source(static_cast<std::size_t>(right.n), -1);
    double total = 0;
    for (Node u = 0; u < left.n; ++u) {
        const Node image = mapping[static_cast<std::size_t>(u)];
        if (image >= 0) {
            source[static_cast<std::size_t>(image)] = u;
            total += costs.relabel_node(left.labels[u], right.labels[image]);
        } else {
            total += costs.node_delete;
        }
        for (Node v = 0; v < u; ++v) {
            total += edge_cost(costs, from(u, v), to(image, mapping[static_cast<std::size_t>(v)]));
        }
    }
    for (Node x = 0; x < right.n; ++x) {
        const Node u = source[static_cast<std::size_t>(x)];
        total += u < 0 ? costs.node_insert : 0;
        for (Node y = 0; y < x; ++y) {
            if (u < 0 || source[static_cast<std::size_t>(y)] < 0) {
                total += edge_cost(costs, -1, to(x, y));
            }
        }
    }
    return total;
}

/// Whether `mapping` names each node of `right` at most once and nothing else.
inline auto is_map(const GraphView& left, const GraphView& right, const std::vector<Node>& mapping) -> bool {
    std::set<Node> seen;
    return mapping.size() == static_cast<std::size_t>(left.n) &&
           std::all_of(mapping.begin(), mapping.end(),
                       [&](Node x) { return x == -1 || (x >= 0 && x < right.n && seen.insert(x).second); });
}

/// A uniformly random map in which a node is deleted with probability `deletion`.
inline auto random_map(Random& random, Node left, Node right, double deletion) -> std::vector<Node> {
    std::vector<Node> free;
    for (Node x = 0; x < right; ++x) {
        free.push_back(x);
    }
    std::shuffle(free.begin(), free.end(), random);
    std::vector<Node> mapping(static_cast<std::size_t>(left), -1);
    for (auto& image : mapping) {
        if (!free.empty() && draw(random) >= deletion) {
            image = free.back();
            free.pop_back();
        }
    }
    std::shuffle(mapping.begin(), mapping.end(), random);
    return mapping;
}

struct Answer {
    double distance = std::numeric_limits<double>::infinity();
    std::vector<Node> mapping;
};

/// Edit distance by trying every map: up to about 6 nodes a side.
inline auto brute_force(const GraphView& left, const GraphView& right, const EditCosts& costs) -> Answer {
    const Adjacency from(left);
    const Adjacency to(right);
    Answer best;
    std::vector<Node> mapping(static_cast<std::size_t>(left.n), -1);
    std::vector<bool> used(static_cast<std::size_t>(right.n), false);
    const auto visit = [&](const auto& self, Node u, double cost) -> void {
        if (u == left.n) {
            for (Node x = 0; x < right.n; ++x) {
                cost += used[static_cast<std::size_t>(x)] ? 0 : costs.node_insert;
                for (Node y = 0; y < x; ++y) {
                    if (!used[static_cast<std::size_t>(x)] || !used[static_cast<std::size_t>(y)]) {
                        cost += edge_cost(costs, -1, to(x, y));
                    }
                }
            }
            if (cost < best.distance) {
                best = {cost, mapping};
            }
            return;
        }
        for (Node x = -1; x < right.n; ++x) {
            if (x >= 0 && used[static_cast<std::size_t>(x)]) {
                continue;
            }
            double step = x < 0 ? costs.node_delete : costs.relabel_node(left.labels[u], right.labels[x]);
            for (Node v = 0; v < u; ++v) {
                step += edge_cost(costs, from(u, v), to(x, mapping[static_cast<std::size_t>(v)]));
            }
            mapping[static_cast<std::size_t>(u)] = x;
            if (x >= 0) {
                used[static_cast<std::size_t>(x)] = true;
            }
            self(self, u + 1, cost + step);
            if (x >= 0) {
                used[static_cast<std::size_t>(x)] = false;
            }
            mapping[static_cast<std::size_t>(u)] = -1;
        }
    };
    visit(visit, 0, 0);
    return best;
}

/// Edit distance by the textbook A* over partial maps, first open nodes first, no heuristic but 0: some 8 nodes a side.
inline auto astar(const GraphView& left, const GraphView& right, const EditCosts& costs) -> Answer {
    struct State {
        double cost;
        std::vector<Node> mapping;
        auto operator<(const State& other) const -> bool { return cost > other.cost; }
    };
    const Adjacency from(left);
    const Adjacency to(right);
    std::priority_queue<State> open;
    open.push({0, {}});
    while (true) {
        State state = open.top();
        open.pop();
        const auto u = static_cast<Node>(state.mapping.size());
        if (u > left.n || (u == left.n && left.n + right.n == 0)) {
            state.mapping.resize(static_cast<std::size_t>(left.n));
            return {state.cost, state.mapping};
        }
        if (u == left.n) {  // a last step inserts what is left of `right`, marked by one entry too many
            state.cost = edit_cost(left, right, costs, state.mapping);
            state.mapping.push_back(-1);
            open.push(std::move(state));
            continue;
        }
        for (Node x = -1; x < right.n; ++x) {
            if (x >= 0 && std::find(state.mapping.begin(), state.mapping.end(), x) != state.mapping.end()) {
                continue;
            }
            State child = state;
            child.cost += x < 0 ? costs.node_delete : costs.relabel_node(left.labels[u], right.labels[x]);
            for (Node v = 0; v < u; ++v) {
                child.cost += edge_cost(costs, from(u, v), to(x, state.mapping[static_cast<std::size_t>(v)]));
            }
            child.mapping.push_back(x);
            open.push(std::move(child));
        }
    }
}

}  // namespace oracle
