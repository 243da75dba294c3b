#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "../assignment/transport.hpp"
#include "class_plan.hpp"
#include "ged.hpp"
#include "local_costs.hpp"
#include "node_classes.hpp"

namespace uge::ged {

/// So many nodes of one class.
struct Lot {
    int of;
    int count;
};

struct BipartiteWorkspace {
    NodeClasses classes;
    ClassPlan plan;
    EdgeWorkspace edges;
    assignment::Transport<std::int32_t> integers;
    assignment::Transport<double> reals;
    std::vector<std::int32_t> integer_cost;
    std::vector<double> real_cost;
    std::vector<Lot> rows;
    std::vector<Lot> columns;
    std::vector<int> supply;
    std::vector<int> capacity;
};

/// Cost of the assignment of nodes or, if that is not optimal, a lower bound on the optimum.
struct Assigned {
    double cost;
    bool optimal;
    bool planned = true;  ///< there is a plan
};

/// Cheapest assignment of nodes by local costs, left in workspace.plan. Not optimal only where the graphs have too many
/// kinds of nodes (about a thousand each) or time is up; past that there may be no plan at all. Precondition:
/// left.n <= right.n.
auto assign_nodes(const GraphView& left, const GraphView& right, const EditCosts& costs, EdgeShare share,
                  RightOrder order, const Deadline& deadline, BipartiteWorkspace& workspace) -> Assigned;

/// Riesen & Bunke (2009): upper bound, the true cost of the cheapest assignment of nodes by local costs.
auto hungarian(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
               BipartiteWorkspace& workspace, std::span<Node> mapping) -> Bounds;

/// Fankhauser et al. (2011): the same matrix, another of its optima: as column reduction by Jonker & Volgenant has it,
/// columns are filled from the last one.
auto vj(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
        BipartiteWorkspace& workspace, std::span<Node> mapping) -> Bounds;

/// Blumenthal & Gamper (2018): every edge half at each end, so that the cheapest assignment is a lower bound. The upper
/// bound is the true cost of that of its maps in which neighbors follow neighbors.
auto branch(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
            BipartiteWorkspace& workspace, std::span<Node> mapping) -> Bounds;

}  // namespace uge::ged
