#include "class_plan.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace uge::ged {
namespace {

constexpr Node open = -2;

auto at(int i) -> std::size_t {
    return static_cast<std::size_t>(i);
}

}  // namespace

auto ClassPlan::start(const NodeClasses& classes) -> void {
    quotas_.clear();
    first_.assign(at(classes.size()), -1);
}

auto ClassPlan::write_in_order(const NodeClasses& classes, std::span<Node> mapping) -> void {
    cursor_.resize(at(classes.size()));
    for (const int j : classes.right()) {
        cursor_[at(j)] = classes[j].right;
    }
    for (const int i : classes.left()) {
        Node u = classes[i].left;
        for (int q = first_[at(i)]; q >= 0; q = quotas_[at(q)].next) {
            const int to = quotas_[at(q)].to;
            for (int k = 0; k < quotas_[at(q)].count; ++k) {
                mapping[at(u)] = to == deletion ? -1 : cursor_[at(to)];
                if (to != deletion) {
                    cursor_[at(to)] = classes.next_right(cursor_[at(to)]);
                }
                u = classes.next_left(u);
            }
        }
    }
}

auto ClassPlan::take_seed(int from) -> int {
    int q = first_[at(from)];
    while (quotas_[at(q)].count == 0) {
        q = quotas_[at(q)].next;
    }
    --quotas_[at(q)].count;
    return quotas_[at(q)].to;
}

auto ClassPlan::order_seeds(const NodeClasses& classes) -> void {
    order_.assign(classes.left().begin(), classes.left().end());
    const auto members = [&](int c) { return classes[c].num_left + classes[c].num_right; };
    const auto rarest =
        std::min_element(order_.begin(), order_.end(), [&](int a, int b) { return members(a) < members(b); });
    if (rarest != order_.end()) {
        std::iter_swap(order_.begin(), rarest);
    }
}

auto ClassPlan::write_by_bits(const GraphView& left, const GraphView& right, const NodeClasses& classes,
                              std::span<Node> mapping) -> void {
    const auto bit = [](Node v) { return std::uint64_t{1} << static_cast<unsigned>(v); };
    std::array<std::uint64_t, 64> row;  // neighbors of each node of right
    members_.assign(at(classes.size()), 0);
    for (Node v = 0; v < right.n; ++v) {
        members_[at(classes.of_right(v))] |= bit(v);
        std::uint64_t neighbors = 0;
        for (const Node y : right.neighbors(v)) {
            neighbors |= bit(y);
        }
        row[at(v)] = neighbors;
    }
    allowed_.assign(at(classes.size()), 0);  // images that the plan still has for a class of left
    for (const int i : classes.left()) {
        for (int q = first_[at(i)]; q >= 0; q = quotas_[at(q)].next) {
            allowed_[at(i)] |= quotas_[at(q)].to == deletion ? 0 : members_[at(quotas_[at(q)].to)];
        }
    }
    queue_.resize(at(left.n));
    std::uint64_t free = ~std::uint64_t{0};
    for (const int i : order_) {
        for (Node seed = classes[i].left; seed >= 0; seed = classes.next_left(seed)) {
            if (mapping[at(seed)] != open) {
                continue;
            }
            const std::uint64_t choice = free & allowed_[at(i)];
            if (choice == 0) {
                mapping[at(seed)] = -1;
                continue;
            }
            const auto match = [&](Node x, std::uint64_t choices) {
                const int from = classes.of_left(x);
                const Node y = std::countr_zero(choices);
                const int to = classes.of_right(y);
                Quota* const used = quota(from, to);
                if (--used->count == 0) {
                    allowed_[at(from)] &= ~members_[at(to)];
                }
                mapping[at(x)] = y;
                free &= ~bit(y);
            };
            std::size_t tail = 1;
            queue_[0] = seed;
            match(seed, choice);
            for (std::size_t head = 0; head < tail; ++head) {
                const Node u = queue_[head];
                std::uint64_t near = row[at(mapping[at(u)])] & free;
                if (near == 0 || tail == at(left.n)) {
                    continue;
                }
                for (const Node x : left.neighbors(u)) {
                    const std::uint64_t images = near & allowed_[at(classes.of_left(x))];
                    if (images != 0 && mapping[at(x)] == open) {
                        match(x, images);
                        near &= free;
                        queue_[tail++] = x;
                    }
                }
            }
        }
    }
}

auto ClassPlan::spread(const GraphView& left, const GraphView& right, const NodeClasses& classes, WorkMeter& meter,
                       std::span<Node> mapping) -> void {
    for (std::size_t head = 0; head < queue_.size(); ++head) {
        const Node u = queue_[head];
        const auto targets = right.neighbors(mapping[at(u)]);
        // Two hubs could take the product of their degrees; beyond the budget other neighbors are used.
        int budget = 64 + 4 * static_cast<int>(targets.size());
        if (meter.expired(left.degree(u) + 2 * budget)) {
            return;
        }
        for (const Node x : left.neighbors(u)) {
            if (mapping[at(x)] != open) {
                continue;
            }
            for (const Node y : targets) {
                if (--budget < 0) {
                    break;
                }
                if (taken_[at(y)] != 0) {
                    continue;
                }
                if (Quota* const found = quota(classes.of_left(x), classes.of_right(y)); found != nullptr) {
                    --found->count;
                    mapping[at(x)] = y;
                    taken_[at(y)] = 1;
                    queue_.push_back(x);
                    break;
                }
            }
        }
    }
}

auto ClassPlan::write_along_edges(const GraphView& left, const GraphView& right, const NodeClasses& classes,
                                  const Deadline& deadline, std::span<Node> mapping) -> void {
    std::fill(mapping.begin(), mapping.end(), open);
    order_seeds(classes);
    if (right.n <= 64) {
        write_by_bits(left, right, classes, mapping);
        return;
    }
    WorkMeter meter(deadline);
    taken_.assign(at(right.n), 0);
    cursor_.resize(at(classes.size()));
    for (const int j : classes.right()) {
        cursor_[at(j)] = classes[j].right;
    }
    for (const int i : order_) {
        for (Node u = classes[i].left; u >= 0; u = classes.next_left(u)) {
            if (mapping[at(u)] != open) {
                continue;
            }
            const int to = take_seed(i);
            if (to == deletion) {
                mapping[at(u)] = -1;
                continue;
            }
            Node& v = cursor_[at(to)];
            while (taken_[at(v)] != 0) {
                v = classes.next_right(v);
            }
            mapping[at(u)] = v;
            taken_[at(v)] = 1;
            queue_.assign(1, u);
            spread(left, right, classes, meter, mapping);
        }
    }
}

}  // namespace uge::ged
