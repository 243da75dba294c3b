#pragma once
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "../assignment/lsap.hpp"
#include "../costs.hpp"
#include "profiles.hpp"

namespace uge::search {

/// The lower bound that ruled a graph out, in ascending order of cost. The names are part of the Python API.
enum class Stage : std::uint8_t { size, labels, degrees, branch, tight, exact };
inline constexpr std::size_t num_stages = 6;

/// Edit costs for filters: lower bounds on the costs that hold for any labels.
struct Prices {
    explicit Prices(const EditCosts& costs);

    double node_insert, node_delete, node_relabel;  ///< relabeling: at most deletion plus insertion
    double edge_insert, edge_delete, edge_relabel;
    double relabel_alone;  ///< cost of relabeling a node that keeps its edges: not limited to deletion plus insertion
    bool constant;         ///< no cost matrices: relabeling has a constant cost
    bool integral;         ///< every distance is an integer

    /// Minimum cost of these numbers of unmatched nodes on the left and on the right: as many as possible are
    /// relabeled, the others are deleted or inserted.
    [[nodiscard]] auto nodes(std::int64_t left, std::int64_t right) const -> double {
        return unmatched(left, right, node_delete, node_insert, node_relabel);
    }
    [[nodiscard]] auto edges(std::int64_t left, std::int64_t right) const -> double {
        return unmatched(left, right, edge_delete, edge_insert, edge_relabel);
    }
    /// The smallest possible distance that is not below a lower bound, up to rounding errors of sums of costs.
    [[nodiscard]] auto possible(double bound) const -> double;

  private:
    static auto unmatched(std::int64_t left, std::int64_t right, double remove, double insert, double relabel)
        -> double {
        const std::int64_t both = left < right ? left : right;
        return static_cast<double>(both) * relabel + static_cast<double>(left - both) * remove +
               static_cast<double>(right - both) * insert;
    }
};

/// Lower bounds on the edit distance from a query to the graphs of a collection, from counters alone.
class CounterFilter {
  public:
    /// The labels of `query` are codes of the collection; labels that do not occur there have larger codes.
    CounterFilter(const GraphView& query, const Prices& prices, const Profiles& profiles);

    struct Bound {
        double size;     ///< from the numbers of nodes and edges
        double labels;   ///< from the nodes by label and the number of edges
        double degrees;  ///< also from degrees and incident edge labels; the largest of the three
    };
    [[nodiscard]] auto bound(std::size_t rank) const -> Bound;

    /// A range of ranks whose graphs have the same numbers of nodes and edges.
    struct Run {
        std::size_t first, last;
        double size;   ///< the size bound
        double limit;  ///< the largest relevant distance for graphs of this size
    };
    /// Calls use(run) for each run of ranks in [first, last) whose size bound is at most limit(nodes).
    template <class Limit, class Use>
    void for_each_run(std::size_t first, std::size_t last, const Limit& limit, const Use& use) const;

    /// Calls take(rank, bound) for the ranks of a run that node labels do not rule out, and returns the number of those
    /// that they do. Ignores ranks for which counts(rank) is false and those in `skip` (sorted). About a nanosecond per
    /// graph that is ruled out.
    template <class Counts, class Take>
    auto scan(const Run& run, std::span<const std::uint32_t> skip, const Counts& counts, const Take& take) const
        -> std::int64_t;

    [[nodiscard]] auto size_bound(std::int64_t nodes, std::int64_t edges) const -> double;

  private:
    struct Excess {
        std::int64_t left, right;
    };
    /// Lower bounds on the numbers of unmatched nodes (or edges) of both sides, raised so that their difference is that
    /// of the totals.
    static auto consistent(std::int64_t left, std::int64_t right, std::int64_t more_on_left) -> Excess;
    [[nodiscard]] auto edge_bound(const Counters& other, std::int64_t more_on_left) const -> double;

    const Profiles& profiles_;
    const Prices& prices_;
    Counters counters_;
    std::int64_t nodes_, edges_;
    std::int64_t unknown_ = 0;  ///< number of query nodes whose label is not in the collection
};

/// Sum of max(left - right, 0) over eight or sixteen counters.
template <std::size_t count>
auto excess(const std::uint8_t* left, const std::uint8_t* right) -> std::int64_t {
    static_assert(count == 8 || count == 16);
#if defined(__SSE2__)
    const auto load = [](const std::uint8_t* from) {
        const auto* at = reinterpret_cast<const __m128i*>(from);
        return count == 8 ? _mm_loadl_epi64(at) : _mm_loadu_si128(at);
    };
    const __m128i sums = _mm_sad_epu8(_mm_subs_epu8(load(left), load(right)), _mm_setzero_si128());
    return _mm_cvtsi128_si32(sums) + (count == 8 ? 0 : _mm_extract_epi16(sums, 4));
#else
    int sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        sum += left[i] > right[i] ? left[i] - right[i] : 0;
    }
    return sum;
#endif
}

/// The assignment bound (BRANCH, Blumenthal & Gamper 2018) with classes of equal branches. Equal branches are matched
/// first, which is optimal because the costs of branches satisfy the triangle inequality; the few others are matched by
/// a linear assignment. Not thread-safe: use one per thread. Precondition: prices.constant.
class BranchFilter {
  public:
    BranchFilter(const GraphView& query, bool edge_labels, const Prices& prices, const Profiles& profiles);

    /// A lower bound on the distance to the graph at a rank. If it exceeds `limit`, it may be weaker than BRANCH.
    auto bound(std::size_t rank, double limit) -> double;

  private:
    struct Kind {
        std::vector<std::int32_t> key;  ///< node label, then edge labels
        int count;
    };
    auto prices_of(std::int32_t id) -> const double*;
    [[nodiscard]] auto replacement(std::span<const std::int32_t> from, std::span<const std::int32_t> to) const
        -> double;

    const Profiles& profiles_;
    Prices prices_;
    bool edge_labels_;
    std::vector<Kind> kinds_;            ///< distinct branches of the query
    std::vector<double> removal_;        ///< deletion cost of one branch of each kind
    std::vector<std::int32_t> kind_of_;  ///< per class: the equal kind of the query, or -1
    std::vector<int> left_;              ///< unmatched branches of each kind, for the current graph
    std::vector<std::int32_t> rows_, columns_;
    std::vector<std::int32_t> column_of_;  ///< per class: index of its costs in `table_`, or -1
    std::vector<double> table_;            ///< per class: cost of replacing each kind, then cost of insertion
    std::vector<double> cost_;
    assignment::Lsap<double> assignment_;
};

template <class Limit, class Use>
void CounterFilter::for_each_run(std::size_t first, std::size_t last, const Limit& limit, const Use& use) const {
    while (first < last) {
        const std::int64_t nodes = profiles_.nodes(first);
        const std::int64_t edges = profiles_.edges(first);
        const double most = limit(nodes);
        const double size = size_bound(nodes, edges);
        if (size <= most) {
            const std::size_t end = std::min(profiles_.first_rank(nodes, edges + 1), last);
            use(Run{first, end, size, most});
            first = end;
        } else if (const double by_nodes = size_bound(nodes, edges_); edges < edges_ && by_nodes <= most) {
            const auto missing = static_cast<std::int64_t>((most - by_nodes) / prices_.edge_delete);
            first = std::max(first + 1, profiles_.first_rank(nodes, std::max(edges_ - missing - 1, edges + 1)));
        } else {
            first = profiles_.first_rank(nodes + 1, 0);
        }
    }
}

template <class Counts, class Take>
auto CounterFilter::scan(const Run& run, std::span<const std::uint32_t> skip, const Counts& counts,
                         const Take& take) const -> std::int64_t {
    const std::int64_t nodes = profiles_.nodes(run.first);
    const std::int64_t more = nodes_ - nodes;
    const double by_edges = size_bound(nodes_, profiles_.edges(run.first));
    // Maximum number of query nodes without a partner of the same label.
    std::int64_t most = std::max<std::int64_t>(more, 0);
    while (most < nodes_ && by_edges + prices_.nodes(most + 1, most + 1 - more) <= run.limit) {
        ++most;
    }
    const auto* counters = profiles_.counters();
    const auto unmatched = [&](std::size_t rank) {
        return unknown_ + excess<Counters::node_slots>(counters_.bytes.data(), counters[rank].bytes.data());
    };
    std::int64_t removed = 0;
    for (std::size_t rank = run.first; rank < run.last; ++rank) {
        if (unmatched(rank) > most) {
            removed += counts(rank) ? 1 : 0;
        } else if (counts(rank) && !std::binary_search(skip.begin(), skip.end(), static_cast<std::uint32_t>(rank))) {
            take(rank, bound(rank));
        }
    }
    const auto from = std::lower_bound(skip.begin(), skip.end(), static_cast<std::uint32_t>(run.first));
    for (auto rank = from; rank != skip.end() && *rank < run.last; ++rank) {
        removed -= unmatched(*rank) > most && counts(*rank) ? 1 : 0;
    }
    return removed;
}

}  // namespace uge::search
