#include <algorithm>
#include <atomic>
#include <cmath>

#include "session.hpp"

namespace uge::search {

/// Candidates that may belong to the answer, those with the least bounds first.
auto Search::by_bound(std::size_t last) const -> std::vector<std::size_t> {
    std::vector<std::pair<double, std::size_t>> ranked;
    for (std::size_t i = 0; i < last; ++i) {
        if (open(candidates_[i])) {
            ranked.emplace_back(candidates_[i].lower / candidates_[i].scale, i);
        }
    }
    std::sort(ranked.begin(), ranked.end(), [&](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : candidates_[a.second].position < candidates_[b.second].position;
    });
    std::vector<std::size_t> order;
    order.reserve(ranked.size());
    for (const auto& [value, i] : ranked) {
        order.push_back(i);
    }
    return order;
}

/// Upper bounds for the most promising, so that filters have a limit.
void Search::start() {
    auto order = by_bound(candidates_.size());
    order.resize(std::min(order.size(), static_cast<std::size_t>(2 * question_.k)));
    spread(order.size(), true, Stage::tight, [&](std::size_t i, Worker& worker) {
        if (open(candidates_[order[i]])) {
            solve(order[i], Stage::tight, infinity, worker);
        }
    });
}

/// The most promising of what the scan has left, by counters, get their branch bounds, and the best of these exact
/// distances: that lowers the limit before the others are looked at. Gives the first candidate without a branch bound.
auto Search::sharpen(std::size_t first) -> std::size_t {
    constexpr std::size_t some = 1'000;
    const std::size_t last = std::min(candidates_.size(), first + some);
    const auto begin = candidates_.begin() + static_cast<std::ptrdiff_t>(first);
    std::nth_element(begin, begin + static_cast<std::ptrdiff_t>(last - first), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) {
                         const double left = a.degrees / a.scale;
                         const double right = b.degrees / b.scale;
                         return left != right ? left < right : a.position < b.position;
                     });
    bound_branches(first, last);
    auto order = by_bound(last);
    order.resize(std::min(order.size(), static_cast<std::size_t>(3 * question_.k)));
    if (question_.budget > 0) {
        verify_some(order, first_patience);
    }
    return last;
}

/// Bounds of one candidate by a solver, at most up to what is of interest.
void Search::solve(std::size_t at, Stage stage, double seconds, Worker& worker) {
    Candidate& candidate = candidates_[at];
    const Part& part = parts_[candidate.part];
    const GraphView query = part.query[0];
    const GraphView graph = part.graphs[static_cast<std::size_t>(part.profiles->position(candidate.rank))];
    worker.mapping.resize(static_cast<std::size_t>(query.n));
    const Deadline deadline(seconds, &control_.cancel);
    const double most = limit(candidate);
    const auto bounds =
        stage == Stage::tight
            ? ged::edit_distance(query, graph, part.costs, {.method = ged::Method::tight, .limit = most}, deadline,
                                 worker.workspace, worker.mapping)
            : ged::within(query, graph, part.costs, most, deadline, worker.workspace, worker.mapping);
    if (deadline.canceled()) {
        return;
    }
    candidate.lower = std::max(candidate.lower, prices_[candidate.part].possible(bounds.lower));
    const bool mapped = bounds.proven || stage == Stage::tight;
    if (mapped && bounds.upper <= most && bounds.upper < candidate.upper) {
        candidate.upper = bounds.upper;
        candidate.mapping = worker.mapping;
    }
    candidate.proven = candidate.upper - candidate.lower <= slack;
    if (candidate.proven) {
        candidate.lower = candidate.upper;
    }
    if (nearest() && candidate.upper < infinity) {
        ranking_.report({candidate.upper / candidate.scale, candidate.position, at});
    }
}

/// Distances of these up to the limit, none longer than `patience` seconds nor past the end of the budget.
void Search::verify_some(const std::vector<std::size_t>& order, double patience) {
    const auto last = end();
    std::atomic<std::int64_t> asked{0};
    spread(order.size(), true, Stage::exact, [&](std::size_t i, Worker& worker) {
        const double left = last == Clock::time_point::max() ? infinity : -since(last);
        if (left > 0 && open(candidates_[order[i]])) {
            ++asked;
            solve(order[i], Stage::exact, std::min(patience, left), worker);
        }
    });
    answer_.asked[index(Stage::exact)] += asked;
}

/// Exact distances, the likely ones first, in rounds of growing patience, so that an easy one never waits for a hard
/// one.
void Search::verify() {
    const auto last = end();
    for (const double patience : {first_patience, 0.2, 2.0, infinity}) {
        const auto order = by_bound(candidates_.size());
        if (order.empty() || Clock::now() >= last || question_.budget <= 0) {
            break;
        }
        verify_some(order, patience);
    }
    fall_back();
}

/// Upper bounds where time has run out: for all if no exact distances were wanted, else for a little while.
void Search::fall_back() {
    auto order = by_bound(candidates_.size());
    std::erase_if(order, [&](std::size_t i) { return candidates_[i].upper < infinity; });
    if (order.empty()) {
        return;
    }
    const double grace = question_.budget <= 0 ? infinity : std::max(0.05, question_.budget / 20);
    const auto begin = Clock::now();
    std::atomic<std::int64_t> asked{0};
    spread(order.size(), true, Stage::tight, [&](std::size_t i, Worker& worker) {
        const bool needed = nearest() && ranking_.worst().value == infinity;
        if ((needed || since(begin) < grace) && open(candidates_[order[i]])) {
            ++asked;
            solve(order[i], Stage::tight, infinity, worker);
        }
    });
    answer_.asked[index(Stage::tight)] += asked;
}

}  // namespace uge::search
