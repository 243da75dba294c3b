#include <algorithm>
#include <limits>

#include "exact_scale.hpp"
#include "exact_uniform.hpp"

/// The lower bounds of UniformSearch: the linear assignment over the cells.
namespace uge::ged {

using namespace uniform;

/// Raises the lower bound of the level while progress is sufficient; false if the level is pruned.
auto UniformSearch::bound(Level& level) -> bool {
    constexpr int max_rounds = 20;
    constexpr Cost min_progress = scale / 4;
    constexpr std::int64_t patience = 8;  // number of rounds in which the gap should close
    if (!solve(level)) {
        return false;
    }
    evaluate(level);
    for (int round = 0; round < max_rounds && !pruned(level.lower); ++round) {
        filter(level);
        if (!sharing_ || expired(stride_)) {
            break;
        }
        const auto before = level.lower;
        if (sweeps == 0) {
            // Dropped cells make adjacent cells more expensive. From here on costs are computed from shares, no longer
            // from stars, so that `ascend` leaves no reduced cost negative, which `refresh` requires.
            list_arcs(level);
            if (!refresh(level) || (!stopped_ && !solve(level))) {
                return false;
            }
            filter(level);
        }
        ascend(level);
        const bool hopeful = refresh(level);
        if (stopped_) {  // the bound computed before remains valid
            return true;
        }
        if (!hopeful || !solve(level)) {
            return false;
        }
        evaluate(level);
        if (level.lower - before < std::max<std::int64_t>(min_progress, (target_ - level.lower) / patience)) {
            break;
        }
    }
    return !pruned(level.lower);
}

/// Completes the assignment; false as soon as its cost prunes the level.
auto UniformSearch::solve(Level& level) -> bool {
    for (const Node u : level.rows) {
        if (level.row_to_col[index(u)] == open && !augment(level, u)) {
            return false;
        }
    }
    return !pruned(level.lower);
}

/// Shortest augmenting path from an unmatched row; false if its length prunes the level. An additional row, "inserted",
/// is matched with all columns to which no node of left is mapped. A key holds a distance and its column, so that one
/// minimum finds both.
auto UniformSearch::augment(Level& level, Node row) -> bool {
    const auto width = index(stride_);
    const Node inserted = left_.n;
    const Cost* dual = level.col_dual.data();
    Cost* key = key_.data();
    Cost* block = block_.data();
    Node* pred = pred_.data();
    const Cost* first = level.cost.data() + index(row) * width;
    const Cost first_base = level.row_dual[index(row)];
    for (std::size_t x = 0; x < width; ++x) {
        key[x] = (first[x] - dual[x] - first_base) * max_columns + static_cast<Cost>(x);
        block[x] = 0;
        pred[x] = row;
    }
    std::size_t count = 0;
    Node through = open;  // column by which row "inserted" was first reached, and its distance
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
            return true;
        }
        x = before;
    }
}

/// After costs have changed, makes the dual variables feasible again and unmatches pairs that are no longer tight.
auto UniformSearch::repair(Level& level) -> void {
    for (const Node u : level.rows) {
        repair_row(level, u);
    }
}

auto UniformSearch::repair_row(Level& level, Node u) -> void {
    const auto width = index(stride_);
    const Cost* dual = level.col_dual.data();
    const Cost* cost = level.cost.data() + index(u) * width;
    Cost least = 2 * dropped;
    for (std::size_t x = 0; x < width; ++x) {
        least = std::min(least, cost[x] - dual[x]);
    }
    level.lower += least - level.row_dual[index(u)];
    level.row_dual[index(u)] = least;
    const Node mate = level.row_to_col[index(u)];
    if (mate >= 0 && cost[mate] - dual[mate] != least) {
        level.row_to_col[index(u)] = open;
        level.col_to_row[index(mate)] = open;
    }
}

/// Updates the incumbent if the true cost of the assignment is lower.
auto UniformSearch::evaluate(const Level& level) -> void {
    for (const Node u : level.rows) {
        image_[index(u)] = level.row_to_col[index(u)];
    }
    std::int64_t cost = constant_;
    std::int64_t relabeled = 0;  // edges with a changed label, counted at both ends
    for (Node u = 0; u < left_.n; ++u) {
        const auto v = index(image_[index(u)]);
        cost += left_.label[index(u)] != right_.label[v] ? 1 : 0;
        for (const Node w : left_.neighbors(u)) {
            cost -= adjacent_[v * index(right_.n) + index(image_[index(w)])];
        }
        for (Node e = left_.first[index(u)]; labeled_ && e < left_.first[index(u) + 1]; ++e) {
            const auto at = v * index(right_.n) + index(image_[index(left_.neighbor[index(e)])]);
            relabeled += adjacent_[at] != 0 && label_between_[at] != left_.edge_label[index(e)] ? 1 : 0;
        }
    }
    cost += relabeled / 2;
    if (cost < upper_) {
        set_upper(cost);
        std::copy(image_.begin(), image_.end(), best_.begin());
    }
}

/// Drops the cells that no map better than the incumbent can use: their reduced cost exceeds the gap.
auto UniformSearch::filter(Level& level) -> void {
    constexpr Cost many = 6;  // above this, dropping all cells at once is faster than one by one
    const auto width = index(stride_);
    const Cost* dual = level.col_dual.data();
    const auto slack = static_cast<Cost>(std::min<std::int64_t>(target_ - level.lower, allowed / 2));
    for (const Node u : level.rows) {
        const Cost* cost = level.cost.data() + index(u) * width;
        const Cost limit = slack + level.row_dual[index(u)];
        Cost hopeless = 0;
        for (std::size_t x = 0; x < width; ++x) {
            hopeless += cost[x] - dual[x] > limit && cost[x] < allowed ? 1 : 0;
        }
        if (planes_ > 0 && hopeless > many) {
            drop_above(level, u, limit);
            continue;
        }
        for (Node x = 0; hopeless > 0; ++x) {
            if (cost[x] - dual[x] > limit && cost[x] < allowed) {
                drop(level, u, x);
                --hopeless;
            }
        }
    }
}

/// Drops the cells of a row whose cost minus column dual exceeds a limit. Precondition: shares are in planes.
auto UniformSearch::drop_above(Level& level, Node u, Cost limit) -> void {
    const auto width = index(stride_);
    const Cost* dual = level.col_dual.data();
    Cost* cost = level.cost.data() + index(u) * width;
    for (std::size_t x = 0; x < width; ++x) {
        cost[x] = cost[x] - dual[x] > limit ? dropped : cost[x];
    }
    // Pointers to bytes may alias any object, so values used in the loops are copied to local variables.
    std::uint8_t* __restrict out = out_.data();
    const std::uint32_t* place = reverse_place_.data();
    const Node* first = right_.first.data();
    const Node columns = right_.n;
    const std::size_t length = share_row_;
    for (Node v = 0, f = 0; v < columns; ++v) {
        const std::uint8_t mark = cost[v] < allowed ? 0 : no_share;
        for (const Node last = first[v + 1]; f < last; ++f) {
            out[place[f]] = mark;
        }
    }
    for (Node e = left_.first[index(u)]; e < left_.first[index(u) + 1]; ++e) {
        std::uint8_t* __restrict share = level.share.data() + index(left_.reverse[index(e)]) * length;
        for (std::size_t at = 0; at < length; ++at) {
            share[at] |= out[at];
        }
    }
}

/// Drops a cell: no other cell gets a reward for an edge kept together with it.
auto UniformSearch::drop(Level& level, Node u, Node v) -> void {
    level.cost[index(u) * index(stride_) + index(v)] = dropped;
    if (!sharing_) {
        return;
    }
    for (Node e = left_.first[index(u)]; e < left_.first[index(u) + 1]; ++e) {
        std::uint8_t* share = level.share.data() + index(left_.reverse[index(e)]) * share_row_;
        for (Node f = right_.first[index(v)]; f < right_.first[index(v) + 1]; ++f) {
            share[reverse_place_[index(f)]] = no_share;
        }
    }
}

/// Subgradient steps of Polyak's length, which depends on the gap: where the matchings of the assigned cells keep an
/// edge at one end only, the share of that end is reduced. Escapes points where `ascend` makes no progress; at first
/// the bound may get worse. False if the level is pruned.
auto UniformSearch::settle(Level& level, int steps) -> bool {
    for (int step = 0; step < steps; ++step) {
        if (expired(static_cast<std::int64_t>(level.rows.size()) * stride_)) {
            return true;
        }
        list_arcs(level);
        kept_.clear();
        for (const Node u : level.rows) {
            kept(level, u, level.row_to_col[index(u)]);
        }
        const auto here = [&](const Kept& k) { return k.left * share_row_ + place_[k.right]; };
        const auto there = [&](const Kept& k) {
            return index(left_.reverse[k.left]) * share_row_ + reverse_place_[k.right];
        };
        for (const auto& k : kept_) {
            mark_[here(k)] = 1;
        }
        const auto agreed =
            std::stable_partition(kept_.begin(), kept_.end(), [&](const Kept& k) { return mark_[there(k)] == 0; });
        for (const auto& k : kept_) {
            mark_[here(k)] = 0;
        }
        kept_.erase(agreed, kept_.end());
        if (kept_.empty()) {
            return true;
        }
        const std::int64_t gap = upper_ * scale - level.lower;
        const auto length = static_cast<Cost>(std::max<std::int64_t>(1, gap / static_cast<std::int64_t>(kept_.size())));
        for (const auto& k : kept_) {
            const Cost share = std::max(0, level.share[here(k)] - length);
            level.share[here(k)] = static_cast<std::uint8_t>(share);
            level.share[there(k)] = static_cast<std::uint8_t>(reward_of(k.left, k.right) - share);
        }
        for (const auto& k : kept_) {
            refresh_cell(level, left_.neighbor[k.left], right_.neighbor[k.right]);
        }
        for (const Node u : level.rows) {
            refresh_cell(level, u, level.row_to_col[index(u)]);
        }
        repair(level);
        if (!solve(level)) {
            return false;
        }
        evaluate(level);
        if (pruned(level.lower)) {
            return false;
        }
        filter(level);
    }
    return true;
}

}  // namespace uge::ged
