#include "ged.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "bounds.hpp"
#include "orientation.hpp"
#include "workspace.hpp"

namespace uge::ged {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

auto hed(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
         BipartiteWorkspace& workspace, std::span<Node> mapping) -> Bounds {
    std::fill(mapping.begin(), mapping.end(), -1);
    return {.lower = hausdorff_lower_bound(left, right, costs, deadline, workspace), .upper = none, .proven = false};
}

/// Precondition: the pair stands as `should_turn` wants it.
auto solve(const GraphView& left, const GraphView& right, const EditCosts& costs, const Params& params,
           const Deadline& deadline, Workspace& workspace, std::span<Node> mapping) -> Bounds {
    switch (params.method) {
        case Method::hungarian:
            return hungarian(left, right, costs, deadline, workspace.bipartite, mapping);
        case Method::vj:
            return vj(left, right, costs, deadline, workspace.bipartite, mapping);
        case Method::hed:
            return hed(left, right, costs, deadline, workspace.bipartite, mapping);
        case Method::branch:
        case Method::exact:
        case Method::beam:
        case Method::refine:
        case Method::paper:
        case Method::tight:
            return branch(left, right, costs, deadline, workspace.bipartite, mapping);
    }
    return {.lower = none, .upper = none, .proven = false};
}

}  // namespace

auto edit_distance(const GraphView& left, const GraphView& right, const EditCosts& costs, const Params& params,
                   const Deadline& deadline, Workspace& workspace, std::span<Node> mapping) -> Bounds {
    assert(mapping.size() == static_cast<std::size_t>(left.n));
    if (!should_turn(left, right, costs)) {
        return solve(left, right, costs, params, deadline, workspace, mapping);
    }
    workspace.turned.resize(static_cast<std::size_t>(right.n));
    const Bounds bounds = solve(right, left, costs.turned(), params, deadline, workspace, workspace.turned);
    invert(workspace.turned, mapping);
    return bounds;
}

}  // namespace uge::ged
