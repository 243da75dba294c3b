#include "exact.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "edit_cost.hpp"

namespace uge::ged {

auto exact_fits(const GraphView& left, const GraphView& right, const EditCosts& costs) -> bool {
    return costs.uniform() ? UniformSearch::fits(left, right) : GeneralSearch::fits(left, right);
}

auto exact(const GraphView& left, const GraphView& right, const EditCosts& costs, const Bounds& start,
           const Deadline& deadline, ExactWorkspace& workspace, std::span<Node> mapping) -> Bounds {
    if (start.proven || !exact_fits(left, right, costs)) {
        return start;
    }
    if (costs.uniform()) {
        constexpr double rounding = 1e-6;
        return workspace.uniform.run(left, right, deadline,
                                     static_cast<std::int64_t>(std::ceil(start.lower - rounding)),
                                     std::llround(start.upper), mapping);
    }
    return workspace.general.run(left, right, costs, deadline, start.lower, start.upper, mapping);
}

auto exact(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
           ExactWorkspace& workspace, std::span<Node> mapping) -> Bounds {
    const Node kept = std::min(left.n, right.n);
    std::iota(mapping.begin(), mapping.begin() + kept, 0);
    std::fill(mapping.begin() + kept, mapping.end(), -1);
    const double upper = edit_cost(left, right, costs, mapping);
    return exact(left, right, costs, {0, upper, upper == 0}, deadline, workspace, mapping);
}

}  // namespace uge::ged
