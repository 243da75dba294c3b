#include <algorithm>
#include <cmath>
#include <vector>

#include "../ged/edit_cost.hpp"
#include "../ged/ged.hpp"
#include "../ged/workspace.hpp"
#include "check.hpp"
#include "oracles.hpp"

/// Unit costs where labels of edges count: the integer solvers against brute force, the general search, and laws.
namespace {

using namespace uge;
using namespace uge::ged;
using oracle::draw;
using oracle::Random;

const Deadline never;
constexpr Method methods[] = {Method::exact,  Method::beam,   Method::hungarian, Method::vj,   Method::hed,
                              Method::branch, Method::refine, Method::paper,     Method::tight};

auto unit_costs() -> EditCosts {
    EditCosts costs;
    costs.edge_relabel = 1;
    return costs;
}

auto solve(const oracle::Graph& a, const oracle::Graph& b, Method method, const EditCosts& costs = unit_costs(),
           const Deadline& deadline = never) -> Bounds {
    static Workspace workspace;
    const GraphView left = a.view();
    const GraphView right = b.view();
    std::vector<Node> map(static_cast<std::size_t>(left.n));
    const Bounds found = edit_distance(left, right, costs, {.method = method}, deadline, workspace, map);
    CHECK(!(found.lower > found.upper) && (!found.proven || found.lower == found.upper), static_cast<int>(method));
    if (method != Method::hed) {
        CHECK(oracle::is_map(left, right, map), static_cast<int>(method));
        CHECK(oracle::edit_cost(left, right, costs, map) == found.upper, static_cast<int>(method), found.upper);
    }
    return found;
}

/// All methods around the truth, in both directions.
auto check_pair(const oracle::Graph& a, const oracle::Graph& b, double truth) -> void {
    for (const Method method : methods) {
        const Bounds found = solve(a, b, method);
        const int number = static_cast<int>(method);
        CHECK(!(found.lower > truth) && !(found.upper < truth), number, found.lower, found.upper, truth);
        CHECK(method != Method::exact || found.proven, truth);
        const Bounds back = solve(b, a, method);
        const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
        CHECK(same(back.lower, found.lower) && same(back.upper, found.upper), number);
    }
}

TEST("edge labels: every solver brackets brute force, exact equals it, on graphs of any density") {
    Random random(31);
    for (int trial = 0; trial < 600; ++trial) {
        const int labels = draw(random, 1, 3);
        const int edge_labels = draw(random, 0, 4) == 0 ? 12 : draw(random, 1, 3);
        const auto a = oracle::random_graph(random, draw(random, 0, 6), draw(random), labels, edge_labels);
        const auto b = oracle::random_graph(random, draw(random, 0, 6), draw(random), labels, edge_labels);
        check_pair(a, b, oracle::brute_force(a.view(), b.view(), unit_costs()).distance);
    }
}

TEST("edge labels: graphs of interchangeable nodes, and one side without labels") {
    Random random(32);
    for (int trial = 0; trial < 300; ++trial) {
        // Few labels on dense or empty graphs: many nodes are twins but for the label of an edge.
        const double density = trial % 2 == 0 ? 1 : 0.8;
        const auto a = oracle::random_graph(random, draw(random, 2, 6), density, 1, draw(random, 1, 2));
        const auto b = oracle::random_graph(random, draw(random, 2, 6), density, 1, trial % 3 == 0 ? 0 : 2);
        check_pair(a, b, oracle::brute_force(a.view(), b.view(), unit_costs()).distance);
    }
}

/// A random tree with some rings, edges labeled.
auto molecule(Random& random, int n, int extra, int labels, int edge_labels) -> oracle::Graph {
    auto made = oracle::random_sparse_graph(random, n, extra, labels);
    const GraphView view = made.view();
    std::vector<oracle::Edge> edges;
    for (Node u = 0; u < view.n; ++u) {
        for (const Node v : view.neighbors(u)) {
            if (v < u) {
                edges.push_back({u, v, draw(random, 0, edge_labels - 1)});
            }
        }
    }
    return oracle::graph(made.labels, edges, true);
}

TEST("edge labels: hubs with more edges than are matched exactly, within every limit") {
    Random random(36);
    Workspace workspace;
    for (int trial = 0; trial < 100; ++trial) {
        const auto hub = [&](int n) {
            std::vector<Label> labels(static_cast<std::size_t>(n));
            std::vector<oracle::Edge> edges;
            for (Node v = 1; v < n; ++v) {
                labels[static_cast<std::size_t>(v)] = draw(random, 0, 1);
                edges.push_back({0, v, draw(random, 0, 2)});
                if (v > 1 && draw(random, 0, 2) == 0) {
                    edges.push_back({v - 1, v, draw(random, 0, 2)});
                }
            }
            return oracle::graph(labels, edges, true);
        };
        const auto a = hub(draw(random, 6, 7));
        const auto b = hub(draw(random, 6, 7));
        const double truth = oracle::brute_force(a.view(), b.view(), unit_costs()).distance;
        check_pair(a, b, truth);
        std::vector<Node> map(a.labels.size());
        for (double limit = 0; limit <= truth + 1; ++limit) {
            const Bounds found = within(a.view(), b.view(), unit_costs(), limit, never, workspace, map);
            CHECK(limit < truth ? found.lower > limit && found.lower <= truth : found.proven && found.upper == truth,
                  limit, found.lower, found.upper, truth);
        }
    }
}

TEST("edge labels: equal to the general search on graphs too large for brute force") {
    Random random(33);
    GeneralSearch general;
    for (int trial = 0; trial < 120; ++trial) {
        const int n = draw(random, 6, 9);
        const int m = draw(random, n, 10);
        const int labels = draw(random, 1, 4);
        const auto a = molecule(random, n, 2, labels, 3);
        const auto b = molecule(random, m, 2, labels, 3);
        std::vector<Node> map(static_cast<std::size_t>(n), -1);
        const double start = oracle::edit_cost(a.view(), b.view(), unit_costs(), map);
        const auto truth = general.run(a.view(), b.view(), unit_costs(), never, 0, start, no_limit, map);
        CHECK(truth.proven);
        check_pair(a, b, truth.upper);
    }
}

TEST("edge labels: with one label for all edges they make no difference") {
    Random random(34);
    for (int trial = 0; trial < 100; ++trial) {
        const auto a = molecule(random, draw(random, 5, 20), 2, 3, 1);
        const auto b = molecule(random, draw(random, 5, 20), 2, 3, 1);
        for (const Method method : {Method::exact, Method::branch, Method::hed}) {
            const double with = solve(a, b, method).lower;
            const double without = solve(a, b, method, {}).lower;
            CHECK(with == without, static_cast<int>(method), with, without);
        }
    }
}

TEST("edge labels: d edits are never more than d apart, in graphs of any size and degree") {
    Random random(35);
    for (int trial = 0; trial < 30; ++trial) {
        const int n = trial % 3 == 0 ? 150 : draw(random, 20, 45);
        oracle::Graph a;
        if (trial % 3 == 0) {  // a hub with more neighbors than a byte counts, signed
            std::vector<oracle::Edge> edges;
            for (Node v = 1; v < n; ++v) {
                edges.push_back({0, v, draw(random, 0, 2)});
            }
            a = oracle::graph(std::vector<Label>(static_cast<std::size_t>(n), 0), edges, true);
        } else {
            a = trial % 3 == 1 ? molecule(random, n, 3, 4, 3) : oracle::random_graph(random, n, 0.3, 3, 3);
        }
        auto b = a;
        const int changes = draw(random, 0, 3);
        for (int i = 0; i < changes; ++i) {  // one edge gets another label, at both its ends
            const Node u = draw(random, 0, n - 1);
            for (auto e = b.indptr[static_cast<std::size_t>(u)]; e < b.indptr[static_cast<std::size_t>(u) + 1]; ++e) {
                const Node v = b.indices[static_cast<std::size_t>(e)];
                const auto back = find_edge(b.view(), v, u);
                const Label label = (b.edge_labels[static_cast<std::size_t>(e)] + 1) % 3;
                b.edge_labels[static_cast<std::size_t>(e)] = b.edge_labels[static_cast<std::size_t>(back)] = label;
                break;
            }
        }
        const auto c = oracle::shuffled(random, b);
        Workspace workspace;
        std::vector<Node> map(static_cast<std::size_t>(n));
        for (const Method method : {Method::exact, Method::tight, Method::branch, Method::hed}) {
            const Bounds found = solve(a, c, method, unit_costs(), Deadline(0.05));
            CHECK(found.lower <= changes, static_cast<int>(method), found.lower, changes);
        }
        const Bounds near = within(a.view(), c.view(), unit_costs(), 3, Deadline(0.5), workspace, map);
        CHECK(near.lower <= changes, near.lower, changes);
        if (near.proven) {
            CHECK(oracle::edit_cost(a.view(), c.view(), unit_costs(), map) == near.upper && near.upper <= changes);
        }
    }
}

}  // namespace

auto main(int argc, char** argv) -> int {
    return check::run(argc > 1 ? argv[1] : "");
}
