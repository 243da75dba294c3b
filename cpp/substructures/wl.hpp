#pragma once
#include <span>
#include <vector>

#include "../graph.hpp"
#include "dictionary.hpp"

namespace uge::substructures {

/// Weisfeiler-Lehman colors (Shervashidze et al. 2011): two nodes get the same color in iteration i exactly where the
/// trees of walks of length i from them carry the same labels. Entry i * nodes + u is the color of node u after i
/// iterations, i = 0..iterations, nodes counted through the collection. Ids differ between iterations.
/// The dictionary learns unseen colors: ids are in the order of first appearance, by iteration, then by node, so
/// the same dictionary gives the same ids to other graphs later. O((nodes + edges) * iterations) but for the sorting
/// of neighbors; one thread, because the ids depend on the order. A graph that takes longer than the limits allow has
/// no colors at all, only `Dictionary::unseen`, and is listed in `unfinished` (may be null).
auto learn_wl_colors(const PackedGraphs& graphs, int iterations, Dictionary& dictionary, const Limits& limits = {},
                     std::vector<std::int32_t>* unfinished = nullptr) -> std::vector<Feature>;

/// The same with a dictionary that stays as it is: `Dictionary::unseen` for a color that it does not contain.
auto wl_colors(const PackedGraphs& graphs, int iterations, const Dictionary& dictionary, const Limits& limits = {},
               std::vector<std::int32_t>* unfinished = nullptr) -> std::vector<Feature>;

/// How often each color occurs in each graph, over all iterations; unseen colors do not count. `colors` as above.
auto color_counts(const PackedGraphs& graphs, std::span<const Feature> colors) -> Counts;

}  // namespace uge::substructures
