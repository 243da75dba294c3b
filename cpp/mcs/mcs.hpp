#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "../deadline.hpp"
#include "../graph.hpp"

namespace uge::mcs {

struct Params {
    bool connected = false;    ///< the common subgraph must be connected
    bool edge_labels = false;  ///< matched edges must carry equal labels
};

/// lower <= nodes of a maximum common induced subgraph <= upper.
struct Bounds {
    int lower;    ///< nodes of the common subgraph that was found
    int upper;    ///< no common subgraph has more
    bool proven;  ///< lower == upper
};

/// Memory that one thread reuses from pair to pair; nothing is allocated once it has grown.
class Workspace {
  public:
    Workspace();
    ~Workspace();
    Workspace(Workspace&&) noexcept;
    auto operator=(Workspace&&) noexcept -> Workspace&;

    /// Steps of the last search: work that does not depend on the machine.
    [[nodiscard]] auto branches() const -> std::int64_t;

    struct Memory;
    [[nodiscard]] auto memory() -> Memory& { return *memory_; }

  private:
    std::unique_ptr<Memory> memory_;
};

/// Most nodes that an induced subgraph of `left` shares with one of `right`: a one-to-one map between nodes of equal
/// labels that keeps both edges and non-edges (and edge labels when asked; edges without labels count as label 0).
/// `mapping` has left.n entries: the node of `right`, or -1; it holds exactly `lower` matched nodes. At the deadline
/// the best map so far is returned with a valid upper bound. Deterministic where proven; bounds never depend on the
/// order of the two graphs except through the clock. Exponential at worst; memory O(n²) machine words at most.
auto max_common_subgraph(const GraphView& left, const GraphView& right, const Params& params, const Deadline& deadline,
                         Workspace& workspace, std::span<Node> mapping) -> Bounds;

}  // namespace uge::mcs
