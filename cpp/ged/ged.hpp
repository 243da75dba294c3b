#pragma once
#include <algorithm>
#include <limits>
#include <span>

#include "../costs.hpp"
#include "../deadline.hpp"
#include "../graph.hpp"

namespace uge::ged {

/// Matches the names of Python's `method=`.
enum class Method { exact, beam, hungarian, vj, hed, branch, refine, paper, tight };

constexpr double no_limit = std::numeric_limits<double>::infinity();

struct Params {
    Method method = Method::tight;
    int beam_width = 80;
    /// If the distance is at most the limit, the answer is the same as without a limit; otherwise solvers
    /// stop as soon as lower > limit is shown.
    double limit = no_limit;
};

/// Whether a lower bound shows the distance to be above the limit, whatever sums of doubles round to.
inline auto exceeds(double lower, double limit) -> bool {
    return lower > limit + 1e-9 * std::max(1.0, limit);
}

/// lower <= true distance <= upper. nan where a method gives no such bound.
struct Bounds {
    double lower;
    double upper;
    bool proven;  ///< lower == upper, and that is the distance
};

/// Memory that one thread reuses from pair to pair; nothing is allocated once it has grown.
class Workspace;

/// Edit distance of two graphs by `params.method`. `mapping` has left.n entries: the node of `right` that each node
/// of `left` becomes, or -1 where it is deleted; its true cost is `upper`. Bounds do not depend on the order of the
/// two graphs (with costs reversed accordingly). hed gives no map: all -1.
auto edit_distance(const GraphView& left, const GraphView& right, const EditCosts& costs, const Params& params,
                   const Deadline& deadline, Workspace& workspace, std::span<Node> mapping) -> Bounds;

/// Whether the distance is at most `limit`, called by search for one candidate after another. If it is: the distance,
/// proven, and a map of that cost. If not: lower > limit, any upper bound or infinity, and `mapping` is undefined.
/// At the deadline neither may be known: lower <= limit and not proven.
auto within(const GraphView& left, const GraphView& right, const EditCosts& costs, double limit,
            const Deadline& deadline, Workspace& workspace, std::span<Node> mapping) -> Bounds;

}  // namespace uge::ged
