#include "pairwise.hpp"

#include <algorithm>
#include <vector>

#include "ged/workspace.hpp"

namespace uge {
namespace {

/// The loop over pairs. `Workspace` is a thread's own; solve(left, right, deadline, workspace, mapping) gives bounds.
template <class Workspace, class Solve>
void for_each_pair(const PairList& pairs, const PairOptions& options, const PairAnswers& answers, Control& control,
                   const Watch& watch, const Solve& solve) {
    const auto make_worker = [&] {
        return [&, workspace = Workspace(), map = std::vector<Node>()](std::int64_t pair) mutable {
            const auto k = static_cast<std::size_t>(pair);
            const GraphView left = pairs.left[static_cast<std::size_t>(pairs.left_of[k])];
            const GraphView right = pairs.right[static_cast<std::size_t>(pairs.right_of[k])];
            map.resize(std::max(map.size(), static_cast<std::size_t>(left.n)));
            const std::span<Node> mapping(map.data(), static_cast<std::size_t>(left.n));
            const Deadline deadline(options.timeout, &control.cancel);
            const auto bounds = solve(left, right, deadline, workspace, mapping);
            if (deadline.canceled()) {
                return;
            }
            answers.lower[k] = static_cast<double>(bounds.lower);
            answers.upper[k] = static_cast<double>(bounds.upper);
            answers.proven[k] = bounds.proven;
            answers.done[k] = true;
            if (!answers.mapping.empty()) {
                std::copy(mapping.begin(), mapping.end(), answers.mapping.begin());
            }
        };
    };
    parallel_for(static_cast<std::int64_t>(pairs.left_of.size()), options.threads, control, make_worker, watch);
}

}  // namespace

void ged_pairs(const PairList& pairs, const EditCosts& costs, const ged::Params& params, const PairOptions& options,
               const PairAnswers& answers, Control& control, const Watch& watch) {
    for_each_pair<ged::Workspace>(pairs, options, answers, control, watch,
                                  [&](const GraphView& left, const GraphView& right, const Deadline& deadline,
                                      ged::Workspace& workspace, std::span<Node> mapping) {
                                      return ged::edit_distance(left, right, costs, params, deadline, workspace,
                                                                mapping);
                                  });
}

void mcs_pairs(const PairList& pairs, const mcs::Params& params, const PairOptions& options, const PairAnswers& answers,
               Control& control, const Watch& watch) {
    for_each_pair<mcs::Workspace>(pairs, options, answers, control, watch,
                                  [&](const GraphView& left, const GraphView& right, const Deadline& deadline,
                                      mcs::Workspace& workspace, std::span<Node> mapping) {
                                      return mcs::max_common_subgraph(left, right, params, deadline, workspace,
                                                                      mapping);
                                  });
}

}  // namespace uge
