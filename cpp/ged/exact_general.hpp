#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "../costs.hpp"
#include "../deadline.hpp"
#include "../graph.hpp"
#include "ged.hpp"

namespace uge::ged {

/// Branch and bound for any costs, also non-metric or asymmetric ones and edge labels. Depth first over the nodes of
/// `left`. Each search node is bounded by a linear assignment in which a pair of nodes pays the full cost of edges to
/// decided nodes and half of a lower bound on the cost of its other edges. It branches on the images of one node,
/// lowest bound first.
class GeneralSearch {
  public:
    static auto fits(const GraphView& left, const GraphView& right) -> bool;

    /// `mapping` is any map, of cost `upper`; better ones replace it. `lower` is a known lower bound. Maps that cost
    /// more than `limit` are not searched for.
    auto run(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
             double lower, double upper, double limit, std::span<Node> mapping) -> Bounds;

  private:
    struct Child {
        double lower;
        Node image;
    };
    struct Arc {
        Node to;
        Label label;
    };

    auto expired() -> bool;
    auto search(Node decided) -> void;
    auto fill_costs() -> void;
    auto assign() -> double;
    [[nodiscard]] auto inner_cost(Node u, Node v) const -> double;
    [[nodiscard]] auto hopeless(double lower) const -> bool;

    const GraphView* left_ = nullptr;
    const GraphView* right_ = nullptr;
    const EditCosts* costs_ = nullptr;
    const Deadline* deadline_ = nullptr;
    std::size_t width_ = 0;     // number of columns of `cost_`: the nodes of right, then deletion
    std::vector<Label> edge_;   // right x right: label of the edge, -1 for none
    std::vector<double> cost_;  // left x width; minus the insertion cost of the column
    std::vector<double> row_dual_, col_dual_, distance_;
    std::vector<Node> row_to_col_, col_to_row_, pred_;
    std::vector<char> scanned_;
    std::vector<Node> image_, source_;                        // `open` if undecided
    std::vector<std::vector<Arc>> left_inner_, right_inner_;  // edges to undecided nodes
    std::vector<std::vector<Child>> children_;
    std::vector<Node> candidate_;
    double base_ = 0;   // cost of inserting all undecided nodes of right
    double fixed_ = 0;  // cost of the edits among decided nodes
    double upper_ = 0;
    double limit_ = 0;
    double root_lower_ = 0;
    double quantum_ = 0;   // the cost of every map is a multiple of it; 0 if unknown
    double rounding_ = 0;  // tolerance for rounding errors of sums of costs
    std::span<Node> best_;
    bool stopped_ = false;
};

}  // namespace uge::ged
