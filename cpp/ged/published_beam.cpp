#include "published_beam.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "edit_cost.hpp"

namespace uge::ged {

namespace {

constexpr Node deletion = -1;
constexpr Node completion = -2;  ///< all nodes that are left are deleted or inserted at once
constexpr double never = std::numeric_limits<double>::infinity();

auto index(Node u) -> std::size_t {
    return static_cast<std::size_t>(u);
}

class PublishedBeam {
  public:
    PublishedBeam(const GraphView& left, const GraphView& right, const EditCosts& costs, int width,
                  PublishedBeamWorkspace& workspace)
        : left_(left), right_(right), costs_(costs), width_(index(width)), workspace_(workspace) {
        workspace_.states.clear();
        workspace_.free.clear();
        workspace_.open.resize(2 * width_);
        workspace_.costs.resize(index(right.n));
        const int start = free_place();
        workspace_.states[0] = {.depth = 0, .used = 0, .users = 1};
        std::fill_n(burden_of(start), right.n, 0.0);
    }

    auto run(const Deadline& deadline, std::span<Node> mapping) -> void {
        auto& open = workspace_.open;
        int state = 0;
        double cost = 0;
        WorkMeter meter(deadline);
        bool expired = false;
        while (!complete(state)) {
            expired = meter.expired(work(state));
            if (expired) {
                break;
            }
            expand(state, cost);
            release(state);
            const auto next = open[first_++];
            cost = next.cost;
            if (next.image == completion) {
                state = next.state;
                break;
            }
            state = made(next);
        }
        const auto depth = workspace_.states[index(state)].depth;
        std::copy_n(images_of(state), depth, mapping.begin());
        std::fill(mapping.begin() + depth, mapping.end(), deletion);
        if (expired) {
            complete_in_order(left_, right_, costs_, mapping);
        }
    }

  private:
    using Child = PublishedBeamWorkspace::Child;

    GraphView left_;
    GraphView right_;
    EditCosts costs_;
    std::size_t width_;
    PublishedBeamWorkspace& workspace_;
    std::size_t first_ = 0;  ///< the open children, cheapest first, are at first_ <= i < last_ of `open`
    std::size_t last_ = 0;

    auto images_of(int state) -> Node* { return workspace_.images.data() + index(state) * index(left_.n); }
    auto burden_of(int state) -> double* { return workspace_.burdens.data() + index(state) * index(right_.n); }

    /// Of expanding a state and making one of its children.
    auto work(int state) const -> std::int64_t {
        const auto u = workspace_.states[index(state)].depth;
        const std::int64_t images =
            u < left_.n ? std::int64_t{left_.degree(u)} * right_.num_edges() / (right_.n + 1) : right_.num_edges();
        return 4 * (left_.n + right_.n + images);
    }

    auto complete(int state) const -> bool {
        const auto& [depth, used, users] = workspace_.states[index(state)];
        return depth == left_.n && used == right_.n;
    }

    auto free_place() -> int {
        auto& [states, free, images, burdens, open, step] = workspace_;
        if (free.empty()) {
            free.push_back(static_cast<int>(states.size()));
            states.emplace_back();
            images.resize(std::max(images.size(), states.size() * index(left_.n)));
            burdens.resize(std::max(burdens.size(), states.size() * index(right_.n)));
        }
        const int place = free.back();
        free.pop_back();
        return place;
    }
    auto release(int state) -> void {
        if (--workspace_.states[index(state)].users == 0) {
            workspace_.free.push_back(state);
        }
    }

    /// Precondition: it is cheaper than the last of a full list.
    auto add(const Child& child) -> void {
        auto& open = workspace_.open;
        if (last_ - first_ == width_) {
            release(open[--last_].state);
        } else if (last_ == open.size()) {
            std::copy(open.begin() + static_cast<std::ptrdiff_t>(first_), open.end(), open.begin());
            last_ -= first_;
            first_ = 0;
        }
        std::size_t place = last_++;
        for (; place > first_ && open[place - 1].cost > child.cost; --place) {
            open[place] = open[place - 1];
        }
        open[place] = child;
        ++workspace_.states[index(child.state)].users;
    }
    [[nodiscard]] auto limit() const -> double {
        return last_ - first_ < width_ ? never : workspace_.open[last_ - 1].cost;
    }
    auto offer(const Child& child) -> void {
        if (child.cost < limit()) {
            add(child);
        }
    }

    auto expand(int state, double cost) -> void {
        while (last_ - first_ > width_) {
            release(workspace_.open[--last_].state);
        }
        const auto& [u, used, users] = workspace_.states[index(state)];
        if (u == left_.n) {
            const double* burden = burden_of(state);
            std::int64_t edges = 0;
            for (Node x = 0; x < right_.n; ++x) {
                for (const Node y : right_.neighbors(x)) {
                    edges += burden[x] != never && (burden[y] == never || x < y);
                }
            }
            offer({cost + costs_.node_insert * (right_.n - used) + costs_.edge_insert * static_cast<double>(edges),
                   state, completion});
        } else if (used == right_.n) {
            std::int64_t edges = 0;
            for (Node v = u; v < left_.n; ++v) {
                edges += edges_before(v);
            }
            offer({cost + costs_.node_delete * (left_.n - u) + costs_.edge_delete * static_cast<double>(edges), state,
                   completion});
        } else {
            const double lost = cost + costs_.edge_delete * edges_before(u);
            fill_steps(state, u, lost);
            const double* step = workspace_.costs.data();
            double most = limit();
            for (Node x = 0; x < right_.n; ++x) {
                if (step[x] < most) {
                    add({step[x], state, x});
                    most = limit();
                }
            }
            offer({lost + costs_.node_delete, state, deletion});
        }
    }

    [[nodiscard]] auto edges_before(Node u) const -> Node {
        Node count = 0;
        for (const Node v : left_.neighbors(u)) {
            count += v < u;
        }
        return count;
    }

    /// What a state costs when u becomes each node of `right`; `lost`: when all its edges go.
    auto fill_steps(int state, Node u, double lost) -> void {
        const double* burden = burden_of(state);
        const Node* images = images_of(state);
        double* step = workspace_.costs.data();
        const Label label = left_.labels[u];
        for (Node x = 0; x < right_.n; ++x) {
            step[x] = lost + burden[x];
        }
        if (costs_.node_matrix == nullptr) {
            for (Node x = 0; x < right_.n; ++x) {
                step[x] += right_.labels[x] == label ? 0 : costs_.node_relabel;
            }
        } else {
            for (Node x = 0; x < right_.n; ++x) {
                step[x] += costs_.relabel_node(label, right_.labels[x]);
            }
        }
        const double edge = costs_.edge_delete + costs_.edge_insert;
        for (auto e = left_.indptr[u]; e < left_.indptr[u + 1]; ++e) {
            const Node v = left_.indices[e];
            if (v >= u || images[v] < 0) {
                continue;
            }
            for (auto f = right_.indptr[images[v]]; f < right_.indptr[images[v] + 1]; ++f) {
                step[right_.indices[f]] += keep_edge(costs_, edge_label_at(left_, e), edge_label_at(right_, f)) - edge;
            }
        }
    }

    /// The state that a child of another stands for.
    auto made(const Child& child) -> int {
        const int state = free_place();
        auto& [depth, used, users] = workspace_.states[index(state)];
        depth = workspace_.states[index(child.state)].depth;
        used = workspace_.states[index(child.state)].used;
        users = 1;
        std::copy_n(images_of(child.state), depth, images_of(state));
        std::copy_n(burden_of(child.state), right_.n, burden_of(state));
        images_of(state)[depth++] = child.image;
        if (child.image >= 0) {
            ++used;
            double* burden = burden_of(state);
            burden[child.image] = never;
            for (const Node y : right_.neighbors(child.image)) {
                burden[y] += costs_.edge_insert;
            }
        }
        release(child.state);
        return state;
    }
};

}  // namespace

auto published_beam(const GraphView& left, const GraphView& right, const EditCosts& costs, int width,
                    const Deadline& deadline, PublishedBeamWorkspace& workspace, std::span<Node> mapping) -> double {
    assert(width > 0);
    PublishedBeam(left, right, costs, width, workspace).run(deadline, mapping);
    return settled_cost(left, right, costs, deadline, mapping);
}

}  // namespace uge::ged
