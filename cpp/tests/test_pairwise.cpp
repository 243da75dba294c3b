#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../ged/workspace.hpp"
#include "../pairwise.hpp"
#include "check.hpp"
#include "collection.hpp"
#include "oracles.hpp"

namespace {

using uge::Control;
using uge::parallel_for;

constexpr double forever = std::numeric_limits<double>::infinity();

struct AllPairs {
    explicit AllPairs(std::int32_t graphs) {
        for (std::int32_t i = 0; i < graphs; ++i) {
            for (std::int32_t j = i; j < graphs; ++j) {
                left.push_back(i);
                right.push_back(j);
            }
        }
    }
    std::vector<std::int32_t> left;
    std::vector<std::int32_t> right;
};

auto random_collection(int graphs, int max_nodes) -> Collection {
    oracle::Random random(7);
    Collection made;
    for (int g = 0; g < graphs; ++g) {
        made.add(oracle::random_graph(random, oracle::draw(random, 0, max_nodes), 0.4, 3));
    }
    return made;
}

}  // namespace

TEST("every item is worked on once, whatever the number of threads") {
    for (const int threads : {1, 2, 7}) {
        for (const std::int64_t count : {0, 1, 5, 1000, 100000}) {
            std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
            Control control;
            parallel_for(
                count, threads, control, [&] { return [&](std::int64_t i) { ++visits[static_cast<std::size_t>(i)]; }; },
                [] {});
            bool once = true;
            for (const auto& number : visits) {
                once = once && number == 1;
            }
            CHECK(once, threads, count);
            CHECK(control.done == count, control.done.load(), count);
        }
    }
}

TEST("an exception of a worker cancels the others and is rethrown") {
    Control control;
    std::atomic<int> worked = 0;
    bool caught = false;
    try {
        parallel_for(
            1000000, 3, control,
            [&] {
                return [&](std::int64_t i) {
                    ++worked;
                    if (i == 10) {
                        throw std::runtime_error("ten");
                    }
                };
            },
            [] {});
    } catch (const std::runtime_error& error) {
        caught = std::string(error.what()) == "ten";
    }
    CHECK(caught);
    CHECK(control.cancel);
    CHECK(worked < 1000000, worked.load());
}

TEST("an exception of the watch function cancels the loop at once") {
    Control control;
    bool caught = false;
    const auto begin = std::chrono::steady_clock::now();
    try {
        parallel_for(
            2, 2, control,
            [&] {
                return [&](std::int64_t) {
                    while (!control.cancel) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    }
                };
            },
            [] { throw std::runtime_error("stop"); });
    } catch (const std::runtime_error&) {
        caught = true;
    }
    CHECK(caught);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
}

TEST("a slow item does not delay the others") {
    Control control;
    std::atomic<int> quick = 0;
    int seen_by_slow = 0;
    parallel_for(
        1000, 2, control,
        [&] {
            return [&](std::int64_t i) {
                if (i == 0) {
                    while (quick < 999 && !control.cancel) {
                        std::this_thread::yield();
                    }
                    seen_by_slow = quick;
                } else {
                    ++quick;
                }
            };
        },
        [] {});
    CHECK(seen_by_slow == 999, seen_by_slow);
}

TEST("threads agree on every pair, with brute force and with the other direction") {
    const Collection graphs = random_collection(12, 5);
    const AllPairs pairs(12);
    const auto run = [&](std::span<const std::int32_t> left, std::span<const std::int32_t> right, int threads) {
        Results results(left.size());
        Control control;
        uge::ged_pairs({.left = graphs.packed(), .right = graphs.packed(), .left_of = left, .right_of = right}, {},
                       {.method = uge::ged::Method::exact}, {.threads = threads, .timeout = forever}, results.answers(),
                       control, [] {});
        return results;
    };
    const Results one = run(pairs.left, pairs.right, 1);
    const Results five = run(pairs.left, pairs.right, 5);
    const Results back = run(pairs.right, pairs.left, 2);
    for (std::size_t k = 0; k < one.size; ++k) {
        const auto left = graphs.packed()[static_cast<std::size_t>(pairs.left[k])];
        const auto right = graphs.packed()[static_cast<std::size_t>(pairs.right[k])];
        const double truth = oracle::brute_force(left, right, {}).distance;
        CHECK(one.done[k] && one.proven[k] && one.upper[k] == truth && one.lower[k] == truth, one.upper[k], truth);
        CHECK(five.upper[k] == truth && back.upper[k] == truth, five.upper[k], back.upper[k], truth);
    }
}

TEST("a canceled pair leaves no answer") {
    const Collection graphs = random_collection(4, 5);
    const AllPairs pairs(4);
    Results results(pairs.left.size());
    Control control;
    control.cancel = true;
    uge::ged_pairs({.left = graphs.packed(), .right = graphs.packed(), .left_of = pairs.left, .right_of = pairs.right},
                   {}, {}, {.threads = 2, .timeout = forever}, results.answers(), control, [] {});
    for (std::size_t k = 0; k < results.size; ++k) {
        CHECK(!results.done[k] && results.upper[k] == -1);
    }
}

TEST("common subgraphs of many pairs are those of each") {
    const Collection graphs = random_collection(10, 6);
    const AllPairs pairs(10);
    Results results(pairs.left.size());
    Control control;
    uge::mcs_pairs({.left = graphs.packed(), .right = graphs.packed(), .left_of = pairs.left, .right_of = pairs.right},
                   {}, {.threads = 3, .timeout = forever}, results.answers(), control, [] {});
    uge::mcs::Workspace workspace;
    for (std::size_t k = 0; k < results.size; ++k) {
        const auto left = graphs.packed()[static_cast<std::size_t>(pairs.left[k])];
        const auto right = graphs.packed()[static_cast<std::size_t>(pairs.right[k])];
        std::vector<uge::Node> mapping(static_cast<std::size_t>(left.n));
        const auto bounds = uge::mcs::max_common_subgraph(left, right, {}, {}, workspace, mapping);
        CHECK(results.done[k] && results.lower[k] == bounds.lower && results.upper[k] == bounds.upper);
    }
}

auto main(int argc, char** argv) -> int {
    return check::run(argc > 1 ? argv[1] : "");
}
