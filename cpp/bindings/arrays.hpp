// Shared by the files that depend on Python: arrays without copies, checked graphs and costs, loops without the GIL.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../graph_faults.hpp"
#include "../pairwise.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bindings {

template <class T>
using Array = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Tick = nb::typed<nb::callable, void(std::int64_t)>;

template <class T>
auto span(const Array<T>& array) -> std::span<T> {
    return {array.data(), array.shape(0)};
}

inline void require(bool condition, const char* message) {
    if (!condition) {
        throw std::invalid_argument(message);
    }
}

/// The arrays of a GraphSet, kept alive as long as any view of them, and checked: solvers rely on it.
class Graphs {
  public:
    Graphs(Array<const std::int64_t> node_offsets, Array<const std::int64_t> indptr, Array<const uge::Node> indices,
           Array<const uge::Label> labels, std::optional<Array<const uge::Label>> edge_labels)
        : node_offsets_(std::move(node_offsets)),
          indptr_(std::move(indptr)),
          indices_(std::move(indices)),
          labels_(std::move(labels)),
          edge_labels_(std::move(edge_labels)) {
        if (const auto fault = uge::fault_of(packed(), edge_labels_.has_value()); !fault.empty()) {
            throw std::invalid_argument(fault);
        }
    }
    [[nodiscard]] auto packed() const -> uge::PackedGraphs {
        return {.node_offsets = span(node_offsets_),
                .indptr = span(indptr_),
                .indices = span(indices_),
                .labels = span(labels_),
                .edge_labels = edge_labels_ ? span(*edge_labels_) : std::span<const uge::Label>()};
    }

  private:
    Array<const std::int64_t> node_offsets_;
    Array<const std::int64_t> indptr_;
    Array<const uge::Node> indices_;
    Array<const uge::Label> labels_;
    std::optional<Array<const uge::Label>> edge_labels_;
};

/// EditCosts and the matrices they point into.
class Costs {
  public:
    Costs(double node_insert, double node_delete, double node_relabel, double edge_insert, double edge_delete,
          double edge_relabel, std::optional<Matrix> node_matrix, std::optional<Matrix> edge_matrix)
        : node_matrix_(std::move(node_matrix)), edge_matrix_(std::move(edge_matrix)) {
        costs_.node_insert = node_insert;
        costs_.node_delete = node_delete;
        costs_.node_relabel = node_relabel;
        costs_.edge_insert = edge_insert;
        costs_.edge_delete = edge_delete;
        costs_.edge_relabel = edge_relabel;
        set(node_matrix_, costs_.node_matrix, costs_.num_node_labels);
        set(edge_matrix_, costs_.edge_matrix, costs_.num_edge_labels);
        require(costs_.in_range(), "every cost must be 0 or from 1e-6 to 1e6");
    }
    /// The costs, once every label of both collections is known to lie inside the matrices.
    [[nodiscard]] auto checked(const uge::PackedGraphs& left, const uge::PackedGraphs& right) const
        -> const uge::EditCosts& {
        for (const auto& graphs : {left, right}) {
            require(!node_matrix_ || below(graphs.labels, costs_.num_node_labels), "a node label outside the matrix");
            require(!edge_matrix_ || below(graphs.edge_labels, costs_.num_edge_labels),
                    "an edge label outside the matrix");
            require(
                !edge_matrix_ || !graphs.edge_labels.empty() || graphs.indices.empty() || costs_.num_edge_labels > 0,
                "a matrix of edge costs without rows");
        }
        return costs_;
    }

  private:
    static void set(const std::optional<Matrix>& matrix, const double*& data, std::int32_t& side) {
        if (matrix) {
            require(matrix->shape(0) == matrix->shape(1), "a matrix of costs must be square");
            data = matrix->data();
            side = static_cast<std::int32_t>(matrix->shape(0));
        }
    }
    static auto below(std::span<const uge::Label> labels, std::int32_t side) -> bool {
        return std::all_of(labels.begin(), labels.end(), [&](uge::Label label) { return 0 <= label && label < side; });
    }

    uge::EditCosts costs_;
    std::optional<Matrix> node_matrix_;
    std::optional<Matrix> edge_matrix_;
};

/// Runs loop(control, watch) without the GIL. Every 50 ms it is acquired to check for signals and to call `tick` with
/// the number of finished pairs; an exception there (such as Ctrl-C) stops the loop and is rethrown to the caller.
template <class Loop>
void run(const Tick& tick, const Loop& loop) {
    uge::Control control;
    const auto watch = [&] {
        const nb::gil_scoped_acquire acquired;
        if (PyErr_CheckSignals() != 0) {
            throw nb::python_error();
        }
        tick(control.done.load());
    };
    const nb::gil_scoped_release released;
    loop(control, watch);
}

/// A vector as an array that owns it.
template <class T>
auto array(std::vector<T> values) -> Array<T> {
    auto* owned = new std::vector<T>(std::move(values));
    const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array<T>(owned->data(), {owned->size()}, owner);
}

}  // namespace bindings
