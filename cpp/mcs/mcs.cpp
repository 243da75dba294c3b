#include "mcs.hpp"

#include <algorithm>
#include <compare>
#include <iterator>
#include <stdexcept>
#include <string>

#include "array_search.hpp"
#include "bit_search.hpp"
#include "problem.hpp"

namespace uge::mcs {

struct Workspace::Memory {
    Problem problem;
    std::vector<Match> best;
    StateTable table;
    BitSearch<1> bits1;
    BitSearch<2> bits2;
    BitSearch<4> bits4;
    ArraySearch array;
    std::int64_t branches = 0;
};

Workspace::Workspace() : memory_(std::make_unique<Memory>()) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
auto Workspace::operator=(Workspace&&) noexcept -> Workspace& = default;
auto Workspace::branches() const -> std::int64_t {
    return memory_->branches;
}

namespace {

template <class T>
auto compare(std::span<const T> a, std::span<const T> b) -> std::strong_ordering {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
}

auto indices_of(const GraphView& g) -> std::span<const Node> {
    return g.n == 0 ? std::span<const Node>{}
                    : std::span(g.indices + g.indptr[0], static_cast<std::size_t>(g.indptr[g.n] - g.indptr[0]));
}

/// An order of graphs by content: smaller ones first.
auto before(const GraphView& a, const GraphView& b, bool edge_labels) -> bool {
    if (a.n != b.n) return a.n < b.n;
    if (a.num_edges() != b.num_edges()) return a.num_edges() < b.num_edges();
    const auto n = static_cast<std::size_t>(a.n);
    if (const auto c = compare(std::span(a.labels, n), std::span(b.labels, n)); c != 0) return c < 0;
    for (Node u = 0; u < a.n; ++u) {
        if (a.degree(u) != b.degree(u)) return a.degree(u) < b.degree(u);
    }
    if (const auto c = compare(indices_of(a), indices_of(b)); c != 0) return c < 0;
    if (!edge_labels) return false;
    for (std::size_t k = 0; k < indices_of(a).size(); ++k) {
        const Label x = a.edge_labels == nullptr ? 0 : a.edge_labels[a.indptr[0] + static_cast<std::int64_t>(k)];
        const Label y = b.edge_labels == nullptr ? 0 : b.edge_labels[b.indptr[0] + static_cast<std::int64_t>(k)];
        if (x != y) return x < y;
    }
    return false;
}

void group_by_label(Problem& problem) {
    for (std::size_t s = 0; s < 2; ++s) {
        const auto& g = problem.graph[s];
        auto& nodes = problem.nodes[s];
        nodes.resize(static_cast<std::size_t>(g.n));
        for (Node u = 0; u < g.n; ++u) nodes[static_cast<std::size_t>(u)] = u;
        const auto* labels = g.labels;
        std::sort(nodes.begin(), nodes.end(),
                  [labels](Node u, Node v) { return labels[u] != labels[v] ? labels[u] < labels[v] : u < v; });
    }
    problem.groups.clear();
    const auto label = [&](std::size_t s, int i) {
        return problem.graph[s].labels[problem.nodes[s][static_cast<std::size_t>(i)]];
    };
    std::array<int, 2> at{0, 0};
    while (at[0] < problem.graph[0].n && at[1] < problem.graph[1].n) {
        const Label x = label(0, at[0]);
        const Label y = label(1, at[1]);
        const auto first = at;
        for (std::size_t s = 0; s < 2; ++s) {
            while (at[s] < problem.graph[s].n && label(s, at[s]) == std::min(x, y)) ++at[s];
        }
        if (x == y) problem.groups.push_back({first, at});
    }
}

/// The different ones, ascending.
auto distinct(std::span<const Label> labels) -> std::vector<Label> {
    std::vector<Label> found;
    const auto [least, most] = std::minmax_element(labels.begin(), labels.end());
    const auto width = labels.empty() ? 0 : std::int64_t{*most} - *least + 1;
    if (width > static_cast<std::int64_t>(labels.size())) {
        found.assign(labels.begin(), labels.end());
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }
    std::vector<char> there(static_cast<std::size_t>(width), 0);
    for (const Label label : labels) there[static_cast<std::size_t>(label - *least)] = 1;
    for (std::size_t i = 0; i < there.size(); ++i) {
        if (there[i] != 0) found.push_back(*least + static_cast<Label>(i));
    }
    return found;
}

/// Common edge labels get the ids from 0, then one id for all others of the left graph and one for all of the right.
/// Whether there was time for it.
auto number_edge_labels(Problem& problem, const Deadline& deadline) -> bool {
    WorkMeter meter(deadline);
    std::array<std::vector<Label>, 2> seen;
    for (std::size_t s = 0; s < 2; ++s) {
        const auto& g = problem.graph[s];
        const auto size = indices_of(g).size();
        problem.edge_labels[s].assign(size, 0);
        if (g.edge_labels != nullptr && size > 0) {
            std::copy_n(g.edge_labels + g.indptr[0], size, problem.edge_labels[s].begin());
        }
        if (deadline.expired()) return false;
        seen[s] = distinct(problem.edge_labels[s]);
    }
    std::vector<Label> common;
    std::set_intersection(seen[0].begin(), seen[0].end(), seen[1].begin(), seen[1].end(), std::back_inserter(common));
    const int known = static_cast<int>(common.size());
    for (std::size_t s = 0; s < 2; ++s) {
        Label last = 0;  // runs of equal labels are common
        int id = -1;
        for (int& label : problem.edge_labels[s]) {
            if (id < 0 || label != last) {
                if (meter.expired(8)) return false;
                const auto at = std::lower_bound(common.begin(), common.end(), label);
                last = label;
                id = at != common.end() && *at == label ? static_cast<int>(at - common.begin())
                                                        : known + static_cast<int>(s);
            }
            label = id;
        }
    }
    const bool all_alike = known == 1 && seen[0].size() == 1 && seen[1].size() == 1;
    problem.planes = all_alike ? 1 : known + 2;
    return true;
}

/// Bounds that are known without a search.
auto trivial(const Problem& problem) -> Outcome {
    Outcome outcome{.lower = 0, .upper = 0, .branches = 0};
    for (const auto& group : problem.groups) {
        outcome.upper += std::min(group.last[0] - group.first[0], group.last[1] - group.first[1]);
    }
    return outcome;
}

auto solve(Workspace::Memory& memory, const Deadline& deadline) -> Outcome {
    constexpr int max_planes = 16;  // beyond, a set for each label and node costs more than it saves
    const auto& problem = memory.problem;
    const int n = std::max(problem.graph[0].n, problem.graph[1].n);
    if (problem.planes <= max_planes) {
        if (n <= BitSearch<1>::capacity) return memory.bits1.run(problem, deadline, memory.table, memory.best);
        if (n <= BitSearch<2>::capacity) return memory.bits2.run(problem, deadline, memory.table, memory.best);
        if (n <= BitSearch<4>::capacity) return memory.bits4.run(problem, deadline, memory.table, memory.best);
    }
    return memory.array.run(problem, deadline, memory.best);
}

}  // namespace

auto max_common_subgraph(const GraphView& left, const GraphView& right, const Params& params, const Deadline& deadline,
                         Workspace& workspace, std::span<Node> mapping) -> Bounds {
    auto& memory = workspace.memory();
    auto& problem = memory.problem;
    const bool swapped = before(right, left, params.edge_labels);
    problem.graph = swapped ? std::array{right, left} : std::array{left, right};
    problem.connected = params.connected;
    problem.planes = 1;
    group_by_label(problem);
    memory.best.clear();
    const bool ready = !params.edge_labels || number_edge_labels(problem, deadline);
    const auto outcome = ready ? solve(memory, deadline) : trivial(problem);
    if (outcome.lower > outcome.upper || outcome.lower != static_cast<int>(memory.best.size())) {
        throw std::logic_error("common subgraph: " + std::to_string(memory.best.size()) + " nodes found, lower bound " +
                               std::to_string(outcome.lower) + ", upper bound " + std::to_string(outcome.upper) +
                               "; please report this");
    }
    memory.branches = outcome.branches;
    std::fill(mapping.begin(), mapping.end(), Node{-1});
    for (const auto& match : memory.best) {
        if (swapped) {
            mapping[static_cast<std::size_t>(match.right)] = match.left;
        } else {
            mapping[static_cast<std::size_t>(match.left)] = match.right;
        }
    }
    return {.lower = outcome.lower, .upper = outcome.upper, .proven = outcome.lower == outcome.upper};
}

}  // namespace uge::mcs
