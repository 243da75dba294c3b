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

/// Fills the stars of all nodes; false where labels or degrees are too many for stars to distinguish all labels. `sums`
/// is scratch.
inline auto fill_stars(const GraphView& graph, std::vector<Star>& sums, std::vector<Star>& stars) -> bool {
    const auto arcs = static_cast<std::size_t>(2 * graph.num_edges());
    sums.resize(arcs + 1);
    const Label* label = graph.edge_labels == nullptr || arcs == 0 ? nullptr : graph.edge_labels + graph.indptr[0];
    Star* __restrict out = sums.data();
    Star sum = 0;  // wraps; differences do not
    std::uint32_t labels = 0;
    for (std::size_t e = 0; e < arcs; ++e) {
        const Label own = label == nullptr ? 0 : label[e];
        labels |= static_cast<std::uint32_t>(own);
        out[e] = sum;
        sum += star_of(own);
    }
    out[arcs] = sum;
    stars.resize(static_cast<std::size_t>(graph.n));
    Node degrees = 0;
    for (Node u = 0; u < graph.n; ++u) {
        const auto first = static_cast<std::size_t>(graph.indptr[u] - graph.indptr[0]);
        const Node degree = graph.degree(u);
        degrees |= degree;
        stars[static_cast<std::size_t>(u)] = sums[first + static_cast<std::size_t>(degree)] - sums[first];
    }
    return labels < static_cast<std::uint32_t>(star_groups) && degrees < max_star;
}

}  // namespace uge::ged
