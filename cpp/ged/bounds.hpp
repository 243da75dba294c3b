#pragma once
#include "bipartite.hpp"

namespace uge::ged {

/// Least cost of the difference in numbers of nodes and edges. No map costs less. Constant time.
auto size_lower_bound(const GraphView& left, const GraphView& right, const EditCosts& costs) -> double;

/// Hausdorff edit distance (Fischer et al. 2015): every node is matched with the nearest node of the other graph,
/// independently of the others, at half the cost of `branch`; never below the bound by size. Never above the lower
/// bound of `branch`. Time: product of the numbers of kinds of nodes.
auto hausdorff_lower_bound(const GraphView& left, const GraphView& right, const EditCosts& costs,
                           const Deadline& deadline, BipartiteWorkspace& workspace) -> double;

}  // namespace uge::ged
