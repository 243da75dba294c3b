#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../graph.hpp"
#include "../substructures/dictionary.hpp"

/// Similarity search in a packed database: precomputed data, filters, and the loop over the database.
namespace uge::search {

/// Counters of one graph, one byte each, saturated at 255, in groups that one SIMD instruction can sum.
struct Counters {
    static constexpr std::size_t node_slots = 16;     ///< nodes by label: 13 frequent labels, 3 slots for the others
    static constexpr std::size_t degree_slots = 8;    ///< nodes of degree >= 1, >= 2, ..., >= 8
    static constexpr std::size_t incident_slots = 8;  ///< nodes with >= t edges of a label: see `incident_levels`

    std::array<std::uint8_t, 32> bytes{};
};

/// Number of thresholds t = 1, 2, ... of each of the three most frequent edge labels in the incident slots.
inline constexpr std::array<std::size_t, 3> incident_levels{4, 2, 2};

/// Precomputed data of a collection for the filters, one entry per graph. The rank of a graph is its index in ascending
/// order of (nodes, edges, position). A view of one block of memory without pointers, which can be written to a file
/// and mapped from it; only the dictionary of branches is copied.
///
/// The branch of a node is its label and the sorted labels of its edges; equal branches form a class. Edges without
/// labels have label 0.
class Profiles {
  public:
    /// Builds the block of memory for these graphs. O(nodes + edges), plus sorting the graphs.
    static auto built(const PackedGraphs& graphs) -> std::vector<std::uint64_t>;

    /// A view of such a block. Throws std::invalid_argument if the block is invalid or if its sizes show that it
    /// belongs to other graphs. Accesses through the view stay within its arrays and those of `graphs`, also for
    /// malicious data.
    Profiles(std::span<const std::uint64_t> block, const PackedGraphs& graphs);

    [[nodiscard]] auto size() const -> std::size_t { return position_.size(); }
    [[nodiscard]] auto position(std::size_t rank) const -> std::int32_t { return position_[rank]; }
    [[nodiscard]] auto nodes(std::size_t rank) const -> std::int32_t {
        return static_cast<std::int32_t>(size_[rank] >> 32);
    }
    [[nodiscard]] auto edges(std::size_t rank) const -> std::int32_t {
        return static_cast<std::int32_t>(size_[rank] & 0xffffffff);
    }
    [[nodiscard]] auto counters() const -> const Counters* { return counters_.data(); }
    /// Classes of the branches of a graph's nodes, as ids of the dictionary, in the order of the nodes.
    [[nodiscard]] auto branches(std::size_t rank) const -> std::span<const std::int32_t> {
        return branches_.subspan(static_cast<std::size_t>(first_[static_cast<std::size_t>(position_[rank])]),
                                 static_cast<std::size_t>(nodes(rank)));
    }

    /// The first rank whose (nodes, edges) is not below this pair in lexicographic order.
    [[nodiscard]] auto first_rank(std::int64_t nodes, std::int64_t edges) const -> std::size_t;
    /// The rank of the graph at a position. Logarithmic time.
    [[nodiscard]] auto rank_of(std::int32_t position, const GraphView& graph) const -> std::size_t;

    [[nodiscard]] auto num_classes() const -> std::size_t { return static_cast<std::size_t>(dictionary_.size()); }
    /// Node label of a class of branches, then its edge labels.
    [[nodiscard]] auto branch(std::size_t id) const -> std::span<const std::int32_t> {
        const auto offsets = dictionary_.offsets();
        const auto first = static_cast<std::size_t>(offsets[id]);
        return dictionary_.keys().subspan(first, static_cast<std::size_t>(offsets[id + 1]) - first);
    }
    /// The class that represents a class if edge labels do not count: the first one with its node label and degree.
    [[nodiscard]] auto plain(std::size_t id) const -> std::int32_t { return plain_[id]; }
    [[nodiscard]] auto find(std::span<const std::int32_t> branch) const -> std::int32_t {
        return dictionary_.find(branch);
    }

    /// The counter of a node label, or -1 for a label above those of the collection.
    [[nodiscard]] auto node_slot(Label label) const -> int { return slot(node_slot_, label); }
    /// 0, 1 or 2 for the three most frequent edge labels; otherwise -1.
    [[nodiscard]] auto edge_slot(Label label) const -> int { return slot(edge_slot_, label); }

  private:
    static auto slot(std::span<const std::int8_t> slots, Label label) -> int {
        return label >= 0 && static_cast<std::size_t>(label) < slots.size() ? slots[static_cast<std::size_t>(label)]
                                                                            : -1;
    }

    std::span<const Counters> counters_;
    std::span<const std::uint64_t> size_;     ///< nodes << 32 | edges, ascending
    std::span<const std::int32_t> position_;  ///< in the collection
    std::span<const std::int64_t> first_;     ///< node offsets of the collection, by position
    std::span<const std::int32_t> branches_;  ///< class of each node of the collection
    std::span<const std::int8_t> node_slot_;  ///< per label
    std::span<const std::int8_t> edge_slot_;  ///< per label
    substructures::Dictionary dictionary_;
    std::vector<std::int32_t> plain_;
};

/// Counters of a graph; the two functions map labels to slots (-1: none).
template <class NodeSlot, class EdgeSlot>
auto counters_of(const GraphView& graph, const NodeSlot& node_slot, const EdgeSlot& edge_slot) -> Counters {
    Counters made;
    const auto count = [&](std::size_t first, std::size_t levels) {  // increments each counter
        for (std::size_t at = first; at < std::min(first + levels, made.bytes.size()); ++at) {
            made.bytes[at] = static_cast<std::uint8_t>(made.bytes[at] + (made.bytes[at] < 255 ? 1 : 0));
        }
    };
    for (Node u = 0; u < graph.n; ++u) {
        if (const int at = node_slot(graph.labels[u]); at >= 0) {
            count(static_cast<std::size_t>(at), 1);
        }
        std::size_t first = Counters::node_slots;
        count(first, std::min(static_cast<std::size_t>(graph.degree(u)), Counters::degree_slots));
        first += Counters::degree_slots;
        std::array<std::size_t, incident_levels.size()> incident{};
        for (std::int64_t e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e) {
            const int at = edge_slot(graph.edge_labels == nullptr ? 0 : graph.edge_labels[e]);
            if (at >= 0) {
                ++incident[static_cast<std::size_t>(at)];
            }
        }
        for (std::size_t k = 0; k < incident.size(); ++k) {
            count(first, std::min(incident[k], incident_levels[k]));
            first += incident_levels[k];
        }
    }
    return made;
}

/// The branch of a node: its label, then the labels of its edges, sorted.
auto branch_of(const GraphView& graph, Node u, std::vector<std::int32_t>& key) -> std::span<const std::int32_t>;

}  // namespace uge::search
