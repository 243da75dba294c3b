#include "../search/search.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "arrays.hpp"
#include "search.hpp"

namespace bindings {
namespace {

auto build_profiles(const Graphs& graphs) -> Array<std::uint64_t> {
    std::vector<std::uint64_t> block;
    {
        const nb::gil_scoped_release released;
        block = uge::search::Profiles::built(graphs.packed());
    }
    return array(std::move(block));
}

/// Graphs with their profiles; the arrays of both outlive it.
class Searchable {
  public:
    Searchable(const Graphs& graphs, Array<const std::uint64_t> block)
        : graphs_(graphs), block_(std::move(block)), profiles_(span(block_), graphs_.packed()) {}
    [[nodiscard]] auto packed() const -> uge::PackedGraphs { return graphs_.packed(); }
    [[nodiscard]] auto profiles() const -> const uge::search::Profiles& { return profiles_; }

  private:
    Graphs graphs_;
    Array<const std::uint64_t> block_;
    uge::search::Profiles profiles_;
};

auto part_of(const Searchable& database, const Graphs& query, const Costs& costs, bool edge_labels,
             const std::optional<Array<const bool>>& mask) -> uge::search::Part {
    uge::search::Part part{.graphs = database.packed(),
                           .profiles = &database.profiles(),
                           .query = query.packed(),
                           .costs = costs.checked(query.packed(), database.packed()),
                           .edge_labels = edge_labels,
                           .mask = {}};
    require(part.query.size() == 1, "a query is a collection of one graph");
    if (!edge_labels) {
        part.graphs.edge_labels = {};
        part.query.edge_labels = {};
    }
    const auto labeled = [](const uge::PackedGraphs& graphs) {
        return graphs.indices.empty() || !graphs.edge_labels.empty();
    };
    require(!edge_labels || (labeled(part.graphs) && labeled(part.query)), "labels of edges count, but there are none");
    if (mask) {
        require(mask->shape(0) == part.graphs.size(), "a mask has one entry per graph");
        part.mask = span(*mask);
    }
    return part;
}

using Answer = std::tuple<Array<std::int64_t>, Array<double>, Array<double>, Array<uge::Node>, Array<std::int64_t>,
                          Array<double>, Array<std::int64_t>, Array<std::int64_t>, Array<double>>;

auto search(const nb::typed<nb::list, nb::object>& parts, std::int64_t k, double within, bool normalized,
            bool only_near, double budget, int threads, const Array<const std::int64_t>& near, double ceiling,
            std::int64_t ceiling_position, double after, double upto, const Tick& tick) -> Answer {
    std::vector<uge::search::Part> views;
    std::int64_t graphs = 0;
    for (const nb::handle entry : parts) {
        const auto part = nb::cast<nb::tuple>(entry);
        require(part.size() == 5, "a part is (database, query, costs, whether labels of edges count, mask or None)");
        views.push_back(part_of(nb::cast<const Searchable&>(part[0]), nb::cast<const Graphs&>(part[1]),
                                nb::cast<const Costs&>(part[2]), nb::cast<bool>(part[3]),
                                nb::cast<std::optional<Array<const bool>>>(part[4])));
        graphs += static_cast<std::int64_t>(views.back().graphs.size());
    }
    const auto first = span(near);
    require(std::all_of(first.begin(), first.end(), [&](auto at) { return at >= 0 && at < graphs; }),
            "a position outside the database");
    require(k >= 0 && within >= 0 && budget >= 0, "k, within and budget must not be negative");
    const uge::search::Question question{.k = k,
                                         .within = within,
                                         .by = normalized ? uge::search::By::normalized : uge::search::By::edits,
                                         .only_near = only_near,
                                         .budget = budget,
                                         .threads = std::max(threads, 1),
                                         .ceiling = ceiling,
                                         .ceiling_position = ceiling_position,
                                         .after = after,
                                         .upto = upto};
    uge::search::Answer answer;
    run(tick, [&](uge::Control& control, const uge::Watch& watch) {
        answer = uge::search::search(views, question, first, control, watch);
    });
    std::vector<std::int64_t> positions;
    std::vector<double> lower, upper;
    std::vector<uge::Node> mappings;
    for (const auto& one : answer.found) {
        positions.push_back(one.position);
        lower.push_back(one.lower);
        upper.push_back(one.upper);
        mappings.insert(mappings.end(), one.mapping.begin(), one.mapping.end());
    }
    const auto counts = [](const auto& values) { return array(std::vector(values.begin(), values.end())); };
    return {array(std::move(positions)),
            array(std::move(lower)),
            array(std::move(upper)),
            array(std::move(mappings)),
            array(std::move(answer.undecided)),
            array(std::move(answer.undecided_lower)),
            counts(answer.removed),
            counts(answer.asked),
            counts(answer.seconds)};
}

}  // namespace

void define_search(nb::module_& m) {
    m.def("build_profiles", &build_profiles, "graphs"_a,
          "What the filters of `search` need to know of a collection, as one block of memory.");
    nb::class_<Searchable>(m, "Searchable", "A collection with its profiles, checked.")
        .def(nb::init<const Graphs&, Array<const std::uint64_t>>(), "graphs"_a, "profiles"_a);
    m.def("search", &search, "parts"_a, nb::kw_only(), "k"_a, "within"_a, "normalized"_a, "only_near"_a, "budget"_a,
          "threads"_a, "near"_a, "ceiling"_a, "ceiling_position"_a, "after"_a, "upto"_a, "tick"_a,
          "The k nearest graphs, or (k = 0) all within a distance, of parts of a database, each (Searchable, query as "
          "Graphs, Costs, whether labels of edges count, mask or None). Gives positions, lower and upper bounds and, "
          "flat, maps of what was found; positions and lower bounds of what is undecided; and for each stage (size, "
          "labels, degrees, "
          "branch, tight, exact) how many it ruled out, for how many it was computed, and its seconds. "
          "`ceiling` and its position are a known k-th best match: graphs that rank after it are not searched. "
          "Exact distances have growing time limits: here only those of more than `after` and at most `upto` seconds.");
}

}  // namespace bindings
