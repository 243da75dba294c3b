#pragma once
#include <span>
#include <vector>

#include "../graph.hpp"
#include "node_classes.hpp"

namespace uge::ged {

/// How many nodes of each class are mapped to each class of the right graph: an assignment of nodes up to differences
/// that local costs do not distinguish. The nodes are chosen when it is written as a map.
class ClassPlan {
  public:
    static constexpr int deletion = -1;

    auto start(const NodeClasses& classes) -> void;

    /// `count` nodes of class `from` are mapped to class `to`, or are deleted.
    auto send(int from, int to, int count) -> void {
        quotas_.push_back({.to = to, .count = count, .next = first_[static_cast<std::size_t>(from)]});
        first_[static_cast<std::size_t>(from)] = static_cast<int>(quotas_.size()) - 1;
    }

    /// Takes nodes as classes list them.
    auto write_in_order(const NodeClasses& classes, std::span<Node> mapping) -> void;

    /// Takes nodes so that neighbors are mapped to neighbors where the plan allows: from matched nodes along edges,
    /// breadth first, from the rarest class on. About linear in the edges; past the deadline edges are no longer
    /// followed.
    auto write_along_edges(const GraphView& left, const GraphView& right, const NodeClasses& classes,
                           const Deadline& deadline, std::span<Node> mapping) -> void;

  private:
    struct Quota {
        int to;
        int count;
        int next;
    };

    /// The quota of a class of left for a class of right, or null if it is used up.
    auto quota(int from, int to) -> Quota* {
        for (int q = first_[static_cast<std::size_t>(from)]; q >= 0; q = quotas_[static_cast<std::size_t>(q)].next) {
            if (quotas_[static_cast<std::size_t>(q)].to == to) {
                return quotas_[static_cast<std::size_t>(q)].count > 0 ? &quotas_[static_cast<std::size_t>(q)] : nullptr;
            }
        }
        return nullptr;
    }
    /// Takes one from a quota of a class; returns the class it is mapped to.
    auto take_seed(int from) -> int;
    /// The rarest class first: it is the least ambiguous.
    auto order_seeds(const NodeClasses& classes) -> void;
    auto write_by_bits(const GraphView& left, const GraphView& right, const NodeClasses& classes,
                       std::span<Node> mapping) -> void;
    auto spread(const GraphView& left, const GraphView& right, const NodeClasses& classes, WorkMeter& meter,
                std::span<Node> mapping) -> void;

    std::vector<Quota> quotas_;
    std::vector<int> first_;              ///< of each class
    std::vector<Node> cursor_;            ///< of each class: first member of right that may be free
    std::vector<char> taken_;             ///< nodes of right
    std::vector<Node> queue_;             ///< matched nodes of left whose neighbors are to be matched
    std::vector<int> order_;              ///< classes of left as seeds are taken from them
    std::vector<std::uint64_t> members_;  ///< of each class, nodes of right
    std::vector<std::uint64_t> allowed_;  ///< of each class of left, images it may still get
};

}  // namespace uge::ged
