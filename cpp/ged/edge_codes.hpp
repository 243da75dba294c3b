#pragma once
#include <cstdint>
#include <vector>

#include "edit_cost.hpp"

namespace uge::ged {

/// The edge labels of two graphs, numbered from 0 in the order of appearance, for solvers that have tables by label.
class EdgeCodes {
  public:
    static constexpr std::size_t most = 16;

    std::vector<std::uint8_t> left;  ///< of each position in `indices`, from the first of the graph on
    std::vector<std::uint8_t> right;

    /// False where there are more than `most` labels.
    auto assign(const GraphView& left_graph, const GraphView& right_graph) -> bool {
        known_.clear();
        return number(left_graph, left) && number(right_graph, right);
    }
    /// How many labels there are.
    [[nodiscard]] auto size() const -> int { return static_cast<int>(known_.size()); }

  private:
    auto number(const GraphView& graph, std::vector<std::uint8_t>& codes) -> bool {
        codes.resize(static_cast<std::size_t>(2 * graph.num_edges()));
        for (std::size_t e = 0; e < codes.size(); ++e) {
            const Label label = edge_label_at(graph, graph.indptr[0] + static_cast<std::int64_t>(e));
            std::size_t code = 0;
            while (code < known_.size() && known_[code] != label) {
                ++code;
            }
            if (code == known_.size()) {
                if (code == most) {
                    return false;
                }
                known_.push_back(label);
            }
            codes[e] = static_cast<std::uint8_t>(code);
        }
        return true;
    }

    std::vector<Label> known_;
};

}  // namespace uge::ged
