#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

namespace uge::search {

/// The k best entries reported so far, by (value, position). `report` and `worst` are thread-safe. The value of a
/// candidate can only decrease.
///
/// The ceiling is the k-th best match of another search, if that is known: graphs that rank after it are not searched.
/// It is not itself an entry.
class Ranking {
  public:
    struct Entry {
        double value;
        std::int64_t position;
        std::size_t candidate;

        auto operator<(const Entry& other) const -> bool {
            return value != other.value ? value < other.value : position < other.position;
        }
    };

    Ranking(std::int64_t k, double value, std::int64_t position)
        : k_(static_cast<std::size_t>(k)), ceiling_{value, position, 0} {}

    /// Adds an entry or improves a known one. Keeps ties with the ceiling, up to rounding; the caller resolves them.
    void report(const Entry& entry) {
        if (entry.value > ceiling_.value + rounding) {
            return;
        }
        const std::lock_guard lock(mutex_);
        const auto known = std::find_if(entries_.begin(), entries_.end(),
                                        [&](const Entry& one) { return one.candidate == entry.candidate; });
        if (known != entries_.end()) {
            if (!(entry < *known)) {
                return;
            }
            entries_.erase(known);
        } else if (entries_.size() == k_ && !(entry < entries_.back())) {
            return;
        }
        entries_.insert(std::upper_bound(entries_.begin(), entries_.end(), entry), entry);
        if (entries_.size() > k_) {
            entries_.pop_back();
        }
    }

    /// What ranks after this entry cannot be among the k best: the ceiling as long as there are fewer than k entries.
    [[nodiscard]] auto worst() const -> Entry {
        const std::lock_guard lock(mutex_);
        return entries_.size() < k_ ? ceiling_ : std::min(ceiling_, entries_.back());
    }
    [[nodiscard]] auto entries() const -> const std::vector<Entry>& { return entries_; }

  private:
    static constexpr double rounding = 1e-9;

    std::size_t k_;
    Entry ceiling_;
    mutable std::mutex mutex_;
    std::vector<Entry> entries_;  ///< sorted
};

}  // namespace uge::search
