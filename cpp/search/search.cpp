#include "search.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>

#include "../ged/workspace.hpp"
#include "ranking.hpp"

namespace uge::search {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double slack = 1e-9;  // sums of costs that are no whole numbers
constexpr double first_patience = 0.02;

auto index(Stage stage) -> std::size_t {
    return static_cast<std::size_t>(stage);
}

auto since(Clock::time_point begin) -> double {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Adds the seconds of its life to a sum.
class Timer {
  public:
    Timer(double& total, std::mutex& mutex) : total_(total), mutex_(mutex) {}
    Timer(const Timer&) = delete;
    auto operator=(const Timer&) -> Timer& = delete;
    ~Timer() {
        const std::lock_guard lock(mutex_);
        total_ += since(begin_);
    }

  private:
    Clock::time_point begin_ = Clock::now();
    double& total_;
    std::mutex& mutex_;
};

/// A graph that counters have not ruled out.
struct Candidate {
    std::uint32_t part;
    std::uint32_t rank;
    std::int64_t position;
    double scale;
    double labels, degrees, branch;  ///< bounds, each valid
    double lower;                    ///< the best
    double upper = infinity;
    bool proven = false;  ///< lower == upper
    std::vector<Node> mapping;
};

/// What one thread needs; kept from stage to stage.
struct Worker {
    ged::Workspace workspace;
    std::vector<std::unique_ptr<BranchFilter>> branch;  ///< by part
    std::vector<Node> mapping;
};

class Search {
  public:
    Search(std::span<const Part> parts, const Question& question, Control& control, const Watch& watch)
        : parts_(parts), question_(question), control_(control), watch_(watch), ranking_(question.k) {
        for (const Part& part : parts) {
            prices_.emplace_back(part.costs);
            starts_.push_back(starts_.back() + static_cast<std::int64_t>(part.graphs.size()));
        }
        for (std::size_t p = 0; p < parts.size(); ++p) {
            counters_.emplace_back(parts[p].query[0], prices_[p], *parts[p].profiles);
        }
        nodes_ = parts.empty() ? 0 : parts[0].query[0].n;
        workers_.resize(static_cast<std::size_t>(std::max(question.threads, 1)));
    }

    auto run(std::span<const std::int64_t> near) -> Answer {
        add_near(near);
        bound_branches(0, candidates_.size());
        if (nearest() && !question_.only_near && question_.budget > 0) {
            start();
        }
        if (!question_.only_near) {
            const std::size_t first = candidates_.size();
            scan();
            const std::size_t bounded = nearest() ? sharpen(first) : first;
            bound_branches(bounded, candidates_.size());
        }
        verify();
        return answer();
    }

  private:
    [[nodiscard]] auto nearest() const -> bool { return question_.k > 0; }
    [[nodiscard]] auto scale(std::int64_t nodes) const -> double {
        const double mean = static_cast<double>(nodes + nodes_) / 2;
        return question_.by == By::normalized && mean > 0 ? mean : 1;
    }
    /// The largest distance of interest for graphs of so many nodes; exact ties with the k-th are of interest.
    [[nodiscard]] auto limit(std::int64_t nodes) const -> double {
        return (nearest() ? ranking_.worst().value * scale(nodes) : question_.within) + slack;
    }
    [[nodiscard]] auto limit(const Candidate& candidate) const -> double;
    [[nodiscard]] auto end() const -> Clock::time_point;

    void add_near(std::span<const std::int64_t> near);
    void bound_branches(std::size_t first, std::size_t last);
    void start();
    void scan();
    auto sharpen(std::size_t first) -> std::size_t;
    void scan_part(std::size_t p, std::span<const std::uint32_t> skip);
    void verify();
    void fall_back();
    auto answer() -> Answer;

    [[nodiscard]] auto candidate(std::size_t part, std::size_t rank, const CounterFilter::Bound& bound) const
        -> Candidate;
    void bound_branch(Candidate& candidate, Worker& worker);
    void solve(std::size_t at, Stage stage, double seconds, Worker& worker);
    [[nodiscard]] auto open(const Candidate& candidate) const -> bool {
        return !candidate.proven && candidate.lower <= limit(candidate);
    }
    [[nodiscard]] auto by_bound(std::size_t last) const -> std::vector<std::size_t>;
    void verify_some(const std::vector<std::size_t>& order, double patience);
    [[nodiscard]] auto undecided(const Candidate& candidate) const -> bool;
    [[nodiscard]] auto removed_by(const Candidate& candidate) const -> Stage;

    /// Calls work(i, worker) for each i, on the thread that is there or, where it is worth it, on several.
    template <class Work>
    void spread(std::size_t count, bool several, Stage stage, const Work& work);

    std::span<const Part> parts_;
    Question question_;
    Control& control_;
    const Watch& watch_;
    std::vector<Prices> prices_;
    std::vector<CounterFilter> counters_;
    std::vector<std::int64_t> starts_{0};
    std::int64_t nodes_ = 0;
    Ranking ranking_;
    std::vector<Candidate> candidates_;
    std::vector<std::unique_ptr<Worker>> workers_;
    Clock::time_point begin_ = Clock::now();
    Answer answer_;
};

template <class Work>
void Search::spread(std::size_t count, bool several, Stage stage, const Work& work) {
    const auto worker_at = [&](std::size_t at) -> Worker& {
        if (workers_[at] == nullptr) {
            workers_[at] = std::make_unique<Worker>();
            workers_[at]->branch.resize(parts_.size());
        }
        return *workers_[at];
    };
    if (!several) {
        const auto begin = Clock::now();
        for (std::size_t i = 0; i < count; ++i) {
            work(i, worker_at(0));
        }
        answer_.seconds[index(stage)] += since(begin);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    const auto make_worker = [&] {
        return [&, &worker = worker_at(next++), timer = Timer(answer_.seconds[index(stage)], mutex)](std::int64_t i) {
            work(static_cast<std::size_t>(i), worker);
        };
    };
    parallel_for(static_cast<std::int64_t>(count), question_.threads, control_, make_worker, watch_);
}

auto Search::limit(const Candidate& candidate) const -> double {
    if (!nearest()) {
        return question_.within + slack;
    }
    const auto worst = ranking_.worst();
    const double most = worst.value * candidate.scale;
    if (!(worst < Ranking::Entry{candidate.upper / candidate.scale, candidate.position, 0})) {
        return candidate.upper + slack;  // one of the k nearest so far: its own distance is wanted
    }
    if (!prices_[candidate.part].integral || most == infinity) {
        return most + slack;
    }
    const double whole = std::floor(most + slack);
    const bool late = whole / candidate.scale == worst.value && candidate.position > worst.position;
    return (late ? whole - 1 : whole) + slack;
}

auto Search::end() const -> Clock::time_point {
    constexpr double forever = 1e9;
    return question_.budget >= forever
               ? Clock::time_point::max()
               : begin_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(question_.budget));
}

auto Search::candidate(std::size_t part, std::size_t rank, const CounterFilter::Bound& bound) const -> Candidate {
    const Profiles& profiles = *parts_[part].profiles;
    const double degrees = prices_[part].possible(bound.degrees);
    return {.part = static_cast<std::uint32_t>(part),
            .rank = static_cast<std::uint32_t>(rank),
            .position = starts_[part] + profiles.position(rank),
            .scale = scale(profiles.nodes(rank)),
            .labels = bound.labels,
            .degrees = degrees,
            .branch = degrees,
            .lower = degrees,
            .mapping = {}};
}

void Search::add_near(std::span<const std::int64_t> near) {
    const auto begin = Clock::now();
    std::vector<std::int64_t> positions(near.begin(), near.end());
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    for (const std::int64_t position : positions) {
        const auto p =
            static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), position) - starts_.begin() - 1);
        const auto inside = static_cast<std::int32_t>(position - starts_[p]);
        const Part& part = parts_[p];
        const std::size_t rank = part.profiles->rank_of(inside, part.graphs[static_cast<std::size_t>(inside)]);
        candidates_.push_back(candidate(p, rank, counters_[p].bound(rank)));
    }
    answer_.seconds[index(Stage::degrees)] += since(begin);
}

void Search::bound_branch(Candidate& candidate, Worker& worker) {
    const Part& part = parts_[candidate.part];
    if (!prices_[candidate.part].constant || candidate.degrees > limit(candidate)) {
        return;  // solvers know what matrices cost
    }
    auto& filter = worker.branch[candidate.part];
    if (filter == nullptr) {
        filter =
            std::make_unique<BranchFilter>(part.query[0], part.edge_labels, prices_[candidate.part], *part.profiles);
    }
    candidate.branch = std::max(candidate.degrees, filter->bound(candidate.rank, limit(candidate)));
    candidate.lower = candidate.branch;
}

void Search::bound_branches(std::size_t first, std::size_t last) {
    constexpr std::size_t many = 2'000;
    const std::size_t count = last - first;
    answer_.asked[index(Stage::branch)] += static_cast<std::int64_t>(count);
    spread(count, count > many && question_.threads > 1, Stage::branch,
           [&](std::size_t i, Worker& worker) { bound_branch(candidates_[first + i], worker); });
}

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

void Search::scan() {
    std::vector<std::vector<std::uint32_t>> skip(parts_.size());
    for (const Candidate& known : candidates_) {
        skip[known.part].push_back(known.rank);
    }
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        std::sort(skip[p].begin(), skip[p].end());
        scan_part(p, skip[p]);
    }
}

void Search::scan_part(std::size_t p, std::span<const std::uint32_t> skip) {
    constexpr std::size_t piece = 1 << 16;
    const Part& part = parts_[p];
    const Profiles& profiles = *part.profiles;
    const std::size_t pieces = (profiles.size() + piece - 1) / piece;
    struct Piece {
        std::vector<Candidate> taken;
        std::array<std::int64_t, num_stages> removed{}, asked{};
    };
    std::vector<Piece> results(pieces);
    const auto counts = [&](std::size_t rank) {
        return part.mask.empty() || part.mask[static_cast<std::size_t>(profiles.position(rank))];
    };
    spread(pieces, pieces > 2 && question_.threads > 1, Stage::labels, [&](std::size_t i, Worker&) {
        Piece& result = results[i];
        const auto most = [&](std::int64_t nodes) { return limit(nodes); };
        counters_[p].for_each_run(
            i * piece, std::min((i + 1) * piece, profiles.size()), most, [&](const CounterFilter::Run& run) {
                result.asked[index(Stage::labels)] += static_cast<std::int64_t>(run.last - run.first);
                result.removed[index(Stage::labels)] +=
                    counters_[p].scan(run, skip, counts, [&](std::size_t rank, const CounterFilter::Bound& bound) {
                        ++result.asked[index(Stage::degrees)];
                        if (prices_[p].possible(bound.degrees) > run.limit) {
                            const bool by_labels = prices_[p].possible(bound.labels) > run.limit;
                            ++result.removed[index(by_labels ? Stage::labels : Stage::degrees)];
                        } else {
                            result.taken.push_back(candidate(p, rank, bound));
                        }
                    });
            });
    });
    for (Piece& result : results) {
        candidates_.insert(candidates_.end(), result.taken.begin(), result.taken.end());
        for (std::size_t s = 0; s < num_stages; ++s) {
            answer_.removed[s] += result.removed[s];
            answer_.asked[s] += result.asked[s];
        }
    }
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

auto Search::undecided(const Candidate& candidate) const -> bool {
    if (candidate.proven) {
        return false;
    }
    if (!nearest()) {
        return candidate.lower <= question_.within + slack && candidate.upper > question_.within + slack;
    }
    const auto worst = ranking_.worst();
    const double value = candidate.lower / candidate.scale;
    if (!prices_[candidate.part].integral) {
        return value < worst.value - slack;
    }
    return value < worst.value || (value == worst.value && candidate.position < worst.position);
}

/// The first bound that suffices.
auto Search::removed_by(const Candidate& candidate) const -> Stage {
    const double most = limit(candidate);
    const auto& prices = prices_[candidate.part];
    return prices.possible(candidate.labels) > most ? Stage::labels
           : candidate.degrees > most               ? Stage::degrees
           : candidate.branch > most                ? Stage::branch
           : question_.budget <= 0                  ? Stage::tight
                                                    : Stage::exact;
}

auto Search::answer() -> Answer {
    std::vector<std::size_t> chosen;
    if (nearest()) {
        for (const auto& entry : ranking_.entries()) {
            chosen.push_back(entry.candidate);
        }
    } else {
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            if (candidates_[i].upper <= question_.within + slack) {
                chosen.push_back(i);
            }
        }
        std::sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
            const Candidate& left = candidates_[a];
            const Candidate& right = candidates_[b];
            const double difference = left.upper / left.scale - right.upper / right.scale;
            return difference != 0 ? difference < 0 : left.position < right.position;
        });
    }
    std::vector<bool> is_found(candidates_.size());
    for (const std::size_t i : chosen) {
        Candidate& one = candidates_[i];
        answer_.found.push_back({one.position, one.lower, one.upper, std::move(one.mapping)});
        is_found[i] = true;
    }
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if (!is_found[i] && undecided(candidates_[i])) {
            answer_.undecided.push_back(candidates_[i].position);
        } else if (!is_found[i]) {
            ++answer_.removed[index(removed_by(candidates_[i]))];
        }
    }
    std::sort(answer_.undecided.begin(), answer_.undecided.end());
    return std::move(answer_);
}

}  // namespace

auto search(std::span<const Part> parts, const Question& question, std::span<const std::int64_t> near, Control& control,
            const Watch& watch) -> Answer {
    return Search(parts, question, control, watch).run(near);
}

}  // namespace uge::search
