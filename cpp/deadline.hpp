#pragma once
#include <atomic>
#include <chrono>

namespace uge {

/// When a solver must come back with what it has: at a point in time, or when somebody cancels.
/// `expired` reads the clock: ask every few microseconds of work, not every node.
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

  private:
    Clock::time_point end_ = Clock::time_point::max();
    const std::atomic<bool>* cancel_ = nullptr;
};

}  // namespace uge
