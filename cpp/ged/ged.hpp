#pragma once
#include <span>

#include "../costs.hpp"
#include "../deadline.hpp"
#include "../graph.hpp"

namespace uge::ged {

/// Matches the names of Python's `method=`.
enum class Method { exact, beam, hungarian, vj, hed, branch, refine, paper, tight };

struct Params {
    Method method = Method::tight;
    int beam_width = 80;
};

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
/// two graphs (costs turned round accordingly). hed gives no map: all -1.
auto edit_distance(const GraphView& left, const GraphView& right, const EditCosts& costs, const Params& params,
                   const Deadline& deadline, Workspace& workspace, std::span<Node> mapping) -> Bounds;

}  // namespace uge::ged
