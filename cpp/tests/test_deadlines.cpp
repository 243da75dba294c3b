// Every solver returns at its deadline, with valid bounds, however large the graphs.
#include <cmath>
#include <ctime>
#include <vector>

#include "../ged/edit_cost.hpp"
#include "../ged/ged.hpp"
#include "../ged/workspace.hpp"
#include "../mcs/mcs.hpp"
#include "../substructures/paths.hpp"
#include "check.hpp"
#include "oracles.hpp"

namespace {

using namespace uge;
using ged::Method;

constexpr Method methods[] = {Method::exact,  Method::beam,   Method::hungarian, Method::vj,   Method::hed,
                              Method::branch, Method::refine, Method::paper,     Method::tight};

constexpr double limit = 0.02;
constexpr double late = 1.0;  // generous: sanitizers are slow. Without deadlines inside, solvers took 5 to 80 seconds.

/// CPU time: what else the machine does is not the solver's fault.
auto cpu_seconds() -> double {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Rows appended one by one, neighbors ascending: `oracle::graph` takes long where edges are millions.
template <class Adjacent>
auto large_graph(int n, int labels, int edge_labels, const Adjacent& adjacent) -> oracle::Graph {
    oracle::Graph made;
    for (Node u = 0; u < n; ++u) {
        made.labels.push_back(u % labels);
        adjacent(u, [&](Node v) {
            made.indices.push_back(v);
            if (edge_labels > 0) {
                made.edge_labels.push_back((u + v) % edge_labels);
            }
        });
        made.indptr.push_back(static_cast<std::int64_t>(made.indices.size()));
    }
    return made;
}

/// About half of all edges.
auto dense(int n, int labels, int edge_labels, unsigned salt) -> oracle::Graph {
    return large_graph(n, labels, edge_labels, [&](Node u, const auto& add) {
        for (Node v = 0; v < n; ++v) {
            const auto low = static_cast<unsigned>(std::min(u, v));
            const auto high = static_cast<unsigned>(std::max(u, v));
            if (u != v && ((low * 2654435761U + high * 40503U + salt) >> 13) % 2 == 0) {
                add(v);
            }
        }
    });
}

auto star(int n) -> oracle::Graph {
    return large_graph(n, 1, 0, [&](Node u, const auto& add) {
        for (Node v = u == 0 ? 1 : 0; v < (u == 0 ? n : 1); ++v) {
            add(v);
        }
    });
}

auto path(int n) -> oracle::Graph {
    return large_graph(n, 1, 0, [&](Node u, const auto& add) {
        if (u > 0) {
            add(u - 1);
        }
        if (u + 1 < n) {
            add(u + 1);
        }
    });
}

auto isolated(int n, int labels) -> oracle::Graph {
    return large_graph(n, labels, 0, [](Node, const auto&) {});
}

/// Costs of every kind of path through the solvers.
struct AllCosts {
    std::vector<double> matrix = {0, 0.4, 0.9, 0.3, 0, 0.2, 0.7, 0.1, 0};
    std::vector<EditCosts> costs{3};

    AllCosts() {
        costs[1].edge_relabel = 0.3;
        costs[1].node_insert = 0.7;
        costs[2].edge_matrix = matrix.data();
        costs[2].num_edge_labels = 3;
    }
};

auto check_deadline(const oracle::Graph& a, const oracle::Graph& b) -> void {
    const AllCosts all;
    for (const double seconds : {0.0, limit}) {
        for (std::size_t kind = 0; kind < all.costs.size(); ++kind) {
            for (const Method method : methods) {
                ged::Workspace workspace;
                std::vector<Node> mapping(a.labels.size());
                const double start = cpu_seconds();
                const auto bounds = ged::edit_distance(a.view(), b.view(), all.costs[kind], {.method = method},
                                                       Deadline(seconds), workspace, mapping);
                const double took = cpu_seconds() - start;
                CHECK(took < seconds + late, a.view().n, b.view().n, kind, static_cast<int>(method), took);
                CHECK(!(bounds.lower > bounds.upper), bounds.lower, bounds.upper);
                CHECK(oracle::is_map(a.view(), b.view(), mapping), kind, static_cast<int>(method));
                if (method != Method::hed) {
                    const double cost = ged::edit_cost(a.view(), b.view(), all.costs[kind], mapping);
                    CHECK(std::abs(cost - bounds.upper) < 1e-6 * (1 + cost), kind, static_cast<int>(method), cost,
                          bounds.upper);
                }
            }
        }
        for (const bool connected : {false, true}) {
            for (const bool edge_labels : {false, true}) {
                mcs::Workspace workspace;
                std::vector<Node> mapping(a.labels.size());
                const double start = cpu_seconds();
                const auto bounds =
                    mcs::max_common_subgraph(a.view(), b.view(), {.connected = connected, .edge_labels = edge_labels},
                                             Deadline(seconds), workspace, mapping);
                const double took = cpu_seconds() - start;
                CHECK(took < seconds + late, "mcs", a.view().n, b.view().n, connected, edge_labels, took);
                CHECK(bounds.lower <= bounds.upper, bounds.lower, bounds.upper);
            }
        }
    }
}

}  // namespace

TEST("dense graphs of a thousand nodes") {
    check_deadline(dense(1000, 5, 3, 1), dense(1100, 5, 3, 2));
}

TEST("dense graphs of 250 nodes, small enough for every kind of table") {
    check_deadline(dense(250, 5, 3, 1), dense(250, 5, 3, 2));
}

TEST("a star and a path of 20,000 nodes") {
    check_deadline(star(20000), path(20000));
}

TEST("nodes without edges, all different or of a few labels") {
    check_deadline(isolated(20000, 3), isolated(20000, 4));
    check_deadline(isolated(20000, 20000), isolated(20000, 19000));
}

TEST("an exact search that is stopped at any moment gives valid bounds") {
    oracle::Random random(1);
    ged::Workspace workspace;
    for (int trial = 0; trial < 60; ++trial) {
        const int edge_labels = trial % 2 == 0 ? 0 : 2;
        const auto a = oracle::random_graph(random, oracle::draw(random, 16, 28), 0.12, 2, edge_labels);
        const auto b = oracle::random_graph(random, oracle::draw(random, 16, 28), 0.12, 2, edge_labels);
        EditCosts costs;
        costs.edge_relabel = edge_labels > 0 ? 1 : 0;
        std::vector<Node> mapping(a.labels.size());
        for (double seconds = 1e-4; seconds < 1e-2; seconds *= 1.3) {
            const auto bounds = ged::edit_distance(a.view(), b.view(), costs, {.method = Method::exact},
                                                   Deadline(seconds), workspace, mapping);
            CHECK(bounds.lower <= bounds.upper, trial, seconds, bounds.lower, bounds.upper);
            CHECK(ged::edit_cost(a.view(), b.view(), costs, mapping) == bounds.upper, trial, seconds, bounds.upper);
        }
    }
}

TEST("shortest paths stop at their deadline") {
    substructures::PathCounter counter;
    for (const auto& graph : {dense(2000, 5, 0, 1), path(20000)}) {
        const double start = cpu_seconds();
        const auto* counts = counter.count(graph.view(), true, Deadline(limit));
        CHECK(counts == nullptr, graph.view().n);
        CHECK(cpu_seconds() - start < limit + late, cpu_seconds() - start);
    }
}

auto main(int argc, char** argv) -> int {
    return check::run(argc > 1 ? argv[1] : "");
}
