#include "filters.hpp"

#include <algorithm>
#include <cmath>

namespace uge::search {

Prices::Prices(const EditCosts& costs)
    : node_insert(costs.node_insert),
      node_delete(costs.node_delete),
      node_relabel(std::min(costs.node_matrix != nullptr ? 0 : costs.node_relabel, node_insert + node_delete)),
      edge_insert(costs.edge_insert),
      edge_delete(costs.edge_delete),
      edge_relabel(std::min(costs.edge_matrix != nullptr ? 0 : costs.edge_relabel, edge_insert + edge_delete)),
      relabel_alone(costs.node_matrix != nullptr ? 0 : costs.node_relabel),
      constant(costs.node_matrix == nullptr && costs.edge_matrix == nullptr) {
    const auto whole = [](double price) { return price == std::floor(price) && price < 1e6; };
    integral = constant && whole(node_insert) && whole(node_delete) && whole(costs.node_relabel) &&
               whole(edge_insert) && whole(edge_delete) && whole(costs.edge_relabel);
}

auto Prices::possible(double bound) const -> double {
    constexpr double rounding = 1e-6;
    return integral ? std::ceil(bound - rounding) : bound;
}

CounterFilter::CounterFilter(const GraphView& query, const Prices& prices, const Profiles& profiles)
    : profiles_(profiles), prices_(prices), nodes_(query.n), edges_(query.num_edges()) {
    counters_ = counters_of(
        query, [&](Label label) { return profiles.node_slot(label); },
        [&](Label label) { return profiles.edge_slot(label); });
    for (Node u = 0; u < query.n; ++u) {
        unknown_ += profiles.node_slot(query.labels[u]) < 0 ? 1 : 0;
    }
}

auto CounterFilter::size_bound(std::int64_t nodes, std::int64_t edges) const -> double {
    const auto uneven = [](std::int64_t more, double remove, double insert) {
        return static_cast<double>(more) * (more > 0 ? remove : -insert);
    };
    return uneven(nodes_ - nodes, prices_.node_delete, prices_.node_insert) +
           uneven(edges_ - edges, prices_.edge_delete, prices_.edge_insert);
}

auto CounterFilter::consistent(std::int64_t left, std::int64_t right, std::int64_t more_on_left) -> Excess {
    return {std::max({left, right + more_on_left, std::int64_t{0}}),
            std::max({right, left - more_on_left, std::int64_t{0}})};
}

auto CounterFilter::edge_bound(const Counters& other, std::int64_t more_on_left) const -> double {
    const auto half = [](std::int64_t degrees) { return (degrees + 1) / 2; };  // an edge contributes to two degrees
    const auto* mine = counters_.bytes.data() + Counters::node_slots;
    const auto* theirs = other.bytes.data() + Counters::node_slots;
    const auto degrees = consistent(half(excess<Counters::degree_slots>(mine, theirs)),
                                    half(excess<Counters::degree_slots>(theirs, mine)), more_on_left);
    // Relabeling an edge changes no degree.
    const double by_degrees = static_cast<double>(degrees.left) * prices_.edge_delete +
                              static_cast<double>(degrees.right) * prices_.edge_insert;
    mine += Counters::degree_slots;
    theirs += Counters::degree_slots;
    const auto incident = consistent(half(excess<Counters::incident_slots>(mine, theirs)),
                                     half(excess<Counters::incident_slots>(theirs, mine)), more_on_left);
    return std::max(by_degrees, prices_.edges(incident.left, incident.right));
}

auto CounterFilter::bound(std::size_t rank) const -> Bound {
    const std::int64_t nodes = profiles_.nodes(rank);
    const std::int64_t edges = profiles_.edges(rank);
    const Counters& other = profiles_.counters()[rank];
    const auto left = excess<Counters::node_slots>(counters_.bytes.data(), other.bytes.data()) + unknown_;
    const auto right = excess<Counters::node_slots>(other.bytes.data(), counters_.bytes.data());
    const auto unmatched = consistent(left, right, nodes_ - nodes);
    const double by_labels = prices_.nodes(unmatched.left, unmatched.right);
    return {.size = size_bound(nodes, edges),
            .labels = by_labels + size_bound(nodes_, edges),
            .degrees = by_labels + edge_bound(other, edges_ - edges)};
}

BranchFilter::BranchFilter(const GraphView& query, bool edge_labels, const Prices& prices, const Profiles& profiles)
    : profiles_(profiles), prices_(prices), edge_labels_(edge_labels) {
    if (!edge_labels) {
        prices_.edge_relabel = 0;
    }
    std::vector<std::int32_t> key;
    kind_of_.assign(profiles.num_classes(), -1);
    column_of_.assign(profiles.num_classes(), -1);
    const auto same = [&](std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
        return edge_labels ? std::equal(a.begin(), a.end(), b.begin(), b.end()) : a[0] == b[0] && a.size() == b.size();
    };
    for (Node u = 0; u < query.n; ++u) {
        const auto branch = branch_of(query, u, key);
        auto found =
            std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) { return same(kind.key, branch); });
        if (found == kinds_.end()) {
            found = kinds_.insert(found, {key, 0});
        }
        ++found->count;
    }
    for (std::size_t k = 0; k < kinds_.size() && edge_labels; ++k) {
        if (const auto id = profiles.find(kinds_[k].key); id >= 0) {
            kind_of_[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(k);
        }
    }
    for (std::size_t id = 0; id < profiles.num_classes() && !edge_labels; ++id) {
        const auto first = static_cast<std::size_t>(profiles.plain(id));
        if (first < id) {
            kind_of_[id] = kind_of_[first];
            continue;
        }
        for (std::size_t k = 0; k < kinds_.size() && kind_of_[id] < 0; ++k) {
            kind_of_[id] = same(kinds_[k].key, profiles.branch(id)) ? static_cast<std::int32_t>(k) : -1;
        }
    }
    for (const Kind& kind : kinds_) {
        removal_.push_back(prices_.node_delete + prices_.edge_delete * static_cast<double>(kind.key.size() - 1) / 2);
    }
    left_.resize(kinds_.size());
}

auto BranchFilter::replacement(std::span<const std::int32_t> from, std::span<const std::int32_t> to) const -> double {
    const auto degree = static_cast<std::int64_t>(from.size()) - 1;
    const auto other = static_cast<std::int64_t>(to.size()) - 1;
    std::int64_t common = 0;
    if (edge_labels_) {
        for (std::size_t i = 1, j = 1; i < from.size() && j < to.size();) {
            common += from[i] == to[j] ? 1 : 0;
            const bool next_from = from[i] <= to[j];
            const bool next_to = to[j] <= from[i];
            i += next_from ? 1 : 0;
            j += next_to ? 1 : 0;
        }
    } else {
        common = std::min(degree, other);
    }
    const double edges = prices_.edges(degree - common, other - common) / 2;
    return (from[0] == to[0] ? 0 : prices_.relabel_alone) + edges;
}

/// Costs of one class of the collection: replacing each kind of branch of the query by it, at most deletion plus
/// insertion; then its insertion. Computed at the first call for a class.
auto BranchFilter::prices_of(std::int32_t id) -> const double* {
    auto& column = column_of_[static_cast<std::size_t>(id)];
    const std::size_t width = kinds_.size() + 1;
    if (column < 0) {
        column = static_cast<std::int32_t>(table_.size() / width);
        const auto branch = profiles_.branch(static_cast<std::size_t>(id));
        const double insertion = prices_.node_insert + prices_.edge_insert * static_cast<double>(branch.size() - 1) / 2;
        for (std::size_t k = 0; k < kinds_.size(); ++k) {
            table_.push_back(std::min(replacement(kinds_[k].key, branch), removal_[k] + insertion));
        }
        table_.push_back(insertion);
    }
    return table_.data() + static_cast<std::size_t>(column) * width;
}

auto BranchFilter::bound(std::size_t rank, double limit) -> double {
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
        left_[k] = kinds_[k].count;
    }
    columns_.clear();
    for (const std::int32_t id : profiles_.branches(rank)) {
        const auto kind = kind_of_[static_cast<std::size_t>(id)];
        if (kind >= 0 && left_[static_cast<std::size_t>(kind)] > 0) {
            --left_[static_cast<std::size_t>(kind)];
        } else {
            columns_.push_back(id);
        }
    }
    rows_.clear();
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
        rows_.insert(rows_.end(), static_cast<std::size_t>(left_[k]), static_cast<std::int32_t>(k));
    }
    // Every node of the smaller side is matched, because replacement costs at most deletion plus insertion.
    const std::size_t n = rows_.size();
    const std::size_t m = columns_.size();
    const bool turned = n > m;
    const std::size_t height = std::min(n, m);
    const std::size_t width = std::max(n, m);
    double constant = 0;
    cost_.resize(height * width);
    for (std::size_t j = 0; j < m; ++j) {
        const double* price = prices_of(columns_[j]);
        const double insertion = price[kinds_.size()];
        constant += turned ? 0 : insertion;
        for (std::size_t i = 0; i < n; ++i) {
            const auto k = static_cast<std::size_t>(rows_[i]);
            if (turned) {
                cost_[j * width + i] = price[k] - removal_[k];
            } else {
                cost_[i * width + j] = price[k] - insertion;
            }
        }
    }
    if (turned) {
        for (const auto k : rows_) {
            constant += removal_[static_cast<std::size_t>(k)];
        }
    }
    if (height == 0) {
        return prices_.possible(constant);
    }
    double least = constant;
    for (std::size_t i = 0; i < height; ++i) {
        least += *std::min_element(cost_.begin() + static_cast<std::ptrdiff_t>(i * width),
                                   cost_.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
    }
    if (prices_.possible(least) > limit) {
        return prices_.possible(least);
    }
    const double total =
        assignment_.solve(cost_.data(), static_cast<int>(height), static_cast<int>(width), static_cast<int>(width));
    return prices_.possible(constant + total);
}

}  // namespace uge::search
