#pragma once
#include <algorithm>
#include <span>

#include "../costs.hpp"
#include "../deadline.hpp"
#include "../graph.hpp"

namespace uge::ged {

/// What it costs to keep an edge between two kept nodes: relabel it, or delete it and insert another if that is
/// cheaper.
inline auto keep_edge(const EditCosts& costs, Label from, Label to) -> double {
    return std::min(costs.relabel_edge(from, to), costs.edge_delete + costs.edge_insert);
}

/// Label of the edge at a position of `indices`; 0 where edges carry none.
inline auto edge_label_at(const GraphView& graph, std::int64_t position) -> Label {
    return graph.edge_labels == nullptr ? 0 : graph.edge_labels[position];
}

/// Position in `indices` of the edge (u, v), or -1. Logarithmic in the degree of u.
inline auto find_edge(const GraphView& graph, Node u, Node v) -> std::int64_t {
    const Node* last = graph.indices + graph.indptr[u + 1];
    const Node* found = std::lower_bound(graph.indices + graph.indptr[u], last, v);
    return found != last && *found == v ? found - graph.indices : -1;
}

/// Whether keeping an edge is free whatever its labels, so that edges need only be counted.
inline auto edges_keep_free(const EditCosts& costs) -> bool {
    return costs.edge_matrix == nullptr && costs.edge_relabel == 0;
}

/// Cost of deleting all of `left` and inserting all of `right`: no distance is above it, and no sum of costs on the way
/// to one is much larger.
inline auto replacement_cost(const GraphView& left, const GraphView& right, const EditCosts& costs) -> double {
    return left.n * costs.node_delete + right.n * costs.node_insert +
           static_cast<double>(left.num_edges()) * costs.edge_delete +
           static_cast<double>(right.num_edges()) * costs.edge_insert;
}

/// Whether labels of edges make a difference between these graphs.
inline auto edge_labels_count(const GraphView& left, const GraphView& right, const EditCosts& costs) -> bool {
    return !edges_keep_free(costs) && (left.edge_labels != nullptr || right.edge_labels != nullptr);
}

/// How many edges of `left` the map carries onto edges of `right`. Linear in the edges up to 256 nodes of `right`,
/// past that times the logarithm of a degree. No allocation.
auto common_edges(const GraphView& left, const GraphView& right, std::span<const Node> mapping) -> std::int64_t;

/// Cost of the edits that a node map implies: `mapping` has left.n entries, each a node of `right` (no two the same) or
/// -1 for deletion; nodes of `right` that no entry names are inserted. No allocation.
auto edit_cost(const GraphView& left, const GraphView& right, const EditCosts& costs, std::span<const Node> mapping)
    -> double;

/// Cost of a map at the end of a solver. Where time is up and the graphs are so large that counting it would take long,
/// the map becomes the one that deletes everything, of known cost.
auto settled_cost(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
                  std::span<Node> mapping) -> double;

/// Gives nodes without image, in their order, free nodes of `right` if relabeling is not more expensive than a deletion
/// and an insertion: what becomes of a partial map when time is up. O(n).
auto complete_in_order(const GraphView& left, const GraphView& right, const EditCosts& costs, std::span<Node> mapping)
    -> void;

/// The same where costs are uniform.
auto uniform_edit_cost(const GraphView& left, const GraphView& right, std::span<const Node> mapping) -> std::int64_t;

}  // namespace uge::ged
