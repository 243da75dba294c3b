// The module. Only this file and bindings/ know Python. Arrays come in as they are and results are written straight
// into NumPy memory.
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/search.hpp"
#include "bindings/vectors.hpp"
#include "substructures/dictionary.hpp"
#include "substructures/graphlets.hpp"
#include "substructures/paths.hpp"
#include "substructures/wl.hpp"

using namespace bindings;

namespace {

auto pair_list(const Graphs& left, const Graphs& right, const Array<const std::int32_t>& left_of,
               const Array<const std::int32_t>& right_of) -> uge::PairList {
    const auto inside = [](std::span<const std::int32_t> chosen, std::size_t graphs) {
        return std::all_of(chosen.begin(), chosen.end(),
                           [&](std::int32_t g) { return g >= 0 && static_cast<std::size_t>(g) < graphs; });
    };
    const uge::PairList pairs{
        .left = left.packed(), .right = right.packed(), .left_of = span(left_of), .right_of = span(right_of)};
    require(pairs.left_of.size() == pairs.right_of.size(), "as many left as right graphs");
    require(inside(pairs.left_of, pairs.left.size()) && inside(pairs.right_of, pairs.right.size()),
            "a pair that is outside the collections");
    return pairs;
}

auto pair_answers(const uge::PairList& pairs, const Array<double>& lower, const Array<double>& upper,
                  const Array<bool>& proven, const Array<bool>& done, const std::optional<Array<uge::Node>>& mapping)
    -> uge::PairAnswers {
    const std::size_t count = pairs.left_of.size();
    require(lower.shape(0) == count && upper.shape(0) == count && proven.shape(0) == count && done.shape(0) == count,
            "answers must have one entry per pair");
    require(!mapping ||
                (count == 1 && mapping->shape(0) ==
                                   static_cast<std::size_t>(pairs.left[static_cast<std::size_t>(pairs.left_of[0])].n)),
            "a mapping needs exactly one pair and one entry per node of the left graph");
    return {.lower = span(lower),
            .upper = span(upper),
            .proven = span(proven),
            .done = span(done),
            .mapping = mapping ? span(*mapping) : std::span<uge::Node>()};
}

/// A label and a row of numbers for each code.
using PointRows = std::optional<std::tuple<Array<const uge::Label>, Matrix>>;

auto points_of(const PointRows& given) -> uge::Points {
    if (!given) {
        return {};
    }
    const auto& [labels, rows] = *given;
    require(labels.shape(0) == rows.shape(0), "as many labels as points");
    const std::span<const double> numbers(rows.data(), rows.shape(0) * rows.shape(1));
    require(std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); }), "a point of nan");
    return {.label_of = span(labels), .rows = numbers, .width = rows.shape(1)};
}

/// With the labels of the points in the place of codes: what matrices of costs must have rows for.
auto labeled(uge::PackedGraphs graphs, const uge::PairList& pairs) -> uge::PackedGraphs {
    graphs.labels = pairs.nodes.count() ? pairs.nodes.label_of : graphs.labels;
    graphs.edge_labels = pairs.edges.count() ? pairs.edges.label_of : graphs.edge_labels;
    return graphs;
}

auto below(std::span<const uge::Label> codes, std::size_t count) -> bool {
    return std::all_of(codes.begin(), codes.end(),
                       [&](uge::Label code) { return code >= 0 && static_cast<std::size_t>(code) < count; });
}

void ged_pairs(const Graphs& left, const Graphs& right, const Array<const std::int32_t>& left_of,
               const Array<const std::int32_t>& right_of, const Costs& costs, uge::ged::Method method, int beam_width,
               double limit, int threads, double timeout, const Array<double>& lower, const Array<double>& upper,
               const Array<bool>& proven, const Array<bool>& done, const std::optional<Array<uge::Node>>& mapping,
               const Tick& tick, const PointRows& node_points, const PointRows& edge_points) {
    auto pairs = pair_list(left, right, left_of, right_of);
    const auto answers = pair_answers(pairs, lower, upper, proven, done, mapping);
    pairs.nodes = points_of(node_points);
    pairs.edges = points_of(edge_points);
    const auto& checked = costs.checked(labeled(pairs.left, pairs), labeled(pairs.right, pairs));
    for (const auto& graphs : {pairs.left, pairs.right}) {
        require(!node_points || below(graphs.labels, pairs.nodes.label_of.size()), "a node without a point");
        require(!edge_points || graphs.indices.empty() || !graphs.edge_labels.empty(), "edges without codes");
        require(!edge_points || below(graphs.edge_labels, pairs.edges.label_of.size()), "an edge without a point");
    }
    run(tick, [&](uge::Control& control, const uge::Watch& watch) {
        uge::ged_pairs(pairs, checked, {.method = method, .beam_width = beam_width, .limit = limit},
                       {.threads = threads, .timeout = timeout}, answers, control, watch);
    });
}

void mcs_pairs(const Graphs& left, const Graphs& right, const Array<const std::int32_t>& left_of,
               const Array<const std::int32_t>& right_of, bool connected, bool edge_labels, int threads, double timeout,
               const Array<double>& lower, const Array<double>& upper, const Array<bool>& proven,
               const Array<bool>& done, const std::optional<Array<uge::Node>>& mapping, const Tick& tick) {
    const auto pairs = pair_list(left, right, left_of, right_of);
    const auto answers = pair_answers(pairs, lower, upper, proven, done, mapping);
    run(tick, [&](uge::Control& control, const uge::Watch& watch) {
        uge::mcs_pairs(pairs, {.connected = connected, .edge_labels = edge_labels},
                       {.threads = threads, .timeout = timeout}, answers, control, watch);
    });
}

using uge::substructures::Dictionary;
using SparseArrays = std::tuple<Array<std::int64_t>, Array<std::int32_t>, Array<std::int64_t>>;
/// Counts, and the graphs for which time was up.
using LimitedArrays = std::tuple<Array<std::int64_t>, Array<std::int32_t>, Array<std::int64_t>, Array<std::int32_t>>;

auto arrays(uge::substructures::Counts counts) -> SparseArrays {
    return {array(std::move(counts.indptr)), array(std::move(counts.features)), array(std::move(counts.counts))};
}

void restore(Dictionary* self, const Array<const std::int64_t>& offsets, const Array<const std::int32_t>& keys) {
    const auto cuts = span(offsets);
    require(!cuts.empty() && cuts.front() == 0 && cuts.back() == static_cast<std::int64_t>(keys.shape(0)) &&
                std::is_sorted(cuts.begin(), cuts.end()),
            "offsets must ascend from 0 to the length of keys");
    new (self) Dictionary({cuts.begin(), cuts.end()}, {span(keys).begin(), span(keys).end()});
}

auto wl_colors(const Graphs& graphs, int iterations, Dictionary& dictionary, bool learn, double seconds)
    -> std::tuple<Array<std::int32_t>, Array<std::int32_t>> {
    require(iterations >= 0, "iterations must not be negative");
    const uge::substructures::Limits limits{.seconds = seconds};
    std::vector<std::int32_t> colors;
    std::vector<std::int32_t> unfinished;
    {
        const nb::gil_scoped_release released;
        colors = learn
                     ? uge::substructures::learn_wl_colors(graphs.packed(), iterations, dictionary, limits, &unfinished)
                     : uge::substructures::wl_colors(graphs.packed(), iterations, dictionary, limits, &unfinished);
    }
    return {array(std::move(colors)), array(std::move(unfinished))};
}

auto color_counts(const Graphs& graphs, const Array<const std::int32_t>& colors) -> SparseArrays {
    const auto nodes = graphs.packed().labels.size();
    require(nodes == 0 ? colors.shape(0) == 0 : colors.shape(0) % nodes == 0,
            "colors must have an entry for each node and iteration");
    return arrays(uge::substructures::color_counts(graphs.packed(), span(colors)));
}

auto path_counts(const Graphs& graphs, bool labeled, Dictionary& dictionary, bool learn, double seconds)
    -> LimitedArrays {
    const uge::substructures::Limits limits{.seconds = seconds};
    uge::substructures::Counts counts;
    {
        const nb::gil_scoped_release released;
        counts = learn ? uge::substructures::learn_path_counts(graphs.packed(), labeled, dictionary, limits)
                       : uge::substructures::path_counts(graphs.packed(), labeled, dictionary, limits);
    }
    return {array(std::move(counts.indptr)), array(std::move(counts.features)), array(std::move(counts.counts)),
            array(std::move(counts.unfinished))};
}

/// Flat, one row per graph, and the graphs for which time was up; samples = 0 counts all.
auto graphlet_counts(const Graphs& graphs, int size, std::int64_t samples, std::uint64_t seed, int threads,
                     double seconds, const Tick& tick) -> std::tuple<Array<std::int64_t>, Array<std::int32_t>> {
    using uge::substructures::GraphletCounter;
    require(size >= 3 && size <= 5 && samples >= 0, "graphlets have 3, 4 or 5 nodes, and samples are not negative");
    const auto packed = graphs.packed();
    const auto width = uge::substructures::graphlet_classes(size).codes.size();
    for (std::size_t g = 0; samples == 0 && g < packed.size(); ++g) {
        require(packed[g].n <= GraphletCounter::max_nodes,
                "a graph is too large to count all its graphlets (9000 nodes are the most); sample them");
    }
    std::vector<std::int64_t> counts(packed.size() * width);
    std::vector<char> late(packed.size(), 0);
    run(tick, [&](uge::Control& control, const uge::Watch& watch) {
        const auto make_worker = [&] {
            return [&, counter = GraphletCounter()](std::int64_t g) mutable {
                const auto row = std::span(counts).subspan(static_cast<std::size_t>(g) * width, width);
                const auto graph = packed[static_cast<std::size_t>(g)];
                if (samples > 0) {
                    counter.sample(graph, size, samples, seed, row);
                } else if (!counter.count(graph, size, uge::Deadline(seconds, &control.cancel), row)) {
                    std::fill(row.begin(), row.end(), 0);
                    late[static_cast<std::size_t>(g)] = 1;
                }
            };
        };
        uge::parallel_for(static_cast<std::int64_t>(packed.size()), threads, control, make_worker, watch);
    });
    std::vector<std::int32_t> unfinished;
    for (std::size_t g = 0; g < late.size(); ++g) {
        if (late[g] != 0) {
            unfinished.push_back(static_cast<std::int32_t>(g));
        }
    }
    return {array(std::move(counts)), array(std::move(unfinished))};
}

auto graphlet_codes(int size) -> Array<std::int32_t> {
    require(size >= 3 && size <= 5, "graphlets have 3, 4 or 5 nodes");
    const auto& codes = uge::substructures::graphlet_classes(size).codes;
    return array(std::vector<std::int32_t>(codes.begin(), codes.end()));
}

/// The arrays of a scipy CSR matrix, checked.
auto sparse_rows(const Array<const std::int64_t>& indptr, const Array<const std::int32_t>& columns,
                 const Array<const double>& values, std::int64_t width) -> uge::SparseRows {
    const uge::SparseRows rows{
        .indptr = span(indptr), .columns = span(columns), .values = span(values), .width = width};
    require(!rows.indptr.empty() && rows.indptr.front() == 0 && rows.columns.size() == rows.values.size() &&
                rows.indptr.back() == static_cast<std::int64_t>(rows.columns.size()) &&
                std::is_sorted(rows.indptr.begin(), rows.indptr.end()),
            "arrays that are not a sparse matrix");
    require(std::all_of(rows.columns.begin(), rows.columns.end(), [&](auto c) { return 0 <= c && c < width; }),
            "a column outside the matrix");
    return rows;
}

void dot_pairs(const Array<const std::int64_t>& left_indptr, const Array<const std::int32_t>& left_columns,
               const Array<const double>& left_values, const Array<const std::int64_t>& right_indptr,
               const Array<const std::int32_t>& right_columns, const Array<const double>& right_values,
               std::int64_t width, const std::optional<Array<const double>>& left_self,
               const std::optional<Array<const double>>& right_self, const Array<const std::int32_t>& left_of,
               const Array<const std::int32_t>& right_of, int threads, const Array<double>& products,
               const Array<bool>& done, const Tick& tick) {
    const auto left = sparse_rows(left_indptr, left_columns, left_values, width);
    const auto right = sparse_rows(right_indptr, right_columns, right_values, width);
    const auto inside = [](std::span<const std::int32_t> chosen, const uge::SparseRows& rows) {
        return std::all_of(chosen.begin(), chosen.end(), [&](std::int32_t g) {
            return g >= 0 && static_cast<std::size_t>(g) + 1 < rows.indptr.size();
        });
    };
    require(left_of.shape(0) == right_of.shape(0) && left_of.shape(0) == products.shape(0) &&
                left_of.shape(0) == done.shape(0) && inside(span(left_of), left) && inside(span(right_of), right),
            "a pair that is outside the matrices, or answers without one entry per pair");
    uge::SelfProducts self;
    if (left_self && right_self) {
        self = {.left = span(*left_self), .right = span(*right_self)};
        require(self.left.size() + 1 == left.indptr.size() && self.right.size() + 1 == right.indptr.size(),
                "self products must have one entry per row");
    }
    run(tick, [&](uge::Control& control, const uge::Watch& watch) {
        uge::dot_pairs(left, right, self, span(left_of), span(right_of), threads, span(products), span(done), control,
                       watch);
    });
}

auto cpu_has_avx2() -> bool {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

}  // namespace

NB_MODULE(UGRAPHEMB_MODULE, m) {
    nb::set_leak_warnings(false);  // objects may still be alive when Python ends
    using Method = uge::ged::Method;
    m.doc() = "The compiled core of ugraphemb: arrays in, arrays out.";
    m.attr("least_cost") = uge::least_cost;
    m.attr("most_cost") = uge::most_cost;
    m.def("cpu_has_avx2", &cpu_has_avx2, "Whether this processor can run the faster of the two builds.");

    nb::class_<Graphs>(m, "Graphs", "The packed arrays of a GraphSet, checked.")
        .def(nb::init<Array<const std::int64_t>, Array<const std::int64_t>, Array<const uge::Node>,
                      Array<const uge::Label>, std::optional<Array<const uge::Label>>>(),
             "node_offsets"_a, "indptr"_a, "indices"_a, "labels"_a, "edge_labels"_a.none());
    nb::class_<Costs>(m, "Costs", "Edit costs; a matrix replaces the constant beside it.")
        .def(nb::init<double, double, double, double, double, double, std::optional<Matrix>, std::optional<Matrix>>(),
             "node_insert"_a, "node_delete"_a, "node_relabel"_a, "edge_insert"_a, "edge_delete"_a, "edge_relabel"_a,
             "node_matrix"_a.none(), "edge_matrix"_a.none());
    nb::enum_<Method>(m, "Method", "Solvers of edit distance.")
        .value("exact", Method::exact)
        .value("beam", Method::beam)
        .value("hungarian", Method::hungarian)
        .value("vj", Method::vj)
        .value("hed", Method::hed)
        .value("branch", Method::branch)
        .value("refine", Method::refine)
        .value("paper", Method::paper)
        .value("tight", Method::tight);
    m.def(
        "ged_pairs", &ged_pairs, "left"_a, "right"_a, "left_of"_a, "right_of"_a, nb::kw_only(), "costs"_a, "method"_a,
        "beam_width"_a, "limit"_a, "threads"_a, "timeout"_a, "lower"_a, "upper"_a, "proven"_a, "done"_a,
        "mapping"_a.none(), "tick"_a, "node_points"_a.none() = nb::none(), "edge_points"_a.none() = nb::none(),
        "Edit distance of each pair, written into the arrays. Points are a label and a row of numbers for each code of "
        "nodes or edges, where attributes count. `tick` is called every 50 ms with the number of finished pairs; what "
        "it raises, or Ctrl-C, stops the loop, and `done` says which pairs have answers.");
    m.def("mcs_pairs", &mcs_pairs, "left"_a, "right"_a, "left_of"_a, "right_of"_a, nb::kw_only(), "connected"_a,
          "edge_labels"_a, "threads"_a, "timeout"_a, "lower"_a, "upper"_a, "proven"_a, "done"_a, "mapping"_a.none(),
          "tick"_a, "Nodes of a maximum common subgraph of each pair; otherwise as `ged_pairs`.");

    nb::class_<Dictionary>(m, "Dictionary", "Sequences of integers, numbered from 0 in the order they were learned.")
        .def(nb::init<>())
        .def("__init__", &restore, "offsets"_a, "keys"_a)
        .def("__len__", &Dictionary::size)
        .def_prop_ro(
            "offsets",
            [](const Dictionary& self) {
                return array(std::vector<std::int64_t>(self.offsets().begin(), self.offsets().end()));
            },
            nb::rv_policy::move)
        .def_prop_ro(
            "keys",
            [](const Dictionary& self) {
                return array(std::vector<std::int32_t>(self.keys().begin(), self.keys().end()));
            },
            nb::rv_policy::move);
    m.def("wl_colors", &wl_colors, "graphs"_a, "iterations"_a, "dictionary"_a, "learn"_a, "seconds"_a,
          "Color of each node after 0, 1, ... iterations, flat; -1 for what is not in the dictionary.");
    m.def("color_counts", &color_counts, "graphs"_a, "colors"_a, "Counts of `wl_colors`: indptr, columns, values.");
    m.def("path_counts", &path_counts, "graphs"_a, "labeled"_a, "dictionary"_a, "learn"_a, "seconds"_a,
          "Pairs of nodes by (smaller label, larger label, distance): indptr, columns, values.");
    m.def("graphlet_counts", &graphlet_counts, "graphs"_a, "size"_a, "samples"_a, "seed"_a, "threads"_a, "seconds"_a,
          "tick"_a, "Sets of nodes by the graph they induce, flat, one row per graph; samples = 0 counts all sets.");
    m.def("graphlet_codes", &graphlet_codes, "size"_a,
          "The graphs of this many nodes: the pair i < j is bit j (j - 1) / 2 + i.");
    m.def("dot_pairs", &dot_pairs, "left_indptr"_a, "left_columns"_a, "left_values"_a, "right_indptr"_a,
          "right_columns"_a, "right_values"_a, "width"_a, "left_self"_a.none(), "right_self"_a.none(), "left_of"_a,
          "right_of"_a, nb::kw_only(), "threads"_a, "products"_a, "done"_a, "tick"_a,
          "Inner products of pairs of rows of two sparse matrices, normalized if self products are given.");
    bindings::define_search(m);
    bindings::define_vectors(m);
}
