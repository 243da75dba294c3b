#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "../deadline.hpp"

namespace uge::substructures {

using Feature = std::int32_t;

/// How often each feature occurs in each graph: row g is [indptr[g], indptr[g + 1]), features ascending, counts > 0.
struct Counts {
    std::vector<std::int64_t> indptr{0};
    std::vector<Feature> features;
    std::vector<std::int64_t> counts;
    std::vector<std::int32_t> unfinished;  ///< graphs for which time was up, ascending; their rows are empty
};

/// Time limit of one graph, and the control that can stop everything.
struct Limits {
    double seconds = 1e18;
    const std::atomic<bool>* cancel = nullptr;

    [[nodiscard]] auto deadline() const -> Deadline { return Deadline(seconds, cancel); }
};

/// Numbers sequences of integers from 0 on, in the order in which they are first learned. Exact: sequences are
/// compared, not only their hashes. Its whole state is the sequences in the order of their ids, as one CSR.
class Dictionary {
  public:
    static constexpr Feature unseen = -1;

    Dictionary() = default;
    /// The dictionary with this state. Precondition: offsets from 0 ascending to keys.size(), sequences distinct.
    Dictionary(std::vector<std::int64_t> offsets, std::vector<std::int32_t> keys);

    [[nodiscard]] auto size() const -> Feature { return static_cast<Feature>(offsets_.size() - 1); }
    /// Id of the sequence, or `unseen`.
    [[nodiscard]] auto find(std::span<const std::int32_t> key) const -> Feature;
    /// Id of the sequence, a new one if need be. Amortized linear in its length.
    auto learn(std::span<const std::int32_t> key) -> Feature;

    [[nodiscard]] auto offsets() const -> std::span<const std::int64_t> { return offsets_; }
    [[nodiscard]] auto keys() const -> std::span<const std::int32_t> { return keys_; }

  private:
    struct Slot {
        std::uint32_t hash = 0;
        Feature id = unseen;
    };
    [[nodiscard]] auto slot_of(std::span<const std::int32_t> key, std::uint32_t hash) const -> std::size_t;
    void rehash(std::size_t capacity);

    std::vector<std::int64_t> offsets_{0};
    std::vector<std::int32_t> keys_;
    std::vector<Slot> slots_;  ///< open addressing, a power of two, at most half full
};

}  // namespace uge::substructures
