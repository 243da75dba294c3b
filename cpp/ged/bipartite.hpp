#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "../assignment/transport.hpp"
#include "ged.hpp"
#include "local_costs.hpp"
#include "node_classes.hpp"

namespace uge::ged {

struct BipartiteWorkspace {
    NodeClasses classes;
    EdgeWorkspace edges;
    assignment::Transport<std::int32_t> integers;
    assignment::Transport<double> reals;
    std::vector<std::int32_t> integer_cost;
    std::vector<double> real_cost;
    std::vector<int> supply;
    std::vector<int> capacity;
    std::vector<Node> order_left;
    std::vector<Node> order_right;
    std::vector<int> count;
};

/// Assigns nodes at the least total of local costs and writes the map; returns a lower bound on that total, which is
/// the total itself unless the graphs have too many kinds of nodes (some thousand each). Precondition: left.n <=
/// right.n.
auto assign_nodes(const GraphView& left, const GraphView& right, const EditCosts& costs, EdgeShare share,
                  const Deadline& deadline, BipartiteWorkspace& workspace, std::span<Node> mapping) -> double;

/// Riesen & Bunke (2009): upper bound, the true cost of the cheapest assignment of nodes by local costs.
auto hungarian(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
               BipartiteWorkspace& workspace, std::span<Node> mapping) -> Bounds;

/// Fankhauser et al. (2011): the same matrix, another of its optima.
auto vj(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
        BipartiteWorkspace& workspace, std::span<Node> mapping) -> Bounds;

/// Blumenthal & Gamper (2018): every edge half at each end, so that the cheapest assignment is a lower bound, and the
/// true cost of its map an upper one.
auto branch(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
            BipartiteWorkspace& workspace, std::span<Node> mapping) -> Bounds;

}  // namespace uge::ged
