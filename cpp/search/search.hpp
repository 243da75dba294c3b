#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "../costs.hpp"
#include "../pairwise.hpp"
#include "filters.hpp"
#include "profiles.hpp"

namespace uge::search {

/// Some graphs of the database, and the query with labels in their codes.
struct Part {
    PackedGraphs graphs;
    const Profiles* profiles;
    PackedGraphs query;          ///< of one graph
    EditCosts costs;             ///< matrices over the codes of this part
    bool edge_labels;            ///< whether they count; then both collections have them
    std::span<const bool> mask;  ///< which graphs count; empty: all
};

enum class By { edits, normalized };

/// The request. Ranks are by (distance, position), the distance divided by the mean number of nodes of the two graphs
/// if `by` says so.
struct Question {
    std::int64_t k = 0;  ///< the k nearest; 0: all of distance at most `within`
    double within = 0;   ///< always in edits
    By by = By::normalized;
    bool only_near = false;                                   ///< only graphs in `near` count
    double budget = std::numeric_limits<double>::infinity();  ///< seconds; 0: no exact distances, ranks by `tight`
    int threads = 1;
    /// The k-th (distance, position) that is known from other graphs: graphs after it are not searched, and the
    /// answer may be shorter than k. Positions count as in this search, where they may lie outside.
    double ceiling = std::numeric_limits<double>::infinity();
    std::int64_t ceiling_position = std::numeric_limits<std::int64_t>::max();
    /// Exact distances are tried in rounds of growing patience; only those with more than `after` and at most `upto`
    /// seconds per graph. What these do not decide is undecided.
    double after = -1;
    double upto = std::numeric_limits<double>::infinity();
};

struct Found {
    std::int64_t position;  ///< counted through all parts
    double lower;
    double upper;
    std::vector<Node> mapping;  ///< from the query to the graph, of cost `upper`
};

struct Answer {
    std::vector<Found> found;                        ///< best first
    std::vector<std::int64_t> undecided;             ///< positions of what may belong to the answer as well, ascending
    std::vector<double> undecided_lower;             ///< bounds of their distances
    std::array<std::int64_t, num_stages> removed{};  ///< by each bound
    std::array<std::int64_t, num_stages> asked{};    ///< graphs that each bound was computed for
    std::array<double, num_stages> seconds{};        ///< of CPU that each stage took, all threads together
};

/// The answer, from bounds in ascending order of their cost, each only for graphs that may still belong to the answer.
/// Where time suffices, it does not depend on `near` nor on the number of threads.
///
/// `near`: positions of graphs that are likely to be near, counted through all parts.
auto search(std::span<const Part> parts, const Question& question, std::span<const std::int64_t> near, Control& control,
            const Watch& watch) -> Answer;

}  // namespace uge::search
