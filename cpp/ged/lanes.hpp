#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace uge::ged {

/// Operations on vectors of 32 bytes, of 8 or 16 bits per lane, that plain C++ does not have.

template <class Vector>
auto words_of(const Vector& vector) -> std::array<std::uint64_t, 4> {
    std::array<std::uint64_t, 4> words;
    std::memcpy(words.data(), &vector, sizeof words);
    return words;
}

/// Sum of all lanes. Precondition: none is negative, and the sum fits 16 bits.
template <class Score, class Vector>
auto sum_of_lanes(const Vector& vector) -> int {
    constexpr std::uint64_t even = 0x00ff00ff00ff00ff;
    std::uint64_t total = 0;
    for (const std::uint64_t word : words_of(vector)) {
        total += sizeof(Score) == 1 ? (word & even) + (word >> 8 & even) : word;
    }
    return static_cast<int>(total * 0x0001000100010001 >> 48);  // the four quarters of the word together
}

#ifdef __AVX2__
template <class Score>
constexpr int lane_bits = sizeof(Score);
#else
template <class Score>
constexpr int lane_bits = 1;
#endif

/// `lane_bits` bits for each lane, of which the lowest tells whether it is true.
template <class Score, class Mask>
auto set_lanes(const Mask& mask) -> std::uint32_t {
#ifdef __AVX2__
    constexpr std::uint32_t lowest = sizeof(Score) == 1 ? 0xffffffff : 0x55555555;
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(std::bit_cast<__m256i>(mask))) & lowest;
#else
    std::uint32_t set = 0;
    int shift = 0;
    for (const std::uint64_t word : words_of(mask)) {  // a product brings the lowest bits of all lanes together
        const std::uint64_t bits = sizeof(Score) == 1 ? (word & 0x0101010101010101) * 0x0102040810204080 >> 56
                                                      : (word & 0x0001000100010001) * 0x0001000200040008 >> 48 & 15;
        set |= static_cast<std::uint32_t>(bits) << shift;
        shift += 8 / static_cast<int>(sizeof(Score));
    }
    return set;
#endif
}

}  // namespace uge::ged
