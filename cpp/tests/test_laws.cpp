#include <vector>

#include "../ged/ged.hpp"
#include "../ged/workspace.hpp"
#include "check.hpp"
#include "oracles.hpp"

namespace {

using namespace uge;
using ged::Bounds;
using ged::Method;
using ged::Workspace;

constexpr Method all_methods[] = {Method::exact,  Method::beam,   Method::hungarian, Method::vj,   Method::hed,
                                  Method::branch, Method::refine, Method::paper,     Method::tight};

auto distance(const oracle::Graph& left, const oracle::Graph& right, const EditCosts& costs, Method method,
              Workspace& workspace) -> Bounds {
    std::vector<Node> mapping(left.labels.size());
    return ged::edit_distance(left.view(), right.view(), costs, {.method = method}, Deadline(1e9), workspace, mapping);
}

}  // namespace

TEST("a graph without edges shares no class of nodes with one that has labeled edges") {
    // Label 0, degree 1 and an edge labeled 1 hash to 0, as do nodes of label 0 without edges.
    const auto a = oracle::graph({0, 0, 1, 0, 0}, {}, true);
    const auto b = oracle::graph({0, 1}, {{0, 1, 1}}, true);
    EditCosts costs;
    for (const auto& [node_edit, edge_relabel] : {std::pair{1.0, 1.0}, {2.0, 0.5}}) {
        costs.node_insert = costs.node_delete = node_edit;
        costs.edge_relabel = edge_relabel;
        const double truth = oracle::brute_force(a.view(), b.view(), costs).distance;
        for (const Method method : all_methods) {
            for (const bool turned : {false, true}) {
                Workspace fresh;
                const auto bounds = distance(turned ? b : a, turned ? a : b, costs, method, fresh);
                CHECK(!(bounds.lower > truth) && !(bounds.upper < truth), bounds.lower, bounds.upper, truth);
                CHECK(method != Method::exact || (bounds.proven && bounds.upper == truth), bounds.upper, truth);
            }
        }
    }
}

auto main(int argc, char** argv) -> int {
    return check::run(argc > 1 ? argv[1] : "");
}
