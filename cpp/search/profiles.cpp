#include "profiles.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace uge::search {
namespace {

constexpr std::uint64_t magic = 0x31464f5250454755;  // "UGEPROF1"
constexpr std::size_t alignment = 8;                 // in words: sections are aligned to cache lines

/// Lengths of the sections, in entries.
struct Header {
    std::uint64_t magic;
    std::uint64_t graphs;
    std::uint64_t nodes;
    std::uint64_t classes;
    std::uint64_t keys;
    std::uint64_t node_labels;
    std::uint64_t edge_labels;
    std::uint64_t reserved;
};
constexpr std::size_t header_words = sizeof(Header) / sizeof(std::uint64_t);
static_assert(header_words == alignment);

auto aligned(std::size_t bytes) -> std::size_t {
    const std::size_t line = alignment * sizeof(std::uint64_t);
    return (bytes + line - 1) / line * alignment;
}

/// Reads the sections of a block one after the other.
class Sections {
  public:
    explicit Sections(std::span<const std::uint64_t> block) : block_(block), at_(header_words) {}
    template <class T>
    auto take(std::uint64_t count) -> std::span<const T> {
        if (count > block_.size() * sizeof(std::uint64_t)) {
            throw std::invalid_argument("profiles that are shorter than their header says");
        }
        const std::size_t words = aligned(static_cast<std::size_t>(count) * sizeof(T));
        if (at_ + words > block_.size()) {
            throw std::invalid_argument("profiles that are truncated");
        }
        const auto* first = reinterpret_cast<const T*>(block_.data() + at_);
        at_ += words;
        return {first, static_cast<std::size_t>(count)};
    }
    [[nodiscard]] auto ended() const -> bool { return at_ == block_.size(); }

  private:
    std::span<const std::uint64_t> block_;
    std::size_t at_;
};

template <class T>
void append(std::vector<std::uint64_t>& block, std::span<const T> values) {
    const std::size_t at = block.size();
    block.resize(at + aligned(values.size_bytes()));
    if (!values.empty()) {
        std::memcpy(block.data() + at, values.data(), values.size_bytes());
    }
}

auto size_key(const GraphView& graph) -> std::uint64_t {
    return static_cast<std::uint64_t>(graph.n) << 32 | static_cast<std::uint64_t>(graph.num_edges());
}

/// A slot for each label: the `own` most frequent labels have a slot each; the others are distributed over `shared`
/// further slots, or have none (-1) if `shared` is 0.
auto slots(std::span<const Label> labels, int own, int shared) -> std::vector<std::int8_t> {
    Label most = -1;
    for (const Label label : labels) {
        most = std::max(most, label);
    }
    std::vector<std::int64_t> frequency(static_cast<std::size_t>(most + 1));
    for (const Label label : labels) {
        if (label >= 0) {
            ++frequency[static_cast<std::size_t>(label)];
        }
    }
    std::vector<std::size_t> order(frequency.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return frequency[a] > frequency[b]; });
    std::vector<std::int8_t> slot(frequency.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        const int further = shared == 0 ? -1 : own + static_cast<int>(i % static_cast<std::size_t>(shared));
        slot[order[i]] = static_cast<std::int8_t>(static_cast<int>(i) < own ? static_cast<int>(i) : further);
    }
    return slot;
}

void require(bool condition, const char* message) {
    if (!condition) {
        throw std::invalid_argument(message);
    }
}

}  // namespace

auto branch_of(const GraphView& graph, Node u, std::vector<std::int32_t>& key) -> std::span<const std::int32_t> {
    key.assign(1, graph.labels[u]);
    if (graph.edge_labels == nullptr) {
        key.resize(1 + static_cast<std::size_t>(graph.degree(u)), 0);
    } else {
        const auto labels = graph.edge_labels_of(u);
        key.insert(key.end(), labels.begin(), labels.end());
        std::sort(key.begin() + 1, key.end());
    }
    return key;
}

auto Profiles::built(const PackedGraphs& graphs) -> std::vector<std::uint64_t> {
    const std::size_t count = graphs.size();
    constexpr int own_node_slots = 13;
    const auto node_slots =
        slots(graphs.labels, own_node_slots, static_cast<int>(Counters::node_slots) - own_node_slots);
    constexpr std::array<Label, 1> no_label{0};
    const auto edge_slots = slots(graphs.edge_labels.empty() ? std::span<const Label>(no_label) : graphs.edge_labels,
                                  static_cast<int>(incident_levels.size()), 0);

    std::vector<std::uint64_t> sizes(count);
    std::vector<std::int32_t> positions(count);
    for (std::size_t g = 0; g < count; ++g) {
        sizes[g] = size_key(graphs[g]);
        positions[g] = static_cast<std::int32_t>(g);
    }
    std::stable_sort(positions.begin(), positions.end(), [&](auto a, auto b) {
        return sizes[static_cast<std::size_t>(a)] < sizes[static_cast<std::size_t>(b)];
    });
    std::vector<std::uint64_t> sorted_sizes(count);
    std::vector<Counters> counters(count);
    std::vector<std::int32_t> branches(graphs.labels.size());
    substructures::Dictionary dictionary;
    std::vector<std::int32_t> key;
    for (std::size_t rank = 0; rank < count; ++rank) {
        const auto g = static_cast<std::size_t>(positions[rank]);
        const GraphView graph = graphs[g];
        sorted_sizes[rank] = sizes[g];
        counters[rank] = counters_of(
            graph, [&](Label label) { return slot(node_slots, label); },
            [&](Label label) { return slot(edge_slots, label); });
    }
    for (std::size_t g = 0; g < count; ++g) {
        const GraphView graph = graphs[g];
        for (Node u = 0; u < graph.n; ++u) {
            branches[static_cast<std::size_t>(graphs.node_offsets[g] + u)] = dictionary.learn(branch_of(graph, u, key));
        }
    }
    const Header header{.magic = magic,
                        .graphs = count,
                        .nodes = branches.size(),
                        .classes = static_cast<std::uint64_t>(dictionary.size()),
                        .keys = dictionary.keys().size(),
                        .node_labels = node_slots.size(),
                        .edge_labels = edge_slots.size(),
                        .reserved = 0};
    std::vector<std::uint64_t> block;
    block.reserve(aligned(sizeof(header)) + aligned(counters.size() * sizeof(Counters)) +
                  aligned(count * sizeof(std::uint64_t)) + aligned(count * sizeof(std::int32_t)) +
                  aligned(branches.size() * sizeof(std::int32_t)) + aligned(dictionary.offsets().size_bytes()) +
                  aligned(dictionary.keys().size_bytes()) + aligned(node_slots.size()) + aligned(edge_slots.size()));
    append<Header>(block, std::span(&header, 1));
    append<Counters>(block, counters);
    append<std::uint64_t>(block, sorted_sizes);
    append<std::int32_t>(block, positions);
    append<std::int32_t>(block, branches);
    append<std::int64_t>(block, dictionary.offsets());
    append<std::int32_t>(block, dictionary.keys());
    append<std::int8_t>(block, node_slots);
    append<std::int8_t>(block, edge_slots);
    return block;
}

Profiles::Profiles(std::span<const std::uint64_t> block, const PackedGraphs& graphs) : first_(graphs.node_offsets) {
    require(block.size() >= header_words, "profiles without a header");
    Header header{};
    std::memcpy(&header, block.data(), sizeof(header));
    require(header.magic == magic, "not profiles of graphs");
    require(header.graphs == graphs.size() && header.nodes == graphs.labels.size(), "profiles of other graphs");
    Sections sections(block);
    counters_ = sections.take<Counters>(header.graphs);
    size_ = sections.take<std::uint64_t>(header.graphs);
    position_ = sections.take<std::int32_t>(header.graphs);
    branches_ = sections.take<std::int32_t>(header.nodes);
    require(header.classes < block.size() * sizeof(std::uint64_t), "profiles that are shorter than their header says");
    const auto offsets = sections.take<std::int64_t>(header.classes + 1);
    const auto keys = sections.take<std::int32_t>(header.keys);
    node_slot_ = sections.take<std::int8_t>(header.node_labels);
    edge_slot_ = sections.take<std::int8_t>(header.edge_labels);
    require(sections.ended(), "profiles that are longer than they say");

    const auto count = static_cast<std::int64_t>(header.graphs);
    const auto classes = static_cast<std::int64_t>(header.classes);
    for (std::size_t rank = 0; rank < size(); ++rank) {
        require(position_[rank] >= 0 && position_[rank] < count, "profiles of a graph that is not there");
        require(size_[rank] == size_key(graphs[static_cast<std::size_t>(position_[rank])]), "profiles of other graphs");
    }
    const auto order = [&](std::size_t a, std::size_t b) {
        return size_[a] != size_[b] ? size_[a] < size_[b] : position_[a] < position_[b];
    };
    for (std::size_t rank = 1; rank < size(); ++rank) {
        require(order(rank - 1, rank), "profiles that are not sorted");
    }
    require(std::all_of(branches_.begin(), branches_.end(), [&](auto id) { return id >= 0 && id < classes; }),
            "profiles with a branch that is not in their dictionary");
    require(offsets.front() == 0 && offsets.back() == static_cast<std::int64_t>(keys.size()) &&
                std::adjacent_find(offsets.begin(), offsets.end(), std::greater_equal<>()) == offsets.end(),
            "profiles whose dictionary is damaged");
    const auto below = [](std::span<const std::int8_t> slots, std::size_t most) {
        return std::all_of(slots.begin(), slots.end(),
                           [&](auto slot) { return slot >= -1 && slot < static_cast<int>(most); });
    };
    require(below(node_slot_, Counters::node_slots) && below(edge_slot_, incident_levels.size()),
            "profiles with a counter that is not there");
    dictionary_ = {{offsets.begin(), offsets.end()}, {keys.begin(), keys.end()}};
    substructures::Dictionary by_degree;
    std::vector<std::int32_t> first_of;
    for (std::size_t id = 0; id < num_classes(); ++id) {
        const auto key = branch(id);
        const std::array<std::int32_t, 2> short_key{key[0], static_cast<std::int32_t>(key.size())};
        const auto found = static_cast<std::size_t>(by_degree.learn(short_key));
        if (found == first_of.size()) {
            first_of.push_back(static_cast<std::int32_t>(id));
        }
        plain_.push_back(first_of[found]);
    }
}

auto Profiles::first_rank(std::int64_t nodes, std::int64_t edges) const -> std::size_t {
    constexpr std::int64_t most = 0x7fffffff;
    const auto key = static_cast<std::uint64_t>(std::clamp<std::int64_t>(nodes, 0, most)) << 32 |
                     static_cast<std::uint64_t>(std::clamp<std::int64_t>(edges, 0, most));
    return static_cast<std::size_t>(std::lower_bound(size_.begin(), size_.end(), key) - size_.begin());
}

auto Profiles::rank_of(std::int32_t position, const GraphView& graph) const -> std::size_t {
    const auto [first, last] = std::equal_range(size_.begin(), size_.end(), size_key(graph));
    const auto begin = position_.begin() + (first - size_.begin());
    const auto found = std::lower_bound(begin, position_.begin() + (last - size_.begin()), position);
    return static_cast<std::size_t>(found - position_.begin());
}

}  // namespace uge::search
