#include <algorithm>
#include <numeric>

#include "../assignment/lsap.hpp"
#include "../assignment/transport.hpp"
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

TEST("a transport is the assignment of its rows and columns written out") {
    Random random(2);
    uge::assignment::Transport<std::int32_t> transport;
    uge::assignment::Transport<double> doubles;
    uge::assignment::Lsap<std::int32_t> lsap;
    for (int trial = 0; trial < 600; ++trial) {
        const int rows = draw(random, 1, 7);
        const int columns = draw(random, 1, 7);
        std::vector<int> supply;
        std::vector<int> capacity;
        std::vector<int> row_of;
        std::vector<int> column_of;
        for (int i = 0; i < rows; ++i) {
            supply.push_back(draw(random, 1, 4));
            row_of.insert(row_of.end(), static_cast<std::size_t>(supply.back()), i);
        }
        for (int j = 0; j < columns; ++j) {
            capacity.push_back(draw(random, 1, 5));
            column_of.insert(column_of.end(), static_cast<std::size_t>(capacity.back()), j);
        }
        while (row_of.size() > column_of.size()) {
            ++capacity[0];
            column_of.push_back(0);
        }
        std::vector<std::int32_t> cost(static_cast<std::size_t>(rows * columns));
        for (auto& entry : cost) {
            entry = draw(random, -4, trial % 2 == 0 ? 3 : 20);
        }
        std::vector<std::int32_t> written_out;
        for (const int i : row_of) {
            for (const int j : column_of) {
                written_out.push_back(cost[static_cast<std::size_t>(i * columns + j)]);
            }
        }
        const auto m = static_cast<int>(column_of.size());
        const auto total = transport.solve(cost.data(), rows, columns, supply.data(), capacity.data());
        CHECK(total == lsap.solve(written_out.data(), static_cast<int>(row_of.size()), m, m));
        const std::vector<double> real(cost.begin(), cost.end());
        CHECK(doubles.solve(real.data(), rows, columns, supply.data(), capacity.data()) == total);
        for (int i = 0; i < rows; ++i) {
            int shipped = 0;
            for (int j = 0; j < columns; ++j) {
                shipped += transport.flow(i, j);
                CHECK(transport.flow(i, j) >= 0);
            }
            CHECK(shipped == supply[static_cast<std::size_t>(i)]);
        }
        for (int j = 0; j < columns; ++j) {
            int received = 0;
            for (int i = 0; i < rows; ++i) {
                received += transport.flow(i, j);
            }
            CHECK(received <= capacity[static_cast<std::size_t>(j)]);
        }
    }
}

int main(int argc, char** argv) {
    return check::run(argc > 1 ? argv[1] : "");
}
