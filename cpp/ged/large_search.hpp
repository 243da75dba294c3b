#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "../deadline.hpp"
#include "edit_cost.hpp"

namespace uge::ged {

/// Local search over the maps of graphs too large for dense tables: memory is linear in nodes and edges, and so,
/// nearly, is the time. Any costs. Reused from pair to pair.
class LargeSearch {
  public:
    /// Completes `map`, where -1 is open, along edges: the open neighbors of two nodes that are a pair become pairs
    /// themselves, the most alike first; and from the largest nodes on where no pair has open neighbors left.
    /// Leaves -1 only when `right` is used up, or time.
    auto grow(const GraphView& left, const GraphView& right, const Deadline& deadline, std::span<Node> map) -> void;

    /// Swaps images, frees and deletes nodes as long as the cost decreases, each node trying only a few places next to
    /// the images of its neighbors. Returns the cost of the map.
    auto improve(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
                 std::span<Node> map) -> double;

  private:
    struct Key {
        Label label;
        std::int64_t size;  ///< own degree first, then those of the neighbors
    };
    struct Move {
        double gain;
        Node to;
    };
    auto prepare(const GraphView& left, const GraphView& right, std::span<const Node> map) -> void;
    auto pair(Node u, Node x, std::span<Node> map) -> void;
    auto pair_neighbors(Node u, Node x, std::span<Node> map) -> void;
    auto pair_lists(std::span<Node> map) -> void;
    [[nodiscard]] auto edge_saving(std::int64_t from, std::int64_t to) const -> double;
    [[nodiscard]] auto saving(Node u, Node x, std::span<const Node> map) const -> double;
    [[nodiscard]] auto gain(Node u, Node y, double now, std::span<const Node> map) const -> double;
    auto best_move(Node u, double now, WorkMeter& meter, std::span<const Node> map) -> Move;

    GraphView left_;
    GraphView right_;
    EditCosts costs_;
    std::vector<Key> left_keys_;
    std::vector<Key> right_keys_;
    std::vector<Node> at_;  ///< left node on each node of `right`, or -1
    std::vector<Node> left_open_;
    std::vector<Node> right_open_;
    std::vector<Node> left_seeds_;
    std::vector<Node> right_seeds_;
    std::vector<Node> queue_;
    std::size_t turn_ = 0;  ///< where in long lists of candidates to look next
};

}  // namespace uge::ged
