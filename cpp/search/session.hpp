#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <memory>
#include <mutex>

#include "../ged/workspace.hpp"
#include "ranking.hpp"
#include "search.hpp"

namespace uge::search {

using Clock = std::chrono::steady_clock;

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double slack = 1e-9;  // tolerance for rounding errors of sums of costs
inline constexpr double first_patience = 0.02;

inline auto index(Stage stage) -> std::size_t {
    return static_cast<std::size_t>(stage);
}

inline auto since(Clock::time_point begin) -> double {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// CPU time of this thread in seconds.
inline auto thread_seconds() -> double {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Adds the CPU time that its thread uses during its lifetime to a sum. Must be destroyed on the thread that made it.
class Timer {
  public:
    Timer(double& total, std::mutex& mutex) : total_(total), mutex_(mutex) {}
    Timer(const Timer&) = delete;
    auto operator=(const Timer&) -> Timer& = delete;
    ~Timer() {
        const std::lock_guard lock(mutex_);
        total_ += thread_seconds() - begin_;
    }

  private:
    double begin_ = thread_seconds();
    double& total_;
    std::mutex& mutex_;
};

/// A graph that the counter bounds have not ruled out, or one of `near`.
struct Candidate {
    std::uint32_t part;
    std::uint32_t rank;
    std::int64_t position;
    double scale;
    double labels, degrees, branch;  ///< lower bounds, each valid
    double lower;                    ///< best lower bound
    double upper = infinity;
    bool proven = false;  ///< lower == upper
    std::vector<Node> mapping;
};

/// Scratch memory of one thread, reused from stage to stage.
struct Worker {
    ged::Workspace workspace;
    std::vector<std::unique_ptr<BranchFilter>> branch;  ///< per part
    std::vector<Node> mapping;
};

/// One search, from the request to the answer.
class Search {
  public:
    Search(std::span<const Part> parts, const Question& question, Control& control, const Watch& watch)
        : parts_(parts),
          question_(question),
          control_(control),
          watch_(watch),
          ranking_(question.k, question.ceiling, question.ceiling_position) {
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
    /// The largest relevant distance for graphs with this number of nodes; exact ties with the k-th best are relevant.
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
    void estimate();
    void bound_above(const std::vector<std::size_t>& order, ged::Method method);
    void solve(std::size_t at, ged::Method method, double seconds, Worker& worker);
    [[nodiscard]] auto open(const Candidate& candidate) const -> bool {
        return !candidate.proven && candidate.lower <= limit(candidate);
    }
    [[nodiscard]] auto by_bound(std::size_t last) const -> std::vector<std::size_t>;
    void verify_some(const std::vector<std::size_t>& order, double patience);
    [[nodiscard]] auto undecided(const Candidate& candidate) const -> bool;
    [[nodiscard]] auto removed_by(const Candidate& candidate) const -> Stage;

    /// Calls work(i, worker) for each i, on the calling thread or, if `several`, on several threads.
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
        const double begin = thread_seconds();
        for (std::size_t i = 0; i < count; ++i) {
            work(i, worker_at(0));
        }
        answer_.seconds[index(stage)] += thread_seconds() - begin;
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

}  // namespace uge::search
