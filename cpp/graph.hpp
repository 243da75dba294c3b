#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace uge {

using Node = std::int32_t;
using Label = std::int32_t;

/// One undirected simple graph inside the packed arrays of a collection. Cheap to copy; owns nothing.
/// Every edge is in the rows of both its ends; rows are sorted and hold ids local to the graph.
struct GraphView {
    Node n = 0;
    const std::int64_t* indptr = nullptr;  ///< n + 1 positions into `indices`
    const Node* indices = nullptr;
    const Label* labels = nullptr;       ///< n node labels
    const Label* edge_labels = nullptr;  ///< beside `indices`; null where edges carry no labels

    [[nodiscard]] auto degree(Node u) const -> Node { return static_cast<Node>(indptr[u + 1] - indptr[u]); }
    [[nodiscard]] auto num_edges() const -> std::int64_t { return n == 0 ? 0 : (indptr[n] - indptr[0]) / 2; }
    [[nodiscard]] auto neighbors(Node u) const -> std::span<const Node> {
        return {indices + indptr[u], static_cast<std::size_t>(degree(u))};
    }
    /// Labels of the edges to `neighbors(u)`, in the same order. Precondition: edges carry labels.
    [[nodiscard]] auto edge_labels_of(Node u) const -> std::span<const Label> {
        return {edge_labels + indptr[u], static_cast<std::size_t>(degree(u))};
    }
};

/// A collection of graphs, as Python's GraphSet packs it.
struct PackedGraphs {
    std::span<const std::int64_t> node_offsets;  ///< graphs + 1
    std::span<const std::int64_t> indptr;        ///< nodes + 1
    std::span<const Node> indices;
    std::span<const Label> labels;
    std::span<const Label> edge_labels;  ///< empty where edges carry no labels

    [[nodiscard]] auto size() const -> std::size_t { return node_offsets.size() - 1; }
    [[nodiscard]] auto operator[](std::size_t g) const -> GraphView {
        const auto first = node_offsets[g];
        return {.n = static_cast<Node>(node_offsets[g + 1] - first),
                .indptr = indptr.data() + first,
                .indices = indices.data(),
                .labels = labels.data() + first,
                .edge_labels = edge_labels.empty() ? nullptr : edge_labels.data()};
    }
};

}  // namespace uge
