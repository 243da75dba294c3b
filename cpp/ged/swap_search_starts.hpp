#pragma once
#include "swap_search.hpp"

namespace uge::ged {

/// The part of SwapSearch that makes maps to start from.

template <class Score, int kVectors, bool kLabeled>
auto SwapSearch<Score, kVectors, kLabeled>::grow(std::span<Node> map) -> void {
    std::copy_n(likeness_, n_ * stride_, promise_);
    std::fill_n(row_, stride_, Score{0});
    std::fill_n(column_, m_, Score{0});
    std::fill(column_ + m_, column_ + stride_, static_cast<Score>(-3 * penalty_));
    int open = 0;
    for (Node u = 0; u < n_; ++u) {
        if (map[static_cast<std::size_t>(u)] < 0) {
            open_[open++] = u;
        } else {
            attach(u, map[static_cast<std::size_t>(u)]);
        }
    }
    for (int room = m_ - (n_ - open); open > 0 && room > 0; --room) {
        Tops tops(*this);
        const auto* column = vectors_of(column_);
        const int start = random_.below(open);
        for (int k = 0; k < open; ++k) {
            const int i = start + k < open ? start + k : start + k - open;
            const auto* promise = vectors_of(promise_ + open_[i] * stride_);
            const Score row = row_[open_[i]];
            for (int j = 0; j < vectors(); ++j) {
                tops.offer(j, promise[j] + column[j] + row, i);
            }
        }
        const Node x = tops.pick(*this);
        const int i = static_cast<int>(top_row_[x]);
        map[static_cast<std::size_t>(open_[i])] = x;
        attach(open_[i], x);
        open_[i] = open_[--open];
    }
}

template <class Score, int kVectors, bool kLabeled>
auto SwapSearch<Score, kVectors, kLabeled>::attach(Node u, Node x) -> void {
    const auto half = static_cast<Score>(edge_saving() / 2);
    for (auto e = left_.indptr[u]; e < left_.indptr[u + 1]; ++e) {
        const Node v = left_.indices[e];
        row_[v] = static_cast<Score>(row_[v] - half);
        add_edge(promise_ + v * stride_, e, x);
        add_edge(promise_ + v * stride_, e, x);
    }
    for (const Node y : right_.neighbors(x)) {
        column_[y] = static_cast<Score>(column_[y] - half);
    }
    column_[x] = static_cast<Score>(-3 * penalty_);
}

template <class Score, int kVectors, bool kLabeled>
auto SwapSearch<Score, kVectors, kLabeled>::compare_nodes() -> void {
    Score* same = saved_;      // a row for each label of `left`: 1 for the nodes of `right` that carry it
    Score* counts = promise_;  // likewise: how many of their neighbors do
    Node* label_of = open_;    // number of the label of each left node, in the order of appearance
    Node* carrier = slot_;     // first left node with each label
    int labels = 0;
    for (Node u = 0; u < n_; ++u) {
        Node l = 0;
        while (l < labels && left_.labels[carrier[l]] != left_.labels[u]) {
            ++l;
        }
        carrier[l] = u;
        label_of[u] = l;
        labels = std::max(labels, l + 1);
    }
    std::fill_n(same, labels * stride_, Score{0});
    std::fill_n(counts, labels * stride_, Score{0});
    Score* degree = column_;
    std::fill_n(degree, stride_, Score{0});
    for (Node x = 0; x < m_; ++x) {
        degree[x] = static_cast<Score>(right_.degree(x));
        Node l = 0;
        while (l < labels && left_.labels[carrier[l]] != right_.labels[x]) {
            ++l;
        }
        if (l < labels) {
            same[l * stride_ + x] = 1;
            for (const Node y : right_.neighbors(x)) {
                ++counts[l * stride_ + y];
            }
        }
    }
    std::fill_n(row_, stride_, Score{0});
    Score* seen = row_;
    const Vector one = Vector{} + Score{1};
    const auto half = static_cast<Score>(edge_saving() / 2);
    for (Node u = 0; u < n_; ++u) {
        auto* keep = vectors_of(keep_ + u * stride_);
        auto* likeness = vectors_of(likeness_ + u * stride_);
        for (int j = 0; j < vectors(); ++j) {
            keep[j] = vectors_of(same + label_of[u] * stride_)[j] - one;
        }
        if constexpr (!uniform) {
            for (Node x = 0; x < slots_; ++x) {
                keep_[u * stride_ + x] = x < m_ ? costs_.node_delete + costs_.node_insert -
                                                      costs_.relabel_node(left_.labels[u], right_.labels[x])
                                                : 0;
            }
        }
        const Vector own = Vector{} + static_cast<Score>(left_.degree(u));
        for (int j = 0; j < vectors(); ++j) {  // |a - b| + min(a, b) = max(a, b)
            const Vector other = vectors_of(degree)[j];
            likeness[j] = own > other ? -own : -other;
        }
        for (const Node v : left_.neighbors(u)) {
            const Vector before = Vector{} + seen[label_of[v]]++;
            for (int j = 0; j < vectors(); ++j) {
                likeness[j] += vectors_of(counts + label_of[v] * stride_)[j] > before ? one : Vector{};
            }
        }
        for (const Node v : left_.neighbors(u)) {
            seen[label_of[v]] = 0;
        }
        for (int j = 0; j < vectors(); ++j) {
            likeness[j] = (uniform ? likeness[j] : likeness[j] * half) + keep[j] + keep[j] + keep[j];
        }
    }
}

template <class Score, int kVectors, bool kLabeled>
auto SwapSearch<Score, kVectors, kLabeled>::load(std::span<const Node> map) -> void {
    std::fill_n(at_, slots_, Node{-1});
    Node spare = m_;
    for (Node u = 0; u < n_; ++u) {
        const Node x = map[static_cast<std::size_t>(u)];
        slot_[u] = x >= 0 ? x : spare++;
        at_[slot_[u]] = u;
    }
    Node dummy = n_;
    for (Node x = 0; x < slots_; ++x) {
        if (at_[x] < 0) {
            at_[x] = dummy;
            slot_[dummy++] = x;
        }
    }
    std::fill_n(rest_, stride_, Score{0});
    std::fill_n(saved_, slots_ * stride_, Score{0});
    std::fill_n(turned_, slots_ * stride_, Score{0});
    score_ = 0;
    for (Node u = 0; u < n_; ++u) {
        const Node x = slot_[u];
        Score* row = saved_ + x * stride_;
        std::copy_n(keep_ + u * stride_, stride_, row);
        for (auto e = left_.indptr[u]; e < left_.indptr[u + 1]; ++e) {
            add_edge(row, e, slot_[left_.indices[e]]);
        }
        for (Node y = 0; y < slots_; ++y) {
            turned_[y * stride_ + x] = row[y];
        }
        score_ += (row[x] + keep_[u * stride_ + x]) / 2.0;  // a kept edge counts at both its ends
    }
    for (Node x = 0; x < slots_; ++x) {
        change(x, x, static_cast<Score>(-penalty_));
        refresh(x);
        mark_kept_edges(x, 1, [x](Node y) { return y > x; });
    }
    std::fill(held_ + slots_, held_ + stride_, static_cast<Score>(2 * penalty_));
}

}  // namespace uge::ged
