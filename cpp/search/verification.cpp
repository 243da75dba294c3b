#include <algorithm>
#include <atomic>
#include <cmath>

#include "session.hpp"

namespace uge::search {

/// Candidates before `last` that may belong to the answer and are not proven, in ascending order of lower bounds.
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

/// Computes upper bounds of the most promising candidates, so that the filters have a limit.
void Search::start() {
    auto order = by_bound(candidates_.size());
    order.resize(std::min(order.size(), static_cast<std::size_t>(2 * question_.k)));
    bound_above(order, ged::Method::tight);
}

/// Computes branch bounds of the most promising candidates from `first` on, by counter bounds, and then upper bounds of
/// the most promising of all candidates. This lowers the limit before the other candidates are bounded. Returns the
/// index of the first candidate without a branch bound.
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
    if (question_.budget > 0) {
        estimate();
    }
    return last;
}

/// Computes upper bounds of the most promising candidates by local search: a short search for many of them, then a long
/// one for the best of these. The lower the limit, the faster the exact distances.
void Search::estimate() {
    const auto many = static_cast<std::size_t>(2 * question_.k + 180);
    const auto some = static_cast<std::size_t>(question_.k + 10);
    auto order = by_bound(candidates_.size());
    order.resize(std::min(order.size(), many));
    bound_above(order, ged::Method::refine);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const double left = candidates_[a].upper / candidates_[a].scale;
        const double right = candidates_[b].upper / candidates_[b].scale;
        return left != right ? left < right : candidates_[a].position < candidates_[b].position;
    });
    order.resize(std::min(order.size(), some));
    bound_above(order, ged::Method::tight);
}

/// Computes upper bounds by local search until the time budget is used up.
void Search::bound_above(const std::vector<std::size_t>& order, ged::Method method) {
    const auto last = end();
    spread(order.size(), true, Stage::tight, [&](std::size_t i, Worker& worker) {
        if (open(candidates_[order[i]]) && Clock::now() < last) {
            solve(order[i], method, infinity, worker);
        }
    });
}

/// Computes bounds of one candidate by a solver that may stop as soon as the lower bound exceeds the limit.
void Search::solve(std::size_t at, ged::Method method, double seconds, Worker& worker) {
    Candidate& candidate = candidates_[at];
    const Part& part = parts_[candidate.part];
    const GraphView query = part.query[0];
    const GraphView graph = part.graphs[static_cast<std::size_t>(part.profiles->position(candidate.rank))];
    worker.mapping.resize(static_cast<std::size_t>(query.n));
    const Deadline deadline(seconds, &control_.cancel);
    const double most = limit(candidate);
    const auto bounds = method == ged::Method::exact
                            ? ged::within(query, graph, part.costs, most, deadline, worker.workspace, worker.mapping)
                            : ged::edit_distance(query, graph, part.costs, {.method = method, .limit = most}, deadline,
                                                 worker.workspace, worker.mapping);
    if (deadline.canceled()) {
        return;
    }
    candidate.lower = std::max(candidate.lower, prices_[candidate.part].possible(bounds.lower));
    const bool mapped = bounds.proven || method != ged::Method::exact;
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

/// Computes exact distances up to the limit, each within `patience` seconds and within the time budget.
void Search::verify_some(const std::vector<std::size_t>& order, double patience) {
    const auto last = end();
    std::atomic<std::int64_t> asked{0};
    spread(order.size(), true, Stage::exact, [&](std::size_t i, Worker& worker) {
        const double left = last == Clock::time_point::max() ? infinity : -since(last);
        if (left > 0 && open(candidates_[order[i]])) {
            ++asked;
            solve(order[i], ged::Method::exact, std::min(patience, left), worker);
        }
    });
    answer_.asked[index(Stage::exact)] += asked;
}

/// Computes exact distances, most promising candidates first, in rounds with growing time limits, so that easy pairs
/// never wait for hard ones.
void Search::verify() {
    const auto last = end();
    for (const double patience : {first_patience, 0.2, 2.0, infinity}) {
        if (patience <= question_.after || patience > question_.upto) {
            continue;
        }
        const auto order = by_bound(candidates_.size());
        if (order.empty() || Clock::now() >= last || question_.budget <= 0) {
            break;
        }
        verify_some(order, patience);
    }
    const bool unranked = nearest() && ranking_.worst().value == infinity;
    if (question_.upto == infinity || Clock::now() >= last || unranked) {
        fall_back();
    }
}

/// Computes upper bounds of candidates without one after the exact rounds: for all of them if no exact distances were
/// requested, otherwise for a short time.
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
            solve(order[i], ged::Method::tight, infinity, worker);
        }
    });
    answer_.asked[index(Stage::tight)] += asked;
}

}  // namespace uge::search
