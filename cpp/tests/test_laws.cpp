// Laws of edit distance on random pairs: a transformation of the input that preserves the distance must preserve the
// answer. Without arguments a few thousand pairs; `test_laws PAIRS [SEED [FIRST]]` for more, and to repeat one batch.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "../ged/ged.hpp"
#include "../ged/workspace.hpp"
#include "../pairwise.hpp"
#include "check.hpp"
#include "collection.hpp"
#include "oracles.hpp"

namespace {

using namespace uge;
using ged::Bounds;
using ged::Method;
using ged::Workspace;
using oracle::draw;
using oracle::Random;

struct Plan {
    std::int64_t pairs = 8000;
    std::uint64_t seed = 1;
    std::int64_t first = 0;  ///< batch to begin with
} plan;

constexpr Method all_methods[] = {Method::exact,  Method::beam,   Method::hungarian, Method::vj,   Method::hed,
                                  Method::branch, Method::refine, Method::paper,     Method::tight};
constexpr const char* names[] = {"exact", "beam", "hungarian", "vj", "hed", "branch", "refine", "paper", "tight"};
constexpr int pairs_of_batch = 16;

auto name_of(Method method) -> const char* {
    return names[static_cast<int>(method)];
}

struct Answer {
    Bounds bounds;
    std::vector<Node> mapping;
};

auto solved(const oracle::Graph& left, const oracle::Graph& right, const EditCosts& costs, const ged::Params& params,
            Workspace& workspace) -> Answer {
    Answer answer{{}, std::vector<Node>(left.labels.size(), 77)};
    answer.bounds =
        ged::edit_distance(left.view(), right.view(), costs, params, Deadline(1e9), workspace, answer.mapping);
    return answer;
}

/// Equal to the last bit; nan is itself.
auto same(double a, double b) -> bool {
    return std::memcmp(&a, &b, sizeof a) == 0 || a == b;
}

auto same(const Bounds& a, const Bounds& b) -> bool {
    return same(a.lower, b.lower) && same(a.upper, b.upper) && a.proven == b.proven;
}

/// Graphs, costs and pairs that are asked for together.
struct Batch {
    std::int64_t number = 0;
    int num_labels = 1;
    int num_edge_labels = 0;
    oracle::Costs costs;
    double unit = 1;  ///< size of the largest cost
    int beam_width = 80;
    std::vector<oracle::Graph> left;
    std::vector<oracle::Graph> right;
    std::vector<std::int32_t> left_of;
    std::vector<std::int32_t> right_of;

    [[nodiscard]] auto params(Method method) const -> ged::Params {
        return {.method = method, .beam_width = beam_width};
    }
    [[nodiscard]] auto near(double a, double b) const -> bool { return std::abs(a - b) <= 1e-9 * unit || same(a, b); }
};

auto draw_costs(Random& random, Batch& batch) -> void {
    EditCosts& costs = batch.costs.costs;
    const auto fill = [&](const auto& one) {
        for (double* cost : {&costs.node_insert, &costs.node_delete, &costs.node_relabel, &costs.edge_insert,
                             &costs.edge_delete, &costs.edge_relabel}) {
            *cost = one();
        }
    };
    switch (draw(random, 0, 7)) {
        case 0:
            break;  // uniform
        case 1:
            costs.edge_relabel = 1;
            break;
        case 2:
            costs.edge_relabel = draw(random, 0, 8) / 4.0;
            costs.node_insert = costs.node_delete = draw(random, 1, 8) / 4.0;
            break;
        case 3:
            fill([&] { return draw(random, 0, 4); });
            break;
        case 4:
            fill([&] { return draw(random, 0, 30) / 10.0; });  // sums round
            break;
        case 5: {
            batch.unit = std::pow(10.0, draw(random, -4, 6));
            fill([&] { return batch.unit * (draw(random, 0, 4) == 0 ? 0 : 0.01 + 0.99 * draw(random)); });
            break;
        }
        default:
            oracle::random_costs(random, batch.num_labels, batch.num_edge_labels, batch.costs);
    }
}

/// Some nodes relabeled, some edges drawn anew: graphs that are near each other.
auto edited(Random& random, const oracle::Graph& from, const Batch& batch) -> oracle::Graph {
    auto labels = from.labels;
    std::vector<oracle::Edge> edges;
    const oracle::Adjacency adjacent(from.view());
    for (auto& label : labels) {
        label = draw(random, 0, 5) == 0 ? draw(random, 0, batch.num_labels - 1) : label;
    }
    const int most = std::max(0, batch.num_edge_labels - 1);
    for (Node u = 0; u < from.view().n; ++u) {
        for (Node v = 0; v < u; ++v) {
            const bool anew = draw(random, 0, 7) == 0;
            const Label label = anew ? draw(random, -1, most) : adjacent(u, v);
            if (label >= 0) {
                edges.push_back({u, v, label});
            }
        }
    }
    return oracle::graph(std::move(labels), edges, batch.num_edge_labels > 0);
}

auto draw_batch(Random& random, int max_nodes, Batch& batch) -> void {
    batch.num_labels = draw(random, 1, 4);
    batch.num_edge_labels = draw(random, 0, 3);
    batch.beam_width = draw(random, 1, 80);
    draw_costs(random, batch);
    for (int g = 0; g < 6; ++g) {
        for (auto* side : {&batch.left, &batch.right}) {
            const bool again = g > 0 && draw(random, 0, 2) == 0;
            const double density = draw(random, 0, 3) == 0 ? draw(random, 0, 1) : draw(random);
            side->push_back(again ? oracle::shuffled(random, edited(random, batch.left.back(), batch))
                                  : oracle::random_graph(random, draw(random, 0, max_nodes), density, batch.num_labels,
                                                         batch.num_edge_labels));
        }
    }
    for (int k = 0; k < (max_nodes > 20 ? 4 : pairs_of_batch); ++k) {
        batch.left_of.push_back(draw(random, 0, 5));
        batch.right_of.push_back(draw(random, 0, 5));
    }
}

/// What holds for one answer, whatever the method. `truth` nan: not known.
auto check_answer(const Batch& batch, const oracle::Graph& left, const oracle::Graph& right, const EditCosts& costs,
                  Method method, const Answer& answer, double truth) -> void {
    const auto& [lower, upper, proven] = answer.bounds;
    CHECK(std::isnan(truth) || !(lower > truth) || batch.near(lower, truth), batch.number, name_of(method), lower,
          truth);
    CHECK(std::isnan(truth) || !(upper < truth) || batch.near(upper, truth), batch.number, name_of(method), upper,
          truth);
    CHECK(!(lower > upper), batch.number, name_of(method), lower, upper);
    CHECK(!proven || lower == upper, batch.number, name_of(method), lower, upper);
    const bool mapped = method != Method::hed && !std::isinf(upper);
    CHECK(!mapped || oracle::is_map(left.view(), right.view(), answer.mapping), batch.number, name_of(method));
    if (mapped && oracle::is_map(left.view(), right.view(), answer.mapping)) {
        const double cost = oracle::edit_cost(left.view(), right.view(), costs, answer.mapping);
        CHECK(batch.near(cost, upper), batch.number, name_of(method), cost, upper);
    }
}

/// The same graph with other codes for its labels.
auto renamed(oracle::Graph graph, const std::vector<Label>& nodes, const std::vector<Label>& edges) -> oracle::Graph {
    for (auto& label : graph.labels) {
        label = nodes[static_cast<std::size_t>(label)];
    }
    for (auto& label : graph.edge_labels) {
        label = edges[static_cast<std::size_t>(label)];
    }
    return graph;
}

/// New codes for labels, all different: a permutation where a matrix has a row for each, else any numbers.
auto draw_names(Random& random, int labels, bool permutation) -> std::vector<Label> {
    std::vector<Label> names(static_cast<std::size_t>(std::max(1, labels)));
    std::iota(names.begin(), names.end(),
              permutation               ? 0
              : draw(random, 0, 3) == 0 ? 2'000'000'000
                                        : draw(random, 0, 9));
    std::shuffle(names.begin(), names.end(), random);
    return names;
}

auto permuted(const double* matrix, std::int32_t side, const std::vector<Label>& names) -> std::vector<double> {
    const auto n = static_cast<std::size_t>(matrix == nullptr ? 0 : side);
    std::vector<double> result(n * n);
    for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = 0; b < n; ++b) {
            result[static_cast<std::size_t>(names[a]) * n + static_cast<std::size_t>(names[b])] = matrix[a * n + b];
        }
    }
    return result;
}

/// The same input with nodes in another order and labels by other codes.
auto check_disguised(Random& random, const Batch& batch, const oracle::Graph& left, const oracle::Graph& right,
                     Method method, const Bounds& expected, double truth, Workspace& used) -> void {
    const EditCosts& given = batch.costs.costs;
    const auto nodes = draw_names(random, batch.num_labels, given.node_matrix != nullptr);
    const auto edges = draw_names(random, batch.num_edge_labels, given.edge_matrix != nullptr);
    EditCosts costs = given;
    const auto node_matrix = permuted(given.node_matrix, given.num_node_labels, nodes);
    const auto edge_matrix = permuted(given.edge_matrix, given.num_edge_labels, edges);
    costs.node_matrix = given.node_matrix == nullptr ? nullptr : node_matrix.data();
    costs.edge_matrix = given.edge_matrix == nullptr ? nullptr : edge_matrix.data();
    const auto other_left = renamed(oracle::shuffled(random, left), nodes, edges);
    const auto other_right = renamed(oracle::shuffled(random, right), nodes, edges);
    const Answer answer = solved(other_left, other_right, costs, batch.params(method), used);
    check_answer(batch, other_left, other_right, costs, method, answer, truth);
    if (method == Method::hed || method == Method::branch || method == Method::exact) {
        // Where the cost of a map equals the bound, branch proves more than its bound alone.
        const bool lucky = method == Method::branch && (expected.proven || answer.bounds.proven);
        CHECK(lucky || batch.near(answer.bounds.lower, expected.lower), batch.number, name_of(method),
              answer.bounds.lower, expected.lower);
    }
}

/// With a limit the answer is the same up to it, and beyond it still true.
auto check_limit(Random& random, const Batch& batch, const oracle::Graph& left, const oracle::Graph& right,
                 Method method, const Bounds& free, double truth, Workspace& used) -> void {
    const EditCosts& costs = batch.costs.costs;
    const double off = draw(random, 0, 2) == 0 ? 0 : batch.unit * (2 * draw(random) - 1);
    ged::Params params = batch.params(method);
    params.limit = std::max(0.0, truth + off);
    const Answer answer = solved(left, right, costs, params, used);
    check_answer(batch, left, right, costs, method, answer, truth);
    if (truth <= params.limit || batch.near(truth, params.limit)) {
        CHECK(same(answer.bounds, free), batch.number, name_of(method), params.limit, answer.bounds.lower, free.lower,
              answer.bounds.upper, free.upper);
    } else if (method == Method::exact) {
        CHECK(answer.bounds.lower > params.limit, batch.number, params.limit, answer.bounds.lower, truth);
    }
}

/// All that holds for a pair by itself; the answers of every method.
auto check_alone(Random& random, const Batch& batch, std::size_t pair, bool small, Workspace& used)
    -> std::vector<Bounds> {
    const auto& left = batch.left[static_cast<std::size_t>(batch.left_of[pair])];
    const auto& right = batch.right[static_cast<std::size_t>(batch.right_of[pair])];
    const EditCosts& costs = batch.costs.costs;
    const double truth = small ? oracle::brute_force(left.view(), right.view(), costs).distance : std::nan("");
    double highest_lower = 0;
    double lowest_upper = std::numeric_limits<double>::infinity();
    std::vector<Bounds> all;
    for (const Method method : all_methods) {
        if (method == Method::exact && !small) {
            all.push_back({});
            continue;
        }
        Workspace fresh;
        const Answer answer = solved(left, right, costs, batch.params(method), fresh);
        check_answer(batch, left, right, costs, method, answer, truth);
        CHECK(method != Method::exact || answer.bounds.proven, batch.number, answer.bounds.lower, answer.bounds.upper);
        const Answer again = solved(left, right, costs, batch.params(method), used);
        CHECK(same(answer.bounds, again.bounds) && answer.mapping == again.mapping, batch.number, name_of(method),
              answer.bounds.lower, again.bounds.lower, answer.bounds.upper, again.bounds.upper);
        const Answer back = solved(right, left, costs.turned(), batch.params(method), used);
        check_answer(batch, right, left, costs.turned(), method, back, truth);
        CHECK(batch.near(back.bounds.lower, answer.bounds.lower) &&
                  batch.near(back.bounds.upper, answer.bounds.upper) && back.bounds.proven == answer.bounds.proven,
              batch.number, name_of(method), answer.bounds.lower, back.bounds.lower, answer.bounds.upper,
              back.bounds.upper);
        check_disguised(random, batch, left, right, method, answer.bounds, truth, used);
        if (small) {
            check_limit(random, batch, left, right, method, answer.bounds, truth, used);
        }
        highest_lower = std::fmax(highest_lower, answer.bounds.lower);
        lowest_upper = std::fmin(lowest_upper, answer.bounds.upper);
        all.push_back(answer.bounds);
    }
    CHECK(highest_lower <= lowest_upper || batch.near(highest_lower, lowest_upper), batch.number, highest_lower,
          lowest_upper);
    return all;
}

/// All pairs of a batch at once, in any order and on any number of threads, get the answers that each gets alone.
auto check_together(Random& random, const Batch& batch, Method method, const std::vector<std::vector<Bounds>>& alone)
    -> void {
    Collection left;
    Collection right;
    for (std::size_t g = 0; g < batch.left.size(); ++g) {
        left.add(batch.left[g]);
        right.add(batch.right[g]);
    }
    std::vector<std::size_t> order(batch.left_of.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::int32_t> left_of;
    std::vector<std::int32_t> right_of;
    for (const std::size_t k : order) {
        left_of.push_back(batch.left_of[k]);
        right_of.push_back(batch.right_of[k]);
    }
    Results results(order.size());
    Control control;
    const int threads = std::array{1, 2, 7}[static_cast<std::size_t>(draw(random, 0, 2))];
    ged_pairs({.left = left.packed(), .right = right.packed(), .left_of = left_of, .right_of = right_of},
              batch.costs.costs, batch.params(method), {.threads = threads, .timeout = 1e9}, results.answers(), control,
              [] {});
    for (std::size_t k = 0; k < order.size(); ++k) {
        const Bounds found{results.lower[k], results.upper[k], results.proven[k]};
        const Bounds& expected = alone[order[k]][static_cast<std::size_t>(method)];
        CHECK(results.done[k] && same(found, expected), batch.number, name_of(method), threads, found.lower,
              expected.lower, found.upper, expected.upper);
    }
}

}  // namespace

TEST("random pairs: equivalent inputs get the same answer, and brute force confirms it") {
    Workspace used;
    const std::int64_t batches = (plan.pairs + pairs_of_batch - 1) / pairs_of_batch;
    for (std::int64_t b = plan.first; b < plan.first + batches; ++b) {
        Random random(plan.seed * 1'000'003 + static_cast<std::uint64_t>(b));
        Batch batch;
        batch.number = b;
        const bool small = b % 32 != 0;
        draw_batch(random, small ? 5 : b % 256 == 0 ? 70 : 20, batch);
        std::vector<std::vector<Bounds>> alone;
        for (std::size_t pair = 0; pair < batch.left_of.size(); ++pair) {
            alone.push_back(check_alone(random, batch, pair, small, used));
        }
        for (const Method method : all_methods) {
            if (small || method != Method::exact) {
                check_together(random, batch, method, alone);
            }
        }
    }
}

TEST("a graph without edges shares no class of nodes with one that has labeled edges") {
    // Label 0, degree 1 and an edge labeled 1 hash to 0, as do nodes of label 0 without edges.
    const auto a = oracle::graph({0, 0, 1, 0, 0}, {}, true);
    const auto b = oracle::graph({0, 1}, {{0, 1, 1}}, true);
    EditCosts costs;
    for (const auto& [node_edit, edge_relabel] : {std::pair{1.0, 1.0}, {2.0, 0.5}}) {
        costs.node_insert = costs.node_delete = node_edit;
        costs.edge_relabel = edge_relabel;
        const double truth = oracle::brute_force(a.view(), b.view(), costs).distance;
        for (const Method method : all_methods) {
            for (const bool turned : {false, true}) {
                Workspace fresh;
                const auto bounds = solved(turned ? b : a, turned ? a : b, costs, {.method = method}, fresh).bounds;
                CHECK(!(bounds.lower > truth) && !(bounds.upper < truth), bounds.lower, bounds.upper, truth);
                CHECK(method != Method::exact || (bounds.proven && bounds.upper == truth), bounds.upper, truth);
            }
        }
    }
}

auto main(int argc, char** argv) -> int {
    if (argc == 1) {
        return check::run();
    }
    plan.pairs = std::atoll(argv[1]);
    plan.seed = argc > 2 ? static_cast<std::uint64_t>(std::atoll(argv[2])) : plan.seed;
    plan.first = argc > 3 ? std::atoll(argv[3]) : plan.first;
    return check::run("random pairs");
}
