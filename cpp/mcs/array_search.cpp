#include "array_search.hpp"

#include <algorithm>
#include <cstdlib>

namespace uge::mcs {

auto ArraySearch::run(const Problem& problem, const Deadline& deadline, std::vector<Match>& best) -> Outcome {
    problem_ = &problem;
    deadline_ = &deadline;
    best_ = &best;
    best.clear();
    matches_.clear();
    classes_.clear();
    open_ = 0;
    branches_ = work_ = stamp_ = 0;
    stopped_ = false;
    for (std::size_t s = 0; s < 2; ++s) {
        nodes_[s] = problem.nodes[s];
        mark_[s].assign(nodes_[s].size(), 0);
        alive_[s].assign(nodes_[s].size(), 0);
    }
    for (const auto& group : problem.groups) {
        classes_.push_back({.first = group.first,
                            .size = {group.last[0] - group.first[0], group.last[1] - group.first[1]},
                            .attached = false});
    }
    search(0);
    const int lower = static_cast<int>(best.size());
    return {.lower = lower, .upper = std::max(lower, open_), .branches = branches_};
}

auto ArraySearch::stop(std::int64_t work) -> bool {
    constexpr std::int64_t enough = 1 << 15;  // some ten microseconds
    work_ += work;
    if (work_ > enough) {
        work_ = 0;
        stopped_ = stopped_ || deadline_->expired();
    }
    return stopped_;
}

/// Drops classes with an empty side.
auto ArraySearch::choose(std::size_t base) -> Choice {
    Choice choice{.bound = static_cast<int>(matches_.size()), .chosen = -1};
    int fewest = 0;
    std::size_t kept = base;
    for (std::size_t i = base; i < classes_.size(); ++i) {
        const auto c = classes_[i];
        if (c.size[0] == 0 || c.size[1] == 0) continue;
        choice.bound += std::min(c.size[0], c.size[1]);
        const int width = std::max(c.size[0], c.size[1]);
        const bool open = !problem_->connected || c.attached || matches_.empty();
        if (open && (choice.chosen < 0 || width < fewest)) {
            choice.chosen = static_cast<int>(kept - base);
            fewest = width;
        }
        classes_[kept++] = c;
    }
    classes_.resize(kept);
    return choice;
}

void ArraySearch::find_lonely(std::size_t s, Class& c) {
    lonely_[s].clear();
    for (int i = c.first[s]; i < c.first[s] + c.size[s]; ++i) {
        const auto neighbors = problem_->graph[s].neighbors(node(s, i));
        if (std::none_of(neighbors.begin(), neighbors.end(),
                         [&](Node v) { return alive_[s][static_cast<std::size_t>(v)] == stamp_; })) {
            lonely_[s].push_back(i);
        }
    }
}

/// Matches pairs of one class that have no live neighbor: some optimal solution holds them, since whatever they are
/// matched with in another, their partners can be matched with each other. Returns whether there were any.
auto ArraySearch::match_lonely(std::size_t base) -> bool {
    ++stamp_;
    for (std::size_t i = base; i < classes_.size(); ++i) {
        const auto& c = classes_[i];
        for (std::size_t s = 0; s < 2; ++s) {
            for (int k = c.first[s]; k < c.first[s] + c.size[s]; ++k) {
                alive_[s][static_cast<std::size_t>(node(s, k))] = stamp_;
            }
        }
    }
    bool any = false;
    for (std::size_t i = base; i < classes_.size(); ++i) {
        auto& c = classes_[i];
        if (problem_->connected && !c.attached) continue;
        find_lonely(0, c);
        if (lonely_[0].empty()) continue;
        find_lonely(1, c);
        // From the back, so that the positions still to come stay right.
        while (!lonely_[0].empty() && !lonely_[1].empty()) {
            std::array<Node, 2> pair{};
            for (std::size_t s = 0; s < 2; ++s) {
                const int at = lonely_[s].back();
                lonely_[s].pop_back();
                pair[s] = node(s, at);
                std::swap(node(s, at), node(s, c.first[s] + --c.size[s]));
            }
            matches_.push_back({pair[0], pair[1]});
            any = true;
        }
    }
    return any;
}

void ArraySearch::mark(std::size_t s, Node u, bool on) {
    const auto neighbors = problem_->graph[s].neighbors(u);
    for (std::size_t k = 0; k < neighbors.size(); ++k) {
        const int label = problem_->planes > 1 ? problem_->edge_label(s, u, k) : 0;
        mark_[s][static_cast<std::size_t>(neighbors[k])] = on ? 1 + label : 0;
    }
}

/// Moves the nodes of [first, last) that carry this mark to the front; where they end.
auto ArraySearch::cut(std::size_t s, int first, int last, int mark) -> int {
    const auto at = nodes_[s].begin();
    const auto& marks = mark_[s];
    return static_cast<int>(
        std::partition(at + first, at + last, [&](Node u) { return marks[static_cast<std::size_t>(u)] == mark; }) - at);
}

/// Appends the classes into which the marks divide those in [base, end).
void ArraySearch::split(std::size_t base, std::size_t end) {
    for (std::size_t i = base; i < end; ++i) {
        auto c = classes_[i];
        const auto take = [&](int mark) {
            Class part{.first = c.first, .size = {}, .attached = c.attached || mark > 0};
            for (std::size_t s = 0; s < 2; ++s) {
                part.size[s] = cut(s, c.first[s], c.first[s] + c.size[s], mark) - c.first[s];
                c.first[s] += part.size[s];
                c.size[s] -= part.size[s];
            }
            if (part.size[0] > 0 && part.size[1] > 0) classes_.push_back(part);
        };
        take(0);
        while (c.size[0] > 0 && c.size[1] > 0) take(mark_[0][static_cast<std::size_t>(node(0, c.first[0]))]);
    }
}

/// Position of the candidate for u after `last`, nearest degree first; -1 at the end.
auto ArraySearch::next_candidate(std::size_t s, const Class& c, Node u, std::pair<int, Node>& last) -> int {
    const std::size_t t = 1 - s;
    const auto& g = problem_->graph[t];
    const int degree = problem_->graph[s].degree(u);
    int found = -1;
    std::pair<int, Node> least{};
    for (int i = c.first[t]; i < c.first[t] + c.size[t]; ++i) {
        const Node v = node(t, i);
        const std::pair key{std::abs(g.degree(v) - degree), v};
        if (key > last && (found < 0 || key < least)) {
            found = i;
            least = key;
        }
    }
    last = least;
    return found;
}

/// Tries everything that the classes from `base` on allow on top of `matches_`; takes them off when done.
void ArraySearch::search(std::size_t base) {
    const std::size_t depth = matches_.size();
    while (true) {
        const auto [bound, chosen] = choose(base);
        if (chosen < 0 || bound <= static_cast<int>(best_->size())) break;
        if (stop(problem_->graph[0].n + problem_->graph[1].n)) {
            open_ = std::max(open_, bound);
            break;
        }
        if (match_lonely(base)) continue;

        const std::size_t at = base + static_cast<std::size_t>(chosen);
        const std::size_t end = classes_.size();
        const std::size_t s = classes_[at].size[0] <= classes_[at].size[1] ? 0 : 1;
        const std::size_t t = 1 - s;
        const auto& g = problem_->graph[s];
        const int first = classes_[at].first[s];
        const int last = first + classes_[at].size[s] - 1;
        for (int i = first; i < last; ++i) {
            const Node a = node(s, i);
            const Node b = node(s, last);
            if (g.degree(a) > g.degree(b) || (g.degree(a) == g.degree(b) && a < b))
                std::swap(node(s, i), node(s, last));
        }
        const Node u = node(s, last);
        --classes_[at].size[s];
        std::pair<int, Node> tried{-1, -1};
        while (bound > static_cast<int>(best_->size()) && !stop(problem_->graph[0].n + problem_->graph[1].n)) {
            auto& c = classes_[at];
            const int candidate = next_candidate(s, c, u, tried);
            if (candidate < 0) break;
            const Node v = node(t, candidate);
            std::swap(node(t, candidate), node(t, c.first[t] + --c.size[t]));
            mark(s, u, true);
            mark(t, v, true);
            split(base, end);
            mark(s, u, false);
            mark(t, v, false);
            matches_.push_back(s == 0 ? Match{u, v} : Match{v, u});
            ++branches_;
            search(end);
            matches_.pop_back();
            ++classes_[at].size[t];
        }
        if (stopped_) {
            open_ = std::max(open_, bound);
            break;
        }
    }
    if (matches_.size() > best_->size()) *best_ = matches_;
    matches_.resize(depth);
    classes_.resize(base);
}

}  // namespace uge::mcs
