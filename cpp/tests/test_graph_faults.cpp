#include <map>
#include <string>

#include "../graph_faults.hpp"
#include "check.hpp"
#include "collection.hpp"
#include "oracles.hpp"

namespace {

using oracle::draw;
using oracle::Random;

auto random_collection(Random& random, int edge_labels) -> Collection {
    Collection made;
    for (int g = draw(random, 0, 3); g >= 0; --g) {
        made.add(oracle::random_graph(random, draw(random, 0, 5), oracle::draw(random), 2, edge_labels));
    }
    return made;
}

/// The definition: every row ascends strictly within its graph, without its own node, and every edge is in the rows of
/// both ends with one label.
auto sound(const Collection& graphs, bool labeled) -> bool {
    for (std::size_t g = 0; g + 1 < graphs.offsets.size(); ++g) {
        std::map<std::pair<uge::Node, uge::Node>, uge::Label> edges;
        const auto n = static_cast<uge::Node>(graphs.offsets[g + 1] - graphs.offsets[g]);
        for (uge::Node u = 0; u < n; ++u) {
            const auto row = static_cast<std::size_t>(graphs.offsets[g] + u);
            for (auto e = static_cast<std::size_t>(graphs.indptr[row]);
                 e < static_cast<std::size_t>(graphs.indptr[row + 1]); ++e) {
                const auto v = graphs.indices[e];
                const bool ascends = e == static_cast<std::size_t>(graphs.indptr[row]) || graphs.indices[e - 1] < v;
                if (v < 0 || v >= n || v == u || !ascends) {
                    return false;
                }
                edges[{u, v}] = labeled ? graphs.edge_labels[e] : 0;
            }
        }
        for (const auto& [edge, label] : edges) {
            const auto back = edges.find({edge.second, edge.first});
            if (back == edges.end() || back->second != label) {
                return false;
            }
        }
    }
    return true;
}

auto fault_of(const Collection& graphs, bool labeled) -> std::string {
    return uge::fault_of(graphs.packed(), labeled);
}

}  // namespace

TEST("graphs as they are built have no fault") {
    Random random(1);
    for (int i = 0; i < 500; ++i) {
        const int edge_labels = draw(random, 0, 2);
        const auto graphs = random_collection(random, edge_labels);
        CHECK(fault_of(graphs, edge_labels > 0).empty(), i, fault_of(graphs, edge_labels > 0));
    }
}

TEST("a changed entry is found where, and only where, it makes a graph unsound") {
    Random random(2);
    int unsound = 0;
    for (int i = 0; i < 20000; ++i) {
        const int edge_labels = draw(random, 0, 2);
        auto graphs = random_collection(random, edge_labels);
        if (graphs.indices.empty()) {
            continue;
        }
        for (int changes = draw(random, 1, 2); changes > 0; --changes) {
            const auto at = static_cast<std::size_t>(draw(random, 0, static_cast<int>(graphs.indices.size()) - 1));
            switch (draw(random, 0, edge_labels > 0 ? 2 : 1)) {
                case 0:
                    graphs.indices[at] = draw(random, -1, 5);
                    break;
                case 1:
                    std::swap(graphs.indices[at], graphs.indices[graphs.indices.size() - 1]);
                    break;
                default:
                    graphs.edge_labels[at] = draw(random, 0, 1);
            }
        }
        const bool right = sound(graphs, edge_labels > 0);
        unsound += right ? 0 : 1;
        CHECK(fault_of(graphs, edge_labels > 0).empty() == right, i, right, fault_of(graphs, edge_labels > 0));
    }
    CHECK(unsound > 5000, unsound);
}

TEST("offsets that do not fit are a fault, and nothing is read beyond the arrays") {
    Random random(3);
    for (int i = 0; i < 5000; ++i) {
        auto graphs = random_collection(random, 0);
        auto& offsets = draw(random, 0, 1) == 0 ? graphs.offsets : graphs.indptr;
        auto& entry = offsets[static_cast<std::size_t>(draw(random, 0, static_cast<int>(offsets.size()) - 1))];
        entry += draw(random, 0, 1) == 0 ? draw(random, -3, 3) : 4'000'000'000;
        fault_of(graphs, false);  // under a sanitizer this is the test
    }
    Collection none;
    none.offsets.clear();
    CHECK(!fault_of(none, false).empty());
    CHECK(fault_of(Collection{}, true).empty());
    auto unlabeled = Collection{};
    unlabeled.add(oracle::graph({0, 0}, {{0, 1}}));
    CHECK(!fault_of(unlabeled, true).empty());
}

auto main(int argc, char** argv) -> int {
    return check::run(argc > 1 ? argv[1] : "");
}
