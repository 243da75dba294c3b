#include "graphlets.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

namespace uge::substructures {

namespace {

using Code = unsigned;

auto bit(int i, int j) -> Code {
    return Code{1} << (std::max(i, j) * (std::max(i, j) - 1) / 2 + std::min(i, j));
}

auto edges_of(Code code) -> int {
    return std::popcount(code);
}

/// The code of the nodes listed, in this order.
auto induced(Code code, std::span<const int> nodes) -> Code {
    Code result = 0;
    for (int j = 1; j < static_cast<int>(nodes.size()); ++j) {
        for (int i = 0; i < j; ++i) {
            if (code & bit(nodes[static_cast<std::size_t>(i)], nodes[static_cast<std::size_t>(j)])) result |= bit(i, j);
        }
    }
    return result;
}

auto is_connected(Code code, int size) -> bool {
    unsigned reached = 1;
    for (int round = 1; round < size; ++round) {
        for (int i = 0; i < size; ++i) {
            for (int j = 0; j < size; ++j) {
                if (i != j && (reached >> i & 1) && (code & bit(i, j))) reached |= 1U << j;
            }
        }
    }
    return reached == (1U << size) - 1;
}

auto build_classes(int size) -> GraphletClasses {
    const Code num_codes = Code{1} << (size * (size - 1) / 2);
    std::vector<Code> smallest(num_codes, num_codes);
    std::vector<Code> representatives;
    for (Code code = 0; code < num_codes; ++code) {
        if (smallest[code] < num_codes) continue;
        representatives.push_back(code);
        std::array<int, 5> order{0, 1, 2, 3, 4};
        const auto nodes = std::span(order).first(static_cast<std::size_t>(size));
        do {
            smallest[induced(code, nodes)] = code;
        } while (std::next_permutation(nodes.begin(), nodes.end()));
    }
    std::stable_sort(representatives.begin(), representatives.end(),
                     [](Code a, Code b) { return edges_of(a) < edges_of(b); });
    GraphletClasses classes;
    classes.size = size;
    classes.class_of.resize(num_codes);
    for (std::size_t c = 0; c < representatives.size(); ++c) {
        classes.codes.push_back(static_cast<std::uint16_t>(representatives[c]));
        classes.connected.push_back(is_connected(representatives[c], size));
        for (Code code = 0; code < num_codes; ++code) {
            if (smallest[code] == representatives[c]) classes.class_of[code] = static_cast<std::uint8_t>(c);
        }
    }
    return classes;
}

/// C(n, k). Exact: every partial product is a binomial coefficient.
auto choose(std::int64_t n, std::int64_t k) -> std::int64_t {
    if (n < k) return 0;
    std::int64_t result = 1;
    for (std::int64_t i = 1; i <= k; ++i) result = result * (n - k + i) / i;
    return result;
}

/// The code of a graph of `size` nodes given by its edges.
auto code_of(std::initializer_list<std::pair<int, int>> edges) -> Code {
    Code code = 0;
    for (const auto& [i, j] : edges) code |= bit(i, j);
    return code;
}

auto class_of(int size, std::initializer_list<std::pair<int, int>> edges) -> std::size_t {
    return graphlet_classes(size).class_of[code_of(edges)];
}

/// The classes of size 4 by name.
struct Four {
    std::size_t none = class_of(4, {});
    std::size_t edge = class_of(4, {{0, 1}});
    std::size_t wedge = class_of(4, {{0, 1}, {1, 2}});
    std::size_t two_edges = class_of(4, {{0, 1}, {2, 3}});
    std::size_t triangle = class_of(4, {{0, 1}, {1, 2}, {0, 2}});
    std::size_t star = class_of(4, {{0, 1}, {0, 2}, {0, 3}});
    std::size_t path = class_of(4, {{0, 1}, {1, 2}, {2, 3}});
    std::size_t paw = class_of(4, {{0, 1}, {1, 2}, {0, 2}, {2, 3}});
    std::size_t cycle = class_of(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
    std::size_t diamond = class_of(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}});
    std::size_t complete = class_of(4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}});
};

auto four() -> const Four& {
    static const Four names;
    return names;
}

/// Relations of the counts of size 5: linear equations, each of which gives one disconnected class once the
/// connected classes and the classes of the equations before it are known.
struct Equation {
    enum class Kind { four, wedge_and_edge, triangle_and_edge } kind;
    std::size_t of;      ///< for Kind::four, the class of size 4
    std::size_t solves;  ///< the class of size 5
    std::array<std::int64_t, 34> weight{};
};

/// Occurrences in a graph of 5 nodes of what the equation counts: sets of 4 nodes of its class, or wedges (or
/// triangles) whose other two nodes are adjacent.
auto occurrences(Code code, const Equation& equation) -> std::int64_t {
    const auto& classes4 = graphlet_classes(4);
    std::int64_t total = 0;
    for (unsigned set = 0; set < 32; ++set) {
        std::array<int, 5> in{};
        std::array<int, 5> out{};
        std::size_t num_in = 0;
        std::size_t num_out = 0;
        for (int i = 0; i < 5; ++i) (set >> i & 1 ? in[num_in++] : out[num_out++]) = i;
        const Code part = induced(code, std::span(in).first(num_in));
        if (equation.kind == Equation::Kind::four) {
            total += num_in == 4 && classes4.class_of[part] == equation.of;
        } else {
            const int edges = equation.kind == Equation::Kind::wedge_and_edge ? 2 : 3;
            total += num_in == 3 && edges_of(part) == edges && (code & bit(out[0], out[1])) != 0;
        }
    }
    return total;
}

auto build_equations() -> std::vector<Equation> {
    using Kind = Equation::Kind;
    const auto& f = four();
    const auto& classes4 = graphlet_classes(4);
    const auto& classes5 = graphlet_classes(5);
    std::vector<Equation> equations;
    const auto with_lone_node = [&](std::size_t c) { return std::size_t{classes5.class_of[classes4.codes[c]]}; };
    for (std::size_t c = 0; c < classes4.codes.size(); ++c) {
        if (classes4.connected[c]) equations.push_back({Kind::four, c, with_lone_node(c)});
    }
    equations.push_back({Kind::wedge_and_edge, 0, class_of(5, {{0, 1}, {1, 2}, {3, 4}})});
    equations.push_back({Kind::triangle_and_edge, 0, class_of(5, {{0, 1}, {1, 2}, {0, 2}, {3, 4}})});
    for (const auto c : {f.triangle, f.wedge, f.two_edges, f.edge, f.none}) {
        equations.push_back({Kind::four, c, with_lone_node(c)});
    }
    for (auto& equation : equations) {
        for (std::size_t h = 0; h < classes5.codes.size(); ++h) {
            equation.weight[h] = occurrences(classes5.codes[h], equation);
        }
    }
    return equations;
}

/// A small generator (splitmix64), so that a seed gives the same numbers on every platform.
class Generator {
  public:
    explicit Generator(std::uint64_t seed) : state_(seed) {}
    auto next() -> std::uint64_t {
        state_ += 0x9e3779b97f4a7c15ULL;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    /// Uniform below `limit`: 32 random bits are scaled, the few that would favor some are drawn again.
    auto below(std::uint32_t limit) -> std::uint32_t {
        while (true) {
            const std::uint64_t scaled = (next() >> 32) * limit;
            const auto low = static_cast<std::uint32_t>(scaled);
            if (low >= limit || low >= (0U - limit) % limit) return static_cast<std::uint32_t>(scaled >> 32);
        }
    }

  private:
    std::uint64_t state_;
};

auto content_hash(const GraphView& graph) -> std::uint64_t {
    std::uint64_t h = static_cast<std::uint64_t>(graph.n);
    const auto mix = [&](std::uint64_t value) {
        h = (h ^ value) * 0xff51afd7ed558ccdULL;
        h ^= h >> 32;
    };
    for (Node u = 0; u < graph.n; ++u) {
        mix(static_cast<std::uint64_t>(graph.degree(u)));
        for (const Node v : graph.neighbors(u)) mix(static_cast<std::uint64_t>(v));
    }
    return h;
}

}  // namespace

auto graphlet_classes(int size) -> const GraphletClasses& {
    assert(size >= 3 && size <= 5);
    static const std::array<GraphletClasses, 3> all{build_classes(3), build_classes(4), build_classes(5)};
    return all[static_cast<std::size_t>(size - 3)];
}

auto connected_sets_bound(const GraphView& graph) -> double {
    double trees = 0;  // spanning trees: stars, forks, paths
    for (Node u = 0; u < graph.n; ++u) {
        const double d = graph.degree(u);
        trees += d * (d - 1) * (d - 2) * (d - 3) / 24;
        double sum = 0;
        double squares = 0;
        for (const Node v : graph.neighbors(u)) {
            const double on = graph.degree(v) - 1;
            sum += on;
            squares += on * on;
        }
        trees += (sum * sum - squares) / 2;
        trees += sum * (d - 1) * (d - 2) / 2;
    }
    return trees;
}

auto GraphletCounter::count(const GraphView& graph, int size, const Deadline& deadline, std::span<std::int64_t> counts)
    -> bool {
    assert(counts.size() == graphlet_classes(size).codes.size() && graph.n <= max_nodes);
    std::fill(counts.begin(), counts.end(), 0);
    if (graph.n < size) return true;
    return size == 3   ? count3(graph, deadline, counts)
           : size == 4 ? count4(graph, deadline, counts)
                       : count5(graph, deadline, counts);
}

auto GraphletCounter::count3(const GraphView& graph, const Deadline& deadline, std::span<std::int64_t> counts) -> bool {
    const std::int64_t n = graph.n;
    WorkMeter meter(deadline);
    mark_.assign(static_cast<std::size_t>(n), 0);
    std::int64_t triangles = 0;
    std::int64_t wedges = 0;  // with those inside triangles
    for (Node u = 0; u < n; ++u) {
        const std::int64_t d = graph.degree(u);
        wedges += d * (d - 1) / 2;
        for (const Node v : graph.neighbors(u)) mark_[static_cast<std::size_t>(v)] = u + 1;
        for (const Node v : graph.neighbors(u)) {
            if (v > u) break;
            if (meter.expired(8 + graph.degree(v))) return false;
            for (const Node w : graph.neighbors(v)) {
                if (w > v) break;
                triangles += mark_[static_cast<std::size_t>(w)] == u + 1;
            }
        }
    }
    counts[3] = triangles;
    counts[2] = wedges - 3 * triangles;
    counts[1] = graph.num_edges() * (n - 2) - 2 * counts[2] - 3 * counts[3];
    counts[0] = choose(n, 3) - counts[1] - counts[2] - counts[3];
    return true;
}

/// Counts subgraphs that need not be induced, then takes off those inside denser classes.
auto GraphletCounter::count4(const GraphView& graph, const Deadline& deadline, std::span<std::int64_t> counts) -> bool {
    const std::int64_t n = graph.n;
    WorkMeter meter(deadline);
    const std::int64_t m = graph.num_edges();
    const auto at = [](Node u) { return static_cast<std::size_t>(u); };
    mark_.assign(at(graph.n), 0);
    inner_mark_.assign(at(graph.n), 0);
    node_triangles_.assign(at(graph.n), 0);
    std::int64_t triangles = 0, wedges = 0, stars = 0, paths = 0, paws = 0, cycles = 0, diamonds = 0, complete = 0;
    std::int32_t inner = 0;
    for (Node u = 0; u < graph.n; ++u) {
        const std::int64_t d = graph.degree(u);
        wedges += d * (d - 1) / 2;
        stars += d * (d - 1) * (d - 2) / 6;
        for (const Node v : graph.neighbors(u)) mark_[at(v)] = u + 1;
        for (const Node v : graph.neighbors(u)) {
            if (v > u) break;
            if (meter.expired(8 + graph.degree(v))) return false;
            paths += (d - 1) * (graph.degree(v) - 1);
            std::int64_t shared = 0;
            common_.clear();  // below v: every triangle and complete graph is found once, from its largest nodes
            for (const Node w : graph.neighbors(v)) {
                if (mark_[at(w)] != u + 1) continue;
                ++shared;
                ++node_triangles_[at(w)];
                if (w < v) common_.push_back(w);
            }
            diamonds += shared * (shared - 1) / 2;
            triangles += static_cast<std::int64_t>(common_.size());
            if (common_.size() < 2) continue;
            ++inner;
            for (const Node w : common_) inner_mark_[at(w)] = inner;
            for (const Node w : common_) {
                if (meter.expired(graph.degree(w))) return false;
                for (const Node x : graph.neighbors(w)) {
                    if (x > w) break;
                    complete += inner_mark_[at(x)] == inner;
                }
            }
        }
    }
    // Pairs of nodes with c common neighbors lie opposite each other in c choose 2 cycles; a cycle has two such pairs.
    std::fill(mark_.begin(), mark_.end(), 0);
    for (Node u = 0; u < graph.n; ++u) {
        for (const Node v : graph.neighbors(u)) {
            if (meter.expired(8 + 2 * graph.degree(v))) return false;
            for (const Node w : graph.neighbors(v)) {
                if (w >= u) break;
                cycles += mark_[at(w)]++;
            }
        }
        for (const Node v : graph.neighbors(u)) {
            for (const Node w : graph.neighbors(v)) {
                if (w >= u) break;
                mark_[at(w)] = 0;
            }
        }
    }
    cycles /= 2;
    paths -= 3 * triangles;
    for (Node u = 0; u < graph.n; ++u) paws += node_triangles_[at(u)] * (graph.degree(u) - 2);

    const auto& f = four();
    auto& c = counts;
    c[f.complete] = complete;
    c[f.diamond] = diamonds - 6 * complete;
    c[f.cycle] = cycles - c[f.diamond] - 3 * complete;
    c[f.paw] = paws - 4 * c[f.diamond] - 12 * complete;
    c[f.star] = stars - c[f.paw] - 2 * c[f.diamond] - 4 * complete;
    c[f.path] = paths - 4 * c[f.cycle] - 2 * c[f.paw] - 6 * c[f.diamond] - 12 * complete;
    c[f.triangle] = triangles * (n - 3) - c[f.paw] - 2 * c[f.diamond] - 4 * complete;
    c[f.wedge] = wedges * (n - 3) - 3 * c[f.triangle] - 3 * c[f.star] - 2 * c[f.path] - 4 * c[f.cycle] - 5 * c[f.paw] -
                 8 * c[f.diamond] - 12 * complete;
    c[f.two_edges] = m * (m - 1) / 2 - wedges - c[f.path] - c[f.paw] - 2 * c[f.cycle] - 2 * c[f.diamond] - 3 * complete;
    c[f.edge] = m * choose(n - 2, 2) - 2 * (c[f.two_edges] + c[f.wedge]) - 3 * (c[f.triangle] + c[f.star] + c[f.path]) -
                4 * (c[f.cycle] + c[f.paw]) - 5 * c[f.diamond] - 6 * complete;
    c[f.none] = 0;
    c[f.none] = choose(n, 4) - std::accumulate(c.begin(), c.end(), std::int64_t{0});
    return true;
}

/// Visits every connected set of 5 nodes that has `root` as its smallest and begins with the `size` nodes of `code`
/// (Wernicke 2006: a node may join if it is adjacent to the newest node, but to no earlier one). Nodes that may join
/// stand in extension_[first, last).
auto GraphletCounter::extend(const GraphView& graph, Node root, int size, unsigned code, std::size_t first,
                             std::size_t last) -> bool {
    const auto& classes = graphlet_classes(5);
    const int shift = size * (size - 1) / 2;
    if (size == 4) {
        for (std::size_t i = first; i < last; ++i) {
            const unsigned seen_by = seen_by_[static_cast<std::size_t>(extension_[i])];
            ++counts_[classes.class_of[code | seen_by << shift]];
        }
        constexpr std::int64_t every = 1 << 16;
        visited_ += static_cast<std::int64_t>(last - first);
        if (visited_ < every) return true;
        visited_ = 0;
        return !deadline_->expired();
    }
    const auto own = static_cast<std::uint8_t>(1U << size);
    for (std::size_t i = last; i-- > first;) {
        const Node w = extension_[i];
        const unsigned seen_by = seen_by_[static_cast<std::size_t>(w)];
        // What may join next: those before w in the list, and w's neighbors that are new.
        extension_.resize(last);
        for (std::size_t k = first; k < i; ++k) extension_.push_back(Node{extension_[k]});
        for (const Node x : graph.neighbors(w)) {
            auto& seen = seen_by_[static_cast<std::size_t>(x)];
            if (seen == 0 && x > root) extension_.push_back(x);
            seen |= own;
        }
        const bool going = extend(graph, root, size + 1, code | seen_by << shift, last, extension_.size());
        for (const Node x : graph.neighbors(w)) {
            seen_by_[static_cast<std::size_t>(x)] &= static_cast<std::uint8_t>(~own);
        }
        if (!going) return false;
    }
    return true;
}

auto GraphletCounter::count5(const GraphView& graph, const Deadline& deadline, std::span<std::int64_t> counts) -> bool {
    static const auto equations = build_equations();
    deadline_ = &deadline;
    counts_ = counts;
    visited_ = 0;
    seen_by_.assign(static_cast<std::size_t>(graph.n), 0);
    for (Node root = 0; root < graph.n; ++root) {
        extension_.clear();
        for (const Node x : graph.neighbors(root)) {
            seen_by_[static_cast<std::size_t>(x)] = 1;
            if (x > root) extension_.push_back(x);
        }
        const bool going = extend(graph, root, 1, 0, 0, extension_.size());
        for (const Node x : graph.neighbors(root)) seen_by_[static_cast<std::size_t>(x)] = 0;
        if (!going) return false;
    }

    std::array<std::int64_t, 11> counts4{};
    if (!count4(graph, deadline, counts4)) return false;
    const std::int64_t m = graph.num_edges();
    std::int64_t wedge_and_edge = 0;  // induced wedges, each with an edge that shares no node with it
    std::int64_t triangle_and_edge = 0;
    std::int64_t wedges = 0;
    std::int64_t triangles = 0;
    mark_.assign(static_cast<std::size_t>(graph.n), 0);
    for (Node u = 0; u < graph.n; ++u) {
        // Wedges with middle u, triangles with u in them (each three times): edges at their nodes, from u's side.
        const std::int64_t d = graph.degree(u);
        const std::int64_t closed = node_triangles_[static_cast<std::size_t>(u)];
        const std::int64_t open = d * (d - 1) / 2 - closed;
        wedges += open;
        triangles += closed;
        wedge_and_edge -= open * d;
        triangle_and_edge -= closed * d;
        for (const Node v : graph.neighbors(u)) mark_[static_cast<std::size_t>(v)] = u + 1;
        for (const Node v : graph.neighbors(u)) {
            std::int64_t shared = 0;
            for (const Node w : graph.neighbors(v)) shared += mark_[static_cast<std::size_t>(w)] == u + 1;
            wedge_and_edge -= (d - 1 - shared) * graph.degree(v);  // v is an end of so many wedges with middle u
        }
    }
    triangles /= 3;
    wedge_and_edge += wedges * (m + 2);
    triangle_and_edge += triangles * (m + 3);
    for (const auto& equation : equations) {
        std::int64_t total = 0;
        switch (equation.kind) {
            case Equation::Kind::four:
                total = counts4[equation.of] * (graph.n - 4);
                break;
            case Equation::Kind::wedge_and_edge:
                total = wedge_and_edge;
                break;
            case Equation::Kind::triangle_and_edge:
                total = triangle_and_edge;
                break;
        }
        for (std::size_t h = 0; h < counts.size(); ++h) {
            if (h != equation.solves) total -= equation.weight[h] * counts[h];
        }
        counts[equation.solves] = total / equation.weight[equation.solves];
    }
    return true;
}

void GraphletCounter::sample(const GraphView& graph, int size, std::int64_t samples, std::uint64_t seed,
                             std::span<std::int64_t> counts) {
    const auto& classes = graphlet_classes(size);
    assert(counts.size() == classes.codes.size());
    std::fill(counts.begin(), counts.end(), 0);
    if (graph.n < size) return;
    Generator random(seed ^ content_hash(graph));
    std::array<Node, 5> set{};
    for (std::int64_t s = 0; s < samples; ++s) {
        Code code = 0;
        for (int j = 0; j < size; ++j) {
            Node u = 0;
            bool again = true;
            while (again) {
                u = static_cast<Node>(random.below(static_cast<std::uint32_t>(graph.n)));
                again = std::find(set.begin(), set.begin() + j, u) != set.begin() + j;
            }
            set[static_cast<std::size_t>(j)] = u;
            const auto row = graph.neighbors(u);
            for (int i = 0; i < j; ++i) {
                if (std::binary_search(row.begin(), row.end(), set[static_cast<std::size_t>(i)])) code |= bit(i, j);
            }
        }
        ++counts[classes.class_of[code]];
    }
}

}  // namespace uge::substructures
