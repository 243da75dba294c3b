#include "paths.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

namespace uge::substructures {

void PathCounter::number_labels(const GraphView& graph, bool labeled) {
    const auto n = static_cast<std::size_t>(graph.n);
    of_.assign(n, 0);
    labels_.assign(1, 0);
    if (!labeled) return;
    labels_.assign(graph.labels, graph.labels + n);
    std::sort(labels_.begin(), labels_.end());
    labels_.erase(std::unique(labels_.begin(), labels_.end()), labels_.end());
    for (std::size_t u = 0; u < n; ++u) {
        of_[u] = static_cast<std::int32_t>(std::lower_bound(labels_.begin(), labels_.end(), graph.labels[u]) -
                                           labels_.begin());
    }
}

/// add(v, first, sources, distance): v is at this distance from the nodes `first + i` for each bit i of `sources`.
/// Every ordered pair is reported once. False where time was up before.
template <class Add>
auto PathCounter::visit_pairs(const GraphView& graph, const Deadline& deadline, Add&& add) -> bool {
    WorkMeter meter(deadline);
    const auto n = static_cast<std::size_t>(graph.n);
    next_.assign(n, 0);
    for (Node first = 0; first < graph.n; first += 64) {
        seen_.assign(n, 0);
        frontier_.assign(n, 0);
        active_.clear();
        for (Node u = first; u < std::min(first + 64, graph.n); ++u) {
            seen_[static_cast<std::size_t>(u)] = frontier_[static_cast<std::size_t>(u)] = std::uint64_t{1}
                                                                                          << (u - first);
            active_.push_back(u);
        }
        for (std::int32_t distance = 1; !active_.empty(); ++distance) {
            reached_.clear();
            for (const Node u : active_) {
                if (meter.expired(64 + 2 * graph.degree(u))) return false;
                const auto sources = frontier_[static_cast<std::size_t>(u)];
                for (const Node v : graph.neighbors(u)) {
                    auto& arriving = next_[static_cast<std::size_t>(v)];
                    if (arriving == 0) reached_.push_back(v);
                    arriving |= sources;
                }
            }
            active_.clear();
            for (const Node v : reached_) {
                const auto at = static_cast<std::size_t>(v);
                const auto fresh = next_[at] & ~seen_[at];
                next_[at] = 0;
                if (fresh == 0) continue;
                seen_[at] |= fresh;
                frontier_[at] = fresh;
                active_.push_back(v);
                add(v, first, fresh, distance);
            }
        }
    }
    return true;
}

auto PathCounter::count(const GraphView& graph, bool labeled, const Deadline& deadline)
    -> const std::vector<PathCount>* {
    constexpr std::size_t max_table = 1 << 12;  // pairs of labels for which one row of counters per distance is kept
    found_.clear();
    if (graph.n == 0) return &found_;
    number_labels(graph, labeled);
    const auto k = labels_.size();
    const auto each = [](std::uint64_t sources, Node first, auto&& f) {
        for (; sources != 0; sources &= sources - 1) f(first + std::countr_zero(sources));
    };
    if (k * k <= max_table) {
        table_.clear();  // [distance - 1][label of v][label of u]
        const auto add = [&](Node v, Node first, std::uint64_t sources, std::int32_t distance) {
            if (table_.size() < static_cast<std::size_t>(distance) * k * k) {
                table_.resize(static_cast<std::size_t>(distance) * k * k);
            }
            const auto row = table_.begin() +
                             static_cast<std::ptrdiff_t>(static_cast<std::size_t>(distance - 1) * k * k) +
                             of_[static_cast<std::size_t>(v)] * static_cast<std::ptrdiff_t>(k);
            if (k == 1) {
                *row += std::popcount(sources);
            } else {
                each(sources, first, [&](Node u) { ++row[of_[static_cast<std::size_t>(u)]]; });
            }
        };
        if (!visit_pairs(graph, deadline, add)) return nullptr;
        const auto distances = table_.size() / (k * k);
        for (std::size_t low = 0; low < k; ++low) {
            for (std::size_t high = low; high < k; ++high) {
                for (std::size_t d = 0; d < distances; ++d) {
                    const auto both = table_[(d * k + low) * k + high];
                    if (both == 0) continue;
                    found_.push_back(
                        {labels_[low], labels_[high], static_cast<std::int32_t>(d + 1), low == high ? both / 2 : both});
                }
            }
        }
        return &found_;
    }
    keys_.clear();  // low, high, distance: 21 bits each
    if (graph.n >= 1 << 21) throw std::length_error("shortest paths of a labeled graph of more than 2^21 nodes");
    const auto add = [&](Node v, Node first, std::uint64_t sources, std::int32_t distance) {
        each(sources, first, [&](Node u) {
            if (u > v) return;
            const auto [low, high] = std::minmax(of_[static_cast<std::size_t>(u)], of_[static_cast<std::size_t>(v)]);
            keys_.push_back(static_cast<std::uint64_t>(low) << 42 | static_cast<std::uint64_t>(high) << 21 |
                            static_cast<std::uint64_t>(distance));
        });
    };
    if (!visit_pairs(graph, deadline, add)) return nullptr;
    std::sort(keys_.begin(), keys_.end());
    constexpr std::uint64_t mask = (1 << 21) - 1;
    for (std::size_t i = 0; i < keys_.size();) {
        std::size_t next = i;
        while (next < keys_.size() && keys_[next] == keys_[i]) ++next;
        found_.push_back({labels_[keys_[i] >> 42], labels_[keys_[i] >> 21 & mask],
                          static_cast<std::int32_t>(keys_[i] & mask), static_cast<std::int64_t>(next - i)});
        i = next;
    }
    return &found_;
}

namespace {

template <class IdOf>
auto number(const PackedGraphs& graphs, bool labeled, const Limits& limits, IdOf&& id_of) -> Counts {
    PathCounter counter;
    Counts counts;
    const std::vector<PathCount> none;
    std::vector<std::pair<Feature, std::int64_t>> row;
    for (std::size_t g = 0; g < graphs.size(); ++g) {
        row.clear();
        const auto* found = counter.count(graphs[g], labeled, limits.deadline());
        if (found == nullptr) counts.unfinished.push_back(static_cast<std::int32_t>(g));
        for (const auto& [low, high, distance, count] : found == nullptr ? none : *found) {
            const Feature id = id_of(std::array<std::int32_t, 3>{low, high, distance});
            if (id != Dictionary::unseen) row.emplace_back(id, count);
        }
        std::sort(row.begin(), row.end());
        for (const auto& [id, count] : row) {
            counts.features.push_back(id);
            counts.counts.push_back(count);
        }
        counts.indptr.push_back(static_cast<std::int64_t>(counts.features.size()));
    }
    return counts;
}

}  // namespace

auto learn_path_counts(const PackedGraphs& graphs, bool labeled, Dictionary& dictionary, const Limits& limits)
    -> Counts {
    return number(graphs, labeled, limits, [&](const auto& key) { return dictionary.learn(key); });
}

auto path_counts(const PackedGraphs& graphs, bool labeled, const Dictionary& dictionary, const Limits& limits)
    -> Counts {
    return number(graphs, labeled, limits, [&](const auto& key) { return dictionary.find(key); });
}

}  // namespace uge::substructures
