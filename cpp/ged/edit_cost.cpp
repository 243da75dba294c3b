#include "edit_cost.hpp"

#include <array>
#include <bit>
#include <optional>
#include <vector>

namespace uge::ged {
namespace {

/// Common edges counted on rows of bits: the neighbors of a node's image against the images of its neighbors.
template <std::size_t Words>
auto common_edges_by_bits(const GraphView& left, const GraphView& right, std::span<const Node> mapping)
    -> std::int64_t {
    constexpr unsigned bits = 64;
    // One word more than there are nodes for: the image of a deleted node is a bit there, which no row has.
    std::array<std::uint64_t, Words + 1> row{};
    std::array<std::uint64_t, Words + 1> image{};
    int twice = 0;
    for (Node u = 0; u < left.n; ++u) {
        const Node to = mapping[static_cast<std::size_t>(u)];
        if (to < 0) {
            continue;
        }
        row.fill(0);
        image.fill(0);
        for (const Node x : right.neighbors(to)) {
            row[static_cast<unsigned>(x) / bits] |= std::uint64_t{1} << (static_cast<unsigned>(x) % bits);
        }
        for (const Node v : left.neighbors(u)) {
            const Node x = mapping[static_cast<std::size_t>(v)];
            const auto at = x < 0 ? static_cast<unsigned>(Words * bits) : static_cast<unsigned>(x);
            image[at / bits] |= std::uint64_t{1} << (at % bits);
        }
        for (std::size_t w = 0; w < Words; ++w) {
            twice += std::popcount(row[w] & image[w]);
        }
    }
    return twice / 2;
}

/// The same where both graphs have at most 64 nodes: a word for each row, and the image of each node as a bit.
auto common_edges_by_words(const GraphView& left, const GraphView& right, std::span<const Node> mapping)
    -> std::int64_t {
    std::array<std::uint64_t, 64> image;
    for (std::size_t u = 0; u < static_cast<std::size_t>(left.n); ++u) {
        const auto to = static_cast<unsigned>(mapping[u]);
        image[u] = std::uint64_t{mapping[u] >= 0} << (to % 64);
    }
    int twice = 0;
    for (Node u = 0; u < left.n; ++u) {
        const Node to = mapping[static_cast<std::size_t>(u)];
        if (to < 0) {
            continue;
        }
        std::uint64_t row = 0;
        std::uint64_t images = 0;
        for (const Node x : right.neighbors(to)) {
            row |= std::uint64_t{1} << static_cast<unsigned>(x);
        }
        for (const Node v : left.neighbors(u)) {
            images |= image[static_cast<std::size_t>(v)];
        }
        twice += std::popcount(row & images);
    }
    return twice / 2;
}

/// Cost of keeping the common edges by their labels, and how many they are.
struct Kept {
    double cost = 0;
    std::int64_t edges = 0;
};

auto edge_labels_are_bytes(const GraphView& graph) -> bool {
    std::uint32_t all = 0;
    for (std::int64_t e = 0; graph.edge_labels != nullptr && e < 2 * graph.num_edges(); ++e) {
        all |= static_cast<std::uint32_t>(graph.edge_labels[graph.indptr[0] + e]);
    }
    return all < 256;
}

/// The same where relabeling has a constant cost, labels are below 256 and `right` has at most 64 nodes: its edges in a
/// matrix.
auto kept_edges_by_matrix(const GraphView& left, const GraphView& right, const EditCosts& costs,
                          std::span<const Node> mapping) -> Kept {
    constexpr std::size_t side = 64;
    std::array<std::uint8_t, side * side> label;  // where there is an edge
    std::array<std::uint64_t, side> row;
    for (Node x = 0; x < right.n; ++x) {
        std::uint64_t neighbors = 0;
        for (auto e = right.indptr[x]; e < right.indptr[x + 1]; ++e) {
            neighbors |= std::uint64_t{1} << static_cast<unsigned>(right.indices[e]);
            label[static_cast<std::size_t>(x) * side + static_cast<std::size_t>(right.indices[e])] =
                static_cast<std::uint8_t>(edge_label_at(right, e));
        }
        row[static_cast<std::size_t>(x)] = neighbors;
    }
    int kept = 0;  // both counted at both ends
    int changed = 0;
    for (Node u = 0; u < left.n; ++u) {
        const Node to = mapping[static_cast<std::size_t>(u)];
        for (auto e = left.indptr[u]; to >= 0 && e < left.indptr[u + 1]; ++e) {
            const Node other = mapping[static_cast<std::size_t>(left.indices[e])];
            const auto at = static_cast<std::size_t>(to);
            if (other >= 0 && (row[at] >> static_cast<unsigned>(other) & 1) != 0) {
                ++kept;
                changed += label[at * side + static_cast<std::size_t>(other)] !=
                           static_cast<std::uint8_t>(edge_label_at(left, e));
            }
        }
    }
    const double relabel = std::min(costs.edge_relabel, costs.edge_delete + costs.edge_insert);
    return {.cost = relabel * changed / 2, .edges = kept / 2};
}

/// Finds edges of one node after another: by search where it has few, by a table where it has many.
class EdgesOf {
  public:
    EdgesOf(const GraphView& graph, Node tabled_from) : graph_(graph), tabled_from_(tabled_from) {}

    auto turn_to(Node u) -> void {
        clear();
        node_ = u;
        if (graph_.degree(u) >= tabled_from_) {
            position_.resize(static_cast<std::size_t>(graph_.n), -1);
            tabled_ = u;
            for (auto e = graph_.indptr[u]; e < graph_.indptr[u + 1]; ++e) {
                position_[static_cast<std::size_t>(graph_.indices[e])] = e;
            }
        }
    }
    /// Position in `indices` of the edge to v, or -1.
    [[nodiscard]] auto to(Node v) const -> std::int64_t {
        if (tabled_ >= 0) {
            return position_[static_cast<std::size_t>(v)];
        }
        return graph_.degree(node_) < graph_.degree(v) ? find_edge(graph_, node_, v) : find_edge(graph_, v, node_);
    }

  private:
    auto clear() -> void {
        for (const Node v : tabled_ < 0 ? std::span<const Node>{} : graph_.neighbors(tabled_)) {
            position_[static_cast<std::size_t>(v)] = -1;
        }
        tabled_ = -1;
    }

    const GraphView& graph_;
    Node tabled_from_;
    Node node_ = -1;
    Node tabled_ = -1;  ///< node whose row is in the table, or -1
    std::vector<std::int64_t> position_;
};

/// `costs` null: labels do not count. `edges` -1 in the answer: time was up.
auto kept_by_search(const GraphView& left, const GraphView& right, const EditCosts* costs, const Deadline& deadline,
                    std::span<const Node> mapping) -> Kept {
    constexpr Node many = 64;
    EdgesOf row(right, many);
    WorkMeter meter(deadline);
    Kept kept;
    for (Node u = 0; u < left.n; ++u) {
        const Node to = mapping[static_cast<std::size_t>(u)];
        if (to < 0) {
            continue;
        }
        if (meter.expired(2 * left.degree(u) + 2 * right.degree(to))) {
            return {.cost = 0, .edges = -1};
        }
        row.turn_to(to);
        for (std::int64_t e = left.indptr[u]; e < left.indptr[u + 1] && left.indices[e] < u; ++e) {
            const Node other = mapping[static_cast<std::size_t>(left.indices[e])];
            const std::int64_t at = other < 0 ? -1 : row.to(other);
            if (at >= 0) {
                ++kept.edges;
                kept.cost += costs == nullptr ? 0 : keep_edge(*costs, edge_label_at(left, e), edge_label_at(right, at));
            }
        }
    }
    return kept;
}

auto kept_edges(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
                std::span<const Node> mapping) -> Kept {
    const bool free = edges_keep_free(costs);
    if (free && right.n <= 256) {
        return {.cost = 0, .edges = common_edges(left, right, mapping)};
    }
    if (!free && right.n <= 64 && costs.edge_matrix == nullptr && edge_labels_are_bytes(left) &&
        edge_labels_are_bytes(right)) {
        return kept_edges_by_matrix(left, right, costs, mapping);
    }
    return kept_by_search(left, right, free ? nullptr : &costs, deadline, mapping);
}

/// Cost of a map, or nothing if time was up.
auto counted_cost(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
                  std::span<const Node> mapping) -> std::optional<double> {
    double nodes = 0;
    Node kept_nodes = 0;
    for (std::size_t u = 0; u < static_cast<std::size_t>(left.n); ++u) {
        const Node to = mapping[u];
        if (to >= 0) {
            ++kept_nodes;
            nodes += costs.relabel_node(left.labels[u], right.labels[to]);
        }
    }
    nodes += costs.node_delete * (left.n - kept_nodes) + costs.node_insert * (right.n - kept_nodes);
    const Kept kept = kept_edges(left, right, costs, deadline, mapping);
    if (kept.edges < 0) {
        return std::nullopt;
    }
    return nodes + kept.cost + costs.edge_delete * static_cast<double>(left.num_edges() - kept.edges) +
           costs.edge_insert * static_cast<double>(right.num_edges() - kept.edges);
}

}  // namespace

auto common_edges(const GraphView& left, const GraphView& right, std::span<const Node> mapping) -> std::int64_t {
    if (left.n <= 64 && right.n <= 64) {
        return common_edges_by_words(left, right, mapping);
    }
    if (right.n <= 128) {
        return common_edges_by_bits<2>(left, right, mapping);
    }
    if (right.n <= 256) {
        return common_edges_by_bits<4>(left, right, mapping);
    }
    return kept_by_search(left, right, nullptr, {}, mapping).edges;
}

auto uniform_edit_cost(const GraphView& left, const GraphView& right, std::span<const Node> mapping) -> std::int64_t {
    int kept = 0;
    int same = 0;
    for (std::size_t u = 0; u < static_cast<std::size_t>(left.n); ++u) {
        const Node to = mapping[u];
        kept += to >= 0;
        same += to >= 0 && left.labels[u] == right.labels[to < 0 ? 0 : to];
    }
    const std::int64_t nodes = left.n + right.n - kept - same;
    return nodes + left.num_edges() + right.num_edges() - 2 * common_edges(left, right, mapping);
}

auto edit_cost(const GraphView& left, const GraphView& right, const EditCosts& costs, std::span<const Node> mapping)
    -> double {
    if (costs.uniform() && !edge_labels_count(left, right, costs)) {
        return static_cast<double>(uniform_edit_cost(left, right, mapping));
    }
    return *counted_cost(left, right, costs, {}, mapping);
}

auto complete_in_order(const GraphView& left, const GraphView& right, const EditCosts& costs, std::span<Node> mapping)
    -> void {
    std::vector<char> taken(static_cast<std::size_t>(right.n), 0);
    for (const Node to : mapping) {
        if (to >= 0) {
            taken[static_cast<std::size_t>(to)] = 1;
        }
    }
    Node x = 0;
    for (Node u = 0; u < left.n; ++u) {
        Node& image = mapping[static_cast<std::size_t>(u)];
        while (image < 0 && x < right.n && taken[static_cast<std::size_t>(x)] != 0) {
            ++x;
        }
        if (image < 0 && x < right.n &&
            costs.relabel_node(left.labels[u], right.labels[x]) <= costs.node_delete + costs.node_insert) {
            image = x++;
        }
    }
}

auto settled_cost(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
                  std::span<Node> mapping) -> double {
    constexpr std::int64_t few = 100'000;  // edges that are counted in a millisecond
    if (left.num_edges() + right.num_edges() <= few) {
        return edit_cost(left, right, costs, mapping);
    }
    if (const auto cost = counted_cost(left, right, costs, deadline.extended(), mapping)) {
        return *cost;
    }
    std::fill(mapping.begin(), mapping.end(), -1);
    return replacement_cost(left, right, costs);
}

}  // namespace uge::ged
