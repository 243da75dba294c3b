#pragma once
#include <cstdint>

namespace uge::ged {

/// Xorshift: small, fast, the same everywhere.
class Random {
  public:
    auto below(int end) -> int {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<int>((state_ >> 32) * static_cast<std::uint64_t>(end) >> 32);
    }

  private:
    std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

}  // namespace uge::ged
