#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "attributes.hpp"
#include "costs.hpp"
#include "ged/ged.hpp"
#include "graph.hpp"
#include "mcs/mcs.hpp"
#include "parallel.hpp"

namespace uge {

/// Pair k is graph left_of[k] of `left` against graph right_of[k] of `right`. Both lists are of one length and in
/// range.
struct PairList {
    PackedGraphs left;
    PackedGraphs right;
    std::span<const std::int32_t> left_of;
    std::span<const std::int32_t> right_of;
    Points nodes{};  ///< of edit distance: attributes that count, if any; then codes of labels stand for points
    Points edges{};
};

/// Output arrays, one entry per pair. Entries of canceled pairs are not changed.
struct PairAnswers {
    std::span<double> lower;
    std::span<double> upper;
    std::span<bool> proven;
    std::span<bool> done;
    std::span<Node> mapping;  ///< empty, or, for a list of one pair, as many entries as its left graph has nodes
};

struct PairOptions {
    int threads = 1;
    double timeout = 0;  ///< seconds for one pair; infinity for none
};

/// Called periodically by the waiting thread; an exception it throws cancels the rest and leaves the loop.
using Watch = std::function<void()>;

/// Edit distance of each pair. The answers do not depend on the number of threads (except through the timeout).
void ged_pairs(const PairList& pairs, const EditCosts& costs, const ged::Params& params, const PairOptions& options,
               const PairAnswers& answers, Control& control, const Watch& watch);

/// Nodes of a maximum common subgraph of each pair.
void mcs_pairs(const PairList& pairs, const mcs::Params& params, const PairOptions& options, const PairAnswers& answers,
               Control& control, const Watch& watch);

/// Rows of a sparse matrix: row g is [indptr[g], indptr[g + 1]) of the other two, columns ascending and below `width`.
struct SparseRows {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> columns;
    std::span<const double> values;
    std::int64_t width = 0;
};

/// What divides inner products: the inner product of each row with itself. Both empty: nothing does.
struct SelfProducts {
    std::span<const double> left;
    std::span<const double> right;
};

/// products[k] is the inner product of row left_of[k] of `left` and row right_of[k] of `right`, divided by the square
/// root of the two self products where there are such (0 where one of them is 0, 1 where both are). Cheapest where
/// pairs with the same left row follow each other, and common columns come before rare ones.
void dot_pairs(const SparseRows& left, const SparseRows& right, const SelfProducts& self,
               std::span<const std::int32_t> left_of, std::span<const std::int32_t> right_of, int threads,
               std::span<double> products, std::span<bool> done, Control& control, const Watch& watch);

}  // namespace uge
