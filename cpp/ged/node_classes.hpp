#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "../costs.hpp"
#include "../deadline.hpp"
#include "../graph.hpp"
#include "stars.hpp"

namespace uge::ged {

/// Nodes of two graphs that local costs cannot distinguish: same label, same degree and, where edge labels count, the
/// same labels on their edges.
struct NodeClass {
    Label label;
    Node degree;
    union {
        const Label* edges;  ///< labels of the edges, sorted; null where they do not count
        Star star;           ///< where NodeClasses::starred()
    };
    Node left = -1;  ///< first member of each side; the next is in NodeClasses
    Node right = -1;
    int num_left = 0;
    int num_right = 0;
    std::uint32_t slot = 0;
};

/// Which end of the right graph the members of a class are listed from. Left members always ascend.
enum class RightOrder { ascending, descending };

/// What is stored of the edge labels of a class: nothing, how often each occurs, or a sorted list.
enum class EdgeKeys { none, counted, listed };

/// The classes of a pair of graphs, found by hashing in linear time. Reused from pair to pair.
class NodeClasses {
  public:
    /// Sorts the nodes of both graphs into classes. Labels of edges that need only be counted are listed where they are
    /// too many for stars. False, and no classes, where time was up before.
    auto build(const GraphView& left, const GraphView& right, EdgeKeys keys, const Deadline& deadline,
               RightOrder order = RightOrder::ascending) -> bool;

    /// Makes one class of those that differ only by labels the other graph does not have, which cost the same against
    /// everything if relabeling has a constant cost. Precondition: edge labels do not count.
    auto merge_foreign_labels() -> void;

    /// Whether the classes of the last build have stars instead of lists.
    [[nodiscard]] auto starred() const -> bool { return starred_; }
    [[nodiscard]] auto operator[](int c) const -> const NodeClass& { return classes_[static_cast<std::size_t>(c)]; }
    [[nodiscard]] auto size() const -> int { return static_cast<int>(classes_.size()); }
    [[nodiscard]] auto left() const -> std::span<const int> { return left_; }    ///< classes with members in left
    [[nodiscard]] auto right() const -> std::span<const int> { return right_; }  ///< classes with members in right
    [[nodiscard]] auto of_left(Node u) const -> int { return of_left_[static_cast<std::size_t>(u)]; }
    [[nodiscard]] auto of_right(Node v) const -> int { return of_right_[static_cast<std::size_t>(v)]; }
    [[nodiscard]] auto next_left(Node u) const -> Node { return next_left_[static_cast<std::size_t>(u)]; }
    [[nodiscard]] auto next_right(Node v) const -> Node { return next_right_[static_cast<std::size_t>(v)]; }

  private:
    auto start(Node left, Node right) -> void;
    struct Slot {
        std::uint64_t key;
        int of = -1;  ///< position in `classes_`, -1 where empty
    };
    template <EdgeKeys keys>
    auto find(Label label, Node degree, const Label* edges, Star star) -> NodeClass&;
    template <EdgeKeys keys>
    auto build_as(const GraphView& left, const GraphView& right, const Deadline& deadline, RightOrder order) -> bool;
    auto merge_side(std::vector<int>& side, const std::vector<int>& others, bool is_left) -> void;

    std::vector<NodeClass> classes_;
    std::vector<Node> next_left_;
    std::vector<Node> next_right_;
    std::vector<int> of_left_;
    std::vector<int> of_right_;
    std::vector<Slot> slots_;  ///< hash table of the classes
    int shift_ = 0;
    bool starred_ = false;
    std::vector<int> left_;
    std::vector<int> right_;
    std::vector<Star> sums_;
    std::vector<Star> stars_left_;
    std::vector<Star> stars_right_;
    std::vector<Label> sorted_left_;
    std::vector<Label> sorted_right_;
    std::vector<Label> labels_;
};

}  // namespace uge::ged
