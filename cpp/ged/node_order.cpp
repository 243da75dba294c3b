#include "node_order.hpp"

#include <algorithm>

#include "edit_cost.hpp"

namespace uge::ged {

namespace {

auto index(Node u) -> std::size_t {
    return static_cast<std::size_t>(u);
}

}  // namespace

auto max_degree(const GraphView& graph) -> Node {
    Node most = 0;
    for (Node u = 0; u < graph.n; ++u) {
        most = std::max(most, graph.degree(u));
    }
    return most;
}

auto breadth_first(const GraphView& graph, const Deadline& deadline, std::vector<char>& seen, std::vector<Node>& order)
    -> void {
    WorkMeter meter(deadline);
    order.clear();
    seen.assign(index(graph.n), 0);
    const auto higher = [&](Node u, Node v) {
        return graph.degree(u) != graph.degree(v) ? graph.degree(u) > graph.degree(v) : u < v;
    };
    const auto reach = [&](Node u) {
        if (seen[index(u)] == 0) {
            seen[index(u)] = 1;
            order.push_back(u);
        }
    };
    const auto highest_unseen = [&] {
        Node root = -1;
        for (Node u = 0; u < graph.n; ++u) {
            if (seen[index(u)] == 0 && (root < 0 || higher(u, root))) {
                root = u;
            }
        }
        return root;
    };
    std::vector<Node> roots;  // in graphs of many components, so that they are not scanned for each component
    std::size_t pieces = 0;
    for (std::size_t next = 0; order.size() < index(graph.n);) {
        constexpr std::size_t many = 8;
        if (++pieces == many) {
            for (Node u = 0; u < graph.n; ++u) {
                roots.push_back(u);
            }
            std::sort(roots.begin(), roots.end(), [&](Node u, Node v) { return higher(v, u); });
        }
        while (!roots.empty() && seen[index(roots.back())] != 0) {
            roots.pop_back();
        }
        const Node root = roots.empty() ? highest_unseen() : roots.back();
        for (reach(root); next < order.size(); ++next) {
            if (meter.expired(128 + 8 * graph.degree(order[next]))) {
                for (Node u = 0; u < graph.n; ++u) {
                    reach(u);
                }
                return;
            }
            const auto first = static_cast<std::ptrdiff_t>(order.size());
            for (const Node v : graph.neighbors(order[next])) {
                reach(v);
            }
            std::sort(order.begin() + first, order.end(), higher);
        }
    }
}

auto find_twins(const GraphView& graph, bool edge_labels, std::span<const Node> order,
                std::vector<std::uint64_t>& hashes, Node* twin) -> void {
    const auto mixed = [](std::uint64_t value) {
        value = (value + 1) * 0x9e3779b97f4a7c15;
        return (value ^ (value >> 29)) * 0xbf58476d1ce4e5b9;
    };
    hashes.resize(2 * order.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        const Node u = order[k];
        auto hash = mixed(static_cast<std::uint32_t>(graph.labels[u]) + (std::uint64_t{1} << 32));
        for (auto e = graph.indptr[u]; e < graph.indptr[u + 1]; ++e) {
            const auto label = std::uint64_t{edge_labels ? static_cast<std::uint32_t>(edge_label_at(graph, e)) : 0};
            hash += mixed(static_cast<std::uint32_t>(graph.indices[e]) + (label << 33));
        }
        hashes[2 * k] = hash;
        hashes[2 * k + 1] = hash + mixed(static_cast<std::uint32_t>(u));
        twin[u] = -1;
        for (std::size_t i = k; i-- > 0 && twin[u] < 0;) {
            if (hashes[2 * i] == hashes[2 * k] || hashes[2 * i + 1] == hashes[2 * k + 1]) {
                twin[u] = order[i];
            }
        }
    }
}

}  // namespace uge::ged
