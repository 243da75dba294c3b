#pragma once
#include <cstddef>
#include <span>

namespace uge::vectors {

/// Σ|a − b| of every row of a matrix with every other: distance[i * count + j], symmetric, 0 on the diagonal.
/// `rows` is count x width, row by row. O(count² width), no allocation.
void l1_between_rows(std::span<const float> rows, std::size_t count, std::size_t width, std::span<float> distance);

/// Adds to `gradient` (count x width) the gradient of Σ weight[i * count + j] · distance(i, j) by the rows; the
/// difference of equal numbers has the gradient 0.
void l1_between_rows_backward(std::span<const float> rows, std::size_t count, std::size_t width,
                              std::span<const float> weight, std::span<float> gradient);

}  // namespace uge::vectors
