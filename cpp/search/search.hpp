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

/// A part of the database, and the query with its labels encoded by the codes of this part.
struct Part {
    PackedGraphs graphs;
    const Profiles* profiles;
    PackedGraphs query;          ///< a single graph
    EditCosts costs;             ///< matrices are indexed by the codes of this part
    bool edge_labels;            ///< whether edge labels count; if so, `graphs` and `query` have them
    std::span<const bool> mask;  ///< which graphs are searched; empty: all
};

enum class By { edits, normalized };

/// The request. Matches are ordered by (distance, position). If `by` is `normalized`, the distance is divided by the
/// mean number of nodes of the two graphs.
struct Question {
    std::int64_t k = 0;  ///< return the k nearest; 0: all graphs at distance at most `within`
    double within = 0;   ///< not normalized
    By by = By::normalized;
    bool only_near = false;                                   ///< search only the graphs in `near`
    double budget = std::numeric_limits<double>::infinity();  ///< seconds; 0: no exact distances, order by `tight`
    int threads = 1;
    /// The k-th best (distance, position) known from other graphs: graphs that rank after it are not searched, and the
    /// answer may have fewer than k graphs. `ceiling_position` may lie outside the positions of this search.
    double ceiling = std::numeric_limits<double>::infinity();
    std::int64_t ceiling_position = std::numeric_limits<std::int64_t>::max();
    /// Exact distances are computed in rounds with growing time limits per graph. Only rounds whose limit is more than
    /// `after` and at most `upto` seconds are run; graphs that they do not decide are reported as undecided.
    double after = -1;
    double upto = std::numeric_limits<double>::infinity();
};

struct Found {
    std::int64_t position;  ///< in the concatenation of all parts
    double lower;
    double upper;
    std::vector<Node> mapping;  ///< map from the query to the graph, of cost `upper`
};

struct Answer {
    std::vector<Found> found;                        ///< best first
    std::vector<std::int64_t> undecided;             ///< positions of graphs that may belong to the answer, ascending
    std::vector<double> undecided_lower;             ///< lower bounds on their distances
    std::array<std::int64_t, num_stages> removed{};  ///< number of graphs ruled out by each bound; 0 for size
    std::array<std::int64_t, num_stages> asked{};    ///< requests of each bound; tight: after the exact rounds only
    std::array<double, num_stages> seconds{};        ///< CPU time of each stage, summed over the threads
};

/// Answers the request. Cheap bounds are computed first, and each only for graphs that may still belong to the answer.
/// If the time budget suffices, the answer depends neither on `near` nor on the number of threads.
///
/// `near`: positions of graphs that are likely to be near, in the concatenation of all parts.
auto search(std::span<const Part> parts, const Question& question, std::span<const std::int64_t> near, Control& control,
            const Watch& watch) -> Answer;

}  // namespace uge::search
