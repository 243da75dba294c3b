#pragma once
#include <memory>
#include <vector>

#include "../pairwise.hpp"
#include "oracles.hpp"

/// A collection that owns its arrays.
struct Collection {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int64_t> indptr{0};
    std::vector<uge::Node> indices;
    std::vector<uge::Label> labels;
    std::vector<uge::Label> edge_labels;  ///< empty: edges carry no labels

    /// Precondition: all graphs with edges have labels on them, or none.
    void add(const oracle::Graph& graph) {
        const std::int64_t shift = indptr.back();
        for (std::size_t u = 1; u < graph.indptr.size(); ++u) {
            indptr.push_back(shift + graph.indptr[u]);
        }
        indices.insert(indices.end(), graph.indices.begin(), graph.indices.end());
        labels.insert(labels.end(), graph.labels.begin(), graph.labels.end());
        edge_labels.insert(edge_labels.end(), graph.edge_labels.begin(), graph.edge_labels.end());
        offsets.push_back(static_cast<std::int64_t>(labels.size()));
    }
    [[nodiscard]] auto packed() const -> uge::PackedGraphs {
        return {.node_offsets = offsets,
                .indptr = indptr,
                .indices = indices,
                .labels = labels,
                .edge_labels = edge_labels};
    }
};

struct Results {
    explicit Results(std::size_t count)
        : lower(count, -1), upper(count, -1), proven(new bool[count]()), done(new bool[count]()), size(count) {}
    [[nodiscard]] auto answers() -> uge::PairAnswers {
        return {
            .lower = lower, .upper = upper, .proven = {proven.get(), size}, .done = {done.get(), size}, .mapping = {}};
    }
    std::vector<double> lower;
    std::vector<double> upper;
    std::unique_ptr<bool[]> proven;
    std::unique_ptr<bool[]> done;
    std::size_t size;
};
