#include "node_classes.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace uge::ged {
namespace {

constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;  // 2^64 by the golden ratio: spreads small keys over the high bits

/// One to one: equal only for equal nodes.
auto key(Label label, Node degree) -> std::uint64_t {
    return std::uint64_t{static_cast<std::uint32_t>(label)} << 32 | static_cast<std::uint32_t>(degree);
}

/// Of a node with the labels of its edges. Different nodes may share a hash.
auto hash(Label label, Node degree, const Label* edges) -> std::uint64_t {
    std::uint64_t value = key(label, degree);
    for (Node k = 0; k < degree; ++k) {
        value = (value ^ (value >> 29) ^ static_cast<std::uint32_t>(edges[k])) * odd;
    }
    return value;
}

/// Every row of edge labels sorted, from the start of `sorted`. Whether there was time for it.
auto sort_edge_labels(const GraphView& graph, WorkMeter& meter, std::vector<Label>& sorted) -> bool {
    if (graph.edge_labels == nullptr || graph.n == 0) {
        sorted.assign(static_cast<std::size_t>(2 * graph.num_edges()), 0);
        return true;
    }
    sorted.assign(graph.edge_labels + graph.indptr[0], graph.edge_labels + graph.indptr[graph.n]);
    for (Node u = 0; u < graph.n; ++u) {
        if (meter.expired(16 * graph.degree(u))) {
            return false;
        }
        std::sort(sorted.begin() + (graph.indptr[u] - graph.indptr[0]),
                  sorted.begin() + (graph.indptr[u + 1] - graph.indptr[0]));
    }
    return true;
}

}  // namespace

auto NodeClasses::start(Node left, Node right) -> void {
    for (const NodeClass& old : classes_) {
        slots_[old.slot].of = -1;
    }
    classes_.clear();
    left_.clear();
    right_.clear();
    const auto nodes = static_cast<std::size_t>(left) + static_cast<std::size_t>(right);
    const std::size_t size = std::bit_ceil(4 * nodes + 2);
    if (slots_.size() < size) {
        slots_.assign(size, {});
        classes_.reserve(size);
        for (auto* array : {&next_left_, &next_right_, &of_left_, &of_right_}) {
            array->resize(size);
        }
    }
    shift_ = 64 - std::countr_zero(size);
}

template <EdgeKeys keys>
[[gnu::always_inline]] inline auto NodeClasses::find(Label label, Node degree, const Label* edges, Star star)
    -> NodeClass& {
    const std::uint64_t own = keys == EdgeKeys::listed    ? hash(label, degree, edges)
                              : keys == EdgeKeys::counted ? key(label, degree) ^ (star ^ star >> 29) * odd
                                                          : key(label, degree);
    auto slot = static_cast<std::uint32_t>((own * odd) >> shift_);
    const std::uint32_t mask = ~std::uint32_t{0} >> (shift_ - 32);
    while (slots_[slot].of >= 0) {
        if (slots_[slot].key == own) {
            NodeClass& found = classes_[static_cast<std::size_t>(slots_[slot].of)];
            if (keys == EdgeKeys::none ||
                (found.label == label && found.degree == degree &&
                 (keys == EdgeKeys::counted ? found.star == star : std::equal(edges, edges + degree, found.edges)))) {
                return found;
            }
        }
        slot = (slot + 1) & mask;
    }
    slots_[slot] = {.key = own, .of = size()};
    NodeClass& made = classes_.emplace_back(NodeClass{.label = label, .degree = degree, .edges = edges, .slot = slot});
    if constexpr (keys == EdgeKeys::counted) {
        made.star = star;
    }
    return made;
}

template <EdgeKeys keys>
auto NodeClasses::build_as(const GraphView& left, const GraphView& right, const Deadline& deadline, RightOrder order)
    -> bool {
    constexpr std::int64_t per_node = 64;
    start(left.n, right.n);
    WorkMeter meter(deadline);
    if (keys == EdgeKeys::listed) {
        if (!sort_edge_labels(left, meter, sorted_left_) || !sort_edge_labels(right, meter, sorted_right_)) {
            return false;
        }
    }
    const auto class_of = [&](const GraphView& graph, const std::vector<Label>& sorted, const std::vector<Star>& stars,
                              Node u) -> NodeClass& {
        const Label* edges = keys == EdgeKeys::listed ? sorted.data() + (graph.indptr[u] - graph.indptr[0]) : nullptr;
        const Star star = keys == EdgeKeys::counted ? stars[static_cast<std::size_t>(u)] : 0;
        return find<keys>(graph.labels[u], graph.degree(u), edges, star);
    };
    for (Node u = left.n; u-- > 0;) {  // each goes to the front of its list
        if (meter.expired(per_node)) {
            return false;
        }
        NodeClass& of = class_of(left, sorted_left_, stars_left_, u);
        of_left_[static_cast<std::size_t>(u)] = static_cast<int>(&of - classes_.data());
        next_left_[static_cast<std::size_t>(u)] = of.left;
        of.left = u;
        ++of.num_left;
    }
    for (Node k = right.n; k-- > 0;) {
        const Node v = order == RightOrder::ascending ? k : right.n - 1 - k;
        if (meter.expired(per_node)) {
            return false;
        }
        NodeClass& of = class_of(right, sorted_right_, stars_right_, v);
        of_right_[static_cast<std::size_t>(v)] = static_cast<int>(&of - classes_.data());
        next_right_[static_cast<std::size_t>(v)] = of.right;
        of.right = v;
        ++of.num_right;
    }
    for (int c = 0; c < size(); ++c) {
        if (classes_[static_cast<std::size_t>(c)].num_left > 0) {
            left_.push_back(c);
        }
        if (classes_[static_cast<std::size_t>(c)].num_right > 0) {
            right_.push_back(c);
        }
    }
    return true;
}

auto NodeClasses::build(const GraphView& left, const GraphView& right, EdgeKeys keys, const Deadline& deadline,
                        RightOrder order) -> bool {
    starred_ =
        keys == EdgeKeys::counted && fill_stars(left, sums_, stars_left_) && fill_stars(right, sums_, stars_right_);
    return starred_                 ? build_as<EdgeKeys::counted>(left, right, deadline, order)
           : keys == EdgeKeys::none ? build_as<EdgeKeys::none>(left, right, deadline, order)
                                    : build_as<EdgeKeys::listed>(left, right, deadline, order);
}

auto NodeClasses::merge_side(std::vector<int>& side, const std::vector<int>& others, bool is_left) -> void {
    labels_.clear();
    for (const int c : others) {
        labels_.push_back(classes_[static_cast<std::size_t>(c)].label);
    }
    std::sort(labels_.begin(), labels_.end());
    const auto known = [&](int c) {
        return std::binary_search(labels_.begin(), labels_.end(), classes_[static_cast<std::size_t>(c)].label);
    };
    const auto foreign = std::stable_partition(side.begin(), side.end(), known);
    std::sort(foreign, side.end(), [&](int a, int b) {
        const NodeClass& x = classes_[static_cast<std::size_t>(a)];
        const NodeClass& y = classes_[static_cast<std::size_t>(b)];
        return x.degree != y.degree ? x.degree < y.degree : a < b;
    });
    auto& next = is_left ? next_left_ : next_right_;
    auto& class_of = is_left ? of_left_ : of_right_;
    auto kept = foreign;  // one past the last class that stays
    for (auto it = foreign; it != side.end(); ++it) {
        NodeClass& from = classes_[static_cast<std::size_t>(*it)];
        if (kept == foreign || classes_[static_cast<std::size_t>(*(kept - 1))].degree != from.degree) {
            *kept++ = *it;
            continue;
        }
        NodeClass& into = classes_[static_cast<std::size_t>(*(kept - 1))];
        const Node first = is_left ? from.left : from.right;
        Node& first_into = is_left ? into.left : into.right;
        Node last = first;
        for (Node u = first; u >= 0; u = next[static_cast<std::size_t>(u)]) {
            class_of[static_cast<std::size_t>(u)] = *(kept - 1);
            last = u;
        }
        next[static_cast<std::size_t>(last)] = first_into;
        first_into = first;
        (is_left ? into.num_left : into.num_right) += is_left ? from.num_left : from.num_right;
        (is_left ? from.num_left : from.num_right) = 0;
    }
    side.erase(kept, side.end());
}

auto NodeClasses::merge_foreign_labels() -> void {
    merge_side(left_, right_, true);
    merge_side(right_, left_, false);
}

}  // namespace uge::ged
