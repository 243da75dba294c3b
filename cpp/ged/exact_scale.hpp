#pragma once
#include <cstddef>
#include <cstdint>

#include "../graph.hpp"

/// What the two halves of UniformSearch share: its search and its bounds.
namespace uge::ged::uniform {

using Cost = std::int32_t;

constexpr Cost scale = 120;             ///< of one edit: divides well, and a whole reward fits a byte
constexpr Cost reward = 2 * scale;      ///< of keeping an edge
constexpr std::uint8_t no_share = 255;  ///< of an edge whose other cell is dropped
constexpr Cost dropped = 1 << 22;       ///< cost of a cell that is not allowed
constexpr Cost allowed = 1 << 21;       ///< costs below this are of allowed cells
constexpr Node gone = -2;               ///< partner of a row or column that is fixed
constexpr Node open = -1;               ///< partner of one that is not matched yet
constexpr int key_bits = 8;             ///< of the column within a key of the shortest path search
constexpr Node max_columns = 1 << key_bits;
constexpr Node max_degree = 32;  ///< of graphs whose rewards are split unevenly

constexpr std::size_t max_planes = 6;    ///< most neighbors of a node of right where rows of cells are taken at once
constexpr std::size_t max_row_arcs = 4;  ///< most neighbors of a node of left for the same

template <class T>
constexpr auto index(T value) -> std::size_t {
    return static_cast<std::size_t>(value);
}

}  // namespace uge::ged::uniform
