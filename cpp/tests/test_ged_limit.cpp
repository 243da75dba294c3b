#include <cmath>
#include <vector>

#include "../ged/ged.hpp"
#include "../ged/workspace.hpp"
#include "check.hpp"
#include "oracles.hpp"

namespace {

using namespace uge;
using namespace uge::ged;
using oracle::draw;
using oracle::Random;

const Deadline never;
constexpr double rounding = 1e-9;

/// `method` with and without the limit; `truth` is the distance.
auto check_limit(const GraphView& left, const GraphView& right, const EditCosts& costs, Method method, double limit,
                 double truth) -> void {
    static Workspace workspace;
    std::vector<Node> map(static_cast<std::size_t>(left.n));
    const Params free{.method = method};
    const Params limited{.method = method, .limit = limit};
    const Bounds without = edit_distance(left, right, costs, free, never, workspace, map);
    const Bounds with = edit_distance(left, right, costs, limited, never, workspace, map);
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    const int number = static_cast<int>(method);
    CHECK(!(with.lower > truth + rounding), number, limit, with.lower, truth);
    CHECK(!(with.upper < truth - rounding), number, limit, with.upper, truth);
    CHECK(!with.proven || std::abs(with.upper - truth) < rounding, number, limit, with.upper, truth);
    if (truth <= limit) {
        CHECK(same(with.lower, without.lower) && same(with.upper, without.upper) && with.proven == without.proven,
              number, limit, with.lower, with.upper, without.lower, without.upper);
    } else if (method == Method::exact) {
        CHECK(with.lower > limit, limit, with.lower, truth);
    } else if (without.lower > limit + rounding) {
        CHECK(with.lower > limit, number, limit, with.lower, without.lower);
    }
    if (!std::isnan(with.upper) && !std::isinf(with.upper)) {
        CHECK(oracle::is_map(left, right, map), number);
        const double cost = oracle::edit_cost(left, right, costs, map);
        CHECK(std::abs(cost - with.upper) < rounding, number, cost, with.upper);
    }
}

auto check_within(const GraphView& left, const GraphView& right, const EditCosts& costs, double limit, double truth)
    -> void {
    static Workspace workspace;
    std::vector<Node> map(static_cast<std::size_t>(left.n));
    const Bounds found = within(left, right, costs, limit, never, workspace, map);
    if (truth <= limit) {
        CHECK(found.proven && std::abs(found.upper - truth) < rounding, limit, found.lower, found.upper, truth);
        CHECK(oracle::is_map(left, right, map));
        CHECK(std::abs(oracle::edit_cost(left, right, costs, map) - truth) < rounding);
    } else {
        CHECK(found.lower > limit && found.lower <= truth + rounding, limit, found.lower, truth);
        CHECK(found.upper >= truth - rounding, limit, found.upper, truth);
    }
}

constexpr Method methods[] = {Method::exact,  Method::beam,   Method::hungarian, Method::vj,   Method::hed,
                              Method::branch, Method::refine, Method::paper,     Method::tight};

TEST("a limit changes nothing up to it, and beyond it is shown to be exceeded: any costs") {
    Random random(21);
    for (int trial = 0; trial < 400; ++trial) {
        const int labels = draw(random, 1, 3);
        const int edge_labels = draw(random, 0, 2);
        const auto left = oracle::random_graph(random, draw(random, 0, 5), oracle::draw(random), labels, edge_labels);
        const auto right = oracle::random_graph(random, draw(random, 0, 5), oracle::draw(random), labels, edge_labels);
        oracle::Costs costs;
        if (trial % 3 == 0) {
            oracle::random_costs(random, labels, edge_labels, costs);
        } else {
            costs.costs.edge_relabel = trial % 3 - 1;
        }
        const double truth = oracle::brute_force(left.view(), right.view(), costs.costs).distance;
        for (const double limit : {0.0, truth - 1, truth - 0.25, truth, truth + 0.5, truth + 3, no_limit}) {
            if (limit >= 0) {
                check_within(left.view(), right.view(), costs.costs, limit, truth);
                for (const Method method : methods) {
                    check_limit(left.view(), right.view(), costs.costs, method, limit, truth);
                }
            }
        }
    }
}

TEST("costs that are no binary fractions do not round across the limit") {
    Random random(22);
    EditCosts costs;
    costs.node_insert = costs.node_delete = 0.1;
    costs.node_relabel = 0.3;
    costs.edge_insert = costs.edge_delete = 0.7;
    for (int trial = 0; trial < 200; ++trial) {
        const auto left = oracle::random_graph(random, draw(random, 0, 5), 0.5, 2);
        const auto right = oracle::random_graph(random, draw(random, 0, 5), 0.5, 2);
        const double truth = oracle::brute_force(left.view(), right.view(), costs).distance;
        check_within(left.view(), right.view(), costs, truth + 1e-12, truth);
        if (truth > 0.1) {
            check_within(left.view(), right.view(), costs, truth - 0.05, truth);
        }
    }
}

}  // namespace

auto main(int argc, char** argv) -> int {
    return check::run(argc > 1 ? argv[1] : "");
}
