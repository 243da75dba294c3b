#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "../deadline.hpp"
#include "arena.hpp"
#include "edge_codes.hpp"
#include "edit_cost.hpp"
#include "random.hpp"

namespace uge::ged {

/// Local search over the maps of one pair of graphs, small enough for dense tables.
///
/// A map is scored by what it saves over deleting all of `left` and inserting all of `right`: a sum over kept nodes and
/// kept edges. Each left node sits on a slot: a node of `right`, or one of the slots past those, which stand for
/// deletion. Dummies sit on the free slots, so that every move is a swap of two slots. Row x of `saved` says what the
/// node on slot x would save on every other slot; `turned` is its transpose. So the gains of all swaps of one slot are
/// a few vector instructions, and a swap changes both tables by an outer product.
///
/// Score = std::int8_t or std::int16_t: uniform costs, left.n <= right.n, degrees at most 6 or 512, no deletion; scores
/// leave out what every map saves. kLabeled: of these, labels of edges count. Score = double: any costs. kVectors:
/// vectors in a row of the tables, 0 if known only at run time.
template <class Score, int kVectors, bool kLabeled = false>
class SwapSearch {
  public:
    static constexpr bool uniform = std::is_integral_v<Score>;
    static constexpr int lanes = 32 / sizeof(Score);

    /// `slots`: right.n and one more for each left node that may be deleted; at least left.n.
    /// `codes`: of the edge labels, where they count.
    SwapSearch(const GraphView& left, const GraphView& right, const EditCosts& costs, int slots, const EdgeCodes& codes,
               Arena& arena)
        : codes_(codes),
          labels_(kLabeled ? codes.size() : 1),
          left_(left),
          right_(right),
          costs_(costs),
          n_(left.n),
          m_(right.n),
          slots_(slots),
          stride_(vectors() * lanes) {
        const auto slot_rows = static_cast<std::size_t>(slots_ * stride_);
        const auto left_rows = static_cast<std::size_t>(n_ * stride_);
        const auto pairs = static_cast<std::size_t>(n_ * n_);
        const auto stride = static_cast<std::size_t>(stride_);
        const auto labels = static_cast<std::size_t>(labels_);
        arena.reset((2 + labels) * Arena::rounded<Score>(slot_rows) + 3 * Arena::rounded<Score>(left_rows) +
                    (6 + labels) * Arena::rounded<Score>(stride) + 3 * Arena::rounded<Node>(stride) +
                    Arena::rounded<std::uint8_t>(pairs));
        for (auto* table : {&saved_, &turned_}) {
            *table = arena.take<Score>(slot_rows);
        }
        edges_ = arena.take<Score>(labels * slot_rows);
        for (auto* table : {&keep_, &likeness_, &promise_}) {
            *table = arena.take<Score>(left_rows);
        }
        for (auto* row : {&held_, &rest_, &column_, &row_, &top_, &top_row_}) {
            *row = arena.take<Score>(stride);
        }
        change_ = arena.take<Score>(labels * stride);
        for (auto* list : {&at_, &slot_, &open_}) {
            *list = arena.take<Node>(stride);
        }
        adjacent_ = arena.take<std::uint8_t>(pairs);
        std::fill_n(adjacent_, pairs, std::uint8_t{0});
        for (Node u = 0; u < n_; ++u) {
            for (auto e = left_.indptr[u]; e < left_.indptr[u + 1]; ++e) {
                adjacent_[u * n_ + left_.indices[e]] = static_cast<std::uint8_t>(1 + left_code(e));
            }
        }
        if constexpr (uniform) {
            std::fill_n(edges_, labels * slot_rows, Score{0});
            for (int code = 0; code < labels_; ++code) {
                for (Node x = 0; x < m_; ++x) {
                    for (auto f = right_.indptr[x]; f < right_.indptr[x + 1]; ++f) {
                        edge_row(code, x)[right_.indices[f]] = saving_of_codes(code, right_code(f));
                    }
                }
            }
        } else {
            penalty_ = scale();
        }
        compare_nodes();
    }

    auto random() -> Random& { return random_; }

    /// The score of a map that costs this.
    [[nodiscard]] auto score_at(double cost) const -> double {
        return replacement_cost(left_, right_, costs_) - cost - (uniform ? 2 * n_ : 0);
    }

    /// Puts each left node where `map` says. Precondition: no more -1 (deletion) than slots past right.n.
    auto load(std::span<const Node> map) -> void;

    /// Tabu search: makes the best swap, even if it loses; nodes just moved are tabu for some steps. Ends after
    /// `patience` swaps without a new best (0: at the first local optimum), when `best` reaches `enough`, or when time
    /// is up. `best` is the best score so far and `map` its map: both are updated.
    auto climb(int patience, double enough, const Deadline& deadline, double& best, std::span<Node> map) -> void {
        constexpr unsigned between = 16;  // swaps that take a microsecond or more
        unsigned swaps = 0;
        const double tolerance = uniform ? 0 : 1e-10 * static_cast<double>(penalty_);  // for rounding of the tables
        Node resting[max_rest + 2];
        int first = 0;
        int last = 0;
        bool unsaved = score_ > best + tolerance;
        best = std::max(best, score_);
        for (int idle = 0; idle <= patience && best < enough - tolerance && n_ > 0; ++idle) {
            const Move move = best_swap();
            if (move.from == move.to || move.to >= slots_ || (patience == 0 && move.gain <= tolerance) ||
                (++swaps % between == 0 && deadline.expired())) {
                break;
            }
            if (unsaved && move.gain <= 0) {
                store(map);
                unsaved = false;
            }
            swap(move.from, move.to);
            score_ += move.gain;
            if (score_ > best + tolerance) {
                best = score_;
                unsaved = true;
                idle = -1;
            }
            for (const Node x : {move.from, move.to}) {
                if (at_[x] < n_ && rest_[at_[x]] == 0) {
                    rest_[at_[x]] = penalty_;
                    resting[last++ % std::size(resting)] = at_[x];
                    refresh(x);
                }
            }
            for (const int rest = min_rest + random_.below(max_rest - min_rest + 1); last - first > rest; ++first) {
                const Node u = resting[first % static_cast<int>(std::size(resting))];
                rest_[u] = 0;
                refresh(slot_[u]);
            }
        }
        if (unsaved) {
            store(map);
        }
    }

    /// Completes `map`, where -1 is open: repeatedly adds the most promising pair, by edges to pairs already made,
    /// labels, degrees, and labels of neighbors. Leaves -1 only when `right` is used up.
    auto grow(std::span<Node> map) -> void;

    /// The node of `right` most like u, ties broken at random. Precondition: right.n > 0.
    auto most_alike(Node u) -> Node {
        const Score* row = likeness_ + u * stride_;
        return find(row, *std::max_element(row, row + m_), random_.below(m_), m_);
    }

  private:
    typedef Score Vector __attribute__((vector_size(32), may_alias));
    struct Move {
        Node from;
        Node to;
        Score gain;
    };
    static constexpr Score lowest = std::numeric_limits<Score>::lowest();
    static constexpr int min_rest = 4;
    static constexpr int max_rest = 12;

    /// The best value seen in each lane, and the row it came from.
    struct Tops {
        Vector own[kVectors > 0 ? 2 * kVectors : 1];
        Vector* value;
        Vector* row;

        explicit Tops(SwapSearch& search)
            : value(kVectors > 0 ? own : vectors_of(search.top_)),
              row(kVectors > 0 ? own + kVectors : vectors_of(search.top_row_)) {
            for (int j = 0; j < search.vectors(); ++j) {
                value[j] = Vector{} + lowest;
                row[j] = Vector{};
            }
        }
        auto offer(int j, const Vector& offered, int from) -> void {
            const auto better = offered > value[j];
            value[j] = better ? offered : value[j];
            row[j] = better ? Vector{} + static_cast<Score>(from) : row[j];
        }
        /// A lane with the highest value, ties broken at random. Leaves values and rows in `top_` and `top_row_`.
        auto pick(SwapSearch& search) const -> Node {
            if constexpr (kVectors > 0) {
                std::memcpy(search.top_, own, sizeof own / 2);
                std::memcpy(search.top_row_, own + kVectors, sizeof own / 2);
            }
            Score top = lowest;
            for (int y = 0; y < search.vectors() * lanes; ++y) {
                top = std::max(top, search.top_[y]);
            }
            return find(search.top_, top, search.random_.below(search.slots_), search.stride_);
        }
    };

    const EdgeCodes& codes_;
    int labels_;
    GraphView left_;
    GraphView right_;
    EditCosts costs_;
    Node n_;
    Node m_;
    int slots_;
    int stride_;
    Score* saved_;     ///< slots x stride: what the node on a slot saves on another
    Score* turned_;    ///< the transpose of `saved_`
    Score* edges_;     ///< labels x slots x stride: what an edge between two nodes of `right` saves when kept
    Score* keep_;      ///< left x stride: what a left node saves on a slot by itself
    Score* likeness_;  ///< left x stride: how alike two nodes are with their neighborhoods
    Score* promise_;   ///< left x stride: likeness and the edges to pairs made so far
    Score* held_;      ///< for each slot: what its node saves there, more if it is tabu
    Score* rest_;      ///< for each left node: `penalty_` while it is tabu
    Score* column_;
    Score* row_;
    Score* change_;  ///< labels x stride
    Score* top_;
    Score* top_row_;
    Node* at_;    ///< left node, or dummy, on each slot
    Node* slot_;  ///< its inverse
    Node* open_;
    std::uint8_t* adjacent_;                          ///< left x left: 0, or 1 and the code of the edge
    Score penalty_ = sizeof(Score) == 1 ? 25 : 6000;  ///< more than a swap gains
    double score_ = 0;
    Random random_;

    [[nodiscard]] auto vectors() const -> int { return kVectors > 0 ? kVectors : (slots_ + lanes - 1) / lanes; }
    static auto vectors_of(Score* row) -> Vector* { return reinterpret_cast<Vector*>(row); }
    static auto vectors_of(const Score* row) -> const Vector* { return reinterpret_cast<const Vector*>(row); }

    /// First position of `value` among `end`, from `start` on, cyclically. Precondition: there is one.
    static auto find(const Score* row, Score value, Node start, Node end) -> Node {
        if constexpr (sizeof(Score) == 1) {
            const auto from = [&](Node first, Node past) {
                return std::memchr(row + first, static_cast<unsigned char>(value),
                                   static_cast<std::size_t>(past - first));
            };
            const void* found = from(start, end);
            return static_cast<Node>(static_cast<const Score*>(found != nullptr ? found : from(0, start)) - row);
        } else {
            while (row[start] != value) {
                start = start + 1 < end ? start + 1 : 0;
            }
            return start;
        }
    }

    /// What keeping one edge saves at most.
    [[nodiscard]] auto edge_saving() const -> Score {
        return uniform ? Score{2} : static_cast<Score>(costs_.edge_delete + costs_.edge_insert);
    }
    [[nodiscard]] auto left_code(std::int64_t e) const -> int {
        return kLabeled ? codes_.left[static_cast<std::size_t>(e - left_.indptr[0])] : 0;
    }
    [[nodiscard]] auto right_code(std::int64_t f) const -> int {
        return kLabeled ? codes_.right[static_cast<std::size_t>(f - right_.indptr[0])] : 0;
    }
    static auto saving_of_codes(int left, int right) -> Score { return left == right ? Score{2} : Score{1}; }
    [[nodiscard]] auto edge_row(int code, Node x) const -> Score* {
        return edges_ + (kLabeled ? code * slots_ + x : x) * stride_;
    }
    /// The same for two edges, by their positions in `indices`.
    [[nodiscard]] auto edge_saving(std::int64_t from, std::int64_t to) const -> Score {
        if constexpr (kLabeled) {
            return saving_of_codes(left_code(from), right_code(to));
        } else if constexpr (uniform) {
            return edge_saving();
        } else {
            return edge_saving() - keep_edge(costs_, edge_label_at(left_, from), edge_label_at(right_, to));
        }
    }

    auto add(Score* to, const Score* what, int sign) const -> void {
        for (int j = 0; j < vectors(); ++j) {
            vectors_of(to)[j] += sign > 0 ? vectors_of(what)[j] : -vectors_of(what)[j];
        }
    }
    auto change(Node x, Node y, Score by) -> void {
        saved_[x * stride_ + y] = static_cast<Score>(saved_[x * stride_ + y] + by);
        turned_[y * stride_ + x] = static_cast<Score>(turned_[y * stride_ + x] + by);
    }
    auto refresh(Node x) -> void { held_[x] = static_cast<Score>(saved_[x * stride_ + x] + penalty_ + rest_[at_[x]]); }

    /// Adds to a row what a node saves on each slot by edge `e` when its other end is on slot x.
    auto add_edge(Score* row, std::int64_t e, Node x) const -> void {
        if (x >= m_) {
            return;
        }
        if constexpr (uniform) {
            add(row, edge_row(left_code(e), x), 1);
        } else {
            for (auto f = right_.indptr[x]; f < right_.indptr[x + 1]; ++f) {
                row[right_.indices[f]] += edge_saving(e, f);
            }
        }
    }

    /// Two nodes that change places keep the edge between them, which their rows of `saved` do not take into account.
    /// Adds this (sign 1) or takes it away (-1) for the kept edges from slot x to the slots chosen.
    template <class Chosen>
    auto mark_kept_edges(Node x, int sign, Chosen chosen) -> void;

    auto best_swap() -> Move {
        Tops tops(*this);
        const auto* held = vectors_of(held_);
        const Node start = random_.below(n_);
        for (Node k = 0; k < n_; ++k) {
            const Node u = start + k < n_ ? start + k : start + k - n_;
            const Node x = slot_[u];
            const auto* saved = vectors_of(saved_ + x * stride_);
            const auto* turned = vectors_of(turned_ + x * stride_);
            const Score here = held_[x];
            for (int j = 0; j < vectors(); ++j) {
                tops.offer(j, saved[j] + turned[j] - held[j] - here, u);
            }
        }
        const Node to = tops.pick(*this);
        return {slot_[static_cast<Node>(top_row_[to])], to, top_[to]};
    }

    /// Updates the rows of the neighbors of left node w, which moved from slot `from` to slot `to`.
    auto move_edges(Node w, Node from, Node to) -> void;
    /// Updates the rows of `turned_` of the neighbors of slots x and y: u is on y now, v on x.
    auto turn_edges(Node u, Node v, Node x, Node y) -> void;
    auto swap(Node x, Node y) -> void;

    /// Adds the pair (u, x): pairs of its neighbors become more promising, other pairs of them less.
    auto attach(Node u, Node x) -> void;

    auto store(std::span<Node> map) const -> void {
        for (Node u = 0; u < n_; ++u) {
            map[static_cast<std::size_t>(u)] = slot_[u] < m_ ? slot_[u] : -1;
        }
    }

    /// A power of two above what any swap can gain.
    [[nodiscard]] auto scale() const -> Score {
        double node = costs_.node_delete + costs_.node_insert;
        Node degree = 0;
        for (Node u = 0; u < n_; ++u) {
            degree = std::max(degree, left_.degree(u));
            for (Node x = 0; x < m_; ++x) {
                node = std::max(node, costs_.relabel_node(left_.labels[u], right_.labels[x]));
            }
        }
        double power = 1;
        while (power < 16 * (node + (degree + 2) * edge_saving())) {
            power *= 2;
        }
        return static_cast<Score>(power);
    }

    /// Fills `keep_` and `likeness_`.
    auto compare_nodes() -> void;
};

}  // namespace uge::ged

#include "swap_search_moves.hpp"
#include "swap_search_starts.hpp"
