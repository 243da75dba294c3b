#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "../costs.hpp"
#include "../graph.hpp"

namespace uge::ged {

/// Nodes of two graphs that local costs cannot tell apart: same label, same degree and, where edge labels count, the
/// same labels on their edges.
struct NodeClass {
    Label label;
    Node degree;
    const Label* edges;  ///< labels of the edges, sorted; null where they do not count
    Node left = -1;      ///< first member of each side; the next is in NodeClasses
    Node right = -1;
    Node last_right = -1;
    int num_left = 0;
    int num_right = 0;
    std::uint32_t slot = 0;
};

/// The classes of a pair of graphs, found by hashing in linear time. Reused from pair to pair.
class NodeClasses {
  public:
    /// Sorts the nodes of both graphs into classes; members stand in ascending order.
    /// `edge_labels`: whether labels of edges count.
    auto build(const GraphView& left, const GraphView& right, bool edge_labels) -> void;

    /// The same by label and degree, but nodes that have a like in the other graph are put into `mapping` at once, in
    /// ascending order, and only those without are members. Where costs are a metric, some optimum of the local
    /// assignment does so too: whoever else two likes are matched with, matching them with each other and the others
    /// with one another costs no more, by the triangle inequality. Entries for members are left alone.
    auto build_without_pairs(const GraphView& left, const GraphView& right, std::span<Node> mapping) -> void;

    /// Makes one class of those that differ only by labels the other graph does not have, which cost the same against
    /// everything as long as relabelling has one price. Precondition: edge labels do not count.
    auto merge_foreign_labels() -> void;

    [[nodiscard]] auto all() -> std::span<NodeClass> { return classes_; }
    [[nodiscard]] auto left() const -> std::span<const int> { return left_; }    ///< classes with members in left
    [[nodiscard]] auto right() const -> std::span<const int> { return right_; }  ///< classes with members in right

    /// Removes a member and gives it back. Precondition: there is one.
    auto pop_left(NodeClass& of) -> Node {
        const Node u = of.left;
        of.left = next_left_[static_cast<std::size_t>(u)];
        --of.num_left;
        return u;
    }
    auto pop_right(NodeClass& of) -> Node {
        const Node v = of.right;
        of.right = next_right_[static_cast<std::size_t>(v)];
        --of.num_right;
        return v;
    }

  private:
    auto start(Node left, Node right) -> void;
    auto find(Label label, Node degree, const Label* edges, std::uint64_t hash) -> NodeClass&;
    auto list_sides() -> void;
    auto merge_side(std::vector<int>& side, const std::vector<int>& others, bool is_left) -> void;

    std::vector<NodeClass> classes_;
    std::vector<Node> next_left_;
    std::vector<Node> next_right_;
    std::vector<int> slots_;  ///< hash table of positions in `classes_`, -1 where empty
    int shift_ = 0;
    std::vector<int> left_;
    std::vector<int> right_;
    std::vector<Label> sorted_left_;
    std::vector<Label> sorted_right_;
    std::vector<Label> labels_;
};

}  // namespace uge::ged
