#include "pairwise.hpp"

#include <algorithm>
#include <utility>
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

void dot_pairs(const SparseRows& left, const SparseRows& right, std::span<const std::int32_t> left_of,
               std::span<const std::int32_t> right_of, int threads, std::span<double> products, std::span<bool> done,
               Control& control, const Watch& watch) {
    const auto bounds = [](const SparseRows& rows, std::int32_t row) {
        const auto g = static_cast<std::size_t>(row);
        return std::pair(static_cast<std::size_t>(rows.indptr[g]), static_cast<std::size_t>(rows.indptr[g + 1]));
    };
    const auto column = [](const SparseRows& rows, std::size_t i) { return static_cast<std::size_t>(rows.columns[i]); };
    const auto make_worker = [&] {
        // The left row at hand, spread out; cleared entry by entry when another one comes.
        return [&, spread = std::vector<double>(static_cast<std::size_t>(left.width)),
                current = std::int32_t{-1}](std::int64_t pair) mutable {
            const auto k = static_cast<std::size_t>(pair);
            if (left_of[k] != current) {
                if (current >= 0) {
                    const auto [first, last] = bounds(left, current);
                    for (std::size_t i = first; i < last; ++i) spread[column(left, i)] = 0;
                }
                current = left_of[k];
                const auto [first, last] = bounds(left, current);
                for (std::size_t i = first; i < last; ++i) spread[column(left, i)] = left.values[i];
            }
            const auto [first, last] = bounds(right, right_of[k]);
            double sum = 0;
            for (std::size_t i = first; i < last; ++i) sum += spread[column(right, i)] * right.values[i];
            products[k] = sum;
            done[k] = true;
        };
    };
    parallel_for(static_cast<std::int64_t>(left_of.size()), threads, control, make_worker, watch);
}

}  // namespace uge
