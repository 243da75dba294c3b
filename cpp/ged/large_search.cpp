#include "large_search.hpp"

#include <algorithm>
#include <numeric>

namespace uge::ged {

namespace {

constexpr std::size_t neighbors_tried = 8;
constexpr std::size_t places_tried = 24;
constexpr int passes = 6;

auto index(Node u) -> std::size_t {
    return static_cast<std::size_t>(u);
}

template <class Key>
auto fill_keys(const GraphView& graph, std::vector<Key>& keys) -> void {
    keys.resize(index(graph.n));
    for (Node u = 0; u < graph.n; ++u) {
        std::int64_t around = 0;
        for (const Node v : graph.neighbors(u)) {
            around += graph.degree(v);
        }
        keys[index(u)] = {graph.labels[u], (static_cast<std::int64_t>(graph.degree(u)) << 32) + around};
    }
}

}  // namespace

auto LargeSearch::prepare(const GraphView& left, const GraphView& right, std::span<const Node> map) -> void {
    left_ = left;
    right_ = right;
    at_.assign(index(right.n), -1);
    for (Node u = 0; u < left.n; ++u) {
        if (map[index(u)] >= 0) {
            at_[index(map[index(u)])] = u;
        }
    }
}

auto LargeSearch::pair(Node u, Node x, std::span<Node> map) -> void {
    map[index(u)] = x;
    at_[index(x)] = u;
    queue_.push_back(u);
}

/// Pairs the nodes of the two open lists: first equal labels, larger nodes first, then whatever is left.
auto LargeSearch::pair_lists(std::span<Node> map) -> void {
    const auto by = [](const std::vector<Key>& keys) {
        return [&keys](Node a, Node b) {
            const Key& first = keys[index(a)];
            const Key& second = keys[index(b)];
            return first.label != second.label ? first.label < second.label
                   : first.size != second.size ? first.size > second.size
                                               : a < b;
        };
    };
    std::sort(left_open_.begin(), left_open_.end(), by(left_keys_));
    std::sort(right_open_.begin(), right_open_.end(), by(right_keys_));
    std::size_t left_rest = 0;
    std::size_t right_rest = 0;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < left_open_.size() && j < right_open_.size()) {
        const Label from = left_keys_[index(left_open_[i])].label;
        const Label to = right_keys_[index(right_open_[j])].label;
        if (from == to) {
            pair(left_open_[i++], right_open_[j++], map);
        } else if (from < to) {
            left_open_[left_rest++] = left_open_[i++];
        } else {
            right_open_[right_rest++] = right_open_[j++];
        }
    }
    while (i < left_open_.size()) {
        left_open_[left_rest++] = left_open_[i++];
    }
    while (j < right_open_.size()) {
        right_open_[right_rest++] = right_open_[j++];
    }
    for (std::size_t k = 0; k < std::min(left_rest, right_rest); ++k) {
        pair(left_open_[k], right_open_[k], map);
    }
}

auto LargeSearch::pair_neighbors(Node u, Node x, std::span<Node> map) -> void {
    left_open_.clear();
    right_open_.clear();
    for (const Node v : left_.neighbors(u)) {
        if (map[index(v)] < 0) {
            left_open_.push_back(v);
        }
    }
    for (const Node y : right_.neighbors(x)) {
        if (at_[index(y)] < 0) {
            right_open_.push_back(y);
        }
    }
    if (!left_open_.empty() && !right_open_.empty()) {
        pair_lists(map);
    }
}

auto LargeSearch::grow(const GraphView& left, const GraphView& right, const Deadline& deadline, std::span<Node> map)
    -> void {
    WorkMeter meter(deadline);
    prepare(left, right, map);
    fill_keys(left, left_keys_);
    fill_keys(right, right_keys_);
    queue_.clear();
    const auto by_size = [](std::vector<Node>& order, const std::vector<Key>& keys) {
        order.resize(keys.size());
        std::iota(order.begin(), order.end(), Node{0});
        std::sort(order.begin(), order.end(), [&](Node a, Node b) {
            return keys[index(a)].size != keys[index(b)].size ? keys[index(a)].size > keys[index(b)].size : a < b;
        });
    };
    by_size(left_seeds_, left_keys_);
    by_size(right_seeds_, right_keys_);
    for (const Node u : left_seeds_) {
        if (map[index(u)] >= 0) {
            queue_.push_back(u);
        }
    }
    std::size_t done = 0;
    std::size_t left_seed = 0;
    std::size_t right_seed = 0;
    while (true) {
        for (; done < queue_.size(); ++done) {
            if (meter.expired(32 * (left.degree(queue_[done]) + right.degree(map[index(queue_[done])])))) {
                return;
            }
            pair_neighbors(queue_[done], map[index(queue_[done])], map);
        }
        while (left_seed < left_seeds_.size() && map[index(left_seeds_[left_seed])] >= 0) {
            ++left_seed;
        }
        while (right_seed < right_seeds_.size() && at_[index(right_seeds_[right_seed])] >= 0) {
            ++right_seed;
        }
        if (left_seed == left_seeds_.size() || right_seed == right_seeds_.size()) {
            return;
        }
        const Node u = left_seeds_[left_seed];  // of the next few on the right, one of the same label if there is one
        Node x = right_seeds_[right_seed];
        for (std::size_t k = right_seed; k < std::min(right_seed + places_tried, right_seeds_.size()); ++k) {
            const Node y = right_seeds_[k];
            if (at_[index(y)] < 0 && right_.labels[y] == left_.labels[u]) {
                x = y;
                break;
            }
        }
        pair(u, x, map);
    }
}

auto LargeSearch::edge_saving(std::int64_t from, std::int64_t to) const -> double {
    return costs_.edge_delete + costs_.edge_insert -
           keep_edge(costs_, edge_label_at(left_, from), edge_label_at(right_, to));
}

/// What u saves on x over being deleted: itself, and the edges to where its neighbors are.
auto LargeSearch::saving(Node u, Node x, std::span<const Node> map) const -> double {
    if (u < 0 || x < 0) {
        return 0;
    }
    double total = costs_.node_delete + costs_.node_insert - costs_.relabel_node(left_.labels[u], right_.labels[x]);
    if (left_.degree(u) <= right_.degree(x)) {
        for (auto e = left_.indptr[u]; e < left_.indptr[u + 1]; ++e) {
            const Node y = map[index(left_.indices[e])];
            const auto f = y < 0 ? -1 : find_edge(right_, y, x);
            total += f < 0 ? 0 : edge_saving(e, f);
        }
    } else {
        for (auto f = right_.indptr[x]; f < right_.indptr[x + 1]; ++f) {
            const Node v = at_[index(right_.indices[f])];
            const auto e = v < 0 ? -1 : find_edge(left_, v, u);
            total += e < 0 ? 0 : edge_saving(e, f);
        }
    }
    return total;
}

/// Gain of moving u to y (-1: deleting it), where it saves `now`, with the node there moving to the place of u.
auto LargeSearch::gain(Node u, Node y, double now, std::span<const Node> map) const -> double {
    const Node x = map[index(u)];
    const Node v = y < 0 ? -1 : at_[index(y)];
    double total = saving(u, y, map) - now;
    if (v >= 0) {
        total += saving(v, x, map) - saving(v, y, map);
        if (x >= 0) {
            const auto e = find_edge(left_, u, v);
            const auto f = find_edge(right_, x, y);
            total += e >= 0 && f >= 0 ? 2 * edge_saving(e, f) : 0;  // it was counted at both ends, and is kept
        }
    }
    return total;
}

auto LargeSearch::best_move(Node u, double now, WorkMeter& meter, std::span<const Node> map) -> Move {
    Move best{1e-9, map[index(u)]};
    const Node x = map[index(u)];
    const auto offer = [&](Node y) {
        const Node v = y < 0 ? -1 : at_[index(y)];
        if (y == x || (v >= 0 && left_.degree(v) > 4 * left_.degree(u) + 16)) {
            return;  // a hub is not replaced by a leaf
        }
        if (meter.expired(64 + 16 * left_.degree(u) + (v < 0 ? 0 : 16 * left_.degree(v)))) {
            return;
        }
        const double by = gain(u, y, now, map);
        if (by > best.gain) {
            best = {by, y};
        }
    };
    if (now < 0) {
        offer(-1);
    }
    const auto around = left_.neighbors(u);
    for (std::size_t i = 0; i < std::min(around.size(), neighbors_tried); ++i) {
        const Node z = map[index(around[around.size() <= neighbors_tried ? i : turn_++ % around.size()])];
        if (z < 0) {
            continue;
        }
        const auto places = right_.neighbors(z);
        for (std::size_t j = 0; j < std::min(places.size(), places_tried); ++j) {
            offer(places[places.size() <= places_tried ? j : turn_++ % places.size()]);
        }
    }
    return best;
}

auto LargeSearch::improve(const GraphView& left, const GraphView& right, const EditCosts& costs,
                          const Deadline& deadline, std::span<Node> map) -> double {
    WorkMeter meter(deadline);
    prepare(left, right, map);
    costs_ = costs;
    turn_ = 0;
    const double edge = costs.edge_delete + costs.edge_insert;
    const double node = costs.node_delete + costs.node_insert;
    bool changed = true;
    for (int pass = 0; pass < passes && changed; ++pass) {
        changed = false;
        for (Node u = 0; u < left.n; ++u) {
            if (meter.expired(16 * left.degree(u))) {
                return settled_cost(left, right, costs, deadline, map);
            }
            const double now = saving(u, map[index(u)], map);
            if (now >= node + edge * left.degree(u)) {
                continue;
            }
            const Move move = best_move(u, now, meter, map);
            if (move.to == map[index(u)]) {
                continue;
            }
            changed = true;
            const Node x = map[index(u)];
            const Node v = move.to < 0 ? -1 : at_[index(move.to)];
            map[index(u)] = move.to;
            if (x >= 0) {
                at_[index(x)] = v;
            }
            if (move.to >= 0) {
                at_[index(move.to)] = u;
            }
            if (v >= 0) {
                map[index(v)] = x;
            }
        }
    }
    return settled_cost(left, right, costs, deadline, map);
}

}  // namespace uge::ged
