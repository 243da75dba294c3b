#pragma once
#include <span>

#include "../costs.hpp"
#include "../graph.hpp"

namespace uge::ged {

/// Whether a pair of graphs is to be solved the other way round. The smaller graph goes left, then the one with fewer
/// edges, then whichever comes first by content: so the answer for (a, b) is that for (b, a) under turned costs, and
/// solvers see left.n <= right.n.
auto should_turn(const GraphView& left, const GraphView& right, const EditCosts& costs) -> bool;

/// Writes the map from right to left that undoes `mapping` from left to right; -1 where nothing maps.
auto invert(std::span<const Node> mapping, std::span<Node> inverse) -> void;

}  // namespace uge::ged
