#pragma once
#include <span>

#include "../costs.hpp"
#include "../deadline.hpp"
#include "../graph.hpp"
#include "exact_general.hpp"
#include "exact_uniform.hpp"
#include "ged.hpp"

namespace uge::ged {

struct ExactWorkspace {
    UniformSearch uniform;
    GeneralSearch general;
};

/// Whether `exact` would search at all: beyond some size it only ever returns what it started from.
auto exact_fits(const GraphView& left, const GraphView& right, const EditCosts& costs) -> bool;

/// Edit distance, proven, or the best bounds at the deadline. `start` are bounds known before, `mapping` a map of cost
/// start.upper (left.n entries, -1 is deletion); it is replaced by an optimal one, or the best that was found. Maps
/// that cost more than `limit` are not looked for: where there are no others, lower > limit and not proven. Under
/// uniform costs left.n <= right.n and `start`'s map deletes nothing. Exponential time, quadratic memory times the
/// depth of the search.
auto exact(const GraphView& left, const GraphView& right, const EditCosts& costs, const Bounds& start, double limit,
           const Deadline& deadline, ExactWorkspace& workspace, std::span<Node> mapping) -> Bounds;

/// The same from no more than an arbitrary map.
auto exact(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
           ExactWorkspace& workspace, std::span<Node> mapping) -> Bounds;

}  // namespace uge::ged
