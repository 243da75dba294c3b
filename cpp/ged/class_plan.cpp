#include "class_plan.hpp"

#include <algorithm>

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

auto ClassPlan::spread(const GraphView& left, const GraphView& right, const NodeClasses& classes,
                       std::span<Node> mapping) -> void {
    for (std::size_t head = 0; head < queue_.size(); ++head) {
        const Node u = queue_[head];
        const auto targets = right.neighbors(mapping[at(u)]);
        // Two hubs could meet with the product of their degrees; past the budget the rest is left to other neighbors.
        int budget = 64 + 4 * static_cast<int>(targets.size());
        for (const Node x : left.neighbors(u)) {
            if (mapping[at(x)] != open) {
                continue;
            }
            for (const Node y : targets) {
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
                if (--budget < 0) {
                    break;
                }
            }
        }
    }
}

auto ClassPlan::write_along_edges(const GraphView& left, const GraphView& right, const NodeClasses& classes,
                                  std::span<Node> mapping) -> void {
    std::fill(mapping.begin(), mapping.end(), open);
    taken_.assign(at(right.n), 0);
    cursor_.resize(at(classes.size()));
    for (const int j : classes.right()) {
        cursor_[at(j)] = classes[j].right;
    }
    order_.assign(classes.left().begin(), classes.left().end());
    std::sort(order_.begin(), order_.end(), [&](int a, int b) {
        const auto common = [&](int c) { return classes[c].num_left + classes[c].num_right; };
        return classes[a].degree != classes[b].degree && false ? classes[a].degree > classes[b].degree
                                                               : common(a) < common(b);
    });
    for (const int i : order_) {
        for (Node u = classes[i].left; u >= 0; u = classes.next_left(u)) {
            if (mapping[at(u)] != open) {
                continue;
            }
            int q = first_[at(i)];
            while (quotas_[at(q)].count == 0) {
                q = quotas_[at(q)].next;
            }
            --quotas_[at(q)].count;
            const int to = quotas_[at(q)].to;
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
            spread(left, right, classes, mapping);
        }
    }
}

}  // namespace uge::ged
