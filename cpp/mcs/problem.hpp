#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "../graph.hpp"

namespace uge::mcs {

struct Match {
    Node left;
    Node right;
};

struct Outcome {
    int lower;
    int upper;
    std::int64_t branches;
};

/// Two graphs in canonical order, their nodes grouped by common label, their edge labels renumbered.
struct Problem {
    /// Nodes of one label: positions in `nodes` of each side, [first, last).
    struct Group {
        std::array<int, 2> first;
        std::array<int, 2> last;
    };
    std::array<GraphView, 2> graph;
    std::array<std::vector<Node>, 2> nodes;       ///< sorted by label, then by node
    std::vector<Group> groups;                    ///< labels that both graphs have
    std::array<std::vector<int>, 2> edge_labels;  ///< beside the edges, from 0 to planes - 1; empty where planes == 1
    int planes = 1;                               ///< edge labels to tell apart
    bool connected = false;

    [[nodiscard]] auto members(std::size_t s, const Group& group) const -> std::span<const Node> {
        return std::span(nodes[s]).subspan(static_cast<std::size_t>(group.first[s]),
                                           static_cast<std::size_t>(group.last[s] - group.first[s]));
    }
    /// Label of the k-th edge of u. Precondition: planes > 1.
    [[nodiscard]] auto edge_label(std::size_t s, Node u, std::size_t k) const -> int {
        const auto& g = graph[s];
        return edge_labels[s][static_cast<std::size_t>(g.indptr[u] - g.indptr[0]) + k];
    }
};

}  // namespace uge::mcs
