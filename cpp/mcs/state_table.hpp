#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace uge::mcs {

/// What is known of states of the search that were exhausted: how many matches they can add at most. Different partial
/// maps often leave the same nodes with the same choices. States are distinguished by 128 bits of hash, not by
/// themselves: were the hash ideal, two of a billion would be confused with a probability below 1e-20.
class StateTable {
  public:
    /// Built up from parts in any order.
    class Key {
      public:
        void add(std::uint64_t first, std::uint64_t second) {
            first_ += mixed(first);
            second_ += mixed(second ^ 0xd6e8feb86659fd93ULL);
        }
        friend auto operator==(const Key&, const Key&) -> bool = default;

      private:
        friend class StateTable;
        static auto mixed(std::uint64_t x) -> std::uint64_t {
            x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
            return x ^ (x >> 32);
        }
        std::uint64_t first_ = 0;
        std::uint64_t second_ = 0;
    };

    StateTable() : entries_(capacity) {}

    /// Removes all entries in constant time.
    void clear() { ++search_; }
    /// Most matches that the state can add, or `unknown`.
    [[nodiscard]] auto find(const Key& key) const -> int {
        const auto& entry = entries_[key.first_ % capacity];
        return entry.search == search_ && entry.key == key ? entry.rest : unknown;
    }
    /// An older state in the same place is overwritten.
    void store(const Key& key, int rest) {
        entries_[key.first_ % capacity] = {.key = key, .search = search_, .rest = rest};
    }

    static constexpr int unknown = 1 << 30;

  private:
    static constexpr std::size_t capacity = 1 << 15;
    struct Entry {
        Key key;
        std::uint32_t search = 0;
        int rest = unknown;
    };
    std::vector<Entry> entries_;
    std::uint32_t search_ = 0;
};

}  // namespace uge::mcs
