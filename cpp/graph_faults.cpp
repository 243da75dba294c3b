#include "graph_faults.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace uge {
namespace {

auto offsets_fault(const PackedGraphs& graphs, bool labeled) -> const char* {
    const auto nodes = static_cast<std::int64_t>(graphs.labels.size());
    const auto& offsets = graphs.node_offsets;
    if (offsets.empty() || offsets.front() != 0 || offsets.back() != nodes) {
        return "node_offsets must begin at 0 and end at the number of node labels";
    }
    if (graphs.indptr.size() != graphs.labels.size() + 1 || graphs.indptr.front() != 0 ||
        graphs.indptr.back() != static_cast<std::int64_t>(graphs.indices.size())) {
        return "indptr must begin at 0, end at the length of indices and have one entry more than there are nodes";
    }
    if (!std::is_sorted(offsets.begin(), offsets.end()) ||
        !std::is_sorted(graphs.indptr.begin(), graphs.indptr.end())) {
        return "node_offsets and indptr must not decrease";
    }
    if (labeled && graphs.edge_labels.size() != graphs.indices.size()) {
        return "edge_labels must be as long as indices";
    }
    for (std::size_t g = 0; g + 1 < offsets.size(); ++g) {
        if (offsets[g + 1] - offsets[g] > std::numeric_limits<Node>::max() / 2) {
            return "a graph has more than 2^30 nodes";
        }
    }
    return nullptr;
}

/// Rows are read from the first node on. As they ascend, so do the smaller neighbors of every node, and the next of
/// them is known: `seen` says how many have come so far.
auto edges_fault(const GraphView& graph, std::vector<Node>& seen) -> std::string {
    const auto edge = [](Node u, Node v) {
        return std::string("(").append(std::to_string(u)).append(", ").append(std::to_string(v)).append(")");
    };
    seen.assign(static_cast<std::size_t>(graph.n), 0);
    for (Node u = 0; u < graph.n; ++u) {
        Node before = -1;
        for (std::int64_t e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e) {
            const Node v = graph.indices[e];
            if (v < 0 || v >= graph.n) {
                return "edge " + edge(u, v) + ", but node ids go from 0 to " + std::to_string(graph.n - 1);
            }
            if (v == u) {
                return "a self loop at node " + std::to_string(u);
            }
            if (v <= before) {
                return v == before ? "edge " + edge(u, v) + " twice"
                                   : "the neighbors of node " + std::to_string(u) + " do not ascend";
            }
            before = v;
            if (v < u) {
                continue;  // came as an edge of v: the row of u is as long as `seen`, see below
            }
            auto& count = seen[static_cast<std::size_t>(v)];
            const std::int64_t back = graph.indptr[v] + count;
            if (back >= graph.indptr[v + 1] || graph.indices[back] != u) {
                return "edge " + edge(u, v) + ", but no edge " + edge(v, u);
            }
            if (graph.edge_labels != nullptr && graph.edge_labels[back] != graph.edge_labels[e]) {
                return "edge " + edge(u, v) + " has another label than " + edge(v, u);
            }
            ++count;
        }
        const std::int64_t unseen = graph.indptr[u] + seen[static_cast<std::size_t>(u)];
        if (unseen < graph.indptr[u + 1] && graph.indices[unseen] < u) {
            return "edge " + edge(u, graph.indices[unseen]) + ", but no edge " + edge(graph.indices[unseen], u);
        }
    }
    return {};
}

}  // namespace

auto fault_of(const PackedGraphs& graphs, bool labeled) -> std::string {
    if (const char* fault = offsets_fault(graphs, labeled)) {
        return fault;
    }
    std::vector<Node> seen;
    for (std::size_t g = 0; g < graphs.size(); ++g) {
        if (auto fault = edges_fault(graphs[g], seen); !fault.empty()) {
            return "graph " + std::to_string(g) + ": " + fault;
        }
    }
    return {};
}

}  // namespace uge
