#include <cmath>
#include <ctime>
#include <vector>

#include "../ged/edit_cost.hpp"
#include "../ged/exact.hpp"
#include "check.hpp"
#include "oracles.hpp"

namespace {

using namespace uge;
using namespace uge::ged;
using oracle::draw;
using oracle::Random;

struct Solved {
    Bounds bounds;
    std::vector<Node> mapping;
};

/// `exact`, with everything about its answer checked that holds for any pair.
auto solve(const GraphView& left, const GraphView& right, const EditCosts& costs, double seconds = 1e9) -> Solved {
    static ExactWorkspace workspace;
    Solved solved{{}, std::vector<Node>(static_cast<std::size_t>(left.n))};
    solved.bounds = exact(left, right, costs, Deadline(seconds), workspace, solved.mapping);
    const double cost = oracle::edit_cost(left, right, costs, solved.mapping);
    CHECK(oracle::is_map(left, right, solved.mapping));
    CHECK(std::abs(cost - solved.bounds.upper) < 1e-9, cost, solved.bounds.upper);
    CHECK(solved.bounds.lower <= solved.bounds.upper, solved.bounds.lower, solved.bounds.upper);
    CHECK(!solved.bounds.proven || solved.bounds.lower == solved.bounds.upper);
    return solved;
}

/// Every graph with n nodes and one or two labels, up to nothing: all sets of edges.
auto all_graphs(int n, int num_labels) -> std::vector<oracle::Graph> {
    std::vector<oracle::Graph> graphs;
    const int slots = n * (n - 1) / 2;
    for (int edges = 0; edges < 1 << slots; ++edges) {
        for (int labeling = 0; labeling < (num_labels == 1 ? 1 : 1 << n); ++labeling) {
            std::vector<Label> labels;
            std::vector<oracle::Edge> chosen;
            for (int u = 0, slot = 0; u < n; ++u) {
                labels.push_back(labeling >> u & 1);
                for (int v = 0; v < u; ++v, ++slot) {
                    if ((edges >> slot & 1) != 0) {
                        chosen.push_back({u, v});
                    }
                }
            }
            graphs.push_back(oracle::graph(labels, chosen));
        }
    }
    return graphs;
}

TEST("uniform costs: equal to brute force on all labeled graphs up to three nodes and all graphs up to four") {
    std::vector<oracle::Graph> graphs;
    for (const auto& [n, labels] : {std::pair{0, 1}, {1, 2}, {2, 2}, {3, 2}, {4, 1}}) {
        for (auto& graph : all_graphs(n, labels)) {
            graphs.push_back(std::move(graph));
        }
    }
    for (const auto& a : graphs) {
        for (const auto& b : graphs) {
            if (a.labels.size() <= b.labels.size()) {
                const auto truth = oracle::brute_force(a.view(), b.view(), {}).distance;
                const auto found = solve(a.view(), b.view(), {}).bounds;
                CHECK(found.proven && found.upper == truth, found.upper, truth);
            }
        }
    }
}

TEST("uniform costs: equal to brute force on random graphs of any density") {
    Random random(1);
    for (int trial = 0; trial < 1500; ++trial) {
        const int n = draw(random, 0, 6);
        const int m = draw(random, n, trial % 10 == 0 ? 7 : 6);
        const int labels = draw(random, 1, 3);
        const auto a = oracle::random_graph(random, n, draw(random), labels);
        const auto b = oracle::random_graph(random, m, draw(random), labels);
        const auto truth = oracle::brute_force(a.view(), b.view(), {}).distance;
        const auto found = solve(a.view(), b.view(), {}).bounds;
        CHECK(found.proven && found.upper == truth, n, m, labels, found.upper, truth);
    }
}

/// A graph in which many nodes may be exchanged: random, then nodes copied with their neighborhoods.
auto graph_with_twins(Random& random, int seeds, int n, int labels) -> oracle::Graph {
    const auto base = oracle::random_graph(random, seeds, 0.5, labels);
    const oracle::Adjacency adjacent(base.view());
    std::vector<Node> from;
    std::vector<Label> label;
    std::vector<oracle::Edge> edges;
    std::vector<bool> clique;
    for (int u = 0; u < seeds; ++u) {
        clique.push_back(draw(random, 0, 1) == 0);
    }
    for (Node u = 0; u < n; ++u) {
        from.push_back(u < seeds ? u : draw(random, 0, seeds - 1));
        label.push_back(base.labels[static_cast<std::size_t>(from.back())]);
        for (Node v = 0; v < u; ++v) {
            const Node p = from[static_cast<std::size_t>(u)];
            const Node q = from[static_cast<std::size_t>(v)];
            if (p == q ? clique[static_cast<std::size_t>(p)] : adjacent(p, q) >= 0) {
                edges.push_back({u, v});
            }
        }
    }
    return oracle::graph(label, edges);
}

TEST("uniform costs: equal to brute force where many nodes are interchangeable") {
    Random random(2);
    for (int trial = 0; trial < 600; ++trial) {
        const int n = draw(random, 3, 6);
        const int m = draw(random, n, 7);
        const int labels = draw(random, 1, 2);
        const auto a = oracle::shuffled(random, graph_with_twins(random, draw(random, 2, 3), n, labels));
        const auto b = oracle::shuffled(random, graph_with_twins(random, draw(random, 2, 3), m, labels));
        const auto truth = oracle::brute_force(a.view(), b.view(), {}).distance;
        const auto found = solve(a.view(), b.view(), {}).bounds;
        CHECK(found.proven && found.upper == truth, n, m, labels, found.upper, truth);
    }
}

TEST("uniform costs: equal to the general search on graphs too large for brute force") {
    Random random(3);
    GeneralSearch general;
    for (int trial = 0; trial < 150; ++trial) {
        const int n = draw(random, 6, 10);
        const int m = draw(random, n, 11);
        const int labels = draw(random, 1, 4);
        const bool sparse = draw(random, 0, 1) == 0;
        const auto make = [&](int size) {
            return sparse ? oracle::random_sparse_graph(random, size, 2, labels)
                          : oracle::random_graph(random, size, draw(random), labels);
        };
        const auto a = make(n);
        const auto b = make(m);
        std::vector<Node> mapping(static_cast<std::size_t>(n), -1);
        const double start = oracle::edit_cost(a.view(), b.view(), {}, mapping);
        const auto truth = general.run(a.view(), b.view(), {}, Deadline(), 0, start, no_limit, mapping);
        const auto found = solve(a.view(), b.view(), {}).bounds;
        CHECK(found.proven && found.upper == truth.upper, n, m, labels, found.upper, truth.upper);
    }
}

TEST("any costs, metric or not, symmetric or not, with edge labels or without: equal to brute force") {
    Random random(4);
    for (int trial = 0; trial < 3000; ++trial) {
        const int labels = draw(random, 1, 3);
        const int edge_labels = draw(random, 0, 2);
        const auto a = oracle::random_graph(random, draw(random, 0, 5), draw(random), labels, edge_labels);
        const auto b = oracle::random_graph(random, draw(random, 0, 5), draw(random), labels, edge_labels);
        oracle::Costs costs;
        oracle::random_costs(random, labels, edge_labels, costs);
        if (trial % 2 == 0) {  // costs without a common measure
            costs.costs.node_delete *= std::sqrt(2.0);
            costs.costs.edge_insert *= std::sqrt(3.0);
        }
        const auto truth = oracle::brute_force(a.view(), b.view(), costs.costs).distance;
        const auto found = solve(a.view(), b.view(), costs.costs).bounds;
        CHECK(found.proven && std::abs(found.upper - truth) < 1e-9, trial, found.upper, truth);
    }
}

TEST("a graph and its copy in another order are at distance zero") {
    Random random(5);
    for (int trial = 0; trial < 40; ++trial) {
        const auto sparse = oracle::random_sparse_graph(random, draw(random, 1, 40), 3, 3);
        const auto dense = oracle::random_graph(random, draw(random, 1, 14), 0.5, 2);
        for (const auto& graph : {sparse, dense}) {
            const auto found = solve(graph.view(), oracle::shuffled(random, graph).view(), {}, 20).bounds;
            CHECK(found.proven && found.upper == 0, graph.labels.size(), found.upper);
        }
    }
}

TEST("distance is symmetric, does not depend on node order, and keeps the triangle inequality") {
    Random random(6);
    for (int trial = 0; trial < 60; ++trial) {
        const int n = draw(random, 1, 9);
        const int labels = draw(random, 1, 3);
        std::vector<oracle::Graph> graphs;
        for (int i = 0; i < 3; ++i) {
            graphs.push_back(draw(random, 0, 1) == 0 ? oracle::random_graph(random, n, draw(random), labels)
                                                     : oracle::random_sparse_graph(random, n, 1, labels));
        }
        const auto distance = [&](std::size_t i, std::size_t j) {
            return solve(graphs[i].view(), graphs[j].view(), {}).bounds.upper;
        };
        CHECK(distance(0, 1) == distance(1, 0));
        CHECK(distance(0, 2) <= distance(0, 1) + distance(1, 2));
        const double before = distance(0, 1);
        graphs[0] = oracle::shuffled(random, graphs[0]);
        graphs[1] = oracle::shuffled(random, graphs[1]);
        CHECK(distance(0, 1) == before);
    }
}

TEST("at a deadline the bounds bracket the distance") {
    Random random(7);
    for (int trial = 0; trial < 60; ++trial) {
        const int n = draw(random, 5, 12);
        const int labels = draw(random, 1, 2);
        const auto a = oracle::random_sparse_graph(random, n, 2, labels);
        const auto b = oracle::random_sparse_graph(random, n + draw(random, 0, 2), 3, labels);
        const double truth = solve(a.view(), b.view(), {}).bounds.upper;
        for (const double seconds : {0.0, 1e-6, 1e-5, 1e-4}) {
            const auto found = solve(a.view(), b.view(), {}, seconds).bounds;
            CHECK(found.lower <= truth && truth <= found.upper, found.lower, truth, found.upper);
        }
    }
}

TEST("large graphs return soon after the deadline, with valid bounds") {
    Random random(8);
    EditCosts half;
    half.node_relabel = 0.5;
    for (const int n : {60, 100, 150, 250, 300, 1000, 4000}) {
        const auto a = oracle::random_sparse_graph(random, n, n / 10, 5);
        const auto b = oracle::random_sparse_graph(random, n + 3, n / 10, 5);
        for (const auto& costs : {EditCosts{}, half}) {
            const auto start = std::clock();  // not the wall's: other processes may have the machine
            std::vector<Node> mapping(static_cast<std::size_t>(n));
            ExactWorkspace workspace;
            const auto found = exact(a.view(), b.view(), costs, Deadline(0.02), workspace, mapping);
            const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
            CHECK(took < 0.1, n, took);
            CHECK(found.lower <= found.upper && found.upper == edit_cost(a.view(), b.view(), costs, mapping), n);
        }
    }
}

TEST("dense graphs return soon after the deadline too") {
    Random random(9);
    for (const int n : {30, 40, 60, 100, 150, 200}) {
        for (const double density : {0.3, 0.5, 0.9}) {
            const auto a = oracle::random_graph(random, n, density, 2);
            const auto b = oracle::random_graph(random, n, density, 2);
            const auto start = std::clock();
            std::vector<Node> mapping(static_cast<std::size_t>(n));
            ExactWorkspace workspace;
            const auto found = exact(a.view(), b.view(), {}, Deadline(0.02), workspace, mapping);
            const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
            CHECK(took < 2, n, density, took);  // sanitizers are slow; a deadline not seen at all takes minutes
            CHECK(found.lower <= found.upper && found.upper == edit_cost(a.view(), b.view(), {}, mapping), n);
        }
    }
}

}  // namespace

auto main(int argc, char** argv) -> int {
    return check::run(argc > 1 ? argv[1] : "");
}
