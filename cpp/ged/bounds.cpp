#include "bounds.hpp"

#include <algorithm>
#include <limits>

namespace uge::ged {

auto size_lower_bound(const GraphView& left, const GraphView& right, const EditCosts& costs) -> double {
    const double nodes = left.n - right.n;
    const auto edges = static_cast<double>(left.num_edges() - right.num_edges());
    return (nodes > 0 ? nodes * costs.node_delete : -nodes * costs.node_insert) +
           (edges > 0 ? edges * costs.edge_delete : -edges * costs.edge_insert);
}

auto hausdorff_lower_bound(const GraphView& left, const GraphView& right, const EditCosts& costs,
                           const Deadline& deadline, BipartiteWorkspace& workspace) -> double {
    const double by_size = size_lower_bound(left, right, costs);
    if (!workspace.classes.build(left, right, edge_keys(costs), deadline)) {
        return by_size;
    }
    const auto& classes = workspace.classes;
    LocalCosts local(costs, EdgeShare::half, classes, deadline, workspace.edges);
    auto& nearest = workspace.real_cost;  // of every class with members in right
    nearest.clear();
    for (const int j : workspace.classes.right()) {
        nearest.push_back(local.insert(classes[j]));
    }
    double sum = 0;
    for (const int i : workspace.classes.left()) {
        const NodeClass& from = classes[i];
        double least = local.remove(from);
        std::size_t k = 0;
        for (const int j : workspace.classes.right()) {
            const double half = local.replace(from, classes[j]) / 2;
            if (local.expired()) {
                return by_size;
            }
            least = std::min(least, half);
            nearest[k] = std::min(nearest[k], half);
            ++k;
        }
        sum += least * from.num_left;
    }
    std::size_t k = 0;
    for (const int j : workspace.classes.right()) {
        sum += nearest[k++] * classes[j].num_right;
    }
    return std::max(sum, by_size);
}

}  // namespace uge::ged
