#pragma once
#include <limits>
#include <span>
#include <vector>

#include "ged.hpp"
#include "large_search.hpp"
#include "swap_search.hpp"

namespace uge::ged {

struct RefineWorkspace {
    Arena arena;
    LargeSearch large;
    std::vector<Node> trial;
    std::vector<Node> queue;
    std::vector<char> seen;
    EdgeCodes codes;
};

/// How long to search: each start is a map of its own that is grown and then improved by swaps.
struct Effort {
    int starts = 2;
    int patience = 0;  ///< swaps without gain before a start is given up
};

/// Improves `mapping` in place by local search; returns its true cost, never above that of the map given. Where costs
/// make deletion never worthwhile, deleted nodes are mapped first. Any costs.
auto refine(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
            RefineWorkspace& workspace, std::span<Node> mapping) -> double;

/// The same with `effort`, until the cost comes down to `lower`.
auto refine(const GraphView& left, const GraphView& right, const EditCosts& costs, const Effort& effort, double lower,
            const Deadline& deadline, RefineWorkspace& workspace, std::span<Node> mapping) -> double;

}  // namespace uge::ged
