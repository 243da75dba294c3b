#pragma once
#include <cstdint>
#include <vector>

#include "edit_cost.hpp"

namespace uge::ged {

/// A star is the multiset of the edge labels of a node in one word: one byte for each of eight groups of labels, which
/// are the labels themselves where all are below eight.
using Star = std::uint64_t;

constexpr Node max_star = 128;  ///< degrees from here on overflow the bytes of a star
constexpr Label star_groups = 8;

constexpr auto star_of(Label label) -> Star {
    return Star{1} << 8U * (static_cast<std::uint32_t>(label) % star_groups);
}

/// Size of the intersection of two multisets.
constexpr auto star_overlap(Star a, Star b) -> Node {
    constexpr Star ones = 0x0101010101010101;
    constexpr Star high = ones << 7U;
    const Star more = (((a | high) - b) & high) >> 7U;  // 1 in the bytes where a >= b
    const Star bytes = more * 0xFF;
    const Star least = (b & bytes) | (a & ~bytes);
    return static_cast<Node>(least * ones >> 56U);
}

/// Fills the stars of all nodes; false where labels or degrees are too many for stars to tell all labels apart.
inline auto fill_stars(const GraphView& graph, std::vector<Star>& stars) -> bool {
    stars.resize(static_cast<std::size_t>(graph.n));
    std::uint32_t labels = 0;
    Node degrees = 0;
    for (Node u = 0; u < graph.n; ++u) {
        Star star = 0;
        for (auto e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e) {
            const Label label = edge_label_at(graph, e);
            labels |= static_cast<std::uint32_t>(label);
            star += star_of(label);
        }
        degrees |= graph.degree(u);
        stars[static_cast<std::size_t>(u)] = star;
    }
    return labels < static_cast<std::uint32_t>(star_groups) && degrees < max_star;
}

}  // namespace uge::ged
