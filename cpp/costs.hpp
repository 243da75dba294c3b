#pragma once
#include <algorithm>

#include "graph.hpp"

namespace uge {

/// Least and largest cost of an edit that is not free. So sums stay far below infinity, which marks cells that are not
/// allowed, and sums over graphs of ten thousand edits are exact to less than the least cost.
constexpr double least_cost = 1e-6;
constexpr double most_cost = 1e6;

/// Whether solvers can represent a cost: 0, or from least_cost to most_cost.
inline auto is_cost(double value) -> bool {
    return value == 0 || (value >= least_cost && value <= most_cost);
}

/// What each edit costs. All are costs by `is_cost` (checked where they enter). Relabeling to the same label is free
/// unless a matrix says otherwise. By default every edit costs 1, and edge labels do not count.
struct EditCosts {
    double node_insert = 1;
    double node_delete = 1;
    double node_relabel = 1;
    double edge_insert = 1;
    double edge_delete = 1;
    double edge_relabel = 0;
    const double* node_matrix = nullptr;  ///< labels x labels, row = left label; replaces node_relabel
    const double* edge_matrix = nullptr;  ///< likewise for edges
    std::int32_t num_node_labels = 0;     ///< side of node_matrix
    std::int32_t num_edge_labels = 0;     ///< side of edge_matrix
    bool transposed = false;              ///< both matrices are read with row = right label

    /// Every edit costs 1, and relabeling an edge 1 or nothing: the fast path of integers.
    [[nodiscard]] auto uniform() const -> bool {
        return node_insert == 1 && node_delete == 1 && node_relabel == 1 && edge_insert == 1 && edge_delete == 1 &&
               (edge_relabel == 0 || edge_relabel == 1) && node_matrix == nullptr && edge_matrix == nullptr;
    }
    [[nodiscard]] auto relabel_node(Label from, Label to) const -> double {
        if (node_matrix != nullptr) {
            return node_matrix[entry(from, to, num_node_labels)];
        }
        return from == to ? 0 : node_relabel;
    }
    [[nodiscard]] auto relabel_edge(Label from, Label to) const -> double {
        if (edge_matrix != nullptr) {
            return edge_matrix[entry(from, to, num_edge_labels)];
        }
        return from == to ? 0 : edge_relabel;
    }
    /// The costs of the reverse direction: from right to left.
    [[nodiscard]] auto turned() const -> EditCosts {
        EditCosts back = *this;
        back.node_insert = node_delete;
        back.node_delete = node_insert;
        back.edge_insert = edge_delete;
        back.edge_delete = edge_insert;
        back.transposed = !transposed;
        return back;
    }

    /// Whether every constant and every entry of a matrix is a cost.
    [[nodiscard]] auto in_range() const -> bool {
        const auto all = [](const double* matrix, std::int32_t side) {
            const auto entries = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
            return matrix == nullptr || std::all_of(matrix, matrix + entries, is_cost);
        };
        return is_cost(node_insert) && is_cost(node_delete) && is_cost(node_relabel) && is_cost(edge_insert) &&
               is_cost(edge_delete) && is_cost(edge_relabel) && all(node_matrix, num_node_labels) &&
               all(edge_matrix, num_edge_labels);
    }

  private:
    [[nodiscard]] auto entry(Label from, Label to, std::int32_t side) const -> std::size_t {
        const auto row = static_cast<std::size_t>(transposed ? to : from);
        const auto column = static_cast<std::size_t>(transposed ? from : to);
        return row * static_cast<std::size_t>(side) + column;
    }
};

}  // namespace uge
