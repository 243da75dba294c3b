#pragma once
#include <vector>

#include "beam.hpp"
#include "bipartite.hpp"
#include "exact.hpp"
#include "published_beam.hpp"
#include "refine.hpp"
#include "tight.hpp"

namespace uge::ged {

/// One part for each solver, so that solvers that call one another do not share scratch.
class Workspace {
  public:
    BipartiteWorkspace bipartite;
    BeamWorkspace beam;
    PublishedBeamWorkspace published_beam;
    RefineWorkspace refine;
    TightWorkspace tight;
    ExactWorkspace exact;
    std::vector<Node> turned;  ///< the map in the direction that was solved
    std::vector<Node> trial;   ///< maps that may turn out better
    std::vector<Node> back;
};

}  // namespace uge::ged
