#pragma once
#include <span>

#include "../costs.hpp"
#include "../graph.hpp"

namespace uge::ged {

/// The direction in which a pair of graphs is solved.
struct Orientation {
    bool turned;  ///< it is solved the other way round
    bool same;    ///< the graphs are the same node by node
};

/// The smaller graph becomes the left one; ties are broken by the number of edges, then by content. So the answer for
/// (a, b) is that for (b, a) under reversed costs, and solvers see left.n <= right.n.
auto orientation(const GraphView& left, const GraphView& right, const EditCosts& costs) -> Orientation;

/// Writes the map from right to left that undoes `mapping` from left to right; -1 where nothing maps.
auto invert(std::span<const Node> mapping, std::span<Node> inverse) -> void;

}  // namespace uge::ged
