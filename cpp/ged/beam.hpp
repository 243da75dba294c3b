#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "arena.hpp"
#include "edge_codes.hpp"
#include "ged.hpp"

namespace uge::ged {

struct BeamWorkspace {
    struct Choice {
        int state;
        Node image;
        double rank;
    };
    Arena arena;
    std::vector<Node> order;
    std::vector<Node> done;
    std::vector<char> seen;
    std::vector<Node> by_index;
    std::vector<std::uint64_t> hashes;
    std::vector<Choice> chosen;
    std::vector<Choice> ties;
    std::vector<double> costs[2];
    std::vector<Node> maps[2];
    std::vector<Node> used[2];
    std::vector<double> steps;
    EdgeCodes codes;
    std::vector<std::uint8_t> done_codes;
};

/// Neuhaus, Riesen & Bunke (2006): extends partial maps node by node in breadth-first order and keeps the `width` best
/// at each step. Writes the best map and returns its true cost. Any costs; past the deadline a partial map is
/// completed in the order of nodes.
/// Uniform costs rank partial maps by cost so far and a lower bound on the edges to come, others by cost so far.
auto beam(const GraphView& left, const GraphView& right, const EditCosts& costs, int width, const Deadline& deadline,
          BeamWorkspace& workspace, std::span<Node> mapping) -> double;

}  // namespace uge::ged
