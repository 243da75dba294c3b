#include "bipartite.hpp"

#include <algorithm>
#include <limits>

#include "bounds.hpp"

namespace uge::ged {
namespace {

/// Most cells of a matrix between kinds of nodes: 16 MB of doubles.
constexpr std::size_t max_cells = std::size_t{1} << 21;
/// From how many cells on it pays to look for labels that one graph has alone.
constexpr std::size_t many_cells = 256;

/// How far sums of doubles that mean the same may differ, relative to their size.
constexpr double rounding = 1e-12;

auto at(Node u) -> std::size_t {
    return static_cast<std::size_t>(u);
}

auto one_label(const GraphView& graph) -> bool {
    Label differ = 0;
    for (Node u = 1; u < graph.n; ++u) {
        differ |= graph.labels[u] ^ graph.labels[0];
    }
    return differ == 0;
}

/// Nodes by falling degree, equal ones in ascending order. Counting sort: linear.
auto order_by_degree(const GraphView& graph, std::vector<int>& count, std::vector<Node>& order) -> void {
    Node top = 0;
    for (Node u = 0; u < graph.n; ++u) {
        top = std::max(top, graph.degree(u));
    }
    count.assign(at(top) + 2, 0);
    for (Node u = 0; u < graph.n; ++u) {
        ++count[at(top - graph.degree(u)) + 1];
    }
    for (std::size_t d = 1; d < count.size(); ++d) {
        count[d] += count[d - 1];
    }
    order.resize(at(graph.n));
    for (Node u = 0; u < graph.n; ++u) {
        order[at(count[at(top - graph.degree(u))]++)] = u;
    }
}

/// Without labels the cost is convex in the difference of degrees, so the k-th largest goes to the k-th largest.
auto match_by_degree(const GraphView& left, const GraphView& right, BipartiteWorkspace& workspace,
                     std::span<Node> mapping) -> std::int64_t {
    order_by_degree(left, workspace.count, workspace.order_left);
    order_by_degree(right, workspace.count, workspace.order_right);
    std::int64_t excess = 0;
    for (std::size_t k = 0; k < at(left.n); ++k) {
        const Node u = workspace.order_left[k];
        const Node v = workspace.order_right[k];
        mapping[at(u)] = v;
        excess += std::max(0, left.degree(u) - right.degree(v));
    }
    return excess;
}

auto read_sizes(BipartiteWorkspace& workspace) -> void {
    const auto classes = workspace.classes.all();
    workspace.supply.clear();
    for (const int i : workspace.classes.left()) {
        workspace.supply.push_back(classes[at(i)].num_left);
    }
    workspace.capacity.clear();
    for (const int j : workspace.classes.right()) {
        workspace.capacity.push_back(classes[at(j)].num_right);
    }
}

/// Members matched as the transport says; `keep(from, to)` false deletes instead.
template <class Cost, class Keep>
auto write_flow(const assignment::Transport<Cost>& transport, NodeClasses& classes, std::span<Node> mapping,
                const Keep& keep) -> void {
    int row = 0;
    for (const int i : classes.left()) {
        NodeClass& from = classes.all()[at(i)];
        int column = 0;
        for (const int j : classes.right()) {
            NodeClass& to = classes.all()[at(j)];
            const int flow = transport.flow(row, column++);
            const bool kept = flow > 0 && keep(from, to);
            for (int k = 0; k < flow; ++k) {
                const Node u = classes.pop_left(from);
                const Node v = classes.pop_right(to);
                mapping[at(u)] = kept ? v : -1;
            }
        }
        ++row;
    }
}

/// Too many kinds of nodes for a matrix: same labels first, by falling degree, then the rest likewise. Returns a lower
/// bound on what the transport would: labels and degrees each at their own optimum.
auto match_greedily(const GraphView& left, const GraphView& right, int edge_weight, BipartiteWorkspace& workspace,
                    std::span<Node> mapping) -> std::int64_t {
    auto& classes = workspace.classes;
    const auto drain = [&](const GraphView& graph, bool is_left, std::vector<Node>& nodes) {
        nodes.clear();
        for (NodeClass& of : classes.all()) {
            while ((is_left ? of.num_left : of.num_right) > 0) {
                nodes.push_back(is_left ? classes.pop_left(of) : classes.pop_right(of));
            }
        }
        std::sort(nodes.begin(), nodes.end(), [&](Node a, Node b) {
            return graph.degree(a) != graph.degree(b) ? graph.degree(a) > graph.degree(b) : a < b;
        });
    };
    auto& us = workspace.order_left;
    auto& vs = workspace.order_right;
    drain(left, true, us);
    drain(right, false, vs);
    std::int64_t bound = 0;
    for (std::size_t k = 0; k < us.size(); ++k) {
        bound += edge_weight * std::max(0, left.degree(us[k]) - right.degree(vs[k]));
    }
    const auto by_label = [](const GraphView& graph) {
        return [&graph](Node a, Node b) { return graph.labels[a] < graph.labels[b]; };
    };
    std::stable_sort(us.begin(), us.end(), by_label(left));
    std::stable_sort(vs.begin(), vs.end(), by_label(right));
    std::size_t i = 0;
    std::size_t j = 0;
    std::size_t left_over = 0;
    std::size_t right_over = 0;
    while (i < us.size() || j < vs.size()) {
        const bool both = i < us.size() && j < vs.size();
        if (both && left.labels[us[i]] == right.labels[vs[j]]) {
            mapping[at(us[i++])] = vs[j++];
        } else if (j == vs.size() || (both && left.labels[us[i]] < right.labels[vs[j]])) {
            us[left_over++] = us[i++];
        } else {
            vs[right_over++] = vs[j++];
        }
    }
    const auto by_degree = [](const GraphView& graph) {
        return [&graph](Node a, Node b) { return graph.degree(a) > graph.degree(b); };
    };
    us.resize(left_over);
    vs.resize(right_over);
    std::stable_sort(us.begin(), us.end(), by_degree(left));
    std::stable_sort(vs.begin(), vs.end(), by_degree(right));
    for (std::size_t k = 0; k < us.size(); ++k) {
        mapping[at(us[k])] = vs[k];
    }
    return bound + static_cast<std::int64_t>(left_over);
}

/// Uniform costs are a metric, so no node of the smaller graph is deleted, and with insertions taken off in advance a
/// match costs [labels differ] + weight * max(0, missing degree), weight 1 for half and 2 for whole edges.
auto assign_uniform(const GraphView& left, const GraphView& right, EdgeShare share, const Deadline& deadline,
                    BipartiteWorkspace& workspace, std::span<Node> mapping) -> double {
    const int weight = share == EdgeShare::half ? 1 : 2;
    const std::int64_t more_edges = right.num_edges() - left.num_edges();
    const std::int64_t base = right.n - left.n + weight * more_edges;
    if (left.n == 0) {
        return static_cast<double>(base);
    }
    if (one_label(left) && one_label(right)) {
        const std::int64_t relabels = left.labels[0] == right.labels[0] ? 0 : left.n;
        return static_cast<double>(base + relabels + weight * match_by_degree(left, right, workspace, mapping));
    }
    auto& classes = workspace.classes;
    classes.build_without_pairs(left, right, mapping);
    if (classes.left().size() * classes.right().size() > many_cells) {
        classes.merge_foreign_labels();
    }
    if (classes.left().empty()) {
        return static_cast<double>(base);
    }
    if (classes.left().size() * classes.right().size() > max_cells) {
        const auto bound = static_cast<double>(base + match_greedily(left, right, weight, workspace, mapping));
        return share == EdgeShare::half
                   ? std::max(bound, hausdorff_lower_bound(left, right, EditCosts{}, deadline, workspace))
                   : bound;
    }
    const auto all = classes.all();
    workspace.integer_cost.resize(classes.left().size() * classes.right().size());
    std::int32_t* cell = workspace.integer_cost.data();
    for (const int i : classes.left()) {
        const NodeClass& from = all[at(i)];
        for (const int j : classes.right()) {
            const NodeClass& to = all[at(j)];
            *cell++ = (from.label != to.label) + weight * std::max(0, from.degree - to.degree);
        }
    }
    read_sizes(workspace);
    const std::int32_t total = workspace.integers.solve(
        workspace.integer_cost.data(), static_cast<int>(workspace.supply.size()),
        static_cast<int>(workspace.capacity.size()), workspace.supply.data(), workspace.capacity.data());
    write_flow(workspace.integers, classes, mapping, [](const NodeClass&, const NodeClass&) { return true; });
    return static_cast<double>(base + total);
}

/// Any costs: with a match never dearer than deleting and inserting, again every left node is matched; insertions are
/// taken off in advance.
auto assign_general(const GraphView& left, const GraphView& right, const EditCosts& costs, EdgeShare share,
                    const Deadline& deadline, BipartiteWorkspace& workspace, std::span<Node> mapping) -> double {
    auto& classes = workspace.classes;
    const bool edge_labels = !edges_keep_free(costs);
    classes.build(left, right, edge_labels);
    if (!edge_labels && costs.node_matrix == nullptr && classes.left().size() * classes.right().size() > many_cells) {
        classes.merge_foreign_labels();
    }
    const auto all = classes.all();
    LocalCosts local(costs, share, workspace.edges);
    double insertions = 0;
    for (const int j : classes.right()) {
        insertions += local.insert(all[at(j)]) * all[at(j)].num_right;
    }
    if (classes.left().empty()) {
        return insertions;
    }
    auto& cost = workspace.real_cost;
    cost.clear();
    bool fits = classes.left().size() * classes.right().size() <= max_cells;
    if (fits) {
        for (const int i : classes.left()) {
            const double remove = local.remove(all[at(i)]);
            for (const int j : classes.right()) {
                cost.push_back(std::min(local.replace(all[at(i)], all[at(j)]) - local.insert(all[at(j)]), remove));
            }
            if (deadline.expired()) {
                fits = false;
                break;
            }
        }
    }
    if (!fits) {
        match_greedily(left, right, 1, workspace, mapping);
        return share == EdgeShare::half ? hausdorff_lower_bound(left, right, costs, deadline, workspace)
                                        : size_lower_bound(left, right, costs);
    }
    read_sizes(workspace);
    const double total = workspace.reals.solve(cost.data(), static_cast<int>(workspace.supply.size()),
                                               static_cast<int>(workspace.capacity.size()), workspace.supply.data(),
                                               workspace.capacity.data());
    write_flow(workspace.reals, classes, mapping, [&](const NodeClass& from, const NodeClass& to) {
        return local.replace(from, to) <= local.remove(from) + local.insert(to);
    });
    return insertions + total;
}

auto upper_bound(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
                 BipartiteWorkspace& workspace, std::span<Node> mapping) -> Bounds {
    assign_nodes(left, right, costs, EdgeShare::whole, deadline, workspace, mapping);
    return {.lower = std::numeric_limits<double>::quiet_NaN(),
            .upper = edit_cost(left, right, costs, mapping),
            .proven = false};
}

}  // namespace

auto assign_nodes(const GraphView& left, const GraphView& right, const EditCosts& costs, EdgeShare share,
                  const Deadline& deadline, BipartiteWorkspace& workspace, std::span<Node> mapping) -> double {
    return costs.uniform() ? assign_uniform(left, right, share, deadline, workspace, mapping)
                           : assign_general(left, right, costs, share, deadline, workspace, mapping);
}

auto hungarian(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
               BipartiteWorkspace& workspace, std::span<Node> mapping) -> Bounds {
    return upper_bound(left, right, costs, deadline, workspace, mapping);
}

auto vj(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
        BipartiteWorkspace& workspace, std::span<Node> mapping) -> Bounds {
    return upper_bound(left, right, costs, deadline, workspace, mapping);
}

auto branch(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
            BipartiteWorkspace& workspace, std::span<Node> mapping) -> Bounds {
    const double lower = assign_nodes(left, right, costs, EdgeShare::half, deadline, workspace, mapping);
    const double upper = edit_cost(left, right, costs, mapping);
    const bool proven = lower >= upper * (1 - rounding);
    return {.lower = proven ? upper : lower, .upper = upper, .proven = proven};
}

}  // namespace uge::ged
