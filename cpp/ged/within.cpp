#include <algorithm>

#include "edit_cost.hpp"
#include "orientation.hpp"
#include "workspace.hpp"

namespace uge::ged {
namespace {

/// Precondition: left.n <= right.n.
auto within_uniform(const GraphView& left, const GraphView& right, const EditCosts& costs, double limit,
                    const Deadline& deadline, Workspace& workspace, std::span<Node> mapping) -> Bounds {
    std::fill(mapping.begin(), mapping.end(), -1);
    const double upper = replacement_cost(left, right, costs);
    const Bounds start{.lower = 0, .upper = upper, .proven = upper == 0};
    return exact(left, right, costs, start, limit, deadline, workspace.exact, mapping);
}

}  // namespace

auto within(const GraphView& left, const GraphView& right, const EditCosts& costs, double limit,
            const Deadline& deadline, Workspace& workspace, std::span<Node> mapping) -> Bounds {
    const bool turned = left.n > right.n;
    const GraphView& small = turned ? right : left;
    const GraphView& large = turned ? left : right;
    if (!costs.uniform() || !exact_fits(small, large, costs)) {
        const Params params{.method = Method::exact, .limit = limit};
        return edit_distance(left, right, costs, params, deadline, workspace, mapping);
    }
    if (!turned) {
        return within_uniform(left, right, costs, limit, deadline, workspace, mapping);
    }
    workspace.turned.resize(static_cast<std::size_t>(right.n));
    const Bounds bounds = within_uniform(right, left, costs.turned(), limit, deadline, workspace, workspace.turned);
    invert(workspace.turned, mapping);
    return bounds;
}

}  // namespace uge::ged
