#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace uge::mcs {

/// A set of the integers below 64 * W.
template <int W>
struct Bits {
    std::array<std::uint64_t, W> word{};

    static auto single(int i) -> Bits {
        Bits b;
        b.insert(i);
        return b;
    }
    void insert(int i) { word[static_cast<std::size_t>(i) >> 6] |= std::uint64_t{1} << (i & 63); }
    void erase(int i) { word[static_cast<std::size_t>(i) >> 6] &= ~(std::uint64_t{1} << (i & 63)); }
    [[nodiscard]] auto has(int i) const -> bool { return (word[static_cast<std::size_t>(i) >> 6] >> (i & 63)) & 1; }
    [[nodiscard]] auto empty() const -> bool {
        std::uint64_t any = 0;
        for (auto w : word) any |= w;
        return any == 0;
    }
    [[nodiscard]] auto count() const -> int {
        int total = 0;
        for (auto w : word) total += std::popcount(w);
        return total;
    }
    /// Smallest member. Precondition: not empty.
    [[nodiscard]] auto first() const -> int {
        if constexpr (W > 1) {
            for (int i = 0; i + 1 < W; ++i) {
                if (word[static_cast<std::size_t>(i)] != 0) {
                    return 64 * i + std::countr_zero(word[static_cast<std::size_t>(i)]);
                }
            }
        }
        return 64 * (W - 1) + std::countr_zero(word[W - 1]);
    }
    /// Removes and returns the smallest member. Precondition: not empty.
    auto pop() -> int {
        const int i = first();
        erase(i);
        return i;
    }
    friend auto operator&(Bits a, const Bits& b) -> Bits {
        for (std::size_t i = 0; i < W; ++i) a.word[i] &= b.word[i];
        return a;
    }
    friend auto operator|(Bits a, const Bits& b) -> Bits {
        for (std::size_t i = 0; i < W; ++i) a.word[i] |= b.word[i];
        return a;
    }
    friend auto operator^(Bits a, const Bits& b) -> Bits {
        for (std::size_t i = 0; i < W; ++i) a.word[i] ^= b.word[i];
        return a;
    }
    /// Members of a that are not in b.
    friend auto operator-(Bits a, const Bits& b) -> Bits {
        for (std::size_t i = 0; i < W; ++i) a.word[i] &= ~b.word[i];
        return a;
    }
    auto operator|=(const Bits& b) -> Bits& { return *this = *this | b; }
    friend auto operator==(const Bits& a, const Bits& b) -> bool { return a.word == b.word; }
};

}  // namespace uge::mcs
