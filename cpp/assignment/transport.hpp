#pragma once
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "lsap.hpp"

namespace uge::assignment {

/// Solver of the transport problem: linear assignment where equal rows and equal columns are given once, with how many
/// there are. Shortest augmenting paths as in `Lsap`. Holds the memory and the last answer; allocates only to grow.
template <class Cost>
class Transport {
  public:
    /// Ships all of `supply` (one entry per row) within `capacity` (one per column) at the least total cost, which it
    /// returns. `cost` is rows x columns, row-major. Precondition: as much capacity as supply. Ties go to the lower
    /// column, rows in ascending order.
    auto solve(const Cost* cost, int rows, int columns, const int* supply, const int* capacity) -> Cost {
        return *solve(cost, rows, columns, supply, capacity, [] { return false; });
    }

    /// The same, or nothing if stop() returns true; it is called before each path of a large problem.
    template <class Stop>
    auto solve(const Cost* cost, int rows, int columns, const int* supply, const int* capacity, const Stop& stop)
        -> std::optional<Cost> {
        constexpr std::size_t large = 4096;  // cells: a path takes microseconds
        const bool asks = at(rows) * at(columns) > large;
        rows_ = rows;
        columns_ = columns;
        cost_ = cost;
        supply_.assign(supply, supply + rows);
        room_.assign(capacity, capacity + columns);
        flow_.assign(at(rows) * at(columns), 0);
        u_.resize(at(rows));
        v_.assign(at(columns), 0);
        reduce_rows();
        bool ready = false;
        for (int row = 0; row < rows; ++row) {
            while (supply_[at(row)] > 0) {
                if (!ready) {
                    distance_.resize(at(columns));
                    block_.assign(at(columns), open);
                    from_.resize(at(columns));
                    scanned_.resize(at(columns));
                    reached_.resize(at(rows));
                    entered_.assign(at(rows), -1);
                    ready = true;
                }
                if (asks && stop()) {
                    return std::nullopt;
                }
                augment(row);
            }
        }
        Cost total = 0;
        for (int j = 0; j < columns; ++j) {
            for (int i = 0; i < rows; ++i) {
                total += static_cast<Cost>(flow(i, j)) * entries(i)[j];
            }
        }
        return total;
    }

    /// How much is shipped from a row to a column.
    [[nodiscard]] auto flow(int row, int column) const -> int { return flow_[at(column) * at(rows_) + at(row)]; }

  private:
    static constexpr Cost open = std::numeric_limits<Cost>::lowest();
    static constexpr Cost blocked = std::numeric_limits<Cost>::max();

    static auto at(int i) -> std::size_t { return static_cast<std::size_t>(i); }
    [[nodiscard]] auto entries(int row) const -> const Cost* { return cost_ + at(row) * at(columns_); }
    auto flow_into(int column) -> int* { return flow_.data() + at(column) * at(rows_); }

    /// Assigns every row to its cheapest columns as far as they have capacity left.
    auto reduce_rows() -> void {
        for (int row = 0; row < rows_; ++row) {
            const Cost* costs = entries(row);
            Cost least = costs[0];
            for (int j = 1; j < columns_; ++j) {
                least = std::min(least, costs[j]);
            }
            u_[at(row)] = least;
            int left = supply_[at(row)];
            for (int j = 0; j < columns_ && left > 0; ++j) {
                if (costs[j] == least && room_[at(j)] > 0) {
                    const int moved = std::min(left, room_[at(j)]);
                    flow_into(j)[row] = moved;
                    room_[at(j)] -= moved;
                    left -= moved;
                }
            }
            supply_[at(row)] = left;
        }
    }

    auto relax(int row, Cost reached) -> void {
        const Cost* costs = entries(row);
        const Cost base = reached - u_[at(row)];
        Cost* __restrict distance = distance_.data();
        int* __restrict from = from_.data();
        const Cost* __restrict v = v_.data();
        for (int j = 0; j < columns_; ++j) {
            Cost through = base + costs[j] - v[j];
            if constexpr (std::is_floating_point_v<Cost>) {
                through = std::max(through, reached);  // rounding must not create a path through scanned columns
            }
            const bool nearer = through < distance[j];
            distance[j] = nearer ? through : distance[j];
            from[j] = nearer ? row : from[j];
        }
    }

    /// Ships what it can of a row's supply along one shortest path to a column with room.
    auto augment(int row) -> void {
        std::fill(distance_.begin(), distance_.end(), blocked);
        reached_[at(row)] = 0;
        entered_[at(row)] = columns_;
        relax(row, 0);
        int scanned = 0;
        int column = first_open_minimum(distance_.data(), block_.data(), columns_);
        while (room_[at(column)] == 0) {
            scanned_[at(scanned++)] = column;
            block_[at(column)] = blocked;
            const int* into = flow_into(column);
            for (int i = 0; i < rows_; ++i) {
                if (into[i] > 0 && entered_[at(i)] < 0) {
                    reached_[at(i)] = distance_[at(column)];
                    entered_[at(i)] = column;
                    relax(i, distance_[at(column)]);
                }
            }
            column = first_open_minimum(distance_.data(), block_.data(), columns_);
        }
        const Cost end = distance_[at(column)];
        for (int k = 0; k < scanned; ++k) {
            const auto j = at(scanned_[at(k)]);
            v_[j] -= end - distance_[j];
            block_[j] = open;
        }
        int moved = std::min(supply_[at(row)], room_[at(column)]);
        for (int i = from_[at(column)]; i != row; i = from_[at(entered_[at(i)])]) {
            moved = std::min(moved, flow_into(entered_[at(i)])[i]);
        }
        room_[at(column)] -= moved;
        supply_[at(row)] -= moved;
        int j = column;
        for (int i = from_[at(j)]; i != row; i = from_[at(j)]) {
            flow_into(j)[i] += moved;
            j = entered_[at(i)];
            flow_into(j)[i] -= moved;
        }
        flow_into(j)[row] += moved;
        for (int i = 0; i < rows_; ++i) {
            if (entered_[at(i)] >= 0) {
                u_[at(i)] += end - reached_[at(i)];
                entered_[at(i)] = -1;
            }
        }
    }

    int rows_ = 0;
    int columns_ = 0;
    const Cost* cost_ = nullptr;
    std::vector<int> supply_;  ///< not yet shipped
    std::vector<int> room_;    ///< capacity left
    std::vector<int> flow_;    ///< columns x rows
    std::vector<Cost> u_;
    std::vector<Cost> v_;
    std::vector<Cost> distance_;  ///< of a column from the row that is augmented
    std::vector<Cost> block_;     ///< see first_open_minimum
    std::vector<int> from_;       ///< row before a column on its path
    std::vector<int> scanned_;
    std::vector<Cost> reached_;  ///< distance of a row
    std::vector<int> entered_;   ///< column before a row on its path, -1 where not reached
};

}  // namespace uge::assignment
