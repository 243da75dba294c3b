#include "wl.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace uge::substructures {

namespace {

auto num_nodes(const PackedGraphs& graphs) -> std::size_t {
    return static_cast<std::size_t>(graphs.node_offsets.back() - graphs.node_offsets.front());
}

/// By insertion where there is little to sort, as at most nodes.
void sort_few(std::span<Feature> colors) {
    constexpr std::size_t few = 12;
    if (colors.size() > few) {
        std::sort(colors.begin(), colors.end());
        return;
    }
    for (std::size_t i = 1; i < colors.size(); ++i) {
        const Feature color = colors[i];
        std::size_t k = i;
        for (; k > 0 && colors[k - 1] > color; --k) colors[k] = colors[k - 1];
        colors[k] = color;
    }
}

/// Key of a label: -1, label. Key of a later color: previous color, sorted previous colors of the neighbors.
template <class IdOf>
auto refine(const PackedGraphs& graphs, int iterations, const Limits& limits, std::vector<std::int32_t>* unfinished,
            IdOf&& id_of) -> std::vector<Feature> {
    using Clock = Deadline::Clock;
    constexpr std::int64_t small = 10'000;  // nodes and edges that take a millisecond at most
    const bool timed = limits.seconds < 1e9;
    std::vector<double> spent(timed ? graphs.size() : 0, 0);  // infinite once it was too much
    const auto nodes = num_nodes(graphs);
    std::vector<Feature> colors(nodes * (static_cast<std::size_t>(iterations) + 1));
    std::vector<std::int32_t> key;
    auto out = colors.begin();
    for (std::size_t g = 0; g < graphs.size(); ++g) {
        const auto graph = graphs[g];
        for (Node u = 0; u < graph.n; ++u) {
            key.assign({-1, graph.labels[u]});
            *out++ = id_of(key);
        }
    }
    for (int i = 1; i <= iterations; ++i) {
        for (std::size_t g = 0; g < graphs.size(); ++g) {
            const auto graph = graphs[g];
            const auto previous = colors.begin() + static_cast<std::ptrdiff_t>(nodes) * (i - 1) +
                                  (graphs.node_offsets[g] - graphs.node_offsets.front());
            const bool large = timed && graph.n + graph.num_edges() > small;
            const auto begin = large ? Clock::now() : Clock::time_point();
            const Deadline deadline(large ? limits.seconds - spent[g] : 1e18, limits.cancel);
            WorkMeter meter(deadline);
            for (Node u = 0; u < graph.n; ++u) {
                if (large && meter.expired(64 + 32 * graph.degree(u))) {
                    spent[g] = std::numeric_limits<double>::infinity();
                    std::fill_n(out, graph.n - u, Dictionary::unseen);
                    out += graph.n - u;
                    break;
                }
                const auto neighbors = graph.neighbors(u);
                key.resize(neighbors.size() + 1);
                key[0] = previous[u];
                for (std::size_t k = 0; k < neighbors.size(); ++k) key[k + 1] = previous[neighbors[k]];
                sort_few(std::span(key).subspan(1));
                const bool known = key[0] >= 0 && (key.size() == 1 || key[1] >= 0);
                *out++ = known ? id_of(key) : Dictionary::unseen;
            }
            if (large) spent[g] += std::chrono::duration<double>(Clock::now() - begin).count();
        }
    }
    for (std::size_t g = 0; g < spent.size(); ++g) {
        if (!std::isinf(spent[g])) continue;
        if (unfinished != nullptr) unfinished->push_back(static_cast<std::int32_t>(g));
        for (auto first = static_cast<std::size_t>(graphs.node_offsets[g] - graphs.node_offsets.front());
             first < colors.size(); first += nodes) {
            std::fill_n(colors.begin() + static_cast<std::ptrdiff_t>(first), graphs[g].n, Dictionary::unseen);
        }
    }
    return colors;
}

}  // namespace

auto learn_wl_colors(const PackedGraphs& graphs, int iterations, Dictionary& dictionary, const Limits& limits,
                     std::vector<std::int32_t>* unfinished) -> std::vector<Feature> {
    return refine(graphs, iterations, limits, unfinished, [&](const auto& key) { return dictionary.learn(key); });
}

auto wl_colors(const PackedGraphs& graphs, int iterations, const Dictionary& dictionary, const Limits& limits,
               std::vector<std::int32_t>* unfinished) -> std::vector<Feature> {
    return refine(graphs, iterations, limits, unfinished, [&](const auto& key) { return dictionary.find(key); });
}

auto color_counts(const PackedGraphs& graphs, std::span<const Feature> colors) -> Counts {
    const auto nodes = num_nodes(graphs);
    Counts counts;
    std::vector<Feature> found;
    for (std::size_t g = 0; g < graphs.size(); ++g) {
        found.clear();
        const auto first = static_cast<std::size_t>(graphs.node_offsets[g] - graphs.node_offsets.front());
        const auto n = static_cast<std::size_t>(graphs[g].n);
        for (std::size_t at = first; at < colors.size(); at += nodes) {
            const auto row = colors.subspan(at, n);
            const auto start = static_cast<std::ptrdiff_t>(found.size());
            std::copy_if(row.begin(), row.end(), std::back_inserter(found),
                         [](Feature color) { return color != Dictionary::unseen; });
            std::sort(found.begin() + start, found.end());
        }
        // Colors are numbered in order of iteration, so they are already sorted.
        if (!std::is_sorted(found.begin(), found.end())) std::sort(found.begin(), found.end());
        for (auto at = found.begin(); at != found.end();) {
            const auto next = std::find_if(at, found.end(), [&](Feature color) { return color != *at; });
            counts.features.push_back(*at);
            counts.counts.push_back(next - at);
            at = next;
        }
        counts.indptr.push_back(static_cast<std::int64_t>(counts.features.size()));
    }
    return counts;
}

}  // namespace uge::substructures
