#include "tight.hpp"

#include <cmath>

namespace uge::ged {

auto tight(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
           TightWorkspace& workspace, std::span<Node> mapping, const Effort& effort) -> Bounds {
    Bounds bounds = branch(left, right, costs, deadline, workspace.bipartite, mapping);
    if (bounds.proven) {
        return bounds;
    }
    if (costs.uniform()) {
        bounds.lower = std::ceil(bounds.lower);
    }
    if (bounds.upper > bounds.lower) {
        bounds.upper = refine(left, right, costs, effort, bounds.lower, deadline, workspace.refine, mapping);
    }
    bounds.proven = bounds.upper <= bounds.lower;
    return bounds;
}

}  // namespace uge::ged
