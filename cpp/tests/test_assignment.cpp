#include <algorithm>
#include <numeric>

#include "../assignment/lsap.hpp"
#include "check.hpp"
#include "oracles.hpp"

namespace {

using oracle::draw;
using oracle::Random;

/// Cheapest total over every way to give the rows columns.
template <class Cost>
auto cheapest(const std::vector<Cost>& cost, int rows, int columns) -> double {
    std::vector<int> order(static_cast<std::size_t>(columns));
    std::iota(order.begin(), order.end(), 0);
    double best = rows == 0 ? 0 : 1e300;
    do {
        double total = 0;
        for (int i = 0; i < rows; ++i) {
            total +=
                static_cast<double>(cost[static_cast<std::size_t>(i * columns + order[static_cast<std::size_t>(i)])]);
        }
        best = std::min(best, total);
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
}

template <class Matrix, class Dual>
auto check_lsap(Random& random, uge::assignment::Lsap<Matrix, Dual>& lsap, int rows, int columns, int top) -> double {
    std::vector<Matrix> cost(static_cast<std::size_t>(rows * columns));
    for (auto& entry : cost) {
        entry = static_cast<Matrix>(draw(random, -3, top));
    }
    const auto total = lsap.solve(cost.data(), rows, columns, columns);
    Dual dual = 0;
    int assigned = 0;
    for (int j = 0; j < columns; ++j) {
        dual += lsap.column_duals()[j];
        CHECK(lsap.column_duals()[j] <= 0);
        const int row = lsap.rows()[j];
        assigned += row >= 0;
        CHECK(row >= 0 ? lsap.columns()[row] == j : lsap.column_duals()[j] == 0, row, j);
    }
    CHECK(assigned == rows);
    for (int i = 0; i < rows; ++i) {
        dual += lsap.row_duals()[i];
        for (int j = 0; j < columns; ++j) {
            const auto entry = static_cast<Dual>(cost[static_cast<std::size_t>(i * columns + j)]);
            const Dual sum = lsap.row_duals()[i] + lsap.column_duals()[j];
            CHECK(lsap.columns()[i] == j ? sum == entry : sum <= entry, sum, entry);
        }
    }
    CHECK(dual == total, dual, total);
    if (columns <= 6) {
        CHECK(static_cast<double>(total) == cheapest(cost, rows, columns));
    }
    return static_cast<double>(total);
}

}  // namespace

TEST("an assignment is the cheapest of all, and its dual proves it") {
    Random random(1);
    uge::assignment::Lsap<std::int16_t> shorts;
    uge::assignment::Lsap<std::int32_t> ints;
    uge::assignment::Lsap<double> doubles;
    for (int trial = 0; trial < 400; ++trial) {
        const int columns = draw(random, 1, trial % 10 == 0 ? 60 : 6);
        const int rows = draw(random, 0, columns);
        const int top = draw(random, 0, 12);
        check_lsap(random, shorts, rows, columns, top);
        check_lsap(random, ints, rows, columns, top * 1000);
        check_lsap(random, doubles, rows, columns, top);
    }
}

int main(int argc, char** argv) {
    return check::run(argc > 1 ? argv[1] : "");
}
