#include <cmath>
#include <map>
#include <string>

#include "../ged/beam.hpp"
#include "../ged/published_beam.hpp"
#include "../ged/refine.hpp"
#include "../ged/tight.hpp"
#include "check.hpp"
#include "oracles.hpp"

using namespace uge;
using namespace uge::ged;
using oracle::draw;
using Map = std::vector<Node>;

namespace {

const Deadline never;

struct Solvers {
    BeamWorkspace beams;
    PublishedBeamWorkspace published;
    RefineWorkspace refined;
    TightWorkspace tightened;
};

enum class Solver { narrow_beam, beam, published_beam, refine_deleted, refine_random, tight };
constexpr Solver all_solvers[] = {Solver::narrow_beam,    Solver::beam,          Solver::published_beam,
                                  Solver::refine_deleted, Solver::refine_random, Solver::tight};

auto solve(Solver solver, const GraphView& left, const GraphView& right, const EditCosts& costs, Solvers& solvers,
           Map& map) -> double {
    oracle::Random random(7);
    map.assign(static_cast<std::size_t>(left.n), -1);
    switch (solver) {
        case Solver::narrow_beam:
            return beam(left, right, costs, 2, never, solvers.beams, map);
        case Solver::beam:
            return beam(left, right, costs, 80, never, solvers.beams, map);
        case Solver::published_beam:
            return published_beam(left, right, costs, 80, never, solvers.published, map);
        case Solver::refine_deleted:
            return refine(left, right, costs, never, solvers.refined, map);
        case Solver::refine_random:
            map = oracle::random_map(random, left.n, right.n, 0.3);
            return refine(left, right, costs, never, solvers.refined, map);
        case Solver::tight:
            break;
    }
    const Bounds bounds = tight(left, right, costs, no_limit, never, solvers.tightened, map);
    CHECK(bounds.lower <= bounds.upper, bounds.lower, bounds.upper);
    CHECK(bounds.proven == (bounds.lower == bounds.upper), bounds.lower, bounds.upper);
    return bounds.upper;
}

/// Checks what holds for every answer; returns the cost.
auto checked(Solver solver, const oracle::Graph& left, const oracle::Graph& right, const EditCosts& costs,
             Solvers& solvers, Map& map) -> double {
    const double cost = solve(solver, left.view(), right.view(), costs, solvers, map);
    CHECK(oracle::is_map(left.view(), right.view(), map), static_cast<int>(solver));
    const double truth = edit_cost(left.view(), right.view(), costs, map);
    CHECK(std::abs(cost - truth) < 1e-9, static_cast<int>(solver), cost, truth, left.labels.size(),
          right.labels.size());
    Map again;
    Solvers fresh;
    CHECK(solve(solver, left.view(), right.view(), costs, fresh, again) == cost && again == map,
          static_cast<int>(solver));
    return cost;
}

/// A pair of random graphs, the left one not larger.
auto random_pair(oracle::Random& random, int largest, int edge_labels) -> std::pair<oracle::Graph, oracle::Graph> {
    const int m = draw(random, 0, largest);
    const int n = draw(random, 0, m);
    const double density = draw(random);
    auto left = oracle::random_graph(random, n, density, 3, edge_labels);
    auto right = oracle::random_graph(random, m, draw(random), 3, edge_labels);
    return {std::move(left), std::move(right)};
}

auto star(int leaves) -> oracle::Graph {
    std::vector<oracle::Edge> edges;
    for (Node v = 1; v <= leaves; ++v) {
        edges.push_back({0, v});
    }
    return oracle::graph(std::vector<Label>(static_cast<std::size_t>(leaves) + 1, 0), edges);
}

}  // namespace

TEST("costs are true, never below the distance, and mostly the distance itself on small graphs") {
    oracle::Random random(1);
    Solvers solvers;
    Map map;
    constexpr int rounds = 300;
    int optimal[std::size(all_solvers)] = {};
    for (int round = 0; round < rounds; ++round) {
        const auto [left, right] = random_pair(random, 5, 0);
        const double distance = oracle::brute_force(left.view(), right.view(), {}).distance;
        for (const Solver solver : all_solvers) {
            const double cost = checked(solver, left, right, {}, solvers, map);
            CHECK(cost >= distance, cost, distance);
            optimal[static_cast<int>(solver)] += cost == distance;
        }
    }
    CHECK(optimal[static_cast<int>(Solver::tight)] > 0.98 * rounds, optimal[static_cast<int>(Solver::tight)]);
    CHECK(optimal[static_cast<int>(Solver::beam)] > 0.95 * rounds, optimal[static_cast<int>(Solver::beam)]);
    CHECK(optimal[static_cast<int>(Solver::refine_random)] > 0.9 * rounds);
}

TEST("the same holds for costs of every kind, with labels on edges and without") {
    oracle::Random random(2);
    Solvers solvers;
    Map map;
    constexpr int rounds = 300;
    int optimal[std::size(all_solvers)] = {};
    int deletions = 0;
    for (int round = 0; round < rounds; ++round) {
        const int edge_labels = draw(random, 0, 2);
        const auto [left, right] = random_pair(random, 5, edge_labels);
        oracle::Costs costs;
        oracle::random_costs(random, 3, edge_labels, costs);
        const auto best = oracle::brute_force(left.view(), right.view(), costs.costs);
        for (const Solver solver : all_solvers) {
            const double cost = checked(solver, left, right, costs.costs, solvers, map);
            CHECK(cost >= best.distance - 1e-9, cost, best.distance);
            optimal[static_cast<int>(solver)] += cost <= best.distance + 1e-9;
        }
        deletions += std::find(map.begin(), map.end(), -1) != map.end();
    }
    CHECK(deletions > 0);
    CHECK(optimal[static_cast<int>(Solver::tight)] > 0.95 * rounds, optimal[static_cast<int>(Solver::tight)]);
    CHECK(optimal[static_cast<int>(Solver::beam)] > 0.9 * rounds, optimal[static_cast<int>(Solver::beam)]);
}

TEST("costs are true on graphs of every size that is treated in its own way") {
    oracle::Random random(3);
    Solvers solvers;
    Map map;
    oracle::Costs general;
    oracle::random_costs(random, 4, 0, general);
    for (const int m : {15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 256, 257, 520}) {
        for (const double density : {0.0, 0.1, 0.9}) {
            const int n = draw(random, 1, m);
            const bool sparse = density == 0.1;
            const auto left =
                sparse ? oracle::random_sparse_graph(random, n, n / 8, 4) : oracle::random_graph(random, n, density, 4);
            const auto right =
                sparse ? oracle::random_sparse_graph(random, m, m / 8, 4) : oracle::random_graph(random, m, density, 4);
            for (const Solver solver : all_solvers) {
                if (m <= 33 || (solver != Solver::beam && (m <= 129 || (sparse && solver == Solver::tight)))) {
                    const double cost = checked(solver, left, right, {}, solvers, map);
                    CHECK(std::find(map.begin(), map.end(), -1) == map.end() || m > 256 ||
                              solver == Solver::published_beam,
                          m, cost);
                    checked(solver, left, right, general.costs, solvers, map);
                }
            }
        }
    }
}

TEST("uniform costs give as good a map when they come as a matrix") {
    oracle::Random random(4);
    Solvers solvers;
    Map map;
    std::vector<double> matrix(16, 1);
    for (std::size_t label = 0; label < 4; ++label) {
        matrix[label * 5] = 0;
    }
    EditCosts general;
    general.node_matrix = matrix.data();
    general.num_node_labels = 4;
    double sum[2] = {};
    for (int round = 0; round < 50; ++round) {
        const auto left = oracle::random_sparse_graph(random, draw(random, 5, 20), 2, 4);
        const auto right = oracle::random_sparse_graph(random, draw(random, 20, 30), 3, 4);
        sum[0] += checked(Solver::tight, left, right, {}, solvers, map);
        sum[1] += checked(Solver::tight, left, right, general, solvers, map);
    }
    CHECK(std::abs(sum[0] - sum[1]) < 0.03 * sum[0], sum[0], sum[1]);
}

TEST("a graph is found again when its nodes are shuffled") {
    oracle::Random random(5);
    Solvers solvers;
    Map map;
    int found = 0;
    constexpr int rounds = 50;
    for (int round = 0; round < rounds; ++round) {
        const auto graph = oracle::random_sparse_graph(random, draw(random, 10, 60), 4, 4);
        found += checked(Solver::tight, graph, oracle::shuffled(random, graph), {}, solvers, map) == 0;
    }
    CHECK(found > 0.95 * rounds, found);
}

TEST("refinement never makes a map worse") {
    oracle::Random random(6);
    RefineWorkspace workspace;
    for (int round = 0; round < 200; ++round) {
        const auto [left, right] = random_pair(random, 20, 2);
        oracle::Costs costs;
        oracle::random_costs(random, 3, 2, costs);
        Map map = oracle::random_map(random, left.view().n, right.view().n, 0.2);
        const double before = edit_cost(left.view(), right.view(), costs.costs, map);
        const double after = refine(left.view(), right.view(), costs.costs, never, workspace, map);
        CHECK(after <= before + 1e-9, before, after);
    }
}

TEST("wider beams do better on the whole") {
    oracle::Random random(8);
    Solvers solvers;
    Map map;
    double narrow = 0;
    double wide = 0;
    for (int round = 0; round < 50; ++round) {
        const auto left = oracle::random_sparse_graph(random, draw(random, 5, 20), 2, 3);
        const auto right = oracle::random_sparse_graph(random, draw(random, 20, 40), 3, 3);
        narrow += beam(left.view(), right.view(), {}, 1, never, solvers.beams, (map.resize(left.labels.size()), map));
        wide += beam(left.view(), right.view(), {}, 300, never, solvers.beams, map);
    }
    CHECK(wide < 0.95 * narrow, wide, narrow);
}

/// The beam as Neuhaus et al. (2006) describe it: every partial map is whole, and its cost is counted from scratch over
/// the nodes that it decides.
auto plain_beam(const GraphView& left, const GraphView& right, const EditCosts& costs, std::size_t width) -> double {
    const auto cost_so_far = [&](const Map& map) {
        double cost = 0;
        for (Node u = 0; u < static_cast<Node>(map.size()); ++u) {
            const Node x = map[static_cast<std::size_t>(u)];
            cost += x < 0 ? costs.node_delete : costs.relabel_node(left.labels[u], right.labels[x]);
            for (Node v = 0; v < u; ++v) {
                const Node y = map[static_cast<std::size_t>(v)];
                const auto e = find_edge(left, u, v);
                const auto f = x < 0 || y < 0 ? -1 : find_edge(right, x, y);
                cost += e >= 0 && f >= 0 ? keep_edge(costs, edge_label_at(left, e), edge_label_at(right, f))
                        : e >= 0         ? costs.edge_delete
                        : f >= 0         ? costs.edge_insert
                                         : 0;
            }
        }
        return cost;
    };
    struct Path {
        Map map;
        bool whole;
    };
    std::multimap<double, Path> open{{0, {{}, false}}};
    while (true) {
        const auto [cost, path] = *open.begin();
        open.erase(open.begin());
        const auto images =
            path.map.size() - static_cast<std::size_t>(std::count(path.map.begin(), path.map.end(), -1));
        const bool no_left = path.map.size() == static_cast<std::size_t>(left.n);
        const bool no_right = images == static_cast<std::size_t>(right.n);
        if (path.whole || (no_left && no_right)) {
            return cost;
        }
        Map next = path.map;
        if (no_left || no_right) {
            next.resize(static_cast<std::size_t>(left.n), -1);
            open.insert({edit_cost(left, right, costs, next), {next, true}});
        } else {
            next.push_back(-1);
            for (Node x = 0; x <= right.n; ++x) {
                next.back() = x < right.n ? x : -1;
                if (std::find(path.map.begin(), path.map.end(), x) == path.map.end()) {
                    open.insert({cost_so_far(next), {next, false}});
                }
            }
        }
        while (open.size() > width) {
            open.erase(std::prev(open.end()));
        }
    }
}

TEST("the published beam does what its definition says, at every width and under any costs") {
    oracle::Random random(11);
    Solvers solvers;
    for (int round = 0; round < 400; ++round) {
        const int edge_labels = draw(random, 0, 2);
        auto [left, right] = random_pair(random, 8, edge_labels);
        if (round % 2 == 0) {
            std::swap(left, right);
        }
        oracle::Costs costs;
        if (round % 3 != 0) {
            oracle::random_costs(random, 3, edge_labels, costs);
        }
        const int width = draw(random, 1, 12);
        Map map(left.labels.size());
        const double cost =
            published_beam(left.view(), right.view(), costs.costs, width, never, solvers.published, map);
        CHECK(cost == edit_cost(left.view(), right.view(), costs.costs, map), round);
        const double plain = plain_beam(left.view(), right.view(), costs.costs, static_cast<std::size_t>(width));
        CHECK(std::abs(cost - plain) < 1e-9, round, width, cost, plain);
    }
}

TEST("the published beam is exact when it is wide enough to drop nothing") {
    oracle::Random random(12);
    Solvers solvers;
    for (int round = 0; round < 100; ++round) {
        const auto [left, right] = random_pair(random, 4, 0);
        oracle::Costs costs;
        oracle::random_costs(random, 3, 0, costs);
        Map map(left.labels.size());
        const double cost = published_beam(left.view(), right.view(), costs.costs, 5000, never, solvers.published, map);
        CHECK(std::abs(cost - oracle::brute_force(left.view(), right.view(), costs.costs).distance) < 1e-9, round);
    }
}

TEST("stars of thousands of leaves are matched hub to hub") {
    Solvers solvers;
    Map map;
    const auto small = star(3000);
    const auto large = star(3900);
    CHECK(checked(Solver::tight, small, large, {}, solvers, map) == 1800);
    CHECK(checked(Solver::refine_deleted, small, large, {}, solvers, map) == 1800);
}

TEST("trees of 4,000 nodes take milliseconds, not minutes") {
    oracle::Random random(9);
    Solvers solvers;
    Map map;
    const auto left = oracle::random_sparse_graph(random, 3800, 200, 1);
    const auto right = oracle::random_sparse_graph(random, 4000, 100, 1);
    const auto start = Deadline::Clock::now();
    const double cost = solve(Solver::tight, left.view(), right.view(), {}, solvers, map);
    const std::chrono::duration<double> took = Deadline::Clock::now() - start;
    CHECK(took.count() < 2, took.count());  // generous: sanitizers, busy machines
    CHECK(cost == edit_cost(left.view(), right.view(), {}, map));
    CHECK(cost < 200 + 0.5 * static_cast<double>(left.view().num_edges() + right.view().num_edges()), cost);
}

TEST("past the deadline there is still a map and its cost") {
    oracle::Random random(10);
    Solvers solvers;
    const Deadline past(0);
    oracle::Costs costs;
    oracle::random_costs(random, 3, 0, costs);
    for (const int n : {0, 1, 20, 150, 600}) {
        const auto left = oracle::random_sparse_graph(random, n, n / 4, 3);
        const auto right = oracle::random_sparse_graph(random, n + 5, n / 4, 3);
        for (const EditCosts& chosen : {EditCosts{}, costs.costs}) {
            Map map(left.labels.size(), -1);
            const double by_beam = beam(left.view(), right.view(), chosen, 80, past, solvers.beams, map);
            CHECK(oracle::is_map(left.view(), right.view(), map), n);
            CHECK(std::abs(by_beam - edit_cost(left.view(), right.view(), chosen, map)) < 1e-9, n);
            published_beam(left.view(), right.view(), chosen, 80, past, solvers.published, map);
            CHECK(oracle::is_map(left.view(), right.view(), map), n);
            const Bounds bounds = tight(left.view(), right.view(), chosen, no_limit, past, solvers.tightened, map);
            CHECK(oracle::is_map(left.view(), right.view(), map), n);
            CHECK(std::abs(bounds.upper - edit_cost(left.view(), right.view(), chosen, map)) < 1e-9, n);
        }
    }
}

auto main(int argc, char** argv) -> int {
    return check::run(argc > 1 ? argv[1] : "");
}
