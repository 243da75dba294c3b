#include "pairwise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
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

/// Memory of solvers and of the costs of the current pair.
struct AttributedWorkspace {
    ged::Workspace solvers;
    std::optional<PairCosts> local;
};

}  // namespace

void ged_pairs(const PairList& pairs, const EditCosts& costs, const ged::Params& params, const PairOptions& options,
               const PairAnswers& answers, Control& control, const Watch& watch) {
    if (pairs.nodes.count() || pairs.edges.count()) {
        for_each_pair<AttributedWorkspace>(pairs, options, answers, control, watch,
                                           [&](const GraphView& left, const GraphView& right, const Deadline& deadline,
                                               AttributedWorkspace& workspace, std::span<Node> mapping) {
                                               auto& local = workspace.local;
                                               if (!local) {
                                                   local.emplace(costs, pairs.nodes, pairs.edges);
                                               }
                                               local->take(left, right);
                                               return ged::edit_distance(local->left(), local->right(), local->costs(),
                                                                         params, deadline, workspace.solvers, mapping);
                                           });
        return;
    }
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

namespace {

auto row_of(const SparseRows& rows, std::int32_t row) -> std::pair<std::size_t, std::size_t> {
    const auto r = static_cast<std::size_t>(row);
    return {static_cast<std::size_t>(rows.indptr[r]), static_cast<std::size_t>(rows.indptr[r + 1])};
}

/// A sparse matrix cut in two: columns that many rows have, and the rest, by column.
struct Postings {
    std::size_t common = 0;           ///< columns from here on are listed
    std::vector<std::size_t> splits;  ///< of each row, where those columns begin
    std::vector<std::size_t> starts;
    std::vector<std::int32_t> rows;
    std::vector<double> values;
};

auto postings_of(const SparseRows& matrix) -> Postings {
    const auto width = static_cast<std::size_t>(matrix.width);
    const auto num_rows = matrix.indptr.size() - 1;
    Postings result;
    result.starts.resize(width + 2);
    for (const auto column : matrix.columns) ++result.starts[static_cast<std::size_t>(column) + 2];
    while (result.common < width && result.starts[result.common + 2] > num_rows / 8) {
        result.starts[result.common++ + 2] = 0;
    }
    for (std::size_t c = 2; c < width + 2; ++c) result.starts[c] += result.starts[c - 1];
    result.rows.resize(result.starts.back());
    result.values.resize(result.starts.back());
    for (std::size_t row = 0; row < num_rows; ++row) {
        auto [i, last] = row_of(matrix, static_cast<std::int32_t>(row));
        while (i < last && static_cast<std::size_t>(matrix.columns[i]) < result.common) ++i;
        result.splits.push_back(i);
        for (; i < last; ++i) {
            const auto at = result.starts[static_cast<std::size_t>(matrix.columns[i]) + 1]++;
            result.rows[at] = static_cast<std::int32_t>(row);
            result.values[at] = matrix.values[i];
        }
    }
    return result;
}

/// Inner products of one left row with right rows, in a thread's own memory.
class RowProducts {
  public:
    RowProducts(const SparseRows& left, const SparseRows& right, const Postings& postings)
        : left_(left),
          right_(right),
          postings_(postings),
          spread_(static_cast<std::size_t>(left.width)),
          rare_(postings.splits.size()) {}

    /// Sets another left row; with `long_stay`, all products of its rare columns are computed at once.
    void turn_to(std::int32_t row, bool long_stay) {
        if (row == current_ && long_stay == has_rare_) return;
        if (current_ >= 0) each(current_, [&](std::size_t column, double) { spread_[column] = 0; });
        current_ = row;
        has_rare_ = long_stay;
        each(row, [&](std::size_t column, double value) { spread_[column] = value; });
        if (!long_stay) return;
        std::fill(rare_.begin(), rare_.end(), 0.0);
        each(row, [&](std::size_t column, double value) {
            for (std::size_t i = postings_.starts[column]; i < postings_.starts[column + 1]; ++i) {
                rare_[static_cast<std::size_t>(postings_.rows[i])] += value * postings_.values[i];
            }
        });
    }
    [[nodiscard]] auto with(std::int32_t row) const -> double {
        std::array<double, 4> sums{};  // so that additions are independent
        auto [i, last] = row_of(right_, row);
        if (has_rare_) {
            sums[0] = rare_[static_cast<std::size_t>(row)];
            last = postings_.splits[static_cast<std::size_t>(row)];
        }
        for (; i + 4 <= last; i += 4) {
            for (std::size_t j = 0; j < 4; ++j) sums[j] += term(i + j);
        }
        for (; i < last; ++i) sums[0] += term(i);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }

  private:
    template <class Visit>
    void each(std::int32_t row, Visit&& visit) const {
        const auto [first, last] = row_of(left_, row);
        for (std::size_t i = first; i < last; ++i) visit(static_cast<std::size_t>(left_.columns[i]), left_.values[i]);
    }
    [[nodiscard]] auto term(std::size_t i) const -> double {
        return spread_[static_cast<std::size_t>(right_.columns[i])] * right_.values[i];
    }

    const SparseRows& left_;
    const SparseRows& right_;
    const Postings& postings_;
    std::vector<double> spread_;  ///< the current left row
    std::vector<double> rare_;    ///< its products with every right row, in the columns that are listed
    std::int32_t current_ = -1;
    bool has_rare_ = false;
};

}  // namespace

void dot_pairs(const SparseRows& left, const SparseRows& right, const SelfProducts& self,
               std::span<const std::int32_t> left_of, std::span<const std::int32_t> right_of, int threads,
               std::span<double> products, std::span<bool> done, Control& control, const Watch& watch) {
    const auto normalized = [](double product, double left_self, double right_self) {
        const double scale = std::sqrt(left_self * right_self);
        if (scale > 0) return std::min(product / scale, 1.0);
        return left_self == right_self ? 1.0 : 0.0;
    };
    // Where so many pairs have the same left row, rare columns are cheaper from the left row's side: those that it
    // does not have are never looked at. Every thread that shares the row does so.
    const std::size_t many = (right.indptr.size() - 1) / 8 * static_cast<std::size_t>(threads) + 1;
    const auto same_as_before = [&](std::size_t k) { return k < left_of.size() && left_of[k] == left_of[k - many]; };
    bool any = false;
    for (std::size_t k = many; k < left_of.size() && !any; k += many) any = same_as_before(k);
    const Postings postings = any ? postings_of(right) : Postings{};
    const auto make_worker = [&] {
        return [&, row = RowProducts(left, right, postings), stays = false](std::int64_t pair) mutable {
            const auto k = static_cast<std::size_t>(pair);
            const bool fresh = k == 0 || left_of[k] != left_of[k - 1];
            stays = any && ((stays && !fresh) || same_as_before(k + many));
            row.turn_to(left_of[k], stays);
            const double product = row.with(right_of[k]);
            products[k] = self.left.empty() ? product
                                            : normalized(product, self.left[static_cast<std::size_t>(left_of[k])],
                                                         self.right[static_cast<std::size_t>(right_of[k])]);
            done[k] = true;
        };
    };
    parallel_for(static_cast<std::int64_t>(left_of.size()), threads, control, make_worker, watch);
}

}  // namespace uge
