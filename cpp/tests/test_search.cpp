#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "../ged/workspace.hpp"
#include "../search/search.hpp"
#include "check.hpp"
#include "oracles.hpp"

namespace {

using namespace uge::search;
using uge::Label;
using uge::Node;

/// A collection that owns its arrays.
struct Collection {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int64_t> indptr{0};
    std::vector<Node> indices;
    std::vector<Label> labels;
    std::vector<Label> edge_labels;

    void add(const oracle::Graph& graph) {
        const std::int64_t shift = indptr.back();
        for (std::size_t u = 1; u < graph.indptr.size(); ++u) {
            indptr.push_back(shift + graph.indptr[u]);
        }
        indices.insert(indices.end(), graph.indices.begin(), graph.indices.end());
        labels.insert(labels.end(), graph.labels.begin(), graph.labels.end());
        edge_labels.insert(edge_labels.end(), graph.edge_labels.begin(), graph.edge_labels.end());
        offsets.push_back(static_cast<std::int64_t>(labels.size()));
    }
    [[nodiscard]] auto packed(bool labeled) const -> uge::PackedGraphs {
        return {.node_offsets = offsets,
                .indptr = indptr,
                .indices = indices,
                .labels = labels,
                .edge_labels = labeled ? std::span<const Label>(edge_labels) : std::span<const Label>()};
    }
};

constexpr int num_labels = 4;
constexpr int num_edge_labels = 3;

auto random_collection(oracle::Random& random, int graphs, int most_nodes) -> Collection {
    Collection made;
    for (int g = 0; g < graphs; ++g) {
        made.add(oracle::random_graph(random, oracle::draw(random, 0, most_nodes), 0.2 + 0.5 * oracle::draw(random),
                                      num_labels, num_edge_labels));
    }
    return made;
}

auto random_prices(oracle::Random& random) -> uge::EditCosts {
    const auto price = [&] { return std::vector<double>{0, 0.5, 1, 1, 2, 3.25}[oracle::draw(random, 0, 5)]; };
    switch (oracle::draw(random, 0, 3)) {
        case 0:
            return {};
        case 1:
            return {.edge_relabel = 1};
        default:
            return {.node_insert = price(),
                    .node_delete = price(),
                    .node_relabel = price(),
                    .edge_insert = price(),
                    .edge_delete = price(),
                    .edge_relabel = price()};
    }
}

/// A database in two parts, a query that has labels of its own, and the distances to all graphs.
struct Case {
    Case(oracle::Random& random, int graphs, int most_nodes, bool with_matrices) {
        if (with_matrices) {
            oracle::random_costs(random, num_labels + 1, num_edge_labels + 1, matrices);
            costs = matrices.costs;
        } else {
            costs = random_prices(random);
        }
        auto asked =
            oracle::random_graph(random, oracle::draw(random, 0, most_nodes), 0.4, num_labels + 1, num_edge_labels + 1);
        query.add(asked);
        labeled = costs.edge_relabel > 0 || costs.edge_matrix != nullptr;
        for (const int size : {graphs, graphs / 3}) {
            collections.push_back(random_collection(random, size, most_nodes));
        }
        for (const auto& collection : collections) {
            const auto packed = collection.packed(labeled);
            blocks.push_back(Profiles::built(collection.packed(true)));
            profiles.push_back(std::make_unique<Profiles>(blocks.back(), packed));
            uge::ged::Workspace workspace;
            for (std::size_t g = 0; g < packed.size(); ++g) {
                std::vector<Node> mapping(static_cast<std::size_t>(query.packed(labeled)[0].n));
                exact.push_back(uge::ged::edit_distance(query.packed(labeled)[0], packed[g], costs,
                                                        {.method = uge::ged::Method::exact}, {}, workspace, mapping)
                                    .upper);
                sizes.push_back(packed[g].n);
            }
            masks.push_back(std::make_unique<bool[]>(packed.size()));
            for (std::size_t g = 0; g < packed.size(); ++g) {
                masks.back()[g] = oracle::draw(random) < 0.6;
                chosen.push_back(masks.back()[g]);
            }
        }
    }
    [[nodiscard]] auto parts(bool masked) const -> std::vector<Part> {
        std::vector<Part> made;
        for (std::size_t p = 0; p < collections.size(); ++p) {
            made.push_back({.graphs = collections[p].packed(labeled),
                            .profiles = profiles[p].get(),
                            .query = query.packed(labeled),
                            .costs = costs,
                            .edge_labels = labeled,
                            .mask = {}});
            if (masked) {
                made.back().mask = {masks[p].get(), collections[p].packed(labeled).size()};
            }
        }
        return made;
    }

    oracle::Costs matrices;
    uge::EditCosts costs;
    bool labeled;
    Collection query;
    std::vector<Collection> collections;
    std::vector<std::vector<std::uint64_t>> blocks;
    std::vector<std::unique_ptr<Profiles>> profiles;
    std::vector<std::unique_ptr<bool[]>> masks;
    std::vector<double> exact;
    std::vector<Node> sizes;
    std::vector<bool> chosen;
};

/// Distances by rank of a plain scan: (value, position), best first.
auto plain_scan(const Case& with, By by, bool masked) -> std::vector<std::pair<double, std::int64_t>> {
    std::vector<std::pair<double, std::int64_t>> ranked;
    for (std::size_t g = 0; g < with.exact.size(); ++g) {
        const double mean = (with.sizes[g] + with.query.packed(false)[0].n) / 2.0;
        const double scale = by == By::normalized && mean > 0 ? mean : 1;
        if (!masked || with.chosen[g]) {
            ranked.emplace_back(with.exact[g] / scale, static_cast<std::int64_t>(g));
        }
    }
    std::sort(ranked.begin(), ranked.end());
    return ranked;
}

constexpr double tolerance = 1e-6;

}  // namespace

TEST("filters never exceed the distance, and each is at least the one before") {
    oracle::Random random(1);
    for (int trial = 0; trial < 150; ++trial) {
        const Case with(random, 9, 6, trial % 4 == 3);
        const auto parts = with.parts(false);
        std::size_t at = 0;
        for (const Part& part : parts) {
            const Prices prices(part.costs);
            const CounterFilter counters(part.query[0], prices, *part.profiles);
            for (std::size_t rank = 0; rank < part.profiles->size(); ++rank) {
                const double exact = with.exact[at + static_cast<std::size_t>(part.profiles->position(rank))];
                const auto bound = counters.bound(rank);
                CHECK(bound.size <= bound.labels + tolerance && bound.labels <= bound.degrees + tolerance, trial);
                CHECK(bound.degrees <= exact + tolerance, trial, bound.degrees, exact);
                if (prices.constant) {
                    BranchFilter branch(part.query[0], part.edge_labels, prices, *part.profiles);
                    CHECK(branch.bound(rank, 1e9) <= exact + tolerance, trial, exact);
                }
            }
            at += part.graphs.size();
        }
    }
}

TEST("the branch filter is the assignment of all branches") {
    oracle::Random random(2);
    uge::ged::Workspace workspace;
    for (int trial = 0; trial < 100; ++trial) {
        const Case with(random, 9, 8, false);
        for (const Part& part : with.parts(false)) {
            const Prices prices(part.costs);
            BranchFilter branch(part.query[0], part.edge_labels, prices, *part.profiles);
            for (std::size_t rank = 0; rank < part.profiles->size(); ++rank) {
                const auto graph = part.graphs[static_cast<std::size_t>(part.profiles->position(rank))];
                std::vector<Node> mapping(static_cast<std::size_t>(part.query[0].n));
                const double lower =
                    uge::ged::edit_distance(part.query[0], graph, part.costs, {.method = uge::ged::Method::branch}, {},
                                            workspace, mapping)
                        .lower;
                const double found = branch.bound(rank, 1e9);
                CHECK(std::abs(found - prices.possible(lower)) <= tolerance, trial, found, lower);
                const double limit = lower * oracle::draw(random);
                const double limited = branch.bound(rank, limit);
                CHECK(limited <= found + tolerance && (limited > limit || limited == found), trial);
            }
        }
    }
}

TEST("search returns what a linear scan returns, for every request and any number of threads") {
    oracle::Random random(3);
    for (int trial = 0; trial < 120; ++trial) {
        const Case with(random, 12, 5, trial % 5 == 4);
        const bool masked = trial % 2 == 1;
        const auto parts = with.parts(masked);
        const auto by = oracle::draw(random, 0, 1) == 0 ? By::edits : By::normalized;
        const auto plain = plain_scan(with, by, masked);
        std::vector<std::int64_t> near;
        for (const auto& [value, position] : plain) {
            if (oracle::draw(random) < 0.3) {
                near.push_back(position);
            }
        }
        const bool integral = Prices(with.costs).integral;
        for (const int threads : {1, 3}) {
            const auto k = static_cast<std::size_t>(oracle::draw(random, 1, 18));
            uge::Control control;
            const auto nearest = uge::search::search(
                parts, {.k = static_cast<std::int64_t>(k), .by = by, .threads = threads}, near, control, [] {});
            CHECK(nearest.undecided.empty() && nearest.found.size() == std::min(k, plain.size()), trial);
            for (std::size_t i = 0; i < nearest.found.size(); ++i) {
                const auto& one = nearest.found[i];
                const double exact = with.exact[static_cast<std::size_t>(one.position)];
                CHECK(std::abs(one.upper - exact) <= tolerance && std::abs(one.lower - exact) <= tolerance, trial);
                CHECK(!integral || one.position == plain[i].second, trial, i, one.position, plain[i].second);
            }
            if (!plain.empty()) {  // the k-th of a larger database: only what is not after it is of interest
                const auto last = static_cast<std::size_t>(oracle::draw(random, 0, static_cast<int>(plain.size()) - 1));
                const auto below = uge::search::search(parts,
                                                       {.k = static_cast<std::int64_t>(k),
                                                        .by = by,
                                                        .threads = threads,
                                                        .ceiling = plain[last].first,
                                                        .ceiling_position = plain[last].second},
                                                       near, control, [] {});
                const std::size_t expected = std::min(k, last + 1);
                CHECK(below.undecided.empty() && below.found.size() >= expected, trial, below.found.size(), expected);
                for (std::size_t i = 0; i < expected; ++i) {
                    const double exact = with.exact[static_cast<std::size_t>(below.found[i].position)];
                    CHECK(std::abs(below.found[i].upper - exact) <= tolerance, trial);
                    CHECK(!integral || below.found[i].position == plain[i].second, trial, i);
                }
                const auto removed = std::accumulate(below.removed.begin(), below.removed.end(), std::int64_t{0});
                CHECK(
                    removed + static_cast<std::int64_t>(below.found.size()) <= static_cast<std::int64_t>(plain.size()),
                    trial);
            }
            const auto bounded = uge::search::search(  // no exact distances: the undecided graphs include the answer
                parts, {.k = static_cast<std::int64_t>(k), .by = by, .threads = threads, .upto = 0}, near, control,
                [] {});
            CHECK(bounded.asked.back() == 0 && bounded.undecided.size() == bounded.undecided_lower.size(), trial);
            std::vector<std::int64_t> left = bounded.undecided;
            for (std::size_t i = 0; i < left.size(); ++i) {
                CHECK(bounded.undecided_lower[i] <= with.exact[static_cast<std::size_t>(left[i])] + tolerance, trial);
            }
            for (const auto& one : bounded.found) {
                left.push_back(one.position);
            }
            const auto rest = uge::search::search(
                parts, {.k = static_cast<std::int64_t>(k), .by = by, .only_near = true, .threads = threads, .after = 0},
                left, control, [] {});
            CHECK(rest.undecided.empty() && rest.found.size() == nearest.found.size(), trial);
            for (std::size_t i = 0; i < rest.found.size(); ++i) {
                CHECK(std::abs(rest.found[i].upper - nearest.found[i].upper) <= tolerance || by == By::normalized,
                      trial);
                CHECK(!integral || rest.found[i].position == nearest.found[i].position, trial, i);
            }
            const double limit = oracle::draw(random, 0, 8) / 2.0;
            const auto within =
                uge::search::search(parts, {.within = limit, .by = by, .threads = threads}, {}, control, [] {});
            std::vector<std::int64_t> found, expected;
            for (const auto& one : within.found) {
                found.push_back(one.position);
                CHECK(std::abs(one.upper - with.exact[static_cast<std::size_t>(one.position)]) <= tolerance, trial);
            }
            for (const auto& [value, position] : plain) {
                if (with.exact[static_cast<std::size_t>(position)] <= limit + 1e-9) {
                    expected.push_back(position);
                }
            }
            std::sort(found.begin(), found.end());
            std::sort(expected.begin(), expected.end());
            CHECK(found == expected && within.undecided.empty(), trial, found.size(), expected.size());
            const auto first = uge::search::search(parts, {.k = 3, .by = by, .only_near = true, .threads = threads},
                                                   near, control, [] {});
            CHECK(first.found.size() == std::min<std::size_t>(3, near.size()), trial);
            for (std::size_t i = 0, j = 0; i < first.found.size(); ++j) {
                if (std::find(near.begin(), near.end(), plain[j].second) != near.end()) {
                    CHECK(!integral || first.found[i].position == plain[j].second, trial);
                    ++i;
                }
            }
        }
    }
}

TEST("without time the search makes no false claim") {
    oracle::Random random(4);
    for (int trial = 0; trial < 60; ++trial) {
        const Case with(random, 12, 6, false);
        uge::Control control;
        const auto found =
            uge::search::search(with.parts(false), {.k = 4, .by = By::edits, .budget = 0}, {}, control, [] {});
        for (const auto& one : found.found) {
            const double exact = with.exact[static_cast<std::size_t>(one.position)];
            CHECK(one.lower <= exact + tolerance && exact <= one.upper + tolerance, trial);
        }
        for (const auto& [value, position] : plain_scan(with, By::edits, false)) {
            const bool listed = std::any_of(found.found.begin(), found.found.end(),
                                            [&, at = position](const Found& one) { return one.position == at; });
            CHECK(listed || value >= found.found.back().upper - tolerance ||
                      std::binary_search(found.undecided.begin(), found.undecided.end(), position),
                  trial);
        }
    }
}

TEST("profiles that are damaged, or of other graphs, are refused or harmless") {
    oracle::Random random(5);
    const Collection graphs = random_collection(random, 20, 6);
    const auto packed = graphs.packed(true);
    const auto block = Profiles::built(packed);
    const Profiles whole(block, packed);
    int refused = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        auto damaged = block;
        if (trial % 8 == 0) {
            damaged.resize(static_cast<std::size_t>(oracle::draw(random, 0, static_cast<int>(block.size()) - 1)));
        } else {
            damaged[static_cast<std::size_t>(oracle::draw(random, 0, static_cast<int>(block.size()) - 1))] ^=
                std::uint64_t{1} << oracle::draw(random, 0, 63);
        }
        try {
            const Profiles profiles(damaged, packed);
            uge::Control control;
            const std::vector<Part> parts{{.graphs = packed,
                                           .profiles = &profiles,
                                           .query = packed,
                                           .costs = {},
                                           .edge_labels = false,
                                           .mask = {}}};
            uge::search::search(parts, {.within = 1}, {}, control, [] {});
        } catch (const std::invalid_argument&) {
            ++refused;
        }
    }
    CHECK(refused > 500, refused);
}

TEST("the deadline is met and an exception of the watch function is rethrown") {
    oracle::Random random(6);
    Collection graphs, query;
    for (int g = 0; g < 30; ++g) {
        graphs.add(oracle::random_graph(random, 40, 0.3, 1, 1));
    }
    query.add(oracle::random_graph(random, 40, 0.3, 1, 1));
    const auto block = Profiles::built(graphs.packed(false));
    const Profiles profiles(block, graphs.packed(false));
    const std::vector<Part> parts{{.graphs = graphs.packed(false),
                                   .profiles = &profiles,
                                   .query = query.packed(false),
                                   .costs = {},
                                   .edge_labels = false,
                                   .mask = {}}};
    uge::Control control;
    const auto begin = std::chrono::steady_clock::now();
    const auto found = uge::search::search(parts, {.k = 3, .budget = 0.2}, {}, control, [] {});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    CHECK(seconds < 20, seconds);
    CHECK(found.found.size() == 3 && !found.undecided.empty());
    bool thrown = false;
    try {
        uge::search::search(parts, {.k = 3, .threads = 2}, {}, control, [] { throw std::runtime_error("stop"); });
    } catch (const std::runtime_error&) {
        thrown = true;
    }
    CHECK(thrown);
}

auto main(int argc, char** argv) -> int {
    return check::run(argc > 1 ? argv[1] : "");
}
