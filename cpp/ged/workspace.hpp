#pragma once
#include <vector>

#include "bipartite.hpp"

namespace uge::ged {

/// One part for each solver, so that solvers that call one another do not share scratch.
class Workspace {
  public:
    BipartiteWorkspace bipartite;
    std::vector<Node> turned;  ///< a map in the direction solved
    std::vector<Node> trial;   ///< a map that may turn out better
};

}  // namespace uge::ged
