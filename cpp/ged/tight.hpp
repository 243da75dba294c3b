#pragma once
#include <span>
#include <vector>

#include "beam.hpp"
#include "bipartite.hpp"
#include "refine.hpp"

namespace uge::ged {

/// What `tight` spends by default: some 0.2 ms on a pair of molecules. Three times as much halves the gap that is left
/// on PTC and NCI109 (measured there only).
constexpr Effort tight_effort{.starts = 20, .patience = 5};

struct TightWorkspace {
    BipartiteWorkspace bipartite;
    RefineWorkspace refine;
    BeamWorkspace beam;
    std::vector<Node> trial;
};

/// The lower bound of `branch`, and the best map that local search finds from its map or that of a narrow beam and
/// from many others grown along edges. Stops as soon as both bounds meet, or the lower one is above `limit`. Any costs;
/// graphs of any size.
auto tight(const GraphView& left, const GraphView& right, const EditCosts& costs, double limit,
           const Deadline& deadline, TightWorkspace& workspace, std::span<Node> mapping,
           const Effort& effort = tight_effort) -> Bounds;

}  // namespace uge::ged
