#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace uge {

/// When a solver must return its best result so far: at a point in time, or when it is canceled.
/// `expired` reads the clock: call it every few microseconds of work, not for every node.
class Deadline {
  public:
    using Clock = std::chrono::steady_clock;

    Deadline() = default;  ///< never
    explicit Deadline(double seconds, const std::atomic<bool>* cancel = nullptr) : cancel_(cancel) {
        constexpr double forever = 1e9;
        if (seconds < forever) {
            end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
        }
    }
    [[nodiscard]] auto expired() const -> bool {
        return canceled() || (end_ != Clock::time_point::max() && Clock::now() >= end_);
    }
    [[nodiscard]] auto canceled() const -> bool {
        return cancel_ != nullptr && cancel_->load(std::memory_order_relaxed);
    }
    /// Some more time, to complete the result. Within 50 ms of its deadline every solver has returned.
    [[nodiscard]] auto extended() const -> Deadline {
        constexpr auto grace = std::chrono::milliseconds(20);
        Deadline later = *this;
        later.end_ = end_ == Clock::time_point::max() ? end_ : end_ + grace;
        return later;
    }

  private:
    Clock::time_point end_ = Clock::time_point::max();
    const std::atomic<bool>* cancel_ = nullptr;
};

/// A deadline for loops whose steps take very different times: reads the clock once per fixed number of
/// work units of about a nanosecond. Once expired it stays so.
class WorkMeter {
  public:
    explicit WorkMeter(const Deadline& deadline) : deadline_(&deadline) {}

    /// Adds to the work done; whether time is up.
    auto expired(std::int64_t work) -> bool {
        constexpr std::int64_t between = 1 << 16;
        work_ += work;
        if (work_ >= between) {
            work_ = 0;
            expired_ = expired_ || deadline_->expired();
        }
        return expired_;
    }

  private:
    const Deadline* deadline_;
    std::int64_t work_ = 0;
    bool expired_ = false;
};

}  // namespace uge
