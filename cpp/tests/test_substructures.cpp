#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "../substructures/graphlets.hpp"
#include "../substructures/paths.hpp"
#include "../substructures/wl.hpp"
#include "check.hpp"
#include "oracles.hpp"

namespace {

using namespace uge::substructures;
using oracle::Graph;
using oracle::Random;
using uge::Deadline;
using uge::GraphView;
using uge::Node;

/// Graphs one after another, as a collection packs them.
struct Pack {
    std::vector<std::int64_t> node_offsets{0};
    std::vector<std::int64_t> indptr{0};
    std::vector<Node> indices;
    std::vector<uge::Label> labels;

    explicit Pack(const std::vector<Graph>& graphs) {
        for (const auto& g : graphs) {
            node_offsets.push_back(node_offsets.back() + static_cast<std::int64_t>(g.labels.size()));
            const auto before = static_cast<std::int64_t>(indices.size());
            for (std::size_t u = 1; u < g.indptr.size(); ++u) indptr.push_back(before + g.indptr[u]);
            indices.insert(indices.end(), g.indices.begin(), g.indices.end());
            labels.insert(labels.end(), g.labels.begin(), g.labels.end());
        }
    }
    [[nodiscard]] auto view() const -> uge::PackedGraphs { return {node_offsets, indptr, indices, labels, {}}; }
};

auto random_graphs(Random& random, int count, int largest, int num_labels) -> std::vector<Graph> {
    std::vector<Graph> graphs;
    for (int i = 0; i < count; ++i) {
        graphs.push_back(
            oracle::random_graph(random, oracle::draw(random, 0, largest), oracle::draw(random), num_labels));
    }
    return graphs;
}

auto adjacent(const GraphView& g, Node u, Node v) -> bool {
    const auto row = g.neighbors(u);
    return std::find(row.begin(), row.end(), v) != row.end();
}

/// The tree of walks of a length from a node, written out: equal strings, equal colors.
auto unfolded(const GraphView& g, Node u, int length) -> std::string {
    auto text = std::to_string(g.labels[u]);
    if (length == 0) return text;
    std::vector<std::string> parts;
    for (const Node v : g.neighbors(u)) parts.push_back(unfolded(g, v, length - 1));
    std::sort(parts.begin(), parts.end());
    for (const auto& part : parts) text += "(" + part + ")";
    return text;
}

auto row(const Counts& counts, std::size_t g) -> std::map<Feature, std::int64_t> {
    std::map<Feature, std::int64_t> result;
    for (auto i = counts.indptr[g]; i < counts.indptr[g + 1]; ++i) {
        result[counts.features[static_cast<std::size_t>(i)]] = counts.counts[static_cast<std::size_t>(i)];
    }
    return result;
}

TEST("a dictionary numbers sequences in order of appearance and finds them again, also from its state") {
    Random random(1);
    std::vector<std::vector<std::int32_t>> keys;
    for (int i = 0; i < 5000; ++i) {
        std::vector<std::int32_t> key(static_cast<std::size_t>(oracle::draw(random, 0, 4)));
        for (auto& k : key) k = oracle::draw(random, -3, 3);
        keys.push_back(key);
    }
    Dictionary dictionary;
    CHECK(dictionary.find(keys[0]) == Dictionary::unseen);
    std::map<std::vector<std::int32_t>, Feature> truth;
    for (const auto& key : keys) {
        const auto next = static_cast<Feature>(truth.size());
        const Feature expected = truth.try_emplace(key, next).first->second;
        CHECK(dictionary.learn(key) == expected, expected);
    }
    const Dictionary copy({dictionary.offsets().begin(), dictionary.offsets().end()},
                          {dictionary.keys().begin(), dictionary.keys().end()});
    CHECK(copy.size() == static_cast<Feature>(truth.size()), copy.size());
    for (const auto& [key, id] : truth) CHECK(dictionary.find(key) == id && copy.find(key) == id, id);
    CHECK(copy.find(std::vector<std::int32_t>{9, 9}) == Dictionary::unseen);
}

TEST("two nodes share a color exactly where their trees of walks are equal") {
    Random random(2);
    const auto graphs = random_graphs(random, 30, 7, 2);
    const Pack pack(graphs);
    const int iterations = 3;
    Dictionary dictionary;
    const auto colors = learn_wl_colors(pack.view(), iterations, dictionary);
    std::map<std::pair<int, std::string>, Feature> truth;
    std::size_t at = 0;
    for (int i = 0; i <= iterations; ++i) {
        for (const auto& g : graphs) {
            for (Node u = 0; u < g.view().n; ++u, ++at) {
                const auto next = static_cast<Feature>(truth.size());
                const auto expected = truth.try_emplace({i, unfolded(g.view(), u, i)}, next).first->second;
                CHECK(colors[at] == expected, i, u, colors[at], expected);
            }
        }
    }
    CHECK(at == colors.size() && dictionary.size() == static_cast<Feature>(truth.size()), at);
}

TEST("color counts of a graph add up to its nodes in every iteration") {
    Random random(3);
    const auto graphs = random_graphs(random, 20, 9, 3);
    const Pack pack(graphs);
    Dictionary dictionary;
    const auto colors = learn_wl_colors(pack.view(), 4, dictionary);
    const auto counts = color_counts(pack.view(), colors);
    CHECK(counts.indptr.size() == graphs.size() + 1);
    const auto nodes = pack.labels.size();
    for (std::size_t g = 0; g < graphs.size(); ++g) {
        std::map<Feature, std::int64_t> truth;
        for (std::size_t i = 0; i <= 4; ++i) {
            for (auto u = pack.node_offsets[g]; u < pack.node_offsets[g + 1]; ++u) {
                ++truth[colors[i * nodes + static_cast<std::size_t>(u)]];
            }
        }
        CHECK(row(counts, g) == truth, g);
        CHECK(
            std::is_sorted(counts.features.begin() + counts.indptr[g], counts.features.begin() + counts.indptr[g + 1]));
    }
}

TEST("a learned dictionary gives known graphs their colors again, and unknown colors are marked") {
    Random random(4);
    auto graphs = random_graphs(random, 20, 8, 2);
    const Pack pack(graphs);
    Dictionary dictionary;
    const auto learned = learn_wl_colors(pack.view(), 3, dictionary);
    CHECK(wl_colors(pack.view(), 3, dictionary) == learned);

    const Graph strange = oracle::graph({0, 77, 0}, {{0, 1}});  // the third node is not near the new label
    const Pack other({graphs[0], strange});
    const auto colors = wl_colors(other.view(), 3, dictionary);
    const auto nodes = other.labels.size();
    const auto first = nodes - 3;
    for (std::size_t i = 0; i <= 3; ++i) {
        CHECK((colors[i * nodes + first] == Dictionary::unseen) == (i > 0), i);  // sees it after one step
        CHECK(colors[i * nodes + first + 1] == Dictionary::unseen, i);
    }
    const auto counts = color_counts(other.view(), colors);
    CHECK(row(counts, 0) == row(color_counts(pack.view(), learned), 0));
    for (const auto feature : counts.features) CHECK(feature >= 0, feature);

    const auto size = dictionary.size();
    const auto grown = learn_wl_colors(other.view(), 3, dictionary);
    for (std::size_t i = 0; i < grown.size(); ++i) {
        CHECK(colors[i] == Dictionary::unseen ? grown[i] >= size : grown[i] == colors[i], i);
    }
}

auto distances(const GraphView& g) -> std::vector<std::vector<int>> {
    const auto n = static_cast<std::size_t>(g.n);
    constexpr int far = std::numeric_limits<int>::max() / 4;
    std::vector<std::vector<int>> d(n, std::vector<int>(n, far));
    for (Node u = 0; u < g.n; ++u) {
        for (const Node v : g.neighbors(u)) d[static_cast<std::size_t>(u)][static_cast<std::size_t>(v)] = 1;
    }
    for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) d[i][j] = std::min(d[i][j], d[i][k] + d[k][j]);
        }
    }
    for (auto& line : d) {
        for (auto& x : line) x = x >= far ? -1 : x;
    }
    return d;
}

TEST("shortest path counts are those of Floyd and Warshall") {
    Random random(5);
    PathCounter counter;
    for (int i = 0; i < 120; ++i) {
        const int n = i % 10 == 0 ? oracle::draw(random, 65, 150) : oracle::draw(random, 0, 20);
        const int labels = i % 3 == 0 ? 200 : oracle::draw(random, 1, 4);  // 200: too many for a table
        const auto g = oracle::random_graph(random, n, n > 64 ? 1.5 / n : oracle::draw(random) / 2, labels);
        const auto d = distances(g.view());
        for (const bool labeled : {false, true}) {
            std::map<std::tuple<int, int, int>, std::int64_t> truth;
            for (Node u = 0; u < n; ++u) {
                for (Node v = 0; v < u; ++v) {
                    const int length = d[static_cast<std::size_t>(u)][static_cast<std::size_t>(v)];
                    if (length < 0) continue;
                    const int a = labeled ? g.view().labels[u] : 0;
                    const int b = labeled ? g.view().labels[v] : 0;
                    ++truth[{std::min(a, b), std::max(a, b), length}];
                }
            }
            std::map<std::tuple<int, int, int>, std::int64_t> found;
            for (const auto& path : *counter.count(g.view(), labeled)) {
                found[{path.low, path.high, path.distance}] += path.count;
            }
            CHECK(found == truth, i, n, labels, labeled, found.size(), truth.size());
        }
    }
}

TEST("path features mean the same triple in every graph, and unknown ones are left out") {
    Random random(6);
    const auto graphs = random_graphs(random, 25, 8, 3);
    const Pack pack(graphs);
    Dictionary dictionary;
    const auto counts = learn_path_counts(pack.view(), true, dictionary);
    PathCounter counter;
    for (std::size_t g = 0; g < graphs.size(); ++g) {
        std::map<Feature, std::int64_t> truth;
        for (const auto& path : *counter.count(graphs[g].view(), true)) {
            const std::vector<std::int32_t> key{path.low, path.high, path.distance};
            truth[dictionary.find(key)] = path.count;
        }
        CHECK(row(counts, g) == truth, g);
    }
    const auto again = path_counts(pack.view(), true, dictionary);
    CHECK(again.features == counts.features && again.counts == counts.counts && again.indptr == counts.indptr);
    const Pack strange({oracle::graph({0, 50}, {{0, 1}})});
    CHECK(path_counts(strange.view(), true, dictionary).features.empty());
}

TEST("there are 4, 11 and 34 graphlets, of which 2, 6 and 21 are connected, ordered by their edges") {
    for (const auto& [size, all, connected] : {std::tuple{3, 4, 2}, {4, 11, 6}, {5, 34, 21}}) {
        const auto& classes = graphlet_classes(size);
        CHECK(static_cast<int>(classes.codes.size()) == all, size, classes.codes.size());
        CHECK(std::count(classes.connected.begin(), classes.connected.end(), true) == connected, size);
        const auto edges = [](std::uint16_t code) { return std::popcount(code); };
        CHECK(std::is_sorted(classes.codes.begin(), classes.codes.end(),
                             [&](auto a, auto b) { return std::pair(edges(a), a) < std::pair(edges(b), b); }));
        for (std::size_t c = 0; c < classes.codes.size(); ++c) CHECK(classes.class_of[classes.codes[c]] == c, c);
    }
}

/// Every set of nodes, one by one.
auto brute_force(const GraphView& g, int size) -> std::vector<std::int64_t> {
    const auto& classes = graphlet_classes(size);
    std::vector<std::int64_t> counts(classes.codes.size(), 0);
    std::vector<Node> set(static_cast<std::size_t>(size));
    const auto visit = [&](auto&& self, int chosen, Node from) -> void {
        if (chosen == size) {
            unsigned code = 0;
            int shift = 0;
            for (std::size_t j = 1; j < set.size(); ++j) {
                for (std::size_t i = 0; i < j; ++i, ++shift) {
                    code |= static_cast<unsigned>(adjacent(g, set[i], set[j])) << shift;
                }
            }
            ++counts[classes.class_of[code]];
            return;
        }
        for (Node u = from; u < g.n; ++u) {
            set[static_cast<std::size_t>(chosen)] = u;
            self(self, chosen + 1, u + 1);
        }
    };
    visit(visit, 0, 0);
    return counts;
}

TEST("graphlet counts are those of every set of nodes, for sparse and dense graphs") {
    Random random(7);
    GraphletCounter counter;
    for (int i = 0; i < 150; ++i) {
        const int n = oracle::draw(random, 0, 12);
        const auto g = oracle::random_graph(random, n, oracle::draw(random), 1);
        for (const int size : {3, 4, 5}) {
            const auto truth = brute_force(g.view(), size);
            std::vector<std::int64_t> counts(truth.size(), 99);
            CHECK(counter.count(g.view(), size, Deadline(), counts));
            CHECK(counts == truth, i, n, size);
        }
    }
}

TEST("graphlet classes do not depend on the numbering of nodes") {
    for (const int size : {3, 4, 5}) {
        const auto& classes = graphlet_classes(size);
        std::set<std::vector<int>> seen;  // degree sequence and class must go together
        for (unsigned code = 0; code < classes.class_of.size(); ++code) {
            std::vector<int> degree(static_cast<std::size_t>(size));
            int shift = 0;
            for (std::size_t j = 1; j < degree.size(); ++j) {
                for (std::size_t i = 0; i < j; ++i, ++shift) {
                    if (code >> shift & 1) ++degree[i], ++degree[j];
                }
            }
            std::sort(degree.begin(), degree.end());
            degree.push_back(classes.class_of[code]);
            seen.insert(degree);
        }
        CHECK(seen.size() == classes.codes.size(), size, seen.size());
    }
}

TEST("the bound on connected sets of five holds") {
    Random random(8);
    GraphletCounter counter;
    const auto& classes = graphlet_classes(5);
    for (int i = 0; i < 100; ++i) {
        const auto g = oracle::random_graph(random, oracle::draw(random, 0, 14), oracle::draw(random), 1);
        std::vector<std::int64_t> counts(34);
        counter.count(g.view(), 5, Deadline(), counts);
        std::int64_t connected = 0;
        for (std::size_t c = 0; c < counts.size(); ++c) connected += classes.connected[c] ? counts[c] : 0;
        CHECK(static_cast<double>(connected) <= connected_sets_bound(g.view()), connected);
    }
}

TEST("exact counts of size five stop at the deadline") {
    const int n = 3000;
    std::vector<oracle::Edge> edges;
    for (int u = 1; u < n; ++u) edges.push_back({0, u});
    const auto star = oracle::graph(std::vector<uge::Label>(n, 0), edges);
    std::vector<std::int64_t> counts(34);
    GraphletCounter counter;
    CHECK(!counter.count(star.view(), 5, Deadline(0.02), counts));
    CHECK(counter.count(star.view(), 3, Deadline(0.02), std::span(counts).first(4)));
    CHECK(counts[2] == std::int64_t{2999} * 2998 / 2, counts[2]);
}

TEST("sampled graphlets come in the proportions of the exact counts, the same for the same seed") {
    Random random(9);
    GraphletCounter counter;
    for (const int size : {3, 4, 5}) {
        const auto g = oracle::random_graph(random, 20, 0.4, 1);
        const auto classes = graphlet_classes(size).codes.size();
        std::vector<std::int64_t> exact(classes), sampled(classes), again(classes), other(classes);
        counter.count(g.view(), size, Deadline(), exact);
        const std::int64_t samples = 200000;
        counter.sample(g.view(), size, samples, 1, sampled);
        counter.sample(g.view(), size, samples, 1, again);
        counter.sample(g.view(), size, samples, 2, other);
        CHECK(sampled == again && sampled != other, size);
        CHECK(std::accumulate(sampled.begin(), sampled.end(), std::int64_t{0}) == samples);
        const auto total = static_cast<double>(std::accumulate(exact.begin(), exact.end(), std::int64_t{0}));
        for (std::size_t c = 0; c < classes; ++c) {
            const double p = static_cast<double>(exact[c]) / total;
            const double error = static_cast<double>(sampled[c]) / static_cast<double>(samples) - p;
            CHECK(std::abs(error) <= 5 * std::sqrt(p * (1 - p) / static_cast<double>(samples)), size, c, error, p);
        }
    }
    const auto tiny = oracle::graph({0, 0}, {{0, 1}});
    std::vector<std::int64_t> none(34, 5);
    counter.sample(tiny.view(), 5, 10, 1, none);
    CHECK(std::count(none.begin(), none.end(), 0) == 34);
}

}  // namespace

auto main(int argc, char** argv) -> int {
    return check::run(argc > 1 ? argv[1] : "");
}
