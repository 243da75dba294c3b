#pragma once
#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "../assignment/lsap.hpp"
#include "../assignment/transport.hpp"
#include "../deadline.hpp"
#include "edit_cost.hpp"
#include "node_classes.hpp"

namespace uge::ged {

/// The cost of the edges of a node. Half: both ends share an edge, and sums are lower bounds (BRANCH, HED). Whole: as
/// Riesen & Bunke (2009).
enum class EdgeShare { half, whole };

/// Memory for local edge costs under a matrix.
struct EdgeWorkspace {
    /// So many edges of one label.
    struct Bundle {
        std::vector<Label> label;
        std::vector<int> count;
    };
    assignment::Lsap<double> assignment;
    assignment::Transport<double> transport;
    std::vector<double> cost;
    Bundle small;
    Bundle large;
};

/// What classes of nodes must store about the labels of their edges.
inline auto edge_keys(const EditCosts& costs) -> EdgeKeys {
    return edges_keep_free(costs)         ? EdgeKeys::none
           : costs.edge_matrix == nullptr ? EdgeKeys::counted
                                          : EdgeKeys::listed;
}

/// Costs of a node together with its edges, the edges as if their other ends could be mapped to any node.
class LocalCosts {
  public:
    /// For nodes of these classes.
    LocalCosts(const EditCosts& costs, EdgeShare share, const NodeClasses& classes, const Deadline& deadline,
               EdgeWorkspace& workspace)
        : costs_(costs),
          share_(share == EdgeShare::half ? 0.5 : 1),
          free_(edges_keep_free(costs)),
          starred_(classes.starred()),
          deadline_(deadline),
          meter_(deadline),
          workspace_(workspace) {}

    /// Whether time is up, so that costs are no longer valid. Cheap: does not read the clock at every call.
    auto expired() -> bool { return stopped_ || meter_.expired(std::exchange(work_, 1)); }

    [[nodiscard]] auto remove(const NodeClass& node) const -> double {
        return costs_.node_delete + share_ * costs_.edge_delete * node.degree;
    }
    [[nodiscard]] auto insert(const NodeClass& node) const -> double {
        return costs_.node_insert + share_ * costs_.edge_insert * node.degree;
    }
    /// Cost of turning one into the other, without the alternative of deletion and insertion.
    auto replace(const NodeClass& from, const NodeClass& to) -> double {
        return costs_.relabel_node(from.label, to.label) + share_ * edges(from, to);
    }

  private:
    /// Least cost of turning one bundle of edges into the other.
    auto edges(const NodeClass& from, const NodeClass& to) -> double {
        const int more = from.degree - to.degree;
        const double uneven = more > 0 ? costs_.edge_delete * more : costs_.edge_insert * -more;
        if (free_) {
            return uneven;
        }
        work_ += from.degree + to.degree;
        if (costs_.edge_matrix != nullptr) {
            return uneven + edges_by_matrix(from, to);
        }
        int same = starred_ ? star_overlap(from.star, to.star) : 0;
        for (int i = 0, j = 0; !starred_ && i < from.degree && j < to.degree;) {
            same += from.edges[i] == to.edges[j];
            const bool next_from = from.edges[i] <= to.edges[j];
            const bool next_to = to.edges[j] <= from.edges[i];
            i += next_from;
            j += next_to;
        }
        const double relabel = std::min(costs_.edge_relabel, costs_.edge_delete + costs_.edge_insert);
        return uneven + relabel * (std::min(from.degree, to.degree) - same);
    }

    /// The edges of the smaller bundle each to one of the larger: never worse, because keep_edge never costs more than
    /// deleting and inserting.
    auto edges_by_matrix(const NodeClass& from, const NodeClass& to) -> double {
        const bool turned = from.degree > to.degree;
        const NodeClass& small = turned ? to : from;
        const NodeClass& large = turned ? from : to;
        if (small.degree == 0) {
            return 0;
        }
        const auto keep = [&](Label of_small, Label of_large) {
            return turned ? keep_edge(costs_, of_large, of_small) : keep_edge(costs_, of_small, of_large);
        };
        constexpr std::int64_t few = 256;
        if (const auto cells = std::int64_t{small.degree} * large.degree; cells > few) {
            return bundles_by_matrix(small, large, keep);
        }
        workspace_.cost.clear();
        for (Node i = 0; i < small.degree; ++i) {
            for (Node j = 0; j < large.degree; ++j) {
                workspace_.cost.push_back(keep(small.edges[i], large.edges[j]));
            }
        }
        return workspace_.assignment.solve(workspace_.cost.data(), small.degree, large.degree, large.degree);
    }

    /// The same with all edges of one label taken together.
    template <class Keep>
    auto bundles_by_matrix(const NodeClass& small, const NodeClass& large, const Keep& keep) -> double {
        const auto bundle = [](const NodeClass& node, EdgeWorkspace::Bundle& into) {
            into.label.clear();
            into.count.clear();
            for (Node i = 0; i < node.degree; ++i) {
                if (i == 0 || node.edges[i] != node.edges[i - 1]) {
                    into.label.push_back(node.edges[i]);
                    into.count.push_back(0);
                }
                ++into.count.back();
            }
        };
        auto& rows = workspace_.small;
        auto& columns = workspace_.large;
        bundle(small, rows);
        bundle(large, columns);
        workspace_.cost.clear();
        for (const Label i : rows.label) {
            for (const Label j : columns.label) {
                workspace_.cost.push_back(keep(i, j));
            }
        }
        work_ += 16 * static_cast<std::int64_t>(workspace_.cost.size());
        const auto total = workspace_.transport.solve(workspace_.cost.data(), static_cast<int>(rows.label.size()),
                                                      static_cast<int>(columns.label.size()), rows.count.data(),
                                                      columns.count.data(), [&] { return deadline_.expired(); });
        stopped_ = stopped_ || !total;
        return total.value_or(0);
    }

    const EditCosts& costs_;
    double share_;
    bool free_;     ///< keeping an edge is
    bool starred_;  ///< stars count the edge labels
    const Deadline& deadline_;
    WorkMeter meter_;
    EdgeWorkspace& workspace_;
    std::int64_t work_ = 0;
    bool stopped_ = false;
};

}  // namespace uge::ged
