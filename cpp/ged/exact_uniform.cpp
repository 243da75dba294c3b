#include "exact_uniform.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace uge::ged {

namespace {

using Cost = std::int32_t;

constexpr Cost scale = 120;         // of one edit; divides well, and a whole reward fits a byte
constexpr Cost reward = 2 * scale;  // of keeping an edge
constexpr Cost dropped = 1 << 22;   // cost of a cell that is not allowed
constexpr Cost allowed = 1 << 21;   // costs below this are of allowed cells
constexpr Node gone = -2;           // partner of a row or column that is fixed
constexpr Node open = -1;           // partner of one that is not matched yet
constexpr int key_bits = 8;         // of the column within a key of the shortest path search
constexpr Node max_columns = 1 << key_bits;
constexpr int max_small = 4;  // larger matchings are bounded from one side only
constexpr Cost unusable = -(1 << 20);
constexpr Node max_degree = 32;  // of graphs whose rewards are split unevenly

template <class T>
auto index(T value) -> std::size_t {
    return static_cast<std::size_t>(value);
}

}  // namespace

auto UniformSearch::Side::assign(const GraphView& graph) -> void {
    n = graph.n;
    const auto size = index(n);
    first.resize(size + 1);
    label.assign(graph.labels, graph.labels + n);
    neighbor.clear();
    for (Node u = 0; u < n; ++u) {
        first[index(u)] = static_cast<Node>(neighbor.size());
        const auto row = graph.neighbors(u);
        neighbor.insert(neighbor.end(), row.begin(), row.end());
    }
    first[size] = static_cast<Node>(neighbor.size());
    reverse.resize(neighbor.size());
    for (Node u = 0; u < n; ++u) {
        for (Node e = first[index(u)]; e < first[index(u) + 1]; ++e) {
            const auto w = index(neighbor[index(e)]);
            const auto row = neighbor.begin() + first[w];
            reverse[index(e)] =
                static_cast<Node>(std::lower_bound(row, neighbor.begin() + first[w + 1], u) - neighbor.begin());
        }
    }
    // Nodes with one label and equal neighborhoods, but for each other, may be exchanged.
    twin.resize(size);
    for (Node u = 0; u < n; ++u) {
        twin[index(u)] = u;
        const auto mine = graph.neighbors(u);
        for (Node w = 0; w < u; ++w) {
            const auto theirs = graph.neighbors(w);
            if (twin[index(w)] != w || label[index(w)] != label[index(u)] || theirs.size() != mine.size()) {
                continue;
            }
            bool equal = true;
            for (std::size_t i = 0, j = 0; equal && (i < mine.size() || j < theirs.size());) {
                if (i < mine.size() && mine[i] == w) {
                    ++i;
                } else if (j < theirs.size() && theirs[j] == u) {
                    ++j;
                } else {
                    equal = i < mine.size() && j < theirs.size() && mine[i++] == theirs[j++];
                }
            }
            if (equal) {
                twin[index(u)] = w;
                break;
            }
        }
    }
}

auto UniformSearch::Side::degree() const -> Node {
    Node most = 0;
    for (std::size_t u = 0; u < index(n); ++u) {
        most = std::max(most, first[u + 1] - first[u]);
    }
    return most;
}

auto UniformSearch::fits(const GraphView& left, const GraphView& right) -> bool {
    return left.n <= right.n && right.n <= max_columns;
}

auto UniformSearch::set_upper(std::int64_t upper) -> void {
    upper_ = upper;
    target_ = (upper_ - step_) * scale;
}

auto UniformSearch::run(const GraphView& left, const GraphView& right, const Deadline& deadline, std::int64_t lower,
                        std::int64_t upper, std::span<Node> mapping) -> Bounds {
    left_.assign(left);
    right_.assign(right);
    const Node n = left.n;
    const Node m = right.n;
    constexpr Node lanes = 16;
    stride_ = (m + lanes - 1) / lanes * lanes;
    right_arcs_ = right_.neighbor.size();
    deadline_ = &deadline;
    stopped_ = false;
    nodes = sweeps = 0;
    work_ = 0;
    best_ = mapping;
    image_.assign(index(n), open);
    candidate_.resize(index(n));
    adjacent_.assign(index(m) * index(m), 0);
    for (Node v = 0; v < m; ++v) {
        for (const Node x : right.neighbors(v)) {
            adjacent_[index(v) * index(m) + index(x)] = 1;
        }
    }
    // With one label only, every map's cost has the parity of the constant.
    constant_ = m - n + left.num_edges() + right.num_edges();
    const bool one_label =
        n == 0 || (std::all_of(left.labels, left.labels + n, [&](Label l) { return l == left.labels[0]; }) &&
                   std::all_of(right.labels, right.labels + m, [&](Label l) { return l == left.labels[0]; }));
    step_ = one_label ? 2 : 1;
    set_upper(upper);
    if (lower * scale > target_) {
        return {static_cast<double>(upper_), static_cast<double>(upper_), true};
    }
    constexpr std::size_t max_shares = 1 << 19;
    sweeping_ = left_.neighbor.size() * right_arcs_ <= max_shares && left_.degree() <= max_degree &&
                right_.degree() <= max_degree;

    key_.resize(index(stride_));
    block_.resize(index(stride_));
    pred_.resize(index(stride_));
    scanned_.resize(index(stride_));
    scanned_at_.resize(index(stride_));
    if (levels_.size() < index(n) + 1) {
        levels_.resize(index(n) + 1);
    }
    Level& root = levels_[0];
    const auto width = index(stride_);
    root.unary.assign(index(n) * width, 0);
    root.cost.assign(index(n + 1) * width, dropped);
    root.share.assign(sweeping_ ? left_.neighbor.size() * right_arcs_ : 0, static_cast<std::uint8_t>(scale));
    root.row_dual.assign(index(n) + 1, 0);
    root.col_dual.assign(width, 0);
    root.row_to_col.assign(index(n), open);
    root.col_to_row.assign(width, gone);
    root.rows.resize(index(n));
    std::iota(root.rows.begin(), root.rows.end(), 0);
    root.row_degree.resize(index(n));
    root.col_degree.resize(width);
    for (Node u = 0; u < n; ++u) {
        root.row_degree[index(u)] = left.degree(u);
    }
    for (Node v = 0; v < m; ++v) {
        root.col_degree[index(v)] = right.degree(v);
        root.col_to_row[index(v)] = open;
        root.cost[index(n) * width + index(v)] = 0;
    }
    root.lower = constant_ * scale;
    for (Node u = 0; u < n; ++u) {
        Cost least = dropped;
        for (Node v = 0; v < m; ++v) {
            const Cost unary = left.labels[u] == right.labels[v] ? 0 : scale;
            const Cost cost = unary - scale * std::min(left.degree(u), right.degree(v));
            root.unary[index(u) * width + index(v)] = unary;
            root.cost[index(u) * width + index(v)] = cost;
            least = std::min(least, cost);
        }
        root.row_dual[index(u)] = least;
        root.lower += least;
    }
    if (solve(root)) {
        for (Node v = 0; v < m; ++v) {
            if (root.col_to_row[index(v)] == open) {
                root.col_to_row[index(v)] = n;
            }
        }
        search(0);
    }
    if (!stopped_) {
        return {static_cast<double>(upper_), static_cast<double>(upper_), true};
    }
    const std::int64_t reached = std::max(lower, (root.lower + scale - 1) / scale);
    return {static_cast<double>(std::min(reached, upper_)), static_cast<double>(upper_), reached >= upper_};
}

auto UniformSearch::search(std::size_t depth) -> void {
    while (!stopped_) {
        ++nodes;
        Level& level = levels_[depth];
        if (!bound(level) || stopped_) {
            return;
        }
        // The row with the fewest cells, and of these the one whose second choice costs most.
        const auto width = index(stride_);
        Node chosen = open;
        std::int64_t best_score = std::numeric_limits<std::int64_t>::max();
        for (const Node u : level.rows) {
            const Cost* cost = level.cost.data() + index(u) * width;
            const Cost* dual = level.col_dual.data();
            Cost count = 0;
            Cost second = dropped;
            const Node mate = level.row_to_col[index(u)];
            for (std::size_t x = 0; x < width; ++x) {
                count += cost[x] < allowed ? 1 : 0;
                const Cost reduced = static_cast<Node>(x) == mate ? dropped : cost[x] - dual[x];
                second = std::min(second, reduced);
            }
            const std::int64_t regret = std::min<Cost>(second - level.row_dual[index(u)], allowed);
            const std::int64_t score = (static_cast<std::int64_t>(count) << 32) - regret;
            if (score < best_score) {
                best_score = score;
                chosen = u;
            }
        }
        const Node image = level.row_to_col[index(chosen)];
        if (best_score < (std::int64_t{1} << 32)) {  // no other cell: fixed without a branch
            force(level, chosen, image);
            continue;
        }
        levels_[depth + 1] = level;
        force(levels_[depth + 1], chosen, image);
        search(depth + 1);
        forbid(level, chosen, image);
    }
}

/// Lower bound of the level as far as it pays; false if nothing better than the best map can be below it.
auto UniformSearch::bound(Level& level) -> bool {
    if (!solve(level)) {
        return false;
    }
    evaluate(level);
    for (int round = 0; round < max_rounds && !pruned(level.lower); ++round) {
        work_ += static_cast<std::int64_t>(level.rows.size()) * stride_;
        if (work_ > (1 << 14)) {
            work_ = 0;
            if (deadline_->expired()) {
                stopped_ = true;
                return true;
            }
        }
        const bool changed = filter(level);
        if (!sweeping_ && !changed) {
            break;
        }
        const auto before = level.lower;
        if (sweeping_) {
            ++sweeps;
            ascend(level);
        } else {
            break;
        }
        refresh(level);
        repair_rows(level);
        if (!solve(level)) {
            return false;
        }
        evaluate(level);
        if (level.lower - before < min_gain) {
            break;
        }
    }
    return !pruned(level.lower);
}

/// Completes the assignment; false as soon as its cost shows the level to be hopeless.
auto UniformSearch::solve(Level& level) -> bool {
    for (const Node u : level.rows) {
        if (level.row_to_col[index(u)] == open && !augment(level, u)) {
            return false;
        }
    }
    return !pruned(level.lower);
}

auto UniformSearch::augment(Level& level, Node row) -> bool {
    const auto width = index(stride_);
    const Node inserted = left_.n;
    const Cost* dual = level.col_dual.data();
    Cost* key = key_.data();
    Cost* block = block_.data();
    Node* pred = pred_.data();
    {
        const Cost* cost = level.cost.data() + index(row) * width;
        const Cost base = level.row_dual[index(row)];
        for (std::size_t x = 0; x < width; ++x) {
            key[x] = (cost[x] - dual[x] - base) * max_columns + static_cast<Cost>(x);
            block[x] = 0;
            pred[x] = row;
        }
    }
    std::size_t count = 0;
    Node through = open;  // the inserted column by which the row "inserted" was reached
    Cost through_at = 0;
    Node last = open;
    Cost distance = 0;
    while (true) {
        Cost least = std::numeric_limits<Cost>::max();
        for (std::size_t x = 0; x < width; ++x) {
            least = std::min(least, key[x]);
        }
        distance = least >> key_bits;
        if (distance >= allowed / 2 || pruned(level.lower + distance)) {
            level.lower += distance;
            return false;
        }
        last = least & (max_columns - 1);
        const Node mate = level.col_to_row[index(last)];
        if (mate == open) {
            break;
        }
        scanned_[count] = last;
        scanned_at_[count++] = distance;
        key[last] = block[last] = std::numeric_limits<Cost>::max();
        if (mate == inserted) {
            if (through != open) {
                continue;
            }
            through = last;
            through_at = distance;
        }
        const Cost* cost = level.cost.data() + index(mate) * width;
        const Cost base = level.row_dual[index(mate)] - distance;
        for (std::size_t x = 0; x < width; ++x) {
            const Cost next = std::max((cost[x] - dual[x] - base) * max_columns + static_cast<Cost>(x), block[x]);
            pred[x] = next < key[x] ? mate : pred[x];
            key[x] = std::min(next, key[x]);
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        const auto x = index(scanned_[i]);
        const Cost change = distance - scanned_at_[i];
        level.col_dual[x] -= change;
        if (level.col_to_row[x] != inserted) {
            level.row_dual[index(level.col_to_row[x])] += change;
        }
    }
    if (through != open) {
        level.row_dual[index(inserted)] += distance - through_at;
    }
    level.row_dual[index(row)] += distance;
    level.lower += distance;
    for (Node x = last;;) {
        const Node mate = pred[x];
        level.col_to_row[index(x)] = mate;
        if (mate == inserted) {
            x = through;
            continue;
        }
        const Node before = level.row_to_col[index(mate)];
        level.row_to_col[index(mate)] = x;
        if (mate == row) {
            break;
        }
        x = before;
    }
    return true;
}

/// The assignment's true cost may be a new upper bound.
auto UniformSearch::evaluate(const Level& level) -> void {
    for (const Node u : level.rows) {
        image_[index(u)] = level.row_to_col[index(u)];
    }
    std::int64_t cost = constant_;
    const auto m = index(right_.n);
    for (Node u = 0; u < left_.n; ++u) {
        const auto v = index(image_[index(u)]);
        cost += left_.label[index(u)] != right_.label[v] ? 1 : 0;
        for (Node e = left_.first[index(u)]; e < left_.first[index(u) + 1]; ++e) {
            cost -= adjacent_[v * m + index(image_[index(left_.neighbor[index(e)])])];
        }
    }
    if (cost < upper_) {
        set_upper(cost);
        std::copy(image_.begin(), image_.end(), best_.begin());
    }
}

/// Drops the cells that no map better than the best uses.
auto UniformSearch::filter(Level& level) -> bool {
    const auto width = index(stride_);
    const Cost* dual = level.col_dual.data();
    const auto slack = static_cast<Cost>(std::min<std::int64_t>(target_ - level.lower, allowed / 2));
    Cost changes = 0;
    for (const Node u : level.rows) {
        Cost* cost = level.cost.data() + index(u) * width;
        const Cost limit = slack + level.row_dual[index(u)];
        for (std::size_t x = 0; x < width; ++x) {
            const bool drop = cost[x] - dual[x] > limit;
            changes += drop && cost[x] < allowed ? 1 : 0;
            cost[x] = drop ? dropped : cost[x];
        }
    }
    return changes > 0;
}

/// Fixes u -> v, a pair of the optimal assignment.
auto UniformSearch::force(Level& level, Node u, Node v) -> void {
    const auto width = index(stride_);
    level.lower += level.unary[index(u) * width + index(v)] - level.row_dual[index(u)] - level.col_dual[index(v)];
    level.rows.erase(std::find(level.rows.begin(), level.rows.end(), u));
    level.row_to_col[index(u)] = gone;
    level.col_to_row[index(v)] = gone;
    image_[index(u)] = v;
    std::fill_n(level.cost.begin() + static_cast<std::ptrdiff_t>(index(u) * width), width, dropped);
    for (Node w = 0; w <= left_.n; ++w) {
        level.cost[index(w) * width + index(v)] = dropped;
    }
    for (Node e = left_.first[index(u)]; e < left_.first[index(u) + 1]; ++e) {
        const Node w = left_.neighbor[index(e)];
        --level.row_degree[index(w)];
        for (Node f = right_.first[index(v)]; f < right_.first[index(v) + 1]; ++f) {
            level.unary[index(w) * width + index(right_.neighbor[index(f)])] -= reward;
        }
    }
    for (Node f = right_.first[index(v)]; f < right_.first[index(v) + 1]; ++f) {
        --level.col_degree[index(right_.neighbor[index(f)])];
    }
    for (Node e = left_.first[index(u)]; e < left_.first[index(u) + 1]; ++e) {
        const Node w = left_.neighbor[index(e)];
        if (level.row_to_col[index(w)] != gone) {
            for (Node x = 0; x < right_.n; ++x) {
                refresh_cell(level, w, x);
            }
        }
    }
    for (Node f = right_.first[index(v)]; f < right_.first[index(v) + 1]; ++f) {
        const Node x = right_.neighbor[index(f)];
        for (const Node w : level.rows) {
            refresh_cell(level, w, x);
        }
    }
    repair_rows(level);
}

/// Drops the cell and all that are its like by symmetry.
auto UniformSearch::forbid(Level& level, Node u, Node v) -> void {
    const auto width = index(stride_);
    for (const Node w : level.rows) {
        for (Node x = 0; left_.twin[index(w)] == left_.twin[index(u)] && x < right_.n; ++x) {
            if (right_.twin[index(x)] == right_.twin[index(v)]) {
                level.cost[index(w) * width + index(x)] = dropped;
            }
        }
    }
    if (sweeping_) {
        for (Node e = left_.first[index(u)]; e < left_.first[index(u) + 1]; ++e) {
            const Node w = left_.neighbor[index(e)];
            for (Node f = right_.first[index(v)]; level.row_to_col[index(w)] != gone && f < right_.first[index(v) + 1];
                 ++f) {
                refresh_cell(level, w, right_.neighbor[index(f)]);
            }
        }
    }
    repair_rows(level);
}

auto UniformSearch::refresh_cell(Level& level, Node u, Node v) -> void {
    Cost& cost = level.cost[index(u) * index(stride_) + index(v)];
    if (cost < allowed) {
        cost = level.unary[index(u) * index(stride_) + index(v)] - cell<false>(level, u, v);
    }
}

auto UniformSearch::refresh(Level& level) -> void {
    for (const Node u : level.rows) {
        for (Node v = 0; v < right_.n; ++v) {
            refresh_cell(level, u, v);
        }
    }
}

/// Hands slack of cells to their neighbors.
auto UniformSearch::ascend(Level& level) -> void {
    const auto width = index(stride_);
    const bool backward = sweeps % 2 == 1;
    const std::size_t count = level.rows.size();
    for (std::size_t i = 0; i < count; ++i) {
        const Node u = level.rows[backward ? count - 1 - i : i];
        for (Node v = 0; v < right_.n; ++v) {
            if (level.cost[index(u) * width + index(v)] < allowed) {
                cell<true>(level, u, v);
            }
        }
    }
}

/// After costs have changed: duals feasible again, pairs that are no longer tight undone.
auto UniformSearch::repair_rows(Level& level) -> void {
    const auto width = index(stride_);
    for (const Node u : level.rows) {
        const Cost* cost = level.cost.data() + index(u) * width;
        const Cost* dual = level.col_dual.data();
        Cost least = dropped * 2;
        for (std::size_t x = 0; x < width; ++x) {
            least = std::min(least, cost[x] - dual[x]);
        }
        const Node mate = level.row_to_col[index(u)];
        level.lower += least - level.row_dual[index(u)];
        level.row_dual[index(u)] = least;
        if (mate >= 0 && cost[mate] - dual[mate] != least) {
            level.row_to_col[index(u)] = open;
            level.col_to_row[index(mate)] = open;
        }
    }
}

namespace {

/// Best matchings between `Small` and `large` items, and for each pair the best that contains it.
template <int Small>
struct Matching {
    static constexpr int subsets = 1 << Small;
    std::array<std::array<Cost, subsets>, max_degree + 1> ahead, behind;

    using Weights = std::array<std::array<Cost, max_small>, max_degree>;

    auto best(const Weights& weight, int large) -> Cost {
        ahead[0].fill(0);
        for (int i = 0; i < large; ++i) {
            step(weight[index(i)], ahead[index(i)], ahead[index(i) + 1]);
        }
        return ahead[index(large)][subsets - 1];
    }
    auto prepare_marginals(const Weights& weight, int large) -> void {
        behind[index(large)].fill(0);
        for (int i = large; i-- > 0;) {
            step(weight[index(i)], behind[index(i) + 1], behind[index(i)]);
        }
    }
    auto marginal(const Weights& weight, int i, int s) const -> Cost {
        Cost most = unusable;
        for (int used = 0; used < subsets; ++used) {
            if ((used >> s & 1) == 0) {
                most = std::max(most, ahead[index(i)][index(used)] +
                                          behind[index(i) + 1][index((subsets - 1) & ~used & ~(1 << s))]);
            }
        }
        return most + weight[index(i)][index(s)];
    }

  private:
    static auto step(const std::array<Cost, max_small>& weight, const std::array<Cost, subsets>& from,
                     std::array<Cost, subsets>& to) -> void {
        for (int set = 0; set < subsets; ++set) {
            Cost most = from[index(set)];
            for (int s = 0; s < Small; ++s) {
                if ((set >> s & 1) != 0) {
                    most = std::max(most, from[index(set & ~(1 << s))] + weight[index(s)]);
                }
            }
            to[index(set)] = most;
        }
    }
};

}  // namespace

/// The reward that cell (u, v) may count on: its best matching of neighbors. With Give, what the cell does not need is
/// left to the cells at the other ends.
template <bool Give>
auto UniformSearch::cell(Level& level, Node u, Node v) -> Cost {
    if (!sweeping_) {
        return scale * std::min(level.row_degree[index(u)], level.col_degree[index(v)]);
    }
    const auto width = index(stride_);
    std::array<Node, max_degree> rows, cols;  // directed edges to neighbors that are not fixed
    int num_rows = 0;
    int num_cols = 0;
    for (Node e = left_.first[index(u)]; e < left_.first[index(u) + 1]; ++e) {
        if (level.row_to_col[index(left_.neighbor[index(e)])] != gone) {
            rows[index(num_rows++)] = e;
        }
    }
    for (Node f = right_.first[index(v)]; f < right_.first[index(v) + 1]; ++f) {
        if (level.col_to_row[index(right_.neighbor[index(f)])] != gone) {
            cols[index(num_cols++)] = f;
        }
    }
    const bool rows_small = num_rows <= num_cols;
    const int small = rows_small ? num_rows : num_cols;
    const int large = rows_small ? num_cols : num_rows;
    if (small == 0) {
        return 0;
    }
    const auto arcs = [&](int i, int s) {
        return rows_small ? std::pair(index(rows[index(s)]), index(cols[index(i)]))
                          : std::pair(index(rows[index(i)]), index(cols[index(s)]));
    };
    const auto weight_of = [&](int i, int s) -> Cost {
        const auto [e, f] = arcs(i, s);
        const bool usable = level.cost[index(left_.neighbor[e]) * width + index(right_.neighbor[f])] < allowed;
        return usable ? level.share[e * right_arcs_ + f] : unusable;
    };
    const auto give = [&](int i, int s, Cost value) {
        const auto [e, f] = arcs(i, s);
        const Cost share = std::min(reward, value);
        level.share[e * right_arcs_ + f] = static_cast<std::uint8_t>(share);
        level.share[index(left_.reverse[e]) * right_arcs_ + index(right_.reverse[f])] =
            static_cast<std::uint8_t>(reward - share);
    };
    const Cost beyond =
        Give ? level.unary[index(u) * width + index(v)] - level.row_dual[index(u)] - level.col_dual[index(v)] : 0;

    const auto match = [&]<int Small>(Matching<Small>& matching) -> Cost {
        typename Matching<Small>::Weights weight;
        for (int i = 0; i < large; ++i) {
            for (int s = 0; s < Small; ++s) {
                weight[index(i)][index(s)] = weight_of(i, s);
            }
        }
        const Cost gain = matching.best(weight, large);
        if constexpr (Give) {
            matching.prepare_marginals(weight, large);
            for (int i = 0; i < large; ++i) {
                for (int s = 0; s < Small; ++s) {
                    const Cost now = weight[index(i)][index(s)];
                    if (now >= 0) {
                        // beyond is what the cell may take in all, and no matching has more than Small pairs
                        give(i, s, now + (beyond - matching.marginal(weight, i, s)) / Small);
                    }
                }
            }
        }
        return gain;
    };
    switch (small) {
        case 1: {
            Matching<1> matching;
            return match(matching);
        }
        case 2: {
            Matching<2> matching;
            return match(matching);
        }
        case 3: {
            Matching<3> matching;
            return match(matching);
        }
        case 4: {
            Matching<4> matching;
            return match(matching);
        }
        default:
            break;
    }
    Cost gain = 0;
    std::array<Cost, max_degree> top;
    for (int s = 0; s < small; ++s) {
        Cost here = 0;
        for (int i = 0; i < large; ++i) {
            here = std::max(here, weight_of(i, s));
        }
        top[index(s)] = here;
        gain += here;
    }
    if constexpr (Give) {
        const Cost part = (beyond - gain) / small;
        for (int s = 0; s < small; ++s) {
            for (int i = 0; i < large; ++i) {
                if (weight_of(i, s) >= 0) {
                    give(i, s, top[index(s)] + part);
                }
            }
        }
    }
    return gain;
}

}  // namespace uge::ged
