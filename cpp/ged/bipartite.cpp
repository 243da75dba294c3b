#include "bipartite.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "bounds.hpp"

namespace uge::ged {
namespace {

/// Most cells of a matrix between kinds of nodes; beyond it would take seconds.
constexpr std::size_t max_cells = std::size_t{1} << 19;
/// Number of cells from which it is worthwhile to find labels that only one graph has.
constexpr std::size_t many_cells = 256;
/// How far sums of the same doubles may differ by rounding, relative to their size.
constexpr double rounding = 1e-12;

auto one_label(const GraphView& graph) -> bool {
    Label differ = 0;
    for (Node u = 1; u < graph.n; ++u) {
        differ |= graph.labels[u] ^ graph.labels[0];
    }
    return differ == 0;
}

auto sort_by_falling_degree(const NodeClasses& classes, std::vector<Lot>& lots) -> void {
    std::sort(lots.begin(), lots.end(), [&](const Lot& a, const Lot& b) {
        return classes[a.of].degree != classes[b.of].degree ? classes[a.of].degree > classes[b.of].degree : a.of < b.of;
    });
}

/// Assigns rows to columns in order, until one of them is used up; returns by how much the degrees of rows exceed those
/// of the columns they are assigned to.
template <class Send>
auto pour(const NodeClasses& classes, std::span<Lot> rows, std::span<Lot> columns, const Send& send) -> std::int64_t {
    std::int64_t excess = 0;
    auto column = columns.begin();
    for (Lot& row : rows) {
        while (row.count > 0 && column != columns.end()) {
            const int moved = std::min(row.count, column->count);
            send(row.of, column->of, moved);
            excess += std::int64_t{moved} * std::max(0, classes[row.of].degree - classes[column->of].degree);
            row.count -= moved;
            column->count -= moved;
            column += column->count == 0;
        }
    }
    return excess;
}

/// Too many kinds of nodes for a matrix: same labels first, by falling degree, then the rest likewise. Returns a lower
/// bound on the cost of the cheapest assignment: the optimum by labels plus the optimum by degrees.
auto pour_greedily(const NodeClasses& classes, int weight, std::vector<Lot>& rows, std::vector<Lot>& columns,
                   ClassPlan& plan) -> std::int64_t {
    const auto send = [&](int from, int to, int count) { plan.send(from, to, count); };
    const auto by_label = [&](const Lot& a, const Lot& b) { return classes[a.of].label < classes[b.of].label; };
    sort_by_falling_degree(classes, rows);
    sort_by_falling_degree(classes, columns);
    auto some_rows = rows;
    auto some_columns = columns;
    std::int64_t bound = weight * pour(classes, some_rows, some_columns, [](int, int, int) {});
    std::stable_sort(rows.begin(), rows.end(), by_label);
    std::stable_sort(columns.begin(), columns.end(), by_label);
    for (auto row = rows.begin(); row != rows.end();) {
        const auto [columns_begin, columns_end] = std::equal_range(columns.begin(), columns.end(), *row, by_label);
        const auto row_end = std::upper_bound(row, rows.end(), *row, by_label);
        pour(classes, {row, row_end}, {columns_begin, columns_end}, send);
        row = row_end;
    }
    const auto empty = [](const Lot& lot) { return lot.count == 0; };
    std::erase_if(rows, empty);
    std::erase_if(columns, empty);
    sort_by_falling_degree(classes, rows);
    sort_by_falling_degree(classes, columns);
    for (const Lot& row : rows) {
        bound += row.count;
    }
    pour(classes, rows, columns, send);
    return bound;
}

/// Nothing where time was up before; rows and columns are as they were.
template <class Cost, class Keep>
auto solve_transport(const std::vector<Cost>& cost, assignment::Transport<Cost>& transport, const Deadline& deadline,
                     BipartiteWorkspace& workspace, const Keep& keep) -> std::optional<Cost> {
    workspace.supply.clear();
    for (const Lot& row : workspace.rows) {
        workspace.supply.push_back(row.count);
    }
    workspace.capacity.clear();
    for (const Lot& column : workspace.columns) {
        workspace.capacity.push_back(column.count);
    }
    const auto rows = static_cast<int>(workspace.rows.size());
    const auto columns = static_cast<int>(workspace.columns.size());
    const auto total = transport.solve(cost.data(), rows, columns, workspace.supply.data(), workspace.capacity.data(),
                                       [&] { return deadline.expired(); });
    for (int i = 0; total && i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
            if (const int count = transport.flow(i, j); count > 0) {
                const int from = workspace.rows[static_cast<std::size_t>(i)].of;
                const int to = workspace.columns[static_cast<std::size_t>(j)].of;
                workspace.plan.send(from, keep(from, to) ? to : ClassPlan::deletion, count);
            }
        }
    }
    return total;
}

/// Sets rows and columns to the nodes that are left when nodes of one class have been matched. Where costs are
/// a metric some optimum does so: whatever two equal nodes are matched with, matching them with each other and the
/// others with one another costs no more, by the triangle inequality.
auto send_likes(BipartiteWorkspace& workspace) -> void {
    const auto& classes = workspace.classes;
    for (const int i : classes.left()) {
        const int same = std::min(classes[i].num_left, classes[i].num_right);
        if (same > 0) {
            workspace.plan.send(i, i, same);
        }
        if (classes[i].num_left > same) {
            workspace.rows.push_back({.of = i, .count = classes[i].num_left - same});
        }
    }
    for (const int j : classes.right()) {
        if (classes[j].num_right > classes[j].num_left) {
            workspace.columns.push_back({.of = j, .count = classes[j].num_right - classes[j].num_left});
        }
    }
}

auto send_nothing(BipartiteWorkspace& workspace) -> void {
    const auto& classes = workspace.classes;
    for (const int i : classes.left()) {
        workspace.rows.push_back({.of = i, .count = classes[i].num_left});
    }
    for (const int j : classes.right()) {
        workspace.columns.push_back({.of = j, .count = classes[j].num_right});
    }
}

/// Whether there was time for it.
auto start(const GraphView& left, const GraphView& right, EdgeKeys keys, bool merge, RightOrder order,
           const Deadline& deadline, BipartiteWorkspace& workspace) -> bool {
    auto& classes = workspace.classes;
    if (!classes.build(left, right, keys, deadline, order)) {
        return false;
    }
    if (merge && classes.left().size() * classes.right().size() > many_cells) {
        classes.merge_foreign_labels();
    }
    workspace.plan.start(classes);
    workspace.rows.clear();
    workspace.columns.clear();
    return true;
}

/// Whether time is up and `pour_greedily` would take long.
auto no_time_to_sort(const Deadline& deadline, const BipartiteWorkspace& workspace) -> bool {
    constexpr std::size_t many = 4096;
    return workspace.rows.size() + workspace.columns.size() > many && deadline.expired();
}

/// Unit costs, more kinds of nodes than fit a matrix or too little time for it. `base` and `weight` as below.
auto assign_greedily(const GraphView& left, const GraphView& right, std::int64_t base, int weight,
                     const Deadline& deadline, BipartiteWorkspace& workspace) -> Assigned {
    if (no_time_to_sort(deadline, workspace)) {
        return {.cost = size_lower_bound(left, right, {}), .optimal = false, .planned = false};
    }
    const std::int64_t more =
        pour_greedily(workspace.classes, weight, workspace.rows, workspace.columns, workspace.plan);
    return {.cost = static_cast<double>(base + more), .optimal = false};
}

auto optimum(std::int64_t cost) -> Assigned {
    return {.cost = static_cast<double>(cost), .optimal = true};
}

/// Uniform costs are a metric, so no node of the smaller graph is deleted, and with insertions taken off in advance a
/// match costs [labels differ] + weight * max(0, missing degree), weight 1 for half and 2 for whole edges.
auto assign_uniform(const GraphView& left, const GraphView& right, EdgeShare share, RightOrder order,
                    const Deadline& deadline, BipartiteWorkspace& workspace) -> Assigned {
    const int weight = share == EdgeShare::half ? 1 : 2;
    const std::int64_t base = right.n - left.n + weight * (right.num_edges() - left.num_edges());
    const bool labeled = !one_label(left) || !one_label(right);
    if (!start(left, right, EdgeKeys::none, labeled, order, deadline, workspace)) {
        return {.cost = size_lower_bound(left, right, {}), .optimal = false, .planned = false};
    }
    const auto& classes = workspace.classes;
    if (left.n == 0) {
        return optimum(base);
    }
    if (!labeled) {  // convex in the difference of degrees: the k-th largest is assigned to the k-th largest
        send_nothing(workspace);
        sort_by_falling_degree(classes, workspace.rows);
        sort_by_falling_degree(classes, workspace.columns);
        const std::int64_t excess = pour(classes, workspace.rows, workspace.columns,
                                         [&](int from, int to, int count) { workspace.plan.send(from, to, count); });
        return optimum(base + (left.labels[0] == right.labels[0] ? 0 : left.n) + weight * excess);
    }
    send_likes(workspace);
    const std::size_t cells = workspace.rows.size() * workspace.columns.size();
    if (cells == 0) {
        return optimum(base);
    }
    const auto greedily = [&] { return assign_greedily(left, right, base, weight, deadline, workspace); };
    if (cells > max_cells) {
        return greedily();
    }
    auto& cost = workspace.integer_cost;
    cost.resize(cells);
    auto cell = cost.begin();
    for (const Lot& row : workspace.rows) {
        const NodeClass& from = classes[row.of];
        for (const Lot& column : workspace.columns) {
            const NodeClass& to = classes[column.of];
            *cell++ = (from.label != to.label) + weight * std::max(0, from.degree - to.degree);
        }
    }
    const auto total = solve_transport(cost, workspace.integers, deadline, workspace, [](int, int) { return true; });
    return total ? optimum(base + *total) : greedily();
}

/// The same where labels of edges count: in halves, a match costs 1 or 2 more for each edge that must change its label.
/// Precondition: classes have been built, with stars.
auto assign_labeled(const GraphView& left, const GraphView& right, EdgeShare share, const Deadline& deadline,
                    BipartiteWorkspace& workspace) -> Assigned {
    const int weight = share == EdgeShare::half ? 1 : 2;
    const std::int64_t base = right.n - left.n + weight * (right.num_edges() - left.num_edges());
    const auto& classes = workspace.classes;
    send_likes(workspace);
    const std::size_t cells = workspace.rows.size() * workspace.columns.size();
    if (cells == 0) {
        return optimum(base);
    }
    const auto greedily = [&] { return assign_greedily(left, right, base, weight, deadline, workspace); };
    if (cells > max_cells) {
        return greedily();
    }
    auto& cost = workspace.integer_cost;
    cost.resize(cells);
    auto cell = cost.begin();
    for (const Lot& row : workspace.rows) {
        const NodeClass& from = classes[row.of];
        for (const Lot& column : workspace.columns) {
            const NodeClass& to = classes[column.of];
            const Node changed = std::min(from.degree, to.degree) - star_overlap(from.star, to.star);
            *cell++ = 2 * (from.label != to.label) + weight * (2 * std::max(0, from.degree - to.degree) + changed);
        }
    }
    const auto twice = solve_transport(cost, workspace.integers, deadline, workspace, [](int, int) { return true; });
    return twice ? Assigned{.cost = static_cast<double>(base) + *twice / 2.0, .optimal = true} : greedily();
}

/// Any costs: with a match never more expensive than deleting and inserting, again every left node is matched;
/// insertions are taken off in advance. Precondition: classes have been built.
auto assign_general(const GraphView& left, const GraphView& right, const EditCosts& costs, EdgeShare share,
                    const Deadline& deadline, BipartiteWorkspace& workspace) -> Assigned {
    send_nothing(workspace);
    const auto& classes = workspace.classes;
    LocalCosts local(costs, share, classes, deadline, workspace.edges);
    double insertions = 0;
    for (const int j : classes.right()) {
        insertions += local.insert(classes[j]) * classes[j].num_right;
    }
    auto& cost = workspace.real_cost;
    cost.clear();
    bool fits = workspace.rows.size() * workspace.columns.size() <= max_cells;
    for (auto row = workspace.rows.begin(); fits && row != workspace.rows.end(); ++row) {
        const double remove = local.remove(classes[row->of]);
        for (const Lot& column : workspace.columns) {
            const NodeClass& to = classes[column.of];
            cost.push_back(std::min(local.replace(classes[row->of], to) - local.insert(to), remove));
            if (local.expired()) {
                fits = false;
                break;
            }
        }
    }
    const auto greedily = [&]() -> Assigned {
        if (no_time_to_sort(deadline, workspace)) {
            return {.cost = size_lower_bound(left, right, costs), .optimal = false, .planned = false};
        }
        pour_greedily(classes, 1, workspace.rows, workspace.columns, workspace.plan);
        return {.cost = size_lower_bound(left, right, costs), .optimal = false};
    };
    if (!fits) {
        return greedily();
    }
    if (left.n == 0) {
        return {.cost = insertions, .optimal = true};
    }
    const auto total = solve_transport(cost, workspace.reals, deadline, workspace, [&](int from, int to) {
        return local.replace(classes[from], classes[to]) <= local.remove(classes[from]) + local.insert(classes[to]);
    });
    return total ? Assigned{.cost = insertions + *total, .optimal = true} : greedily();
}

auto upper_bound(const GraphView& left, const GraphView& right, const EditCosts& costs, RightOrder order,
                 const Deadline& deadline, BipartiteWorkspace& workspace, std::span<Node> mapping) -> Bounds {
    if (assign_nodes(left, right, costs, EdgeShare::whole, order, deadline, workspace).planned) {
        workspace.plan.write_in_order(workspace.classes, mapping);
    } else {
        std::iota(mapping.begin(), mapping.end(), Node{0});
    }
    return {.lower = std::numeric_limits<double>::quiet_NaN(),
            .upper = settled_cost(left, right, costs, deadline, mapping),
            .proven = false};
}

}  // namespace

auto assign_nodes(const GraphView& left, const GraphView& right, const EditCosts& costs, EdgeShare share,
                  RightOrder order, const Deadline& deadline, BipartiteWorkspace& workspace) -> Assigned {
    if (costs.uniform() && !edge_labels_count(left, right, costs)) {
        return assign_uniform(left, right, share, order, deadline, workspace);
    }
    const bool merge = edges_keep_free(costs) && costs.node_matrix == nullptr;
    if (!start(left, right, edge_keys(costs), merge, order, deadline, workspace)) {
        return {.cost = size_lower_bound(left, right, costs), .optimal = false, .planned = false};
    }
    return costs.uniform() && workspace.classes.starred()
               ? assign_labeled(left, right, share, deadline, workspace)
               : assign_general(left, right, costs, share, deadline, workspace);
}

auto hungarian(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
               BipartiteWorkspace& workspace, std::span<Node> mapping) -> Bounds {
    return upper_bound(left, right, costs, RightOrder::ascending, deadline, workspace, mapping);
}

auto vj(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
        BipartiteWorkspace& workspace, std::span<Node> mapping) -> Bounds {
    return upper_bound(left, right, costs, RightOrder::descending, deadline, workspace, mapping);
}

auto branch(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
            BipartiteWorkspace& workspace, std::span<Node> mapping) -> Bounds {
    const Assigned assigned =
        assign_nodes(left, right, costs, EdgeShare::half, RightOrder::ascending, deadline, workspace);
    if (assigned.planned) {
        workspace.plan.write_along_edges(left, right, workspace.classes, deadline, mapping);
    } else {
        std::iota(mapping.begin(), mapping.end(), Node{0});
    }
    const double lower = assigned.optimal
                             ? assigned.cost
                             : std::max(assigned.cost, hausdorff_lower_bound(left, right, costs, deadline, workspace));
    const double upper = settled_cost(left, right, costs, deadline, mapping);
    const bool proven = lower >= upper * (1 - rounding);
    return {.lower = proven ? std::max(lower, upper) : lower, .upper = upper, .proven = proven};
}

}  // namespace uge::ged
