#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "../deadline.hpp"
#include "problem.hpp"

namespace uge::mcs {

/// McSplit for graphs of any size and any number of edge labels: classes are ranges of two permutations of the nodes.
/// A branch costs O(nodes) and the degrees of the two nodes that it matches.
class ArraySearch {
  public:
    /// `best` becomes the largest common subgraph found.
    auto run(const Problem& problem, const Deadline& deadline, std::vector<Match>& best) -> Outcome;

  private:
    /// Nodes that may still be matched with each other: they have the same edges to the matched nodes.
    struct Class {
        std::array<int, 2> first;
        std::array<int, 2> size;
        bool attached;  ///< adjacent to a matched node
    };
    /// What the classes of a call allow at most, and the class to branch on (-1: none).
    struct Choice {
        int bound;
        int chosen;
    };

    auto node(std::size_t s, int position) -> Node& { return nodes_[s][static_cast<std::size_t>(position)]; }
    auto choose(std::size_t base) -> Choice;
    auto match_lonely(std::size_t base) -> bool;
    void find_lonely(std::size_t s, Class& c);
    void mark(std::size_t s, Node u, bool on);
    auto cut(std::size_t s, int first, int last, int mark) -> int;
    void split(std::size_t base, std::size_t end);
    auto next_candidate(std::size_t s, const Class& c, Node u, std::pair<int, Node>& last) -> int;
    auto stop(std::int64_t work) -> bool;
    void search(std::size_t base);

    const Problem* problem_ = nullptr;
    const Deadline* deadline_ = nullptr;
    std::array<std::vector<Node>, 2> nodes_;
    std::array<std::vector<int>, 2> mark_;  ///< 1 + label of the edge to the node just matched; 0 without edge
    std::array<std::vector<std::int64_t>, 2> alive_;  ///< stamp of the last time a node was in a class
    std::array<std::vector<int>, 2> lonely_;          ///< positions in the class at hand without a live neighbor
    std::vector<Class> classes_;                      ///< those of every call on the stack
    std::vector<Match> matches_;
    std::vector<Match>* best_ = nullptr;
    std::int64_t stamp_ = 0;
    std::int64_t branches_ = 0;
    std::int64_t work_ = 0;
    int open_ = 0;  ///< bound on what was left unsearched
    bool stopped_ = false;
};

}  // namespace uge::mcs
