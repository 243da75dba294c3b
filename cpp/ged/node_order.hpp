#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "../deadline.hpp"
#include "../graph.hpp"

namespace uge::ged {

auto max_degree(const GraphView& graph) -> Node;

/// Nodes in breadth-first order, each component from a node of highest degree, high degrees first among siblings.
auto breadth_first(const GraphView& graph, const Deadline& deadline, std::vector<char>& seen, std::vector<Node>& order)
    -> void;

/// For each node, the last before it in `order` that it can be exchanged with, as both have the same label and, but for
/// each other, the same neighbors, with `edge_labels` by edges of the same labels; or -1. Neighbors are compared by a
/// hash: a collision would affect quality, not correctness.
auto find_twins(const GraphView& graph, bool edge_labels, std::span<const Node> order,
                std::vector<std::uint64_t>& hashes, Node* twin) -> void;

}  // namespace uge::ged
