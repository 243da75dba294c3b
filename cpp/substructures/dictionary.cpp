#include "dictionary.hpp"

#include <algorithm>
#include <utility>

namespace uge::substructures {

namespace {

auto hash_of(std::span<const std::int32_t> key) -> std::uint32_t {
    std::uint64_t h = 0x9e3779b97f4a7c15ULL ^ key.size();
    for (const auto k : key) {
        h = (h ^ static_cast<std::uint32_t>(k)) * 0xff51afd7ed558ccdULL;
        h ^= h >> 32;
    }
    return static_cast<std::uint32_t>(h);
}

}  // namespace

Dictionary::Dictionary(std::vector<std::int64_t> offsets, std::vector<std::int32_t> keys)
    : offsets_(std::move(offsets)), keys_(std::move(keys)) {
    std::size_t capacity = 16;
    while (capacity < 2 * offsets_.size()) capacity *= 2;
    rehash(capacity);
}

auto Dictionary::slot_of(std::span<const std::int32_t> key, std::uint32_t hash) const -> std::size_t {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
        const auto& slot = slots_[at];
        if (slot.id == unseen) return at;
        if (slot.hash != hash) continue;
        const auto first = offsets_[static_cast<std::size_t>(slot.id)];
        const auto last = offsets_[static_cast<std::size_t>(slot.id) + 1];
        if (std::equal(key.begin(), key.end(), keys_.begin() + first, keys_.begin() + last)) return at;
    }
}

void Dictionary::rehash(std::size_t capacity) {
    slots_.assign(capacity, {});
    for (Feature id = 0; id < size(); ++id) {
        const auto first = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(id)]);
        const auto last = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(id) + 1]);
        const auto key = std::span<const std::int32_t>(keys_).subspan(first, last - first);
        const auto hash = hash_of(key);
        slots_[slot_of(key, hash)] = {hash, id};
    }
}

auto Dictionary::find(std::span<const std::int32_t> key) const -> Feature {
    return slots_.empty() ? unseen : slots_[slot_of(key, hash_of(key))].id;
}

auto Dictionary::learn(std::span<const std::int32_t> key) -> Feature {
    if (slots_.size() < 2 * offsets_.size()) rehash(std::max<std::size_t>(64, 4 * slots_.size()));
    const auto hash = hash_of(key);
    auto& slot = slots_[slot_of(key, hash)];
    if (slot.id == unseen) {
        slot = {hash, size()};
        keys_.insert(keys_.end(), key.begin(), key.end());
        offsets_.push_back(static_cast<std::int64_t>(keys_.size()));
    }
    return slot.id;
}

}  // namespace uge::substructures
