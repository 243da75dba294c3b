#pragma once
#include <cstddef>
#include <cstdint>

#include "../graph.hpp"

/// Constants that the source files of UniformSearch share.
namespace uge::ged::uniform {

using Cost = std::int32_t;

constexpr Cost scale = 120;             ///< cost of one edit: it has many divisors, and a reward fits in a byte
constexpr Cost reward = 2 * scale;      ///< for keeping an edge
constexpr std::uint8_t no_share = 255;  ///< share of an edge whose cell at the other end is not allowed
constexpr Cost dropped = 1 << 22;       ///< cost of a cell that is not allowed
constexpr Cost allowed = 1 << 21;       ///< the costs of allowed cells are below this
constexpr Node gone = -2;               ///< partner of a fixed row or column
constexpr Node open = -1;               ///< partner of a row or column that is not matched yet
constexpr int key_bits = 8;             ///< bits of the column in a key of the shortest path search
constexpr Node max_columns = 1 << key_bits;
constexpr Node max_degree = 32;  ///< maximum degree of graphs whose rewards are split unevenly

constexpr std::size_t max_planes = 6;    ///< maximum degree in right for processing whole rows of cells
constexpr std::size_t max_row_arcs = 4;  ///< maximum number of unfixed neighbors in left for the same

template <class T>
constexpr auto index(T value) -> std::size_t {
    return static_cast<std::size_t>(value);
}

}  // namespace uge::ged::uniform
