#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

/// Linear assignment: a matrix in, an assignment and its dual out. Independent of graphs.
namespace uge::assignment {

/// Position of the first smallest entry among those not blocked; `block` is lowest() where open, max() where blocked.
/// One pass finds the value and a second one the position: both are vectorized, a single combined pass is not.
template <class Cost>
auto first_open_minimum(const Cost* values, const Cost* block, int size) -> int {
    Cost least = std::numeric_limits<Cost>::max();
    for (int j = 0; j < size; ++j) {
        least = std::min(least, std::max(values[j], block[j]));
    }
    int j = 0;
    while (std::max(values[j], block[j]) != least) {
        ++j;
    }
    return j;
}

/// Solver of the rectangular linear assignment problem, rows <= columns, by shortest augmenting paths after row
/// reduction (Jonker & Volgenant 1987). Holds the memory and the last answer; allocates only to grow.
///
/// `Matrix` is the type of the costs, `Dual` that of sums: int16/int32 costs with int32 sums, or double with double.
template <class Matrix, class Dual = std::conditional_t<std::is_floating_point_v<Matrix>, Matrix, std::int32_t>>
class Lsap {
  public:
    /// Assigns every row to a column of its own at the least total cost, which it returns. `cost` is row-major with
    /// `stride` entries from row to row. Ties go to the lower column, rows in ascending order.
    /// O(rows^2 columns), mostly far less.
    auto solve(const Matrix* cost, int rows, int columns, int stride) -> Dual {
        start(rows, columns);
        reduce_rows(cost, stride);
        for (int row = 0; row < rows_; ++row) {
            if (column_of_[at(row)] < 0) {
                augment(cost, stride, row);
            }
        }
        Dual total = 0;
        for (int row = 0; row < rows_; ++row) {
            total += static_cast<Dual>(cost[at(row) * at(stride) + at(column_of_[at(row)])]);
        }
        return total;
    }

    /// Column of each row.
    [[nodiscard]] auto columns() const -> const int* { return column_of_.data(); }
    /// Row of each column, -1 where none.
    [[nodiscard]] auto rows() const -> const int* { return row_of_.data(); }
    /// Duals: row_duals[i] + column_duals[j] <= cost[i][j], equal where i is assigned to j; column duals are <= 0, and
    /// 0 for columns of no row. Their sum is the total.
    [[nodiscard]] auto row_duals() const -> const Dual* { return u_.data(); }
    [[nodiscard]] auto column_duals() const -> const Dual* { return v_.data(); }

  private:
    static constexpr Dual open = std::numeric_limits<Dual>::lowest();
    static constexpr Dual blocked = std::numeric_limits<Dual>::max();

    static auto at(int i) -> std::size_t { return static_cast<std::size_t>(i); }

    auto start(int rows, int columns) -> void {
        rows_ = rows;
        columns_ = columns;
        column_of_.assign(at(rows), -1);
        u_.assign(at(rows), 0);
        row_of_.assign(at(columns), -1);
        v_.assign(at(columns), 0);
        distance_.resize(at(columns));
        block_.assign(at(columns), open);
        from_.resize(at(columns));
        scanned_.resize(at(columns));
    }

    /// Assigns every row to its cheapest column if that is still free.
    auto reduce_rows(const Matrix* cost, int stride) -> void {
        for (int row = 0; row < rows_; ++row) {
            const Matrix* entries = cost + at(row) * at(stride);
            Matrix least = entries[0];
            for (int j = 1; j < columns_; ++j) {
                least = std::min(least, entries[j]);
            }
            u_[at(row)] = static_cast<Dual>(least);
            for (int j = 0; j < columns_; ++j) {
                if (entries[j] == least && row_of_[at(j)] < 0) {
                    row_of_[at(j)] = row;
                    column_of_[at(row)] = j;
                    break;
                }
            }
        }
    }

    /// Lowers the distances of columns that are nearer through `row`, which is reached at `reached`.
    auto relax(const Matrix* entries, int row, Dual reached) -> void {
        const Dual base = reached - u_[at(row)];
        Dual* __restrict distance = distance_.data();
        int* __restrict from = from_.data();
        const Dual* __restrict v = v_.data();
        for (int j = 0; j < columns_; ++j) {
            Dual through = base + static_cast<Dual>(entries[j]) - v[j];
            if constexpr (std::is_floating_point_v<Dual>) {
                through = std::max(through, reached);  // rounding must not create a path through scanned columns
            }
            const bool nearer = through < distance[j];
            distance[j] = nearer ? through : distance[j];
            from[j] = nearer ? row : from[j];
        }
    }

    /// Shortest alternating path from a row without column to a column without row.
    auto augment(const Matrix* cost, int stride, int row) -> void {
        std::fill(distance_.begin(), distance_.end(), blocked);
        relax(cost + at(row) * at(stride), row, 0);
        int scanned = 0;
        int column = first_open_minimum(distance_.data(), block_.data(), columns_);
        while (row_of_[at(column)] >= 0) {
            scanned_[at(scanned++)] = column;
            block_[at(column)] = blocked;
            const int next = row_of_[at(column)];
            relax(cost + at(next) * at(stride), next, distance_[at(column)]);
            column = first_open_minimum(distance_.data(), block_.data(), columns_);
        }
        const Dual end = distance_[at(column)];
        u_[at(row)] += end;
        for (int k = 0; k < scanned; ++k) {
            const auto j = at(scanned_[at(k)]);
            u_[at(row_of_[j])] += end - distance_[j];
            v_[j] -= end - distance_[j];
            block_[j] = open;
        }
        while (true) {
            const int through = from_[at(column)];
            row_of_[at(column)] = through;
            std::swap(column_of_[at(through)], column);
            if (through == row) {
                return;
            }
        }
    }

    int rows_ = 0;
    int columns_ = 0;
    std::vector<int> column_of_;
    std::vector<int> row_of_;
    std::vector<Dual> u_;
    std::vector<Dual> v_;
    std::vector<Dual> distance_;
    std::vector<Dual> block_;
    std::vector<int> from_;
    std::vector<int> scanned_;
};

}  // namespace uge::assignment
