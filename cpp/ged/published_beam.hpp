#pragma once
#include <span>
#include <vector>

#include "ged.hpp"

namespace uge::ged {

struct PublishedBeamWorkspace {
    /// A partial map of the first left nodes, its rows in `images` and `burdens`.
    struct State {
        Node depth;
        Node used;  ///< nodes of `right` that are an image
        int users;  ///< its children in `open`, and one more while it is expanded; without any the place is free
    };
    /// A child of a state that is not made yet.
    struct Child {
        double cost;
        int state;
        Node image;
    };
    std::vector<State> states;
    std::vector<int> free;
    std::vector<Node> images;     ///< for each state: image of each left node
    std::vector<double> burdens;  ///< for each state and node of `right`: what edges to images cost if all are
                                  ///< inserted; infinite for images
    std::vector<Child> open;
    std::vector<double> costs;
};

/// The beam of the paper's ground truth, as Neuhaus, Riesen & Bunke (2006) and their toolkit have it: A* without an
/// estimate of what is to come, on a list of open partial maps that is cut to the `width` cheapest after each step.
/// Nodes are taken in their given order, ties by age. Writes the first complete map taken from the list and returns
/// its true cost. Any costs; past the deadline the current partial map is completed in the order of nodes.
auto published_beam(const GraphView& left, const GraphView& right, const EditCosts& costs, int width,
                    const Deadline& deadline, PublishedBeamWorkspace& workspace, std::span<Node> mapping) -> double;

}  // namespace uge::ged
