#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace uge {

/// State shared by the worker threads and the thread that watches them.
struct Control {
    std::atomic<bool> cancel{false};    ///< set it to make every thread return soon
    std::atomic<std::int64_t> done{0};  ///< items finished so far
};

/// Hands out 0 .. count - 1 in runs. A run grows while items are quick, so that the cursor is rarely touched, and
/// shrinks to one item where they are slow or few are left, so that no thread waits behind a hard one.
class Cursor {
  public:
    struct Run {
        std::int64_t first;
        std::int64_t last;
    };

    Cursor(std::int64_t count, int threads) : count_(count), share_(std::int64_t{4} * threads) {}

    /// The next run of at most `wanted` items; empty when there are no more.
    auto take(std::int64_t wanted) -> Run {
        const std::int64_t left = count_ - next_.load(std::memory_order_relaxed);
        const std::int64_t length = std::clamp<std::int64_t>(left / share_, 1, wanted);
        const std::int64_t first = std::min(next_.fetch_add(length, std::memory_order_relaxed), count_);
        return {first, std::min(first + length, count_)};
    }

  private:
    std::int64_t count_;
    std::int64_t share_;
    std::atomic<std::int64_t> next_{0};
};

/// Calls worker(i) once for each i in 0 .. count - 1 on `threads` threads. `make_worker()` runs once on each thread and
/// gives its worker, which owns the thread's memory. Meanwhile the calling thread calls `watch()` every 50 ms; if that
/// throws, or a worker does, the rest is canceled and the exception rethrown once all threads have ended.
template <class MakeWorker, class Watch>
void parallel_for(std::int64_t count, int threads, Control& control, const MakeWorker& make_worker,
                  const Watch& watch) {
    using Clock = std::chrono::steady_clock;
    constexpr auto glance = std::chrono::milliseconds(50);
    constexpr auto quick = std::chrono::microseconds(50);
    constexpr std::int64_t longest = 256;

    const int crew = static_cast<int>(std::clamp<std::int64_t>(count, 1, std::max(threads, 1)));
    Cursor cursor(count, crew);
    std::mutex mutex;
    std::condition_variable back;
    std::exception_ptr failure;
    int working = crew;

    const auto fail = [&] {
        control.cancel = true;
        const std::lock_guard lock(mutex);
        if (!failure) {
            failure = std::current_exception();
        }
    };
    const auto work = [&] {
        try {
            auto worker = make_worker();
            std::int64_t wanted = 1;
            while (!control.cancel.load(std::memory_order_relaxed)) {
                const auto run = cursor.take(wanted);
                if (run.first == run.last) {
                    break;
                }
                const auto start = Clock::now();
                for (std::int64_t i = run.first; i < run.last && !control.cancel.load(std::memory_order_relaxed); ++i) {
                    worker(i);
                }
                control.done.fetch_add(run.last - run.first, std::memory_order_relaxed);
                wanted = Clock::now() - start < quick ? std::min(2 * wanted, longest)
                                                      : std::max(wanted / 2, std::int64_t{1});
            }
        } catch (...) {
            fail();
        }
        const std::lock_guard lock(mutex);
        --working;
        back.notify_one();
    };

    std::vector<std::thread> threads_at_work;
    threads_at_work.reserve(static_cast<std::size_t>(crew));
    try {
        while (static_cast<int>(threads_at_work.size()) < crew) {
            threads_at_work.emplace_back(work);
        }
        std::unique_lock lock(mutex);
        while (!back.wait_for(lock, glance, [&] { return working == 0; })) {
            lock.unlock();
            watch();
            lock.lock();
        }
    } catch (...) {
        fail();
    }
    for (auto& thread : threads_at_work) {
        thread.join();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

}  // namespace uge
