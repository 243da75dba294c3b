#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>

#include "beam.hpp"
#include "lanes.hpp"
#include "node_order.hpp"

namespace uge::ged {

/// The beam for uniform costs, on dense tables.
///
/// A state is a map of the first nodes of the order. It is ranked by its cost and a lower bound on what is to come: for
/// each pair made, the difference in numbers of edges that leave it to open nodes; and the difference in numbers of
/// edges among open nodes. Rows over the nodes of `right` say what extending a state to each of them adds to that, so
/// that all children of a state are ranked by a few vector instructions.
///
/// Score = std::int8_t: degrees at most 6. kVectors: vectors in a row, 0 if known only at run time. kLabeled: labels of
/// edges count, by workspace.codes.
template <class Score, int kVectors, bool kLabeled>
class UniformBeam {
  public:
    UniformBeam(const GraphView& left, const GraphView& right, int width, BeamWorkspace& workspace)
        : left_(left),
          right_(right),
          n_(left.n),
          m_(right.n),
          slots_(std::max(n_, m_)),
          width_(width),
          workspace_(workspace),
          done_(workspace.done) {
        stride_ = (kVectors > 0 ? kVectors : (slots_ + lanes - 1) / lanes) * lanes;
        const auto stride = static_cast<std::size_t>(stride_);
        const auto slots = index(slots_);
        const auto states = index(width_);
        const auto labels = static_cast<std::size_t>(kLabeled ? workspace.codes.size() : 0);
        const auto tables =
            (2 + labels) * slots * stride + states * stride + 2 * states * rows_of_state * stride + stride;
        auto& arena = workspace.arena;
        arena.reset(tables * sizeof(Score) + 2 * states * sizeof(State) + slots * (3 * sizeof(Node) + 1) +
                    arrays * Arena::alignment);
        adjacent_ = arena.take<Score>(slots * stride);
        relabel_ = arena.take<Score>(slots * stride);
        changed_ = arena.take<Score>(labels * slots * stride);
        ranks_ = arena.take<Score>(states * stride);
        lane_ = arena.take<Score>(stride);
        for (auto& rows : rows_) {
            rows = arena.take<Score>(states * rows_of_state * stride);
        }
        for (auto& states_of : states_) {
            states_of = arena.take<State>(states);
        }
        next_twin_ = arena.take<Node>(slots);
        last_twin_ = arena.take<Node>(slots);
        step_of_ = arena.take<Node>(slots);
        kept_ = arena.take<std::uint8_t>(slots);
        most_edges_ = max_degree(right);
    }

    auto run(const Deadline& deadline, std::span<Node> mapping) -> void {
        start();
        const auto& order = workspace_.order;
        std::int64_t open_edges = left_.num_edges();
        for (Node k = 0; k < n_; ++k) {
            if (k % 16 == 0 && deadline.expired()) {
                width_ = 1;
            }
            const Node u = order[index(k)];
            done_.clear();
            workspace_.done_codes.clear();
            for (auto e = left_.indptr[u]; e < left_.indptr[u + 1]; ++e) {
                if (step_of_[left_.indices[e]] < k) {
                    done_.push_back(left_.indices[e]);
                    if constexpr (kLabeled) {
                        const auto at = static_cast<std::size_t>(e - left_.indptr[0]);
                        workspace_.done_codes.push_back(workspace_.codes.left[at]);
                    }
                }
            }
            const Node leaving = left_.degree(u) - static_cast<Node>(done_.size());
            open_edges -= leaving;
            rank_children(u, leaving, open_edges, true);
            if (!choose()) {
                rank_children(u, leaving, open_edges, false);
                choose();
            }
            for (std::size_t i = 0; i < workspace_.chosen.size(); ++i) {
                make_child(workspace_.chosen[i], static_cast<int>(i), u, leaving);
            }
            count_ = static_cast<int>(workspace_.chosen.size());
            now_ ^= 1;
        }
        int best = 0;
        for (int s = 1; s < count_; ++s) {
            best = states_[now_][s].rank < states_[now_][best].rank ? s : best;
        }
        for (Node u = 0; u < n_; ++u) {
            const auto x = static_cast<Node>(image_row(now_, best)[u]);
            mapping[index(u)] = x < m_ ? x : -1;
        }
    }

  private:
    using Choice = BeamWorkspace::Choice;
    typedef Score Vector __attribute__((vector_size(32), may_alias));
    struct State {
        std::int64_t rank;        ///< cost so far and the bound on what is to come
        std::int64_t open_edges;  ///< edges of `right` among open nodes
    };
    static constexpr int lanes = 32 / sizeof(Score);
    static constexpr std::size_t rows_of_state = 4;
    static constexpr std::size_t arrays = 13;
    static constexpr Score used = sizeof(Score) == 1 ? 62 : 8000;  ///< more than the rank of any child
    static constexpr Score behind =
        sizeof(Score) == 1 ? 24 : 3000;  ///< states further behind the best count as this far
    static constexpr Score no_pair = std::numeric_limits<Score>::lowest();

    GraphView left_;
    GraphView right_;
    Node n_;
    Node m_;
    Node slots_;  ///< nodes of `right`, and as many more, without edges, as it takes to delete nodes of a larger `left`
    int width_;
    BeamWorkspace& workspace_;
    int stride_;
    Node most_edges_;
    Score* adjacent_;  ///< right x stride: 2 where there is an edge
    Score* relabel_;   ///< left x stride: 1 where labels differ
    Score* changed_;   ///< edge labels x right x stride: 1 where there is an edge of another label
    Score* ranks_;     ///< states x stride: of the children, against the best state
    Score* rows_[2];
    State* states_[2];
    Score* lane_;      ///< 0, 1, 2, ...
    Node* next_twin_;  ///< of each slot, the next that it can be exchanged with, or -1
    Node* last_twin_;  ///< of each left node, the last before it in the order, or -1
    Node* step_of_;
    std::vector<Node>& done_;
    std::uint8_t* kept_;     ///< scratch of make_child
    std::int64_t best_ = 0;  ///< rank of the best state
    int count_ = 0;
    std::size_t now_ = 0;

    static auto index(Node u) -> std::size_t { return static_cast<std::size_t>(u); }
    [[nodiscard]] auto vectors() const -> int { return kVectors > 0 ? kVectors : stride_ / lanes; }
    static auto vectors_of(Score* row) -> Vector* { return reinterpret_cast<Vector*>(row); }
    static auto vectors_of(const Score* row) -> const Vector* { return reinterpret_cast<const Vector*>(row); }
    auto state_row(std::size_t which, int state, int row) -> Score* {
        return rows_[which] + (static_cast<int>(rows_of_state) * state + row) * stride_;
    }
    /// What edges from pairs made to x add, if no edge of `left` comes onto them; `used` where x is not open.
    auto burden_row(std::size_t which, int state) -> Score* { return state_row(which, state, 0); }
    /// Open neighbors of x.
    auto leaving_row(std::size_t which, int state) -> Score* { return state_row(which, state, 1); }
    /// For a node of `right` in a pair: edges to open nodes, left less right.
    auto surplus_row(std::size_t which, int state) -> Score* { return state_row(which, state, 2); }
    /// Image of each left node.
    auto image_row(std::size_t which, int state) -> Score* { return state_row(which, state, 3); }

    auto changed_row(int code, Node x) -> Score* { return changed_ + (code * slots_ + x) * stride_; }

    static auto right_only(Score surplus) -> Score { return surplus < 0 ? 0 : 2; }
    static auto left_only(Score surplus) -> Score { return surplus > 0 ? 0 : 2; }

    [[nodiscard]] auto around(Node x) const -> std::span<const Node> {
        return x < m_ ? right_.neighbors(x) : std::span<const Node>{};
    }

    auto start() -> void {
        std::fill_n(adjacent_, slots_ * stride_, Score{0});
        std::fill_n(relabel_, slots_ * stride_, Score{0});
        std::fill_n(kept_, slots_, std::uint8_t{0});
        std::fill_n(rows_[0], static_cast<int>(rows_of_state) * stride_, Score{0});
        std::fill_n(surplus_row(0, 0), stride_, no_pair);
        Score* burden = burden_row(0, 0);
        std::fill(burden + slots_, burden + stride_, used);
        for (Node x = 0; x < m_; ++x) {
            leaving_row(0, 0)[x] = static_cast<Score>(right_.degree(x));
            for (const Node y : right_.neighbors(x)) {
                adjacent_[x * stride_ + y] = 2;
            }
        }
        if constexpr (kLabeled) {
            std::fill_n(changed_, workspace_.codes.size() * slots_ * stride_, Score{0});
            for (int code = 0; code < workspace_.codes.size(); ++code) {
                for (Node x = 0; x < m_; ++x) {
                    for (auto f = right_.indptr[x]; f < right_.indptr[x + 1]; ++f) {
                        changed_row(code, x)[right_.indices[f]] =
                            workspace_.codes.right[static_cast<std::size_t>(f - right_.indptr[0])] != code;
                    }
                }
            }
        }
        for (Node u = 0; u < n_; ++u) {
            for (Node x = 0; x < m_; ++x) {
                relabel_[u * stride_ + x] = left_.labels[u] != right_.labels[x];
            }
        }
        for (int x = 0; x < stride_; ++x) {
            lane_[x] = static_cast<Score>(x);
        }
        count_ = 1;
        states_[0][0] = {std::abs(left_.num_edges() - right_.num_edges()), right_.num_edges()};

        auto& order = workspace_.order;
        auto& by_index = workspace_.by_index;
        auto& hashes = workspace_.hashes;
        by_index.resize(index(m_));
        std::iota(by_index.begin(), by_index.end(), Node{0});
        find_twins(right_, kLabeled, by_index, hashes, step_of_);
        for (Node x = m_; x < slots_; ++x) {
            step_of_[x] = x > m_ ? x - 1 : -1;
        }
        std::fill_n(next_twin_, slots_, Node{-1});
        for (Node x = 0; x < slots_; ++x) {
            if (step_of_[x] >= 0 && next_twin_[step_of_[x]] < 0) {
                next_twin_[step_of_[x]] = x;
                burden[x] = static_cast<Score>(burden[x] + used);
            }
        }
        find_twins(left_, kLabeled, order, hashes, last_twin_);
        for (Node k = 0; k < n_; ++k) {
            step_of_[order[index(k)]] = k;
        }
    }

    /// Fills `ranks_`: how much each child of each state ranks behind the best state. `leaving`: open neighbors of u;
    /// `open_edges`: edges of `left` among the nodes open once u is mapped. `in_order`: only children where twins have
    /// ascending images, as every map has an equivalent one among these.
    auto rank_children(Node u, Node leaving, std::int64_t open_edges, bool in_order) -> void {
        const Node twin = in_order ? last_twin_[u] : -1;
        best_ = states_[now_][0].rank;
        for (int s = 1; s < count_; ++s) {
            best_ = std::min(best_, states_[now_][s].rank);
        }
        const Vector own = Vector{} + static_cast<Score>(leaving);
        const Vector unfit = Vector{} + used;
        const auto* relabel = vectors_of(relabel_ + u * stride_);
        for (int s = 0; s < count_; ++s) {
            const State& state = states_[now_][s];
            auto* ranks = vectors_of(ranks_ + s * stride_);
            const auto* burden = vectors_of(burden_row(now_, s));
            const auto* open = vectors_of(leaving_row(now_, s));
            const Score* surplus = surplus_row(now_, s);
            const Score* image = image_row(now_, s);
            // Among open nodes: |gap + leaving of x| edges too many on one side, |before| now.
            const std::int64_t gap = open_edges - state.open_edges;
            std::int64_t base = std::min<std::int64_t>(state.rank - best_, behind) - std::abs(gap + leaving);
            const bool mixed = std::abs(gap) < most_edges_;
            base += mixed ? 0 : std::abs(gap);
            for (const Node v : done_) {
                base += left_only(surplus[image[v]]);
            }
            const Vector shift = Vector{} + static_cast<Score>(base);
            const auto near_gap = static_cast<Score>(mixed ? gap : 0);
            for (int j = 0; j < vectors(); ++j) {
                const Vector uneven = own - open[j];
                const Vector among = open[j] + near_gap;
                ranks[j] = relabel[j] + burden[j] + shift + (uneven < 0 ? -uneven : uneven) +
                           (mixed     ? (among < 0 ? -among : among)
                            : gap > 0 ? among
                                      : -among);
            }
            for (std::size_t i = 0; i < done_.size(); ++i) {
                const Score y = image[done_[i]];
                const int saved = left_only(surplus[y]) + right_only(surplus[y]);
                const auto* adjacent = vectors_of(adjacent_ + y * stride_);
                for (int j = 0; j < vectors(); ++j) {
                    ranks[j] -= saved == 4 ? adjacent[j] + adjacent[j] : adjacent[j];
                }
                if constexpr (kLabeled) {
                    const auto* changed = vectors_of(changed_row(workspace_.done_codes[i], y));
                    for (int j = 0; j < vectors(); ++j) {
                        ranks[j] += changed[j];
                    }
                }
            }
            if (twin >= 0) {
                const Score before = image[twin];
                for (int j = 0; j < vectors(); ++j) {
                    ranks[j] = vectors_of(lane_)[j] < before ? unfit : ranks[j];
                }
            }
        }
    }

    /// Number of children that rank at most `limit`.
    auto count_children(Score limit) const -> int {
        int total = 0;
        for (int s = 0; s < count_;) {
            Vector sum{};
            for (const int end = std::min(count_, s + 100 / vectors() + 1); s < end; ++s) {
                for (int j = 0; j < vectors(); ++j) {
                    sum -= vectors_of(ranks_ + s * stride_)[j] <= limit ? Vector{} - 1 : Vector{};
                }
            }
            total += sum_of_lanes<Score>(sum);
        }
        return total;
    }

    /// The `width_` children that rank best; of those that tie for the last places, some evenly spread over the states.
    /// False if there are none.
    auto choose() -> bool {
        Vector least = Vector{} + used;
        for (int i = 0; i < count_ * vectors(); ++i) {
            const Vector ranks = vectors_of(ranks_)[i];
            least = ranks < least ? ranks : least;
        }
        Score limit = least[0];
        for (int i = 1; i < lanes; ++i) {
            limit = std::min<Score>(limit, least[i]);
        }
        const int wanted = std::min(width_, count_children(used - 1));
        if (wanted == 0) {
            return false;
        }
        int below = 0;
        int within = count_children(limit);
        while (within < wanted) {
            ++limit;
            below = within;
            within = count_children(limit);
        }
        auto& chosen = workspace_.chosen;
        auto& ties = workspace_.ties;
        chosen.resize(index(wanted));
        ties.resize(index(within - below));
        std::size_t better = 0;
        std::size_t equal = 0;
        for (int s = 0; s < count_; ++s) {
            for (int j = 0; j < vectors(); ++j) {
                const Vector& ranks = vectors_of(ranks_ + s * stride_)[j];
                const auto choice = [&](std::uint32_t set) -> Choice {
                    const int lane = std::countr_zero(set) / lane_bits<Score>;
                    return {s, j * lanes + lane, static_cast<double>(ranks_[s * stride_ + j * lanes + lane])};
                };
                for (std::uint32_t set = set_lanes<Score>(ranks < limit); set != 0; set &= set - 1) {
                    chosen[better++] = choice(set);
                }
                for (std::uint32_t set = set_lanes<Score>(ranks == limit); set != 0; set &= set - 1) {
                    ties[equal++] = choice(set);
                }
            }
        }
        for (std::size_t places = chosen.size() - better, i = 0; i < places; ++i) {
            chosen[better + i] = ties[i * equal / places];
        }
        return true;
    }

    auto make_child(const Choice& choice, int child, Node u, Node leaving) -> void {
        const std::size_t next = now_ ^ 1;
        const Node x = choice.image;
        std::memcpy(state_row(next, child, 0), state_row(now_, choice.state, 0),
                    rows_of_state * index(stride_) * sizeof(Score));
        Score* burden = burden_row(next, child);
        Score* open = leaving_row(next, child);
        Score* surplus = surplus_row(next, child);
        Score* image = image_row(next, child);
        const State& parent = states_[now_][choice.state];
        states_[next][child] = {
            std::max<std::int64_t>(parent.rank, best_ + behind) - behind + static_cast<std::int64_t>(choice.rank),
            parent.open_edges - open[x]};
        const auto weigh = [&](Node y, bool more) {
            const auto* adjacent = vectors_of(adjacent_ + y * stride_);
            for (int j = 0; j < vectors(); ++j) {
                vectors_of(burden)[j] += more ? adjacent[j] : -adjacent[j];
            }
        };
        for (const Node v : done_) {
            const Node y = image[v];
            if (adjacent_[x * stride_ + y] != 0) {
                kept_[y] = 1;
            } else if (surplus[y]-- == 0) {
                weigh(y, false);
            }
        }
        for (const Node y : around(x)) {
            if (surplus[y] != no_pair && kept_[y] == 0 && ++surplus[y] == 0) {
                weigh(y, true);
            }
            kept_[y] = 0;
        }
        for (int j = 0; j < vectors(); ++j) {
            vectors_of(open)[j] += vectors_of(adjacent_ + x * stride_)[j] != 0;  // true is -1
        }
        image[u] = static_cast<Score>(x);
        surplus[x] = static_cast<Score>(leaving - open[x]);
        if (right_only(surplus[x]) != 0) {
            weigh(x, true);
        }
        burden[x] = static_cast<Score>(burden[x] + used);
        if (next_twin_[x] >= 0) {
            burden[next_twin_[x]] = static_cast<Score>(burden[next_twin_[x]] - used);
        }
    }
};

}  // namespace uge::ged
