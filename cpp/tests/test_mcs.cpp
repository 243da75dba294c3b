#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include "../mcs/mcs.hpp"
#include "check.hpp"
#include "oracles.hpp"

namespace {

using oracle::Graph;
using oracle::Random;
using uge::Deadline;
using uge::GraphView;
using uge::Node;
using uge::mcs::Bounds;
using uge::mcs::Params;

/// 0 where there is no edge, else 1 + its label (1 where labels do not count).
auto edge(const GraphView& g, Node u, Node v, bool labels) -> int {
    const auto row = g.neighbors(u);
    const auto at = std::find(row.begin(), row.end(), v);
    if (at == row.end()) return 0;
    return labels && g.edge_labels != nullptr ? 1 + g.edge_labels_of(u)[static_cast<std::size_t>(at - row.begin())] : 1;
}

using Pairs = std::vector<std::pair<Node, Node>>;

auto fits(const GraphView& a, const GraphView& b, bool labels, const Pairs& pairs, Node u, Node v) -> bool {
    return a.labels[u] == b.labels[v] && std::all_of(pairs.begin(), pairs.end(), [&](const auto& p) {
               return p.first != u && p.second != v && edge(a, p.first, u, labels) == edge(b, p.second, v, labels);
           });
}

auto is_connected(const GraphView& a, const Pairs& pairs) -> bool {
    if (pairs.empty()) return true;
    std::vector<bool> seen(pairs.size(), false);
    std::vector<std::size_t> stack{0};
    seen[0] = true;
    std::size_t reached = 0;
    while (!stack.empty()) {
        const auto i = stack.back();
        stack.pop_back();
        ++reached;
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            if (!seen[k] && edge(a, pairs[i].first, pairs[k].first, false) != 0) {
                seen[k] = true;
                stack.push_back(k);
            }
        }
    }
    return reached == pairs.size();
}

/// Every partial map, node by node.
void try_all(const GraphView& a, const GraphView& b, const Params& params, Node u, Pairs& pairs, int& best) {
    if (static_cast<int>(pairs.size()) + a.n - u <= best) return;
    if (u == a.n) {
        if (!params.connected || is_connected(a, pairs)) best = static_cast<int>(pairs.size());
        return;
    }
    for (Node v = 0; v < b.n; ++v) {
        if (!fits(a, b, params.edge_labels, pairs, u, v)) continue;
        pairs.emplace_back(u, v);
        try_all(a, b, params, u + 1, pairs, best);
        pairs.pop_back();
    }
    try_all(a, b, params, u + 1, pairs, best);
}

auto brute_force(const GraphView& a, const GraphView& b, const Params& params) -> int {
    Pairs pairs;
    int best = 0;
    try_all(a, b, params, 0, pairs, best);
    return best;
}

void grow_clique(const std::vector<std::vector<bool>>& compatible, int size, const std::vector<std::size_t>& rest,
                 int& best) {
    best = std::max(best, size);
    for (std::size_t i = 0; i < rest.size() && size + static_cast<int>(rest.size() - i) > best; ++i) {
        std::vector<std::size_t> next;
        for (std::size_t k = i + 1; k < rest.size(); ++k) {
            if (compatible[rest[i]][rest[k]]) next.push_back(rest[k]);
        }
        grow_clique(compatible, size + 1, next, best);
    }
}

/// The same number as the largest clique among pairs of nodes that can be matched together.
auto largest_clique(const GraphView& a, const GraphView& b, bool edge_labels) -> int {
    Pairs pairs;
    for (Node u = 0; u < a.n; ++u) {
        for (Node v = 0; v < b.n; ++v) {
            if (a.labels[u] == b.labels[v]) pairs.emplace_back(u, v);
        }
    }
    std::vector<std::vector<bool>> compatible(pairs.size(), std::vector<bool>(pairs.size()));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            compatible[i][k] = fits(a, b, edge_labels, {pairs[i]}, pairs[k].first, pairs[k].second);
        }
    }
    std::vector<std::size_t> all(pairs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    int best = 0;
    grow_clique(compatible, 0, all, best);
    return best;
}

/// The solver's answer, after checking that its map is a common subgraph of the size it claims.
auto solve(const GraphView& a, const GraphView& b, const Params& params, const Deadline& deadline = {}) -> Bounds {
    static uge::mcs::Workspace workspace;  // shared by all tests: what one pair leaves must not disturb the next
    std::vector<Node> mapping(static_cast<std::size_t>(a.n), 7);
    const auto bounds = uge::mcs::max_common_subgraph(a, b, params, deadline, workspace, mapping);
    Pairs pairs;
    bool valid = true;
    for (Node u = 0; u < a.n; ++u) {
        const Node v = mapping[static_cast<std::size_t>(u)];
        if (v == -1) continue;
        valid = valid && v >= 0 && v < b.n && fits(a, b, params.edge_labels, pairs, u, v);
        pairs.emplace_back(u, v);
    }
    CHECK(valid, "sizes", a.n, b.n);
    CHECK(!params.connected || is_connected(a, pairs), a.n, b.n);
    CHECK(static_cast<int>(pairs.size()) == bounds.lower, pairs.size(), bounds.lower);
    CHECK(bounds.lower <= bounds.upper, bounds.lower, bounds.upper);
    CHECK(bounds.proven == (bounds.lower == bounds.upper), bounds.lower, bounds.upper);
    return bounds;
}

/// `g` and enough nodes of a label that nothing else has to make it `n` nodes: another search, the same answer.
auto padded(const Graph& g, int n, uge::Label label) -> Graph {
    auto copy = g;
    while (static_cast<int>(copy.labels.size()) < n) {
        copy.labels.push_back(label);
        copy.indptr.push_back(copy.indptr.back());
    }
    return copy;
}

/// Cliques that share node 0, as in a collaboration network around one person: many nodes alike.
auto ego_graph(Random& random, int cliques, int largest) -> Graph {
    std::vector<oracle::Edge> edges;
    int n = 1;
    for (int c = 0; c < cliques; ++c) {
        const int size = oracle::draw(random, 1, largest);
        for (int u = n; u < n + size; ++u) {
            edges.push_back({0, u});
            for (int v = n; v < u; ++v) edges.push_back({v, u});
        }
        n += size;
    }
    return oracle::graph(std::vector<uge::Label>(static_cast<std::size_t>(n), 0), edges);
}

TEST("the size is that of brute force, connected or not, with labels of nodes and edges or without") {
    Random random(1);
    for (int i = 0; i < 3000; ++i) {
        const int labels = oracle::draw(random, 1, 3);
        const int edge_labels = oracle::draw(random, 0, 3);
        const double density = oracle::draw(random);
        const auto a = oracle::random_graph(random, oracle::draw(random, 0, 7), density, labels, edge_labels);
        const auto b = oracle::random_graph(random, oracle::draw(random, 0, 7), density, labels, edge_labels);
        for (const bool connected : {false, true}) {
            for (const bool by_edge_label : {false, true}) {
                const Params params{.connected = connected, .edge_labels = by_edge_label};
                const int truth = brute_force(a.view(), b.view(), params);
                const auto found = solve(a.view(), b.view(), params);
                CHECK(found.proven && found.lower == truth, i, connected, by_edge_label, found.lower, truth);
            }
        }
    }
}

TEST("every search gives the same size, whatever the number of nodes it is made for") {
    Random random(2);
    for (int i = 0; i < 400; ++i) {
        const int edge_labels = oracle::draw(random, 0, 2);
        const double density = oracle::draw(random);
        const auto a = oracle::random_graph(random, oracle::draw(random, 1, 7), density, 2, edge_labels);
        const auto b = oracle::random_graph(random, oracle::draw(random, 1, 7), density, 2, edge_labels);
        for (const bool connected : {false, true}) {
            for (const bool by_edge_label : {false, true}) {
                const Params params{.connected = connected, .edge_labels = by_edge_label};
                const int truth = brute_force(a.view(), b.view(), params);
                for (const int n : {100, 200, 300}) {
                    const auto found = solve(padded(a, n, 8).view(), padded(b, n - 1, 9).view(), params);
                    CHECK(found.proven && found.lower == truth, i, n, connected, found.lower, truth);
                }
            }
        }
    }
}

TEST("the size does not change with the order of nodes, pairs and graphs, the codes of labels, or other pairs") {
    Random random(12);
    for (int i = 0; i < 1500; ++i) {
        const int edge_labels = oracle::draw(random, 0, 2);
        const auto a = oracle::random_graph(random, oracle::draw(random, 0, 7), oracle::draw(random), 2, edge_labels);
        const auto b = oracle::random_graph(random, oracle::draw(random, 0, 7), oracle::draw(random), 2, edge_labels);
        const auto disguised = [&](const Graph& graph) {
            auto other = oracle::shuffled(random, graph);
            for (auto& label : other.labels) label = 2'000'000'000 - label;
            for (auto& label : other.edge_labels) label = 7 - label;
            return other;
        };
        for (const bool connected : {false, true}) {
            const Params params{.connected = connected, .edge_labels = true};
            uge::mcs::Workspace fresh;
            std::vector<Node> mapping(a.labels.size());
            const auto first = uge::mcs::max_common_subgraph(a.view(), b.view(), params, {}, fresh, mapping);
            const auto back = solve(b.view(), a.view(), params);
            const auto other = solve(disguised(a).view(), disguised(b).view(), params);
            CHECK(first.proven && back.proven && other.proven, i);
            CHECK(first.lower == back.lower && first.lower == other.lower, i, first.lower, back.lower, other.lower);
        }
    }
}

TEST("more edge labels than sets can hold change nothing") {
    Random random(3);
    for (int i = 0; i < 300; ++i) {
        const auto a = oracle::random_graph(random, oracle::draw(random, 2, 7), 0.9, 1, 30);
        auto b = a;  // shares all labels; then some are changed, in both rows of the edge alike
        for (auto& label : b.edge_labels) label = label % 5 == 0 ? label + 1 : label;
        for (const bool connected : {false, true}) {
            const Params params{.connected = connected, .edge_labels = true};
            const auto found = solve(a.view(), b.view(), params);
            const int truth = brute_force(a.view(), b.view(), params);
            CHECK(found.proven && found.lower == truth, i, connected, found.lower, truth);
        }
    }
}

TEST("the size is that of the largest clique of compatible pairs") {
    Random random(4);
    for (int i = 0; i < 150; ++i) {
        const int labels = oracle::draw(random, 2, 4);
        const double density = i % 2 == 0 ? 0.2 : 0.6;
        const auto a = oracle::random_graph(random, oracle::draw(random, 8, 11), density, labels, 2);
        const auto b = oracle::random_graph(random, oracle::draw(random, 8, 11), density, labels, 2);
        for (const bool by_edge_label : {false, true}) {
            const auto found = solve(a.view(), b.view(), {.edge_labels = by_edge_label});
            const int truth = largest_clique(a.view(), b.view(), by_edge_label);
            CHECK(found.proven && found.lower == truth, i, by_edge_label, found.lower, truth);
        }
    }
}

TEST("graphs full of interchangeable nodes are solved like any other") {
    Random random(5);
    for (int i = 0; i < 60; ++i) {
        const auto a = ego_graph(random, oracle::draw(random, 1, 4), 3);
        const auto b = ego_graph(random, oracle::draw(random, 1, 3), 3);
        for (const bool connected : {false, true}) {
            const Params params{.connected = connected};
            const int truth = brute_force(a.view(), b.view(), params);
            const auto found = solve(a.view(), b.view(), params);
            CHECK(found.proven && found.lower == truth, i, connected, found.lower, truth);
        }
    }
}

TEST("bounds do not depend on the order of the graphs") {
    Random random(6);
    for (int i = 0; i < 200; ++i) {
        const auto a = oracle::random_graph(random, 12, 0.3, 2);
        const auto b = oracle::random_graph(random, 12, 0.3, 2);
        const auto there = solve(a.view(), b.view(), {});
        const auto back = solve(b.view(), a.view(), {});
        CHECK(there.lower == back.lower && there.upper == back.upper, there.lower, back.lower);
    }
}

TEST("a graph shares all of its nodes with a shuffled copy of itself") {
    Random random(7);
    for (const int n : {0, 1, 2, 20, 40, 90, 150}) {
        const auto a = oracle::random_graph(random, n, 0.3, 3);
        std::vector<Node> order(static_cast<std::size_t>(n));
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        std::vector<uge::Label> labels(order.size());
        std::vector<oracle::Edge> edges;
        const auto view = a.view();
        for (Node u = 0; u < n; ++u) {
            labels[static_cast<std::size_t>(order[static_cast<std::size_t>(u)])] = view.labels[u];
            for (const Node v : view.neighbors(u)) {
                if (u < v) edges.push_back({order[static_cast<std::size_t>(u)], order[static_cast<std::size_t>(v)]});
            }
        }
        const auto b = oracle::graph(labels, edges);
        const auto found = solve(view, b.view(), {}, Deadline(20));
        CHECK(found.proven && found.lower == n, n, found.lower, found.upper);
    }
}

TEST("at the deadline bounds still enclose the truth") {
    Random random(8);
    for (int i = 0; i < 40; ++i) {
        const auto a = oracle::random_graph(random, 20, 0.4, 1);
        const auto b = oracle::random_graph(random, 20, 0.4, 1);
        const auto truth = solve(a.view(), b.view(), {});
        const auto hurried = solve(a.view(), b.view(), {}, Deadline(i * 2e-5));
        CHECK(truth.proven, i);
        CHECK(hurried.lower <= truth.lower && truth.lower <= hurried.upper, hurried.lower, truth.lower, hurried.upper);
    }
}

TEST("graphs of thousands of nodes return soon after the deadline") {
    Random random(9);
    using Clock = std::chrono::steady_clock;
    for (const double degree : {2.0, 40.0}) {
        const int n = 4000;
        const auto a = oracle::random_graph(random, n, degree / n, 2);
        const auto b = oracle::random_graph(random, n, degree / n, 2);
        for (const bool connected : {false, true}) {
            for (const double seconds : {0.0, 0.05}) {
                const auto start = Clock::now();
                const auto found = solve(a.view(), b.view(), {.connected = connected}, Deadline(seconds));
                const double taken = std::chrono::duration<double>(Clock::now() - start).count();
                CHECK(taken < seconds + 2, taken);  // generous: checking the map is included
                CHECK(seconds == 0.0 || found.lower > 1, found.lower);
                CHECK(found.upper <= n, found.upper);
            }
        }
    }
}

}  // namespace

auto main(int argc, char** argv) -> int {
    return check::run(argc > 1 ? argv[1] : "");
}
