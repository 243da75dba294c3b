#include "attributes.hpp"

#include <algorithm>
#include <cmath>

namespace uge {
namespace {

/// Labels of all edges, twice each, in the order of the rows.
auto edge_labels_of(const GraphView& graph) -> std::span<const Label> {
    if (graph.n == 0 || graph.edge_labels == nullptr) {
        return {};
    }
    return {graph.edge_labels + graph.indptr[0], static_cast<std::size_t>(2 * graph.num_edges())};
}

/// The codes that occur, sorted, once each.
void collect(std::span<const Label> left, std::span<const Label> right, std::vector<Label>& codes) {
    codes.assign(left.begin(), left.end());
    codes.insert(codes.end(), right.begin(), right.end());
    std::sort(codes.begin(), codes.end());
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
}

/// The place of each code among those that occur.
void renumber(std::span<const Label> from, const std::vector<Label>& codes, std::vector<Label>& to) {
    to.resize(from.size());
    std::transform(from.begin(), from.end(), to.begin(), [&](Label code) {
        return static_cast<Label>(std::lower_bound(codes.begin(), codes.end(), code) - codes.begin());
    });
}

/// relabel(label, label) plus the distance of the points, for every two codes.
template <class Relabel>
void fill(const Points& points, const std::vector<Label>& codes, const Relabel& relabel, std::vector<double>& matrix) {
    const std::size_t side = codes.size();
    matrix.resize(side * side);
    for (std::size_t i = 0; i < side; ++i) {
        for (std::size_t j = i; j < side; ++j) {
            const Label first = points.label_of[static_cast<std::size_t>(codes[i])];
            const Label second = points.label_of[static_cast<std::size_t>(codes[j])];
            const double apart = points.distance(codes[i], codes[j]);
            matrix[i * side + j] = relabel(first, second) + apart;
            matrix[j * side + i] = relabel(second, first) + apart;
        }
    }
}

}  // namespace

auto Points::distance(Label a, Label b) const -> double {
    const double* first = rows.data() + static_cast<std::size_t>(a) * width;
    const double* second = rows.data() + static_cast<std::size_t>(b) * width;
    double sum = 0;
    for (std::size_t i = 0; i < width; ++i) {
        sum += (first[i] - second[i]) * (first[i] - second[i]);
    }
    const double root = std::sqrt(sum);
    return root < least_cost ? 0 : root;
}

void PairCosts::take_edges(const GraphView& from, GraphView& to, std::vector<std::int64_t>& indptr,
                           std::vector<Label>& local) {
    if (from.n == 0) {
        return;
    }
    const auto begin = from.indptr[0];
    indptr.assign(from.indptr, from.indptr + from.n + 1);
    for (auto& place : indptr) {
        place -= begin;
    }
    renumber(edge_labels_of(from), codes_, local);
    to.indptr = indptr.data();
    to.indices = from.indices + begin;
    to.edge_labels = local.data();
}

void PairCosts::take(const GraphView& left, const GraphView& right) {
    left_ = left;
    right_ = right;
    costs_ = base_;
    if (nodes_.count()) {
        const std::span<const Label> own{left.labels, static_cast<std::size_t>(left.n)};
        const std::span<const Label> others{right.labels, static_cast<std::size_t>(right.n)};
        collect(own, others, codes_);
        renumber(own, codes_, left_labels_);
        renumber(others, codes_, right_labels_);
        fill(nodes_, codes_, [&](Label a, Label b) { return base_.relabel_node(a, b); }, node_matrix_);
        left_.labels = left_labels_.data();
        right_.labels = right_labels_.data();
        costs_.node_matrix = node_matrix_.data();
        costs_.num_node_labels = static_cast<std::int32_t>(codes_.size());
    }
    if (edges_.count()) {
        collect(edge_labels_of(left), edge_labels_of(right), codes_);
        take_edges(left, left_, left_indptr_, left_edges_);
        take_edges(right, right_, right_indptr_, right_edges_);
        fill(edges_, codes_, [&](Label a, Label b) { return base_.relabel_edge(a, b); }, edge_matrix_);
        costs_.edge_matrix = edge_matrix_.data();
        costs_.num_edge_labels = static_cast<std::int32_t>(codes_.size());
    }
}

}  // namespace uge
