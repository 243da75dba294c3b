#pragma once
#include <string>

#include "graph.hpp"

namespace uge {

/// Why packed arrays are not a collection of undirected simple graphs: offsets that do not fit, neighbors outside their
/// graph, rows that do not ascend, an edge twice, a self loop, an edge that only one of its ends has, or whose ends
/// label it differently. Names the graph and the nodes; empty where nothing is wrong. Solvers rely on all of it.
/// `labeled`: edges carry labels. O(nodes + edges).
auto fault_of(const PackedGraphs& graphs, bool labeled) -> std::string;

}  // namespace uge
