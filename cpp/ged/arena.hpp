#pragma once
#include <cstddef>
#include <memory>
#include <vector>

namespace uge::ged {

/// Aligned memory that grows and is reused for each pair.
class Arena {
  public:
    static constexpr std::size_t alignment = 64;

    /// Releases everything that was allocated, and reserves `bytes`.
    auto reset(std::size_t bytes) -> void {
        if (bytes + alignment > buffer_.size()) {
            buffer_.resize(2 * (bytes + alignment));
        }
        void* start = buffer_.data();
        std::size_t room = buffer_.size();
        next_ = static_cast<std::byte*>(std::align(alignment, bytes, start, room));
    }
    template <class T>
    auto take(std::size_t count) -> T* {
        auto* taken = reinterpret_cast<T*>(next_);
        next_ += rounded<T>(count);
        return taken;
    }
    template <class T>
    static constexpr auto rounded(std::size_t count) -> std::size_t {
        return (count * sizeof(T) + alignment - 1) / alignment * alignment;
    }

  private:
    std::vector<std::byte> buffer_;
    std::byte* next_ = nullptr;
};

}  // namespace uge::ged
