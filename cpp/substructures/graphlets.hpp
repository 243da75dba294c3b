#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "../deadline.hpp"
#include "../graph.hpp"

namespace uge::substructures {

/// Graphlets are the graphs of 3, 4 or 5 nodes up to isomorphism, connected or not: 4, 11 and 34 of them.
/// A graph of k nodes is written as a code: the pair i < j is bit j (j - 1) / 2 + i. Classes stand in the order of
/// (number of edges, smallest code of the class), so class 0 has no edge and the last is complete. For size 3: none,
/// one edge, path, triangle. For size 4: none; edge; path of 3 and a node, two edges; triangle and a node, star, path;
/// paw, cycle; diamond; complete.
struct GraphletClasses {
    int size = 0;
    std::vector<std::uint16_t> codes;    ///< smallest code of each class
    std::vector<bool> connected;         ///< of each class
    std::vector<std::uint8_t> class_of;  ///< of each code, 2^(size * (size - 1) / 2) of them
};

/// Precondition: size is 3, 4 or 5. Built once.
auto graphlet_classes(int size) -> const GraphletClasses&;

/// Upper bound on the connected sets of 5 nodes, which exact counts of size 5 visit one by one. O(n + m).
auto connected_sets_bound(const GraphView& graph) -> double;

/// Counts graphlets of one graph after another, in memory that is reused.
class GraphletCounter {
  public:
    /// Number of sets of `size` nodes that induce each class; `counts` has one entry per class. All zero if the graph
    /// has fewer nodes. Sizes 3 and 4 by formulas in O(sum of squared degrees) and the triangles; size 5 visits
    /// connected sets and derives the rest. Returns false, counts undefined, where the deadline passed first.
    /// Precondition: n <= max_nodes, so that counts fit.
    auto count(const GraphView& graph, int size, const Deadline& deadline, std::span<std::int64_t> counts) -> bool;

    /// The same for `samples` sets drawn uniformly (with replacement) among all sets of `size` nodes. The draw depends
    /// on the seed and on the graph's content only, not on its place in a collection.
    void sample(const GraphView& graph, int size, std::int64_t samples, std::uint64_t seed,
                std::span<std::int64_t> counts);

    static constexpr Node max_nodes = 9000;

  private:
    auto count3(const GraphView& graph, const Deadline& deadline, std::span<std::int64_t> counts) -> bool;
    auto count4(const GraphView& graph, const Deadline& deadline, std::span<std::int64_t> counts) -> bool;
    auto count5(const GraphView& graph, const Deadline& deadline, std::span<std::int64_t> counts) -> bool;
    auto extend(const GraphView& graph, Node root, int size, unsigned code, std::size_t first, std::size_t last)
        -> bool;

    std::vector<std::int32_t> mark_;
    std::vector<std::int32_t> inner_mark_;
    std::vector<std::int64_t> node_triangles_;
    std::vector<Node> common_;
    std::vector<std::uint8_t> seen_by_;  ///< bit i: adjacent to the i-th node of the set at hand
    std::vector<Node> extension_;        ///< nodes that may join, for each size of the set at hand, one after another
    std::span<std::int64_t> counts_;
    const Deadline* deadline_ = nullptr;
    std::int64_t visited_ = 0;
};

}  // namespace uge::substructures
