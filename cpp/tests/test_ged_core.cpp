#include <cmath>

#include "../ged/bounds.hpp"
#include "../ged/edit_cost.hpp"
#include "../ged/ged.hpp"
#include "../ged/orientation.hpp"
#include "../ged/workspace.hpp"
#include "check.hpp"
#include "oracles.hpp"

namespace {

using namespace uge;
using namespace uge::ged;
using oracle::draw;

constexpr Method methods[] = {Method::exact,  Method::beam,   Method::hungarian, Method::vj,   Method::hed,
                              Method::branch, Method::refine, Method::paper,     Method::tight};

struct Solved {
    Bounds bounds;
    std::vector<Node> mapping;
};

auto solve(const GraphView& left, const GraphView& right, const EditCosts& costs, Method method, Workspace& workspace)
    -> Solved {
    std::vector<Node> mapping(static_cast<std::size_t>(left.n), -7);
    const Bounds bounds = edit_distance(left, right, costs, {.method = method}, Deadline(), workspace, mapping);
    return {bounds, mapping};
}

/// A pair of graphs and costs of every kind: labels or none, edge labels or none, uniform costs or any.
struct Case {
    oracle::Graph a;
    oracle::Graph b;
    oracle::Costs costs;

    Case(oracle::Random& random, int most_nodes, bool uniform) {
        const int labels = draw(random, 1, 4);
        const int edge_labels = uniform ? 0 : draw(random, 0, 3);
        const auto one = [&] {
            return oracle::random_graph(random, draw(random, 0, most_nodes), oracle::draw(random), labels, edge_labels);
        };
        a = one();
        b = one();
        if (!uniform) {
            oracle::random_costs(random, labels, edge_labels, costs);
        }
    }
};

/// The local assignment from its definition: every map of nodes tried, each node with the best match of its edges,
/// itself found by trying all.
auto local_optimum(const GraphView& left, const GraphView& right, const EditCosts& costs, double share) -> double {
    const auto edges_of = [](const GraphView& graph, Node u) {
        std::vector<Label> labels;
        for (std::int64_t e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e) {
            labels.push_back(graph.edge_labels == nullptr ? 0 : graph.edge_labels[e]);
        }
        return labels;
    };
    const auto match = [](const auto& self, std::size_t i, std::size_t n, std::vector<bool>& used, const auto& replace,
                          const auto& remove, const auto& insert) -> double {
        if (i == n) {
            double rest = 0;
            for (std::size_t j = 0; j < used.size(); ++j) {
                rest += used[j] ? 0 : insert(j);
            }
            return rest;
        }
        double best = remove(i) + self(self, i + 1, n, used, replace, remove, insert);
        for (std::size_t j = 0; j < used.size(); ++j) {
            if (!used[j]) {
                used[j] = true;
                best = std::min(best, replace(i, j) + self(self, i + 1, n, used, replace, remove, insert));
                used[j] = false;
            }
        }
        return best;
    };
    std::vector<bool> used(static_cast<std::size_t>(right.n), false);
    const auto node = [](std::size_t i) { return static_cast<Node>(i); };
    return match(
        match, 0, static_cast<std::size_t>(left.n), used,
        [&](std::size_t i, std::size_t j) {
            const auto from = edges_of(left, node(i));
            const auto to = edges_of(right, node(j));
            std::vector<bool> taken(to.size(), false);
            return costs.relabel_node(left.labels[i], right.labels[j]) +
                   share * match(
                               match, 0, from.size(), taken,
                               [&](std::size_t x, std::size_t y) { return costs.relabel_edge(from[x], to[y]); },
                               [&](std::size_t) { return costs.edge_delete; },
                               [&](std::size_t) { return costs.edge_insert; });
        },
        [&](std::size_t i) { return costs.node_delete + share * costs.edge_delete * left.degree(node(i)); },
        [&](std::size_t j) { return costs.node_insert + share * costs.edge_insert * right.degree(node(j)); });
}

}  // namespace

TEST("the cost of a map is that of its definition, at every size and under any costs") {
    oracle::Random random(1);
    for (const int n : {0, 1, 2, 7, 63, 64, 65, 128, 129, 256, 257, 400}) {
        for (int trial = 0; trial < 6; ++trial) {
            const int m = std::max(0, n - draw(random, 0, 5));
            const auto a = oracle::random_graph(random, n, 0.1, 3, 2);
            const auto b = oracle::random_graph(random, m, 0.1, 3, 2);
            oracle::Costs costs;
            if (trial % 2 == 1) {
                oracle::random_costs(random, 3, 2, costs);
            }
            const auto mapping = oracle::random_map(random, n, m, trial < 3 ? 0 : 0.3);
            const double cost = ged::edit_cost(a.view(), b.view(), costs.costs, mapping);
            CHECK(cost == oracle::edit_cost(a.view(), b.view(), costs.costs, mapping), n, m, trial);
        }
    }
}

TEST("the distance in the other direction under reversed costs is the same") {
    oracle::Random random(2);
    for (int trial = 0; trial < 300; ++trial) {
        const Case pair(random, 4, false);
        const double there = oracle::brute_force(pair.a.view(), pair.b.view(), pair.costs.costs).distance;
        CHECK(there == oracle::brute_force(pair.b.view(), pair.a.view(), pair.costs.costs.turned()).distance);
        CHECK(there == oracle::astar(pair.a.view(), pair.b.view(), pair.costs.costs).distance);
    }
}

TEST("hed <= branch-lower <= exact <= every upper bound, which is the true cost of its map") {
    oracle::Random random(3);
    Workspace workspace;
    for (int trial = 0; trial < 1500; ++trial) {
        const Case pair(random, 5, trial % 3 == 0);
        const GraphView a = pair.a.view();
        const GraphView b = pair.b.view();
        const EditCosts& costs = pair.costs.costs;
        const double exact = oracle::brute_force(a, b, costs).distance;
        for (const Method method : methods) {
            const auto [bounds, mapping] = solve(a, b, costs, method, workspace);
            CHECK(oracle::is_map(a, b, mapping), trial, static_cast<int>(method));
            if (method == Method::hed) {
                CHECK(std::isnan(bounds.upper));
                continue;
            }
            CHECK(bounds.upper == oracle::edit_cost(a, b, costs, mapping), trial, static_cast<int>(method));
            CHECK(bounds.upper >= exact, trial, static_cast<int>(method), bounds.upper, exact);
        }
        const Bounds proven = solve(a, b, costs, Method::exact, workspace).bounds;
        CHECK(proven.proven && proven.upper == exact, trial, proven.lower, proven.upper, exact);
        const Bounds branch = solve(a, b, costs, Method::branch, workspace).bounds;
        const Bounds hed = solve(a, b, costs, Method::hed, workspace).bounds;
        CHECK(hed.lower <= branch.lower, trial, hed.lower, branch.lower);
        CHECK(branch.lower <= exact, trial, branch.lower, exact);
        CHECK(hed.lower >= size_lower_bound(a, b, costs), trial);
        CHECK(branch.proven == (branch.lower == branch.upper), trial);
    }
}

TEST("the local assignment is the cheapest there is, with half edges and with whole ones") {
    oracle::Random random(4);
    BipartiteWorkspace workspace;
    for (int trial = 0; trial < 1500; ++trial) {
        Case pair(random, 5, trial % 3 == 0);
        if (pair.a.labels.size() > pair.b.labels.size()) {
            std::swap(pair.a, pair.b);
        }
        for (const EdgeShare share : {EdgeShare::half, EdgeShare::whole}) {
            const auto [found, optimal, planned] = assign_nodes(pair.a.view(), pair.b.view(), pair.costs.costs, share,
                                                                RightOrder::ascending, Deadline(), workspace);
            CHECK(optimal);
            const double best =
                local_optimum(pair.a.view(), pair.b.view(), pair.costs.costs, share == EdgeShare::half ? 0.5 : 1);
            CHECK(std::abs(found - best) < 1e-9, trial, found, best);
        }
    }
}

TEST("integers and doubles agree where costs are uniform") {
    oracle::Random random(5);
    Workspace workspace;
    for (int trial = 0; trial < 300; ++trial) {
        const int labels = trial % 2 == 0 ? 5 : 40;
        const auto a = oracle::random_graph(random, draw(random, 0, 70), 0.1, labels);
        const auto b = oracle::random_graph(random, draw(random, 0, 70), 0.1, labels);
        EditCosts almost;
        almost.edge_relabel = 1;  // no edge has a label, so it is never paid; but the costs are not `uniform`
        for (const Method method : {Method::branch, Method::hed}) {
            const double integer = solve(a.view(), b.view(), EditCosts{}, method, workspace).bounds.lower;
            CHECK(integer == solve(a.view(), b.view(), almost, method, workspace).bounds.lower, trial);
        }
    }
}

TEST("bounds do not depend on the order of the two graphs") {
    oracle::Random random(6);
    Workspace workspace;
    for (int trial = 0; trial < 600; ++trial) {
        const Case pair(random, 12, trial % 2 == 0);
        const GraphView a = pair.a.view();
        const GraphView b = trial % 7 == 0 ? a : pair.b.view();
        const EditCosts& costs = pair.costs.costs;
        for (const Method method : methods) {
            const Bounds there = solve(a, b, costs, method, workspace).bounds;
            const Bounds back = solve(b, a, costs.turned(), method, workspace).bounds;
            CHECK(there.lower == back.lower || (std::isnan(there.lower) && std::isnan(back.lower)), trial);
            CHECK(there.upper == back.upper || (std::isnan(there.upper) && std::isnan(back.upper)), trial);
        }
    }
}

TEST("a graph is at distance 0 from itself") {
    oracle::Random random(7);
    Workspace workspace;
    for (const int n : {0, 1, 5, 40, 300}) {
        const auto a = oracle::random_sparse_graph(random, n, n / 4, 3);
        const Bounds bounds = solve(a.view(), a.view(), EditCosts{}, Method::branch, workspace).bounds;
        CHECK(bounds.upper == 0 && bounds.lower == 0 && bounds.proven, n, bounds.lower, bounds.upper);
    }
}

TEST("graphs of thousands of nodes, of few kinds or of many, keep the order of the bounds") {
    oracle::Random random(8);
    Workspace workspace;
    EditCosts costly;
    costly.node_insert = 3;
    costly.edge_delete = 0.5;
    for (const int labels : {1, 3, 10000}) {
        const auto a = oracle::random_sparse_graph(random, 4000, 2000, labels);
        const auto b = oracle::random_sparse_graph(random, 3500, 900, labels);
        for (const EditCosts& costs : {EditCosts{}, costly}) {
            const auto [bounds, mapping] = solve(a.view(), b.view(), costs, Method::branch, workspace);
            CHECK(oracle::is_map(a.view(), b.view(), mapping));
            CHECK(ged::edit_cost(a.view(), b.view(), costs, mapping) == bounds.upper);
            CHECK(bounds.lower <= bounds.upper);
            CHECK(solve(a.view(), b.view(), costs, Method::hed, workspace).bounds.lower <= bounds.lower);
        }
    }
}

TEST("a deadline that has passed still gives a map and valid bounds") {
    oracle::Random random(9);
    Workspace workspace;
    for (int trial = 0; trial < 200; ++trial) {
        const Case pair(random, 5, trial % 2 == 0);
        const double exact = oracle::brute_force(pair.a.view(), pair.b.view(), pair.costs.costs).distance;
        for (const Method method : methods) {
            std::vector<Node> mapping(pair.a.labels.size());
            const Bounds bounds = edit_distance(pair.a.view(), pair.b.view(), pair.costs.costs, {.method = method},
                                                Deadline(0), workspace, mapping);
            CHECK(oracle::is_map(pair.a.view(), pair.b.view(), mapping));
            CHECK(!(bounds.lower > exact) && !(bounds.upper < exact), trial);
        }
    }
}

int main(int argc, char** argv) {
    return check::run(argc > 1 ? argv[1] : "");
}
