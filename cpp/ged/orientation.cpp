#include "orientation.hpp"

#include <algorithm>
#include <compare>

#include "edit_cost.hpp"

namespace uge::ged {
namespace {

/// Order of two graphs with as many nodes and edges each.
auto compare_content(const GraphView& a, const GraphView& b) -> std::strong_ordering {
    for (Node u = 0; u < a.n; ++u) {
        if (const auto order = a.labels[u] <=> b.labels[u]; order != 0) {
            return order;
        }
    }
    for (Node u = 0; u < a.n; ++u) {
        if (const auto order = a.degree(u) <=> b.degree(u); order != 0) {
            return order;
        }
    }
    const auto both = [&](const std::int32_t* x, const std::int32_t* y) {
        const std::int64_t size = 2 * a.num_edges();
        return size == 0 ? std::strong_ordering::equal
                         : std::lexicographical_compare_three_way(x + a.indptr[0], x + a.indptr[0] + size,
                                                                  y + b.indptr[0], y + b.indptr[0] + size);
    };
    if (const auto order = both(a.indices, b.indices); order != 0) {
        return order;
    }
    if (a.edge_labels != nullptr && b.edge_labels != nullptr) {
        return both(a.edge_labels, b.edge_labels);
    }
    for (std::int64_t e = 0; e < 2 * a.num_edges(); ++e) {  // edges without labels count as label 0
        const auto order = edge_label_at(a, a.indptr[0] + e) <=> edge_label_at(b, b.indptr[0] + e);
        if (order != 0) {
            return order;
        }
    }
    return std::strong_ordering::equal;
}

/// Whether costs compare greater than the same costs reversed. Called only for two equal graphs.
auto costs_turn(const EditCosts& costs) -> bool {
    if (costs.node_insert != costs.node_delete) {
        return costs.node_insert > costs.node_delete;
    }
    if (costs.edge_insert != costs.edge_delete) {
        return costs.edge_insert > costs.edge_delete;
    }
    const auto by_matrix = [](std::int32_t side, const auto& entry) {
        for (Label a = 0; a < side; ++a) {
            for (Label b = 0; b < a; ++b) {
                if (entry(a, b) != entry(b, a)) {
                    return entry(a, b) > entry(b, a) ? 1 : -1;
                }
            }
        }
        return 0;
    };
    const int nodes = costs.node_matrix == nullptr ? 0 : by_matrix(costs.num_node_labels, [&](Label a, Label b) {
        return costs.relabel_node(a, b);
    });
    if (nodes != 0 || costs.edge_matrix == nullptr) {
        return nodes > 0;
    }
    return by_matrix(costs.num_edge_labels, [&](Label a, Label b) { return costs.relabel_edge(a, b); }) > 0;
}

}  // namespace

auto orientation(const GraphView& left, const GraphView& right, const EditCosts& costs) -> Orientation {
    auto order = left.n <=> right.n;
    if (order == 0) {
        order = left.num_edges() <=> right.num_edges();
    }
    if (order == 0) {
        order = compare_content(left, right);
    }
    const bool same = order == 0;
    return {.turned = same ? !costs.uniform() && costs_turn(costs) : order > 0, .same = same};
}

auto invert(std::span<const Node> mapping, std::span<Node> inverse) -> void {
    std::fill(inverse.begin(), inverse.end(), -1);
    for (std::size_t u = 0; u < mapping.size(); ++u) {
        if (mapping[u] >= 0) {
            inverse[static_cast<std::size_t>(mapping[u])] = static_cast<Node>(u);
        }
    }
}

}  // namespace uge::ged
