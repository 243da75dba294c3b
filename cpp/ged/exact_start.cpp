#include <algorithm>
#include <numeric>

#include "edit_cost.hpp"
#include "exact_scale.hpp"
#include "exact_uniform.hpp"

/// The setup of UniformSearch: copies of the two graphs, the layout of shares, and the root of the search.
namespace uge::ged {

using namespace uniform;

namespace {

/// Whether two nodes have the same label and, apart from each other, the same neighbors by edges of the same labels.
auto interchangeable(const GraphView& graph, bool edge_labels, Node u, Node w) -> bool {
    const auto mine = graph.neighbors(u);
    const auto theirs = graph.neighbors(w);
    const auto label = [&](Node of, std::size_t at) {
        return edge_labels ? edge_label_at(graph, graph.indptr[of] + static_cast<std::int64_t>(at)) : 0;
    };
    if (graph.labels[u] != graph.labels[w] || mine.size() != theirs.size()) {
        return false;
    }
    for (std::size_t i = 0, j = 0; i < mine.size() || j < theirs.size();) {
        if (i < mine.size() && mine[i] == w) {
            ++i;
        } else if (j < theirs.size() && theirs[j] == u) {
            ++j;
        } else if (i == mine.size() || j == theirs.size() || mine[i] != theirs[j] || label(u, i) != label(w, j)) {
            return false;
        } else {
            ++i;
            ++j;
        }
    }
    return true;
}

}  // namespace

auto UniformSearch::Side::assign(const GraphView& graph, bool edge_labels) -> void {
    n = graph.n;
    const auto size = index(n);
    first.resize(size + 1);
    label.assign(graph.labels, graph.labels + n);
    neighbor.clear();
    for (Node u = 0; u < n; ++u) {
        first[index(u)] = static_cast<Node>(neighbor.size());
        const auto row = graph.neighbors(u);
        neighbor.insert(neighbor.end(), row.begin(), row.end());
    }
    first[size] = static_cast<Node>(neighbor.size());
    edge_label.clear();
    stars.assign(size, 0);
    for (Node u = 0; edge_labels && u < n; ++u) {
        for (auto e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e) {
            edge_label.push_back(edge_label_at(graph, e));
            stars[index(u)] += star_of(edge_label.back());
        }
    }
    reverse.resize(neighbor.size());
    twin.assign(first.begin(), first.end());  // scratch: the first entry of each row whose reverse is not known yet
    for (Node u = 0; u < n; ++u) {
        for (Node e = first[index(u)]; e < first[index(u) + 1]; ++e) {  // rows are sorted, so reverses occur in order
            reverse[index(e)] = twin[index(neighbor[index(e)])]++;
        }
    }
}

auto UniformSearch::Side::find_twins(const GraphView& graph, bool edge_labels) -> void {
    twin.resize(index(n));
    for (Node u = 0; u < n; ++u) {
        Node w = 0;
        while (w < u && !(twin[index(w)] == w && interchangeable(graph, edge_labels, u, w))) {
            ++w;
        }
        twin[index(u)] = w;
    }
}

auto UniformSearch::Side::degree() const -> Node {
    Node most = 0;
    for (std::size_t u = 0; u < index(n); ++u) {
        most = std::max(most, first[u + 1] - first[u]);
    }
    return most;
}

/// Sets up the root of the search, with equal shares; false if its lower bound prunes it.
auto UniformSearch::start(const GraphView& left, const GraphView& right) -> bool {
    left_.assign(left, labeled_);
    right_.assign(right, labeled_);
    starred_ = labeled_ && std::max(left_.degree(), right_.degree()) < max_star;
    const auto n = index(left.n);
    const auto m = index(right.n);
    constexpr Node lanes = 16;
    stride_ = (right.n + lanes - 1) / lanes * lanes;
    const auto width = index(stride_);
    constexpr std::size_t max_shares = 1 << 25;      // in all levels together
    constexpr std::size_t max_shares_per_cell = 12;  // above this, equal halves and a larger search tree are faster
    const std::size_t arcs = left_.neighbor.size();
    const std::size_t pairs = arcs * right_.neighbor.size();
    sharing_ = pairs * n <= max_shares && pairs <= max_shares_per_cell * n * m && left_.degree() <= max_degree &&
               right_.degree() <= max_degree;
    const std::size_t planes = index(right_.degree());
    lay_out(sharing_ && planes <= max_planes && arcs * planes * width * n <= max_shares);
    const std::size_t shares = arcs * share_row_;
    constexpr std::int64_t first_budget = 20;
    budget_ = first_budget;

    image_.assign(n, open);
    adjacent_.assign(m * m, 0);
    label_between_.resize(labeled_ ? m * m : 0);
    for (Node v = 0; v < right.n; ++v) {
        for (const Node x : right.neighbors(v)) {
            adjacent_[index(v) * m + index(x)] = 1;
        }
        for (Node f = right_.first[index(v)]; labeled_ && f < right_.first[index(v) + 1]; ++f) {
            label_between_[index(v) * m + index(right_.neighbor[index(f)])] = right_.edge_label[index(f)];
        }
    }
    key_.resize(width);
    block_.resize(width);
    pred_.resize(width);
    scanned_.resize(width);
    scanned_at_.resize(width);
    mark_.assign(sharing_ ? shares : 0, 0);
    if (levels_.size() <= n) {
        levels_.resize(n + 1);
    }
    Level& root = levels_[0];
    root.unary.assign(n * width, 0);
    root.cost.assign((n + 1) * width, dropped);
    root.share.resize(sharing_ ? shares : 0);
    for (std::size_t e = 0; sharing_ && e < arcs; ++e) {
        const std::uint8_t* whole = whole_.data() + whole_of_[e] * share_row_;
        std::transform(whole, whole + share_row_, root.share.data() + e * share_row_,
                       [](std::uint8_t value) { return value == no_share ? no_share : std::uint8_t(value / 2); });
    }
    root.row_stars = left_.stars;
    root.col_stars = right_.stars;
    root.row_dual.assign(n + 1, 0);
    root.col_dual.assign(width, 0);
    root.row_to_col.assign(n, open);
    root.col_to_row.assign(width, gone);
    root.rows.resize(n);
    std::iota(root.rows.begin(), root.rows.end(), 0);
    root.row_degree.resize(n);
    root.col_degree.resize(width);
    for (Node v = 0; v < right.n; ++v) {
        root.col_degree[index(v)] = right.degree(v);
        root.col_to_row[index(v)] = open;
        root.cost[n * width + index(v)] = 0;
    }
    root.lower = constant_ * scale;
    for (Node u = 0; u < left.n; ++u) {
        root.row_degree[index(u)] = left.degree(u);
        Cost* unary = root.unary.data() + index(u) * width;
        Cost* cost = root.cost.data() + index(u) * width;
        Node like = 0;  // the first node whose row of costs is the same
        while (left.labels[like] != left.labels[u] || left.degree(like) != left.degree(u) ||
               left_.stars[index(like)] != left_.stars[index(u)]) {
            ++like;
        }
        if (like < u) {
            std::copy_n(root.unary.data() + index(like) * width, width, unary);
            std::copy_n(root.cost.data() + index(like) * width, width, cost);
            root.row_dual[index(u)] = root.row_dual[index(like)];
            root.lower += root.row_dual[index(u)];
            continue;
        }
        Cost least = dropped;
        for (Node v = 0; v < right.n; ++v) {
            unary[v] = left.labels[u] == right.labels[v] ? 0 : scale;
            const Node most = std::min(left.degree(u), right.degree(v));
            cost[v] = unary[v] - same_edges(left_.stars[index(u)], right_.stars[index(v)], most);
            least = std::min(least, cost[v]);
        }
        root.row_dual[index(u)] = least;
        root.lower += least;
    }
    if (!solve(root)) {
        return false;
    }
    for (Node v = 0; v < right.n; ++v) {
        if (root.col_to_row[index(v)] == open) {
            root.col_to_row[index(v)] = left.n;
        }
    }
    return true;
}

/// Computes the place of each edge of right in a row of shares, and its whole reward for each edge label of left. In
/// planes, the first edges of all nodes are contiguous, followed by the second ones, and so on.
auto UniformSearch::lay_out(bool in_planes) -> void {
    const std::size_t arcs = right_.neighbor.size();
    planes_ = in_planes ? index(right_.degree()) : 0;
    share_row_ = in_planes ? planes_ * index(stride_) : arcs;
    place_.resize(arcs);
    reverse_place_.resize(arcs);
    for (Node v = 0; v < right_.n; ++v) {
        for (Node f = right_.first[index(v)]; f < right_.first[index(v) + 1]; ++f) {
            const std::size_t plane = index(f - right_.first[index(v)]);
            place_[index(f)] = static_cast<std::uint32_t>(in_planes ? plane * index(stride_) + index(v) : index(f));
        }
    }
    for (std::size_t f = 0; f < arcs; ++f) {
        reverse_place_[f] = place_[index(right_.reverse[f])];
    }
    out_.assign(share_row_, 0);
    whole_.clear();
    whole_of_.assign(left_.neighbor.size(), 0);
    for (std::size_t e = 0; sharing_ && e < left_.neighbor.size(); ++e) {
        if (e > 0) {
            const auto begin = left_.edge_label.begin();
            const auto end = begin + static_cast<std::ptrdiff_t>(e);
            const auto before = labeled_ ? std::find(begin, end, left_.edge_label[e]) : begin;
            if (!labeled_ || before != end) {
                whole_of_[e] = labeled_ ? whole_of_[index(before - begin)] : 0;
                continue;
            }
        }
        whole_of_[e] = static_cast<std::uint32_t>(share_row_ == 0 ? 0 : whole_.size() / share_row_);
        whole_.resize(whole_.size() + share_row_, no_share);
        for (std::size_t f = 0; f < arcs; ++f) {
            whole_[whole_of_[e] * share_row_ + place_[f]] = static_cast<std::uint8_t>(reward_of(e, f));
        }
    }
}

}  // namespace uge::ged
