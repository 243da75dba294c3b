#pragma once
#include <cstdint>
#include <vector>

#include "../deadline.hpp"
#include "../graph.hpp"
#include "dictionary.hpp"

namespace uge::substructures {

/// Pairs of nodes with these labels at this distance.
struct PathCount {
    Label low;   ///< the smaller label
    Label high;  ///< the larger
    std::int32_t distance;
    std::int64_t count;
};

/// Shortest paths of one graph after another, in memory that is reused.
class PathCounter {
  public:
    /// Unordered pairs of distinct nodes that a path joins, by labels (all 0 where `labeled` is false) and length in
    /// edges, ascending. Breadth-first from 64 nodes at once: O((n + m) * n / 64) words where graphs are small
    /// worlds, O((n + m) * n) at worst, and O(n²) where labeled. The result lives until the next call; null where the
    /// deadline passed first.
    auto count(const GraphView& graph, bool labeled, const Deadline& deadline = {}) -> const std::vector<PathCount>*;

  private:
    void number_labels(const GraphView& graph, bool labeled);
    template <class Add>
    auto visit_pairs(const GraphView& graph, const Deadline& deadline, Add&& add) -> bool;

    std::vector<Label> labels_;     ///< distinct, ascending
    std::vector<std::int32_t> of_;  ///< position in labels_ of each node's label
    std::vector<std::uint64_t> seen_, frontier_, next_;
    std::vector<Node> active_, reached_;
    std::vector<std::int64_t> table_;
    std::vector<std::uint64_t> keys_;
    std::vector<PathCount> found_;
};

/// The counts of every graph, each triple (low, high, distance) numbered by the dictionary, which learns new ones:
/// ids by first appearance, graph by graph, ascending in a graph. A graph that takes longer than `seconds` counts
/// nothing and is listed in Counts::unfinished.
auto learn_path_counts(const PackedGraphs& graphs, bool labeled, Dictionary& dictionary, const Limits& limits = {})
    -> Counts;

/// The same with a dictionary that stays as it is: triples that it does not contain do not count.
auto path_counts(const PackedGraphs& graphs, bool labeled, const Dictionary& dictionary, const Limits& limits = {})
    -> Counts;

}  // namespace uge::substructures
