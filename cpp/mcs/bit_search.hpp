#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "../deadline.hpp"
#include "bits.hpp"
#include "problem.hpp"
#include "state_table.hpp"

namespace uge::mcs {

/// McSplit for graphs of at most 64 * W nodes, classes stored as bitsets.
template <int W>
class BitSearch {
  public:
    static constexpr int capacity = 64 * W;

    auto run(const Problem& problem, const Deadline& deadline, StateTable& table, std::vector<Match>& best) -> Outcome {
        load(problem);
        table_ = &table;
        table.clear();
        deadline_ = &deadline;
        best_ = &best;
        best.clear();
        matches_.clear();
        open_ = 0;
        branches_ = 0;
        stopped_ = false;
        search(arena_.data(), num_roots_);
        const int lower = static_cast<int>(best.size());
        return {.lower = lower, .upper = std::max(lower, open_), .branches = branches_};
    }

  private:
    using Set = Bits<W>;
    /// Nodes that may still be matched with each other: they have the same edges to the matched nodes.
    struct Class {
        std::array<Set, 2> side;
        bool attached = false;  ///< adjacent to a matched node
    };
    struct Candidate {
        int bound;
        int distance;
        int node;
    };

    void load(const Problem& problem) {
        connected_ = problem.connected;
        planes_ = problem.planes;
        for (std::size_t s = 0; s < 2; ++s) {
            const auto& g = problem.graph[s];
            const auto n = static_cast<std::size_t>(g.n);
            Set all;
            for (int u = 0; u < g.n; ++u) all.insert(u);
            adjacent_[s].assign(n, {});
            plane_[s].assign(planes_ > 1 ? n * static_cast<std::size_t>(planes_) : 0, {});
            apart_[s].resize(n);
            for (Node u = 0; u < g.n; ++u) {
                auto& row = adjacent_[s][static_cast<std::size_t>(u)];
                const auto neighbors = g.neighbors(u);
                for (std::size_t k = 0; k < neighbors.size(); ++k) {
                    row.insert(neighbors[k]);
                    if (planes_ > 1) plane(s, problem.edge_label(s, u, k), u).insert(neighbors[k]);
                }
                apart_[s][static_cast<std::size_t>(u)] = all - row - Set::single(u);
            }
        }
        const auto small = static_cast<std::size_t>(std::min(problem.graph[0].n, problem.graph[1].n));
        arena_.resize((small + 1) * (small + 2) / 2 + 1);
        num_roots_ = 0;
        for (const auto& group : problem.groups) {
            auto& root = arena_[static_cast<std::size_t>(num_roots_++)];
            root = {};
            for (std::size_t s = 0; s < 2; ++s) {
                for (Node u : problem.members(s, group)) root.side[s].insert(u);
            }
        }
    }

    auto plane(std::size_t s, int label, Node u) -> Set& {
        return plane_[s][static_cast<std::size_t>(u) * static_cast<std::size_t>(planes_) +
                         static_cast<std::size_t>(label)];
    }
    auto adjacent(std::size_t s, int u) const -> const Set& { return adjacent_[s][static_cast<std::size_t>(u)]; }
    auto apart(std::size_t s, int u) const -> const Set& { return apart_[s][static_cast<std::size_t>(u)]; }

    /// Whether two nodes of one side and class have the same edges to every other live node: swapping them changes
    /// nothing.
    auto twins(std::size_t s, int u, int v, const Set& alive) -> bool {
        const auto others = alive - Set::single(u) - Set::single(v);
        if (!((adjacent(s, u) ^ adjacent(s, v)) & others).empty()) return false;
        if (planes_ > 1) {
            for (int p = 0; p < planes_; ++p) {
                if (!((plane(s, p, u) ^ plane(s, p, v)) & others).empty()) return false;
            }
        }
        return true;
    }

    /// Calls f(parts, attached) for each part that every class falls into once u (of side s) and v are matched.
    template <class F>
    void split(const Class* classes, int count, std::size_t s, int u, int v, F&& f) {
        const std::size_t t = 1 - s;
        for (int i = 0; i < count; ++i) {
            const auto& c = classes[i];
            if (planes_ == 1) {
                f(c.side[s] & adjacent(s, u), c.side[t] & adjacent(t, v), true);
            } else {
                for (int p = 0; p < planes_; ++p) f(c.side[s] & plane(s, p, u), c.side[t] & plane(t, p, v), true);
            }
            f(c.side[s] & apart(s, u), c.side[t] & apart(t, v), c.attached);
        }
    }

    void match(std::size_t s, int u, int v) { matches_.push_back(s == 0 ? Match{u, v} : Match{v, u}); }

    /// Matches pairs that some optimal solution holds: of one class, and both without a live neighbor, or both
    /// adjacent to every live node of their graph. (Exchange argument: whatever else they are matched with in a
    /// solution, their partners can be matched with each other.) Returns whether there were any.
    auto match_forced(Class* classes, int count, const std::array<Set, 2>& alive) -> bool {
        std::array<Set, 2> lonely;
        std::array<Set, 2> full;
        for (std::size_t s = 0; s < 2; ++s) {
            Set seen;
            full[s] = alive[s];
            for (Set rest = alive[s]; !rest.empty();) {
                const int u = rest.pop();
                seen |= adjacent(s, u);
                full[s] = full[s] - apart(s, u);
            }
            lonely[s] = alive[s] - seen;
            if (planes_ > 1) full[s] = {};
            if (lonely[s].empty() && full[s].empty()) return false;
        }
        const bool start = matches_.empty();
        bool any = false;
        bool all_attached = false;
        for (int i = 0; i < count; ++i) {
            auto& c = classes[i];
            const auto pair_up = [&](const std::array<Set, 2>& forced) {
                Set left = c.side[0] & forced[0];
                Set right = c.side[1] & forced[1];
                bool some = false;
                while (!left.empty() && !right.empty()) {
                    const int u = left.pop();
                    const int v = right.pop();
                    c.side[0].erase(u);
                    c.side[1].erase(v);
                    match(0, u, v);
                    some = true;
                }
                return some;
            };
            if (!connected_ || c.attached) any |= pair_up(lonely);
            if (!connected_ || c.attached || start) all_attached |= pair_up(full);
        }
        if (all_attached) {
            for (int i = 0; i < count; ++i) classes[i].attached = true;
        }
        return any || all_attached;
    }

    /// Takes out nodes that no path of live nodes joins to the matched ones. Returns whether there were any.
    auto cut_off(Class* classes, int count, const std::array<Set, 2>& alive) const -> bool {
        std::array<Set, 2> reached;
        for (int i = 0; i < count; ++i) {
            if (!classes[i].attached) continue;
            for (std::size_t s = 0; s < 2; ++s) reached[s] |= classes[i].side[s];
        }
        for (std::size_t s = 0; s < 2; ++s) {
            for (Set rest = reached[s]; !rest.empty();) {
                const auto found = (adjacent(s, rest.pop()) & alive[s]) - reached[s];
                reached[s] |= found;
                rest |= found;
            }
        }
        if (reached == alive) return false;
        for (int i = 0; i < count; ++i) {
            for (std::size_t s = 0; s < 2; ++s) classes[i].side[s] = classes[i].side[s] & reached[s];
        }
        return true;
    }

    auto key_of(const Class* classes, int count) const -> StateTable::Key {
        StateTable::Key key;
        for (int i = 0; i < count; ++i) {
            std::uint64_t first = connected_ && classes[i].attached ? 1 : 0;
            std::uint64_t second = first;
            for (const auto& side : classes[i].side) {
                for (const auto word : side.word) {
                    first = (first ^ word) * 0x9e3779b97f4a7c15ULL;
                    first ^= first >> 32;
                    second = (second + word) * 0xc4ceb9fe1a85ec53ULL;
                    second ^= second >> 29;
                }
            }
            key.add(first, second);
        }
        return key;
    }

    auto stop() -> bool {
        constexpr std::int64_t every = 64 / (W * W);
        if (++branches_ % every == 0 && deadline_->expired()) stopped_ = true;
        return stopped_;
    }

    /// Tries everything that the classes allow on top of `matches_`. The classes belong to this call, and so does
    /// the arena behind them.
    void search(Class* classes, int count) {
        const std::size_t depth = matches_.size();
        bool entered = false;
        StateTable::Key entry;
        int entry_size = 0;
        while (true) {
            std::array<Set, 2> alive;
            int bound = static_cast<int>(matches_.size());
            int kept = 0;
            int chosen = -1;
            int fewest = 0;
            for (int i = 0; i < count; ++i) {
                const auto& c = classes[i];
                const int a = c.side[0].count();
                const int b = c.side[1].count();
                if (a == 0 || b == 0) continue;
                bound += std::min(a, b);
                alive[0] |= c.side[0];
                alive[1] |= c.side[1];
                if (!connected_ || c.attached || matches_.empty()) {
                    const int width = std::max(a, b);
                    if (chosen < 0 || width < fewest) {
                        chosen = kept;
                        fewest = width;
                    }
                }
                if (kept != i) classes[kept] = c;
                ++kept;
            }
            count = kept;
            if (chosen < 0 || bound <= static_cast<int>(best_->size())) break;
            if (stop()) {
                open_ = std::max(open_, bound);
                break;
            }
            if (match_forced(classes, count, alive)) continue;
            if (connected_ && !matches_.empty() && cut_off(classes, count, alive)) continue;
            const auto state = key_of(classes, count);
            if (static_cast<int>(matches_.size()) + table_->find(state) <= static_cast<int>(best_->size())) break;
            if (!entered) {
                entered = true;
                entry = state;
                entry_size = static_cast<int>(matches_.size());
            }

            auto& c = classes[chosen];
            const std::size_t s = c.side[0].count() <= c.side[1].count() ? 0 : 1;
            const std::size_t t = 1 - s;
            int u = -1;
            int degree = -1;
            for (Set rest = c.side[s]; !rest.empty();) {
                const int x = rest.pop();
                const int d = (adjacent(s, x) & alive[s]).count();
                if (d > degree) {
                    u = x;
                    degree = d;
                }
            }

            std::array<Candidate, capacity> candidates;
            int num_candidates = 0;
            for (Set rest = c.side[t]; !rest.empty();) {
                const int v = rest.pop();
                bool seen = false;
                for (int k = 0; k < num_candidates && !seen; ++k) {
                    seen = twins(t, candidates[static_cast<std::size_t>(k)].node, v, alive[t]);
                }
                if (seen) continue;
                int child = static_cast<int>(matches_.size()) + 1;
                split(classes, count, s, u, v,
                      [&](const Set& x, const Set& y, bool) { child += std::min(x.count(), y.count()); });
                const int gap = std::abs(degree - (adjacent(t, v) & alive[t]).count());
                candidates[static_cast<std::size_t>(num_candidates++)] = {child, gap, v};
            }
            std::sort(candidates.begin(), candidates.begin() + num_candidates, [](const auto& x, const auto& y) {
                if (x.bound != y.bound) return x.bound > y.bound;
                return x.distance != y.distance ? x.distance < y.distance : x.node < y.node;
            });
            for (int k = 0; k < num_candidates; ++k) {
                const auto& candidate = candidates[static_cast<std::size_t>(k)];
                if (candidate.bound <= static_cast<int>(best_->size())) break;
                Class* children = classes + count;
                int num_children = 0;
                split(classes, count, s, u, candidate.node, [&](const Set& x, const Set& y, bool attached) {
                    if (x.empty() || y.empty()) return;
                    auto& child = children[num_children++];
                    child.side[s] = x;
                    child.side[t] = y;
                    child.attached = attached;
                });
                const std::size_t size = matches_.size();
                match(s, u, candidate.node);
                search(children, num_children);
                matches_.resize(size);
                if (stopped_) {
                    open_ = std::max(open_, bound);
                    break;
                }
            }
            if (stopped_) break;
            Set gone = Set::single(u);
            for (Set rest = c.side[s] - gone; !rest.empty();) {
                const int x = rest.pop();
                if (twins(s, u, x, alive[s])) gone.insert(x);
            }
            c.side[s] = c.side[s] - gone;
        }
        if (matches_.size() > best_->size()) *best_ = matches_;
        if (entered && !stopped_) table_->store(entry, static_cast<int>(best_->size()) - entry_size);
        matches_.resize(depth);
    }

    std::array<std::vector<Set>, 2> adjacent_;
    std::array<std::vector<Set>, 2> apart_;  ///< neither adjacent nor the node itself
    std::array<std::vector<Set>, 2> plane_;  ///< adjacent_ by edge label
    std::vector<Class> arena_;
    std::vector<Match> matches_;
    std::vector<Match>* best_ = nullptr;
    const Deadline* deadline_ = nullptr;
    StateTable* table_ = nullptr;
    std::int64_t branches_ = 0;
    int num_roots_ = 0;
    int planes_ = 1;
    int open_ = 0;  ///< bound on what was left unsearched
    bool connected_ = false;
    bool stopped_ = false;
};

}  // namespace uge::mcs
