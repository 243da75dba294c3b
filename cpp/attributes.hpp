#pragma once
#include <span>
#include <vector>

#include "costs.hpp"
#include "graph.hpp"

namespace uge {

/// What codes stand for: they replace labels if attributes count, and each is a label with a row of numbers.
struct Points {
    std::span<const Label> label_of;  ///< one entry per code; empty: attributes do not count, and codes are labels
    std::span<const double> rows;     ///< codes x width, weighted and scaled
    std::size_t width = 0;

    [[nodiscard]] auto count() const -> bool { return !label_of.empty(); }
    /// Euclidean distance of the rows of two codes; 0 where it is below the least cost.
    [[nodiscard]] auto distance(Label a, Label b) const -> double;
};

/// Costs of the current pair if attributes count: matrices over the codes that occur in its two graphs, so that
/// solvers see labels and matrices as always. The order of codes stays, whichever graph is left.
class PairCosts {
  public:
    /// `base` relabels labels; its matrices are indexed by them.
    PairCosts(const EditCosts& base, const Points& nodes, const Points& edges)
        : base_(base), nodes_(nodes), edges_(edges) {}

    /// Sets the pair. O(k² width) for k different codes; results are valid until the next call.
    void take(const GraphView& left, const GraphView& right);

    [[nodiscard]] auto left() const -> const GraphView& { return left_; }
    [[nodiscard]] auto right() const -> const GraphView& { return right_; }
    [[nodiscard]] auto costs() const -> const EditCosts& { return costs_; }

  private:
    void take_edges(const GraphView& from, GraphView& to, std::vector<std::int64_t>& indptr, std::vector<Label>& local);

    EditCosts base_;
    Points nodes_;
    Points edges_;
    GraphView left_;
    GraphView right_;
    EditCosts costs_;
    std::vector<Label> codes_;
    std::vector<double> node_matrix_;
    std::vector<double> edge_matrix_;
    std::vector<Label> left_labels_;
    std::vector<Label> right_labels_;
    std::vector<Label> left_edges_;
    std::vector<Label> right_edges_;
    std::vector<std::int64_t> left_indptr_;
    std::vector<std::int64_t> right_indptr_;
};

}  // namespace uge
