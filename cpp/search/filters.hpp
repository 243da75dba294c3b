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

/// Which bound ruled a graph out, from cheap to expensive. Python knows them by these names.
enum class Stage : std::uint8_t { size, labels, degrees, branch, tight, exact };
inline constexpr std::size_t num_stages = 6;

/// Edit costs for filters: the smallest costs that are valid for any labels.
struct Prices {
    explicit Prices(const EditCosts& costs);

    double node_insert, node_delete, node_relabel;  ///< relabeling at most as much as deleting and inserting
    double edge_insert, edge_delete, edge_relabel;
    double relabel_alone;  ///< of a node that keeps its edges, where deleting and inserting it may be cheaper
    bool constant;         ///< no matrices: relabeling costs what it says here
    bool integral;         ///< every distance is an integer

    /// Least cost of these numbers of unmatched nodes on the left and on the right: as many as possible are
    /// relabeled, the others deleted or inserted.
    [[nodiscard]] auto nodes(std::int64_t left, std::int64_t right) const -> double {
        return unmatched(left, right, node_delete, node_insert, node_relabel);
    }
    [[nodiscard]] auto edges(std::int64_t left, std::int64_t right) const -> double {
        return unmatched(left, right, edge_delete, edge_insert, edge_relabel);
    }
    /// The next value that a distance can have, from a lower bound. Sums of costs are rounded.
    [[nodiscard]] auto possible(double bound) const -> double;

  private:
    static auto unmatched(std::int64_t left, std::int64_t right, double remove, double insert, double relabel)
        -> double {
        const std::int64_t both = left < right ? left : right;
        return static_cast<double>(both) * relabel + static_cast<double>(left - both) * remove +
               static_cast<double>(right - both) * insert;
    }
};

/// Lower bounds of the edit distance from one graph to those of a collection by counters alone.
class CounterFilter {
  public:
    /// `query`: its labels are codes of the collection; labels that are not in the collection have larger codes.
    CounterFilter(const GraphView& query, const Prices& prices, const Profiles& profiles);

    struct Bound {
        double size;     ///< numbers of nodes and edges
        double labels;   ///< nodes by label, number of edges
        double degrees;  ///< and edges by degrees and incident edges; the largest of the three
    };
    [[nodiscard]] auto bound(std::size_t rank) const -> Bound;

    /// Ranks of one size: graphs of equal numbers of nodes and edges follow each other.
    struct Run {
        std::size_t first, last;
        double size;   ///< bound
        double limit;  ///< for graphs of this size
    };
    /// Calls use(run) for each run of ranks in [first, last) whose size bound is at most limit(nodes).
    template <class Limit, class Use>
    void for_each_run(std::size_t first, std::size_t last, const Limit& limit, const Use& use) const;

    /// Calls take(rank, bound) for the ranks of a run that node labels do not rule out, and returns how many they do
    /// rule out. Only ranks that counts(rank) approves are counted, and none in `skip` (sorted) is counted or taken.
    /// About a nanosecond per graph that is ruled out.
    template <class Counts, class Take>
    auto scan(const Run& run, std::span<const std::uint32_t> skip, const Counts& counts, const Take& take) const
        -> std::int64_t;

    [[nodiscard]] auto size_bound(std::int64_t nodes, std::int64_t edges) const -> double;

  private:
    struct Excess {
        std::int64_t left, right;
    };
    /// Of the nodes, or edges, that match nothing on the other side at least so many, and consistent with the totals.
    static auto consistent(std::int64_t left, std::int64_t right, std::int64_t more_on_left) -> Excess;
    [[nodiscard]] auto edge_bound(const Counters& other, std::int64_t more_on_left) const -> double;

    const Profiles& profiles_;
    const Prices& prices_;
    Counters counters_;
    std::int64_t nodes_, edges_;
    std::int64_t unknown_ = 0;  ///< nodes whose label is not in the collection
};

/// The sum of what the first of two groups of eight or sixteen counters has more than the second.
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

/// The assignment bound (BRANCH, Blumenthal & Gamper 2018) by classes of branches: equal ones are matched, which is
/// optimal because costs of branches satisfy the triangle inequality; the few that are left are assigned. One per
/// thread. Precondition: prices.constant.
class BranchFilter {
  public:
    BranchFilter(const GraphView& query, bool edge_labels, const Prices& prices, const Profiles& profiles);

    /// A lower bound of the distance to the graph at a rank; where it exceeds `limit`, not necessarily the best one.
    auto bound(std::size_t rank, double limit) -> double;

  private:
    struct Kind {
        std::vector<std::int32_t> key;  ///< label, then labels of edges
        int count;
    };
    auto prices_of(std::int32_t id) -> const double*;
    [[nodiscard]] auto replacement(std::span<const std::int32_t> from, std::span<const std::int32_t> to) const
        -> double;

    const Profiles& profiles_;
    Prices prices_;
    bool edge_labels_;
    std::vector<Kind> kinds_;            ///< of the query's branches
    std::vector<double> removal_;        ///< of one of each kind
    std::vector<std::int32_t> kind_of_;  ///< by class: the kind of the query that is equal, or -1
    std::vector<int> left_;              ///< of each kind, for the current graph
    std::vector<std::int32_t> rows_, columns_;
    std::vector<std::int32_t> column_of_;  ///< by class: where its prices are in `table_`, or -1
    std::vector<double> table_;            ///< kinds + 1 numbers per class: replacement of each kind, insertion
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
    // The most nodes of the query that may be without a partner of their label.
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
