#include "exact.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "edit_cost.hpp"

namespace uge::ged {

auto exact_fits(const GraphView& left, const GraphView& right, const EditCosts& costs) -> bool {
    return costs.uniform() ? UniformSearch::fits(left, right) : GeneralSearch::fits(left, right);
}

auto exact(const GraphView& left, const GraphView& right, const EditCosts& costs, const Bounds& start, double limit,
           const Deadline& deadline, ExactWorkspace& workspace, std::span<Node> mapping) -> Bounds {
    if (start.proven || exceeds(start.lower, limit) || !exact_fits(left, right, costs)) {
        return start;
    }
    if (costs.uniform()) {
        constexpr double rounding = 1e-6;
        const auto upper = std::llround(start.upper);
        const auto within = limit < start.upper ? static_cast<std::int64_t>(std::floor(limit + rounding)) : upper;
        return workspace.uniform.run(left, right, edge_labels_count(left, right, costs), deadline,
                                     static_cast<std::int64_t>(std::ceil(start.lower - rounding)), upper, within,
                                     mapping);
    }
    return workspace.general.run(left, right, costs, deadline, start.lower, start.upper, limit, mapping);
}

auto exact(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
           ExactWorkspace& workspace, std::span<Node> mapping) -> Bounds {
    const Node kept = std::min(left.n, right.n);
    std::iota(mapping.begin(), mapping.begin() + kept, 0);
    std::fill(mapping.begin() + kept, mapping.end(), -1);
    const double upper = edit_cost(left, right, costs, mapping);
    return exact(left, right, costs, {0, upper, upper == 0}, no_limit, deadline, workspace, mapping);
}

}  // namespace uge::ged
