#pragma once
#include "swap_search.hpp"

namespace uge::ged {

/// The part of SwapSearch that swaps two nodes.

template <class Score, int kVectors, bool kLabeled>
template <class Chosen>
auto SwapSearch<Score, kVectors, kLabeled>::mark_kept_edges(Node x, int sign, Chosen chosen) -> void {
    const Node u = at_[x];
    if (u >= n_ || x >= m_) {
        return;
    }
    for (auto f = right_.indptr[x]; f < right_.indptr[x + 1]; ++f) {
        const Node y = right_.indices[f];
        const Node v = at_[y];
        if (v < n_ && adjacent_[u * n_ + v] != 0 && chosen(y)) {
            const Score saving = kLabeled ? saving_of_codes(adjacent_[u * n_ + v] - 1, right_code(f))
                                          : edge_saving(uniform ? 0 : find_edge(left_, u, v), f);
            const auto by = static_cast<Score>(sign * saving);
            change(x, y, by);
            change(y, x, by);
        }
    }
}

template <class Score, int kVectors, bool kLabeled>
auto SwapSearch<Score, kVectors, kLabeled>::move_edges(Node w, Node from, Node to) -> void {
    for (auto e = left_.indptr[w]; e < left_.indptr[w + 1]; ++e) {
        const Node z = slot_[left_.indices[e]];
        if constexpr (uniform) {
            add(saved_ + z * stride_, edge_row(left_code(e), from), -1);
            add(saved_ + z * stride_, edge_row(left_code(e), to), 1);
        } else {
            for (const auto& [x, sign] : {std::pair{from, -1}, std::pair{to, 1}}) {
                for (auto f = x < m_ ? right_.indptr[x] : 0; x < m_ && f < right_.indptr[x + 1]; ++f) {
                    change(z, right_.indices[f], sign * edge_saving(e, f));
                }
            }
        }
    }
}

template <class Score, int kVectors, bool kLabeled>
auto SwapSearch<Score, kVectors, kLabeled>::turn_edges(Node u, Node v, Node x, Node y) -> void {
    std::fill_n(change_, labels_ * stride_, Score{0});
    for (const auto& [w, sign] : {std::pair{u, 1}, std::pair{v, -1}}) {
        for (auto e = w < n_ ? left_.indptr[w] : 0; w < n_ && e < left_.indptr[w + 1]; ++e) {
            Score* changed = change_ + slot_[left_.indices[e]];
            for (int code = 0; code < labels_; ++code, changed += stride_) {
                *changed = static_cast<Score>(*changed + sign * saving_of_codes(left_code(e), code));
            }
        }
    }
    for (const auto& [z, sign] : {std::pair{y, 1}, std::pair{x, -1}}) {
        for (auto f = right_.indptr[z]; f < right_.indptr[z + 1]; ++f) {
            add(turned_ + right_.indices[f] * stride_, change_ + (kLabeled ? right_code(f) * stride_ : 0), sign);
        }
    }
}

template <class Score, int kVectors, bool kLabeled>
auto SwapSearch<Score, kVectors, kLabeled>::swap(Node x, Node y) -> void {
    const Node u = at_[x];
    const Node v = at_[y];
    mark_kept_edges(x, -1, [](Node) { return true; });
    mark_kept_edges(y, -1, [x](Node z) { return z != x; });
    change(x, x, penalty_);
    change(y, y, penalty_);
    if (u < n_) {
        move_edges(u, x, y);
    }
    if (v < n_) {
        move_edges(v, y, x);
    }
    if constexpr (uniform) {
        turn_edges(u, v, x, y);
    }
    std::swap_ranges(saved_ + x * stride_, saved_ + (x + 1) * stride_, saved_ + y * stride_);
    for (Node z = 0; z < slots_; ++z) {
        std::swap(turned_[z * stride_ + x], turned_[z * stride_ + y]);
    }
    std::swap(at_[x], at_[y]);
    std::swap(slot_[u], slot_[v]);
    change(x, x, static_cast<Score>(-penalty_));
    change(y, y, static_cast<Score>(-penalty_));
    for (const Node w : {u, v}) {
        refresh(slot_[w]);
        for (const Node z : w < n_ ? left_.neighbors(w) : std::span<const Node>{}) {
            refresh(slot_[z]);
        }
    }
    mark_kept_edges(x, 1, [](Node) { return true; });
    mark_kept_edges(y, 1, [x](Node z) { return z != x; });
}

}  // namespace uge::ged
