#include "ged.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "bounds.hpp"
#include "edit_cost.hpp"
#include "orientation.hpp"
#include "workspace.hpp"

namespace uge::ged {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

auto at_most(double upper) -> Bounds {
    return {.lower = none, .upper = upper, .proven = false};
}

/// Best of the published beam, hungarian and vj. The assignments have the same optima in both directions; the beam has
/// not.
auto paper(const GraphView& left, const GraphView& right, const EditCosts& costs, int beam_width,
           const Deadline& deadline, Workspace& workspace, std::span<Node> mapping) -> Bounds {
    double best = hungarian(left, right, costs, deadline, workspace.bipartite, mapping).upper;
    auto& trial = workspace.trial;
    const auto keep_better = [&](double cost) {
        if (cost < best) {
            best = cost;
            std::copy(trial.begin(), trial.end(), mapping.begin());
        }
    };
    trial.resize(mapping.size());
    keep_better(vj(left, right, costs, deadline, workspace.bipartite, trial).upper);
    keep_better(published_beam(left, right, costs, beam_width, deadline, workspace.published_beam, trial));
    workspace.back.resize(static_cast<std::size_t>(right.n));
    const double back =
        published_beam(right, left, costs.turned(), beam_width, deadline, workspace.published_beam, workspace.back);
    invert(workspace.back, trial);
    keep_better(back);
    return at_most(best);
}

auto refined(const GraphView& left, const GraphView& right, const EditCosts& costs, double limit,
             const Deadline& deadline, Workspace& workspace, std::span<Node> mapping) -> Bounds {
    Bounds bounds = branch(left, right, costs, deadline, workspace.bipartite, mapping);
    if (!bounds.proven && !exceeds(bounds.lower, limit)) {
        bounds.upper = refine(left, right, costs, deadline, workspace.refine, mapping);
        bounds.proven = bounds.upper <= bounds.lower;
    }
    return bounds;
}

auto proven_distance(const GraphView& left, const GraphView& right, const EditCosts& costs, double limit,
                     const Deadline& deadline, Workspace& workspace, std::span<Node> mapping) -> Bounds {
    // Within a limit the search needs no good map to start from.
    const bool limited = std::isfinite(limit) && costs.uniform() && exact_fits(left, right, costs);
    const Bounds start = limited ? branch(left, right, costs, deadline, workspace.bipartite, mapping)
                                 : tight(left, right, costs, limit, deadline, workspace.tight, mapping);
    return start.proven ? start : exact(left, right, costs, start, limit, deadline, workspace.exact, mapping);
}

/// Precondition: the pair is in the order of `orientation`.
auto solve(const GraphView& left, const GraphView& right, const EditCosts& costs, const Params& params,
           const Deadline& deadline, Workspace& workspace, std::span<Node> mapping) -> Bounds {
    const bool bounds_above_only = params.method == Method::beam || params.method == Method::hungarian ||
                                   params.method == Method::vj || params.method == Method::paper;
    if (bounds_above_only && std::isfinite(params.limit)) {  // another solver shows that it is more
        const Bounds bounds = branch(left, right, costs, deadline, workspace.bipartite, mapping);
        if (exceeds(bounds.lower, params.limit)) {
            return bounds;
        }
    }
    switch (params.method) {
        case Method::exact:
            return proven_distance(left, right, costs, params.limit, deadline, workspace, mapping);
        case Method::beam:
            return at_most(beam(left, right, costs, params.beam_width, deadline, workspace.beam, mapping));
        case Method::hungarian:
            return hungarian(left, right, costs, deadline, workspace.bipartite, mapping);
        case Method::vj:
            return vj(left, right, costs, deadline, workspace.bipartite, mapping);
        case Method::hed:
            std::fill(mapping.begin(), mapping.end(), -1);
            return {.lower = hausdorff_lower_bound(left, right, costs, deadline, workspace.bipartite),
                    .upper = none,
                    .proven = false};
        case Method::branch:
            return branch(left, right, costs, deadline, workspace.bipartite, mapping);
        case Method::refine:
            return refined(left, right, costs, params.limit, deadline, workspace, mapping);
        case Method::paper:
            return paper(left, right, costs, params.beam_width, deadline, workspace, mapping);
        case Method::tight:
            return tight(left, right, costs, params.limit, deadline, workspace.tight, mapping);
    }
    assert(false);
    return at_most(none);
}

/// The result of the core. Sums of costs up to `largest` differ by rounding, so a lower bound above the upper one by no
/// more than that means both are the distance. By more, a bound is wrong, and an error is better than a wrong answer.
auto checked(Bounds bounds, double largest) -> Bounds {
    constexpr double rounding = 1e-11;
    if (bounds.lower > bounds.upper) {
        if (bounds.lower > bounds.upper + rounding * largest) {
            throw std::logic_error("edit distance: lower bound " + std::to_string(bounds.lower) +
                                   " above upper bound " + std::to_string(bounds.upper) + "; please report this");
        }
        bounds.lower = bounds.upper;
    }
    if (bounds.proven && !(bounds.lower == bounds.upper)) {
        throw std::logic_error("edit distance: proven, but between " + std::to_string(bounds.lower) + " and " +
                               std::to_string(bounds.upper) + "; please report this");
    }
    return bounds;
}

}  // namespace

auto edit_distance(const GraphView& left, const GraphView& right, const EditCosts& costs, const Params& params,
                   const Deadline& deadline, Workspace& workspace, std::span<Node> mapping) -> Bounds {
    assert(mapping.size() == static_cast<std::size_t>(left.n));
    const Orientation way = orientation(left, right, costs);
    if (way.same && params.method != Method::hed) {
        std::iota(mapping.begin(), mapping.end(), 0);
        if (edit_cost(left, right, costs, mapping) == 0) {
            return {.lower = 0, .upper = 0, .proven = true};
        }
    }
    const double largest = replacement_cost(left, right, costs);
    if (!way.turned) {
        return checked(solve(left, right, costs, params, deadline, workspace, mapping), largest);
    }
    workspace.turned.resize(static_cast<std::size_t>(right.n));
    const Bounds bounds =
        checked(solve(right, left, costs.turned(), params, deadline, workspace, workspace.turned), largest);
    invert(workspace.turned, mapping);
    return bounds;
}

}  // namespace uge::ged
