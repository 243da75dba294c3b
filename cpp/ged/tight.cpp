#include "tight.hpp"

#include <algorithm>
#include <cmath>

namespace uge::ged {
namespace {

constexpr int beam_width = 20;  ///< a narrow beam is a better start than many random ones where labels are many
constexpr Node most_nodes_of_beam = 128;

}  // namespace

auto tight(const GraphView& left, const GraphView& right, const EditCosts& costs, double limit,
           const Deadline& deadline, TightWorkspace& workspace, std::span<Node> mapping, const Effort& effort)
    -> Bounds {
    Bounds bounds = branch(left, right, costs, deadline, workspace.bipartite, mapping);
    if (bounds.proven) {
        return bounds;
    }
    if (costs.uniform()) {
        bounds.lower = std::ceil(bounds.lower);
    }
    if (bounds.upper > bounds.lower && !exceeds(bounds.lower, limit)) {
        if (costs.uniform() && right.n <= most_nodes_of_beam) {
            workspace.trial.resize(mapping.size());
            if (beam(left, right, costs, beam_width, deadline, workspace.beam, workspace.trial) < bounds.upper) {
                std::copy(workspace.trial.begin(), workspace.trial.end(), mapping.begin());
            }
        }
        bounds.upper = refine(left, right, costs, effort, bounds.lower, deadline, workspace.refine, mapping);
    }
    bounds.proven = bounds.upper <= bounds.lower;
    return bounds;
}

}  // namespace uge::ged
