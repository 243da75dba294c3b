#include "l1.hpp"

#include <cmath>
#include <cstring>

namespace uge::vectors {
namespace {

constexpr std::size_t lanes = 16;

/// In lanes, so that compilers may vectorize the sum; the order of the sum depends on the width alone.
auto l1(const float* __restrict a, const float* __restrict b, std::size_t width) -> float {
    float sums[lanes] = {};
    std::size_t k = 0;
    for (; k + lanes <= width; k += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            sums[lane] += std::abs(a[k + lane] - b[k + lane]);
        }
    }
    for (std::size_t lane = 0; k < width; ++k, ++lane) {
        sums[lane] += std::abs(a[k] - b[k]);
    }
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
        for (std::size_t lane = 0; lane < half; ++lane) {
            sums[lane] += sums[lane + half];
        }
    }
    return sums[0];
}

constexpr std::size_t columns = 8;
typedef float Numbers __attribute__((vector_size(columns * sizeof(float))));

/// A number, or one per column, of each row: what is read and written again and again stays in the innermost cache.
template <class T>
void add_signs(const float* rows, std::size_t count, std::size_t width, const float* weight, float* gradient) {
    const auto copy = [](T& to, const float* from) { std::memcpy(&to, from, sizeof to); };
    for (std::size_t i = 0; i < count; ++i) {
        T a, own;
        copy(a, rows + i * width);
        copy(own, gradient + i * width);
        for (std::size_t j = i + 1; j < count; ++j) {
            const T both = T{} + (weight[i * count + j] + weight[j * count + i]);
            T b, other;
            copy(b, rows + j * width);
            copy(other, gradient + j * width);
            const T part = (a > b ? both : T{}) - (a < b ? both : T{});
            own += part;
            other -= part;
            std::memcpy(gradient + j * width, &other, sizeof other);
        }
        std::memcpy(gradient + i * width, &own, sizeof own);
    }
}

}  // namespace

void l1_between_rows(std::span<const float> rows, std::size_t count, std::size_t width, std::span<float> distance) {
    for (std::size_t i = 0; i < count; ++i) {
        distance[i * count + i] = 0;
        for (std::size_t j = i + 1; j < count; ++j) {
            const float value = l1(rows.data() + i * width, rows.data() + j * width, width);
            distance[i * count + j] = distance[j * count + i] = value;
        }
    }
}

void l1_between_rows_backward(std::span<const float> rows, std::size_t count, std::size_t width,
                              std::span<const float> weight, std::span<float> gradient) {
    std::size_t k = 0;
    for (; k + columns <= width; k += columns) {
        add_signs<Numbers>(rows.data() + k, count, width, weight.data(), gradient.data() + k);
    }
    for (; k < width; ++k) {
        add_signs<float>(rows.data() + k, count, width, weight.data(), gradient.data() + k);
    }
}

}  // namespace uge::vectors
