#include "exact_general.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "edit_cost.hpp"

namespace uge::ged {

namespace {

constexpr Node open = -3;  // neither mapped nor deleted yet
constexpr Node deleted = -1;
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
auto index(T value) -> std::size_t {
    return static_cast<std::size_t>(value);
}

/// The largest of 1, 1/2, 1/4 and 1/8 that divides every cost; 0 if none does.
auto common_quantum(const EditCosts& costs) -> double {
    constexpr std::array candidates{1.0, 0.5, 0.25, 0.125};
    for (const double quantum : candidates) {
        const auto divides = [&](double cost) { return std::floor(cost / quantum) * quantum == cost; };
        const auto divides_all = [&](const double* matrix, std::int32_t side) {
            return matrix == nullptr || std::all_of(matrix, matrix + index(side) * index(side), divides);
        };
        const std::array constants{costs.node_insert, costs.node_delete, costs.node_relabel,
                                   costs.edge_insert, costs.edge_delete, costs.edge_relabel};
        if (std::all_of(constants.begin(), constants.end(), divides) &&
            divides_all(costs.node_matrix, costs.num_node_labels) &&
            divides_all(costs.edge_matrix, costs.num_edge_labels)) {
            return quantum;
        }
    }
    return 0;
}

}  // namespace

auto GeneralSearch::fits(const GraphView& left, const GraphView& right) -> bool {
    constexpr std::int64_t max_cells = 1 << 16;
    return std::int64_t{left.n} * (right.n + 1) <= max_cells && std::int64_t{right.n} * right.n <= max_cells;
}

/// Whether a search node with this lower bound can be pruned. A map better than the incumbent is better by at least one
/// quantum. Without a quantum, differences below the rounding error of the sums do not count as better.
auto GeneralSearch::hopeless(double lower) const -> bool {
    return (quantum_ > 0 ? lower > upper_ - 0.75 * quantum_ : lower >= upper_ - rounding_) || exceeds(lower, limit_);
}

auto GeneralSearch::run(const GraphView& left, const GraphView& right, const EditCosts& costs, const Deadline& deadline,
                        double lower, double upper, double limit, std::span<Node> mapping) -> Bounds {
    left_ = &left;
    right_ = &right;
    costs_ = &costs;
    deadline_ = &deadline;
    best_ = mapping;
    upper_ = upper;
    limit_ = limit;
    root_lower_ = lower;
    quantum_ = common_quantum(costs);
    rounding_ = 1e-12 * replacement_cost(left, right, costs);
    stopped_ = false;
    const auto n = index(left.n);
    const auto m = index(right.n);
    width_ = m + 1;
    edge_.assign(m * m, -1);
    right_inner_.resize(std::max(right_inner_.size(), m));
    left_inner_.resize(std::max(left_inner_.size(), n));
    children_.resize(std::max(children_.size(), n));
    for (Node v = 0; v < right.n; ++v) {
        for (auto e = right.indptr[v]; e < right.indptr[v + 1]; ++e) {
            edge_[index(v) * m + index(right.indices[e])] = edge_label_at(right, e);
        }
    }
    cost_.resize(n * width_);
    row_dual_.resize(n);
    row_to_col_.resize(n);
    col_dual_.resize(width_);
    col_to_row_.resize(width_);
    distance_.resize(width_);
    pred_.resize(width_);
    scanned_.resize(width_);
    image_.assign(n, open);
    source_.assign(m, open);
    candidate_.resize(n);
    fixed_ = 0;
    search(0);
    if (!stopped_ && !exceeds(upper_, limit)) {
        return {upper_, upper_, true};
    }
    if (!stopped_) {
        root_lower_ = std::max(root_lower_, quantum_ > 0 ? (std::floor(limit / quantum_ + 1e-9) + 1) * quantum_
                                                         : std::nextafter(limit, infinity));
    }
    root_lower_ = std::min(root_lower_, upper_);
    return {root_lower_, upper_, !stopped_ && root_lower_ == upper_};
}

auto GeneralSearch::expired() -> bool {
    stopped_ = stopped_ || deadline_->expired();
    return stopped_;
}

/// Half of a lower bound on the cost of the edges of u and v to undecided nodes: the largest of three bounds, in which
/// each edge of u takes its cheapest edit, each edge of v does, or all kept edges have the least cost of keeping.
auto GeneralSearch::inner_cost(Node u, Node v) const -> double {
    const auto& mine = left_inner_[index(u)];
    const auto& theirs = right_inner_[index(v)];
    const auto mine_count = static_cast<double>(mine.size());
    const auto their_count = static_cast<double>(theirs.size());
    const double del = costs_->edge_delete;
    const double ins = costs_->edge_insert;
    double least_keep = infinity;
    double from_left = their_count * ins;
    for (const auto& e : mine) {
        double least = del;
        for (const auto& f : theirs) {
            const double keep = keep_edge(*costs_, e.label, f.label);
            least_keep = std::min(least_keep, keep);
            least = std::min(least, keep - ins);
        }
        from_left += least;
    }
    double from_right = mine_count * del;
    for (const auto& f : theirs) {
        double least = ins;
        for (const auto& e : mine) {
            least = std::min(least, keep_edge(*costs_, e.label, f.label) - del);
        }
        from_right += least;
    }
    double by_count = mine_count * del + their_count * ins;
    if (const double most = std::min(mine_count, their_count); most > 0) {
        by_count += most * std::min(0.0, least_keep - del - ins);
    }
    return std::max({from_left, from_right, by_count}) / 2;
}

auto GeneralSearch::fill_costs() -> void {
    const auto m = index(right_->n);
    for (Node u = 0; u < left_->n; ++u) {
        auto& inner = left_inner_[index(u)];
        inner.clear();
        for (auto e = left_->indptr[u]; image_[index(u)] == open && e < left_->indptr[u + 1]; ++e) {
            if (image_[index(left_->indices[e])] == open) {
                inner.push_back({left_->indices[e], edge_label_at(*left_, e)});
            }
        }
    }
    base_ = 0;
    for (Node v = 0; v < right_->n; ++v) {
        auto& inner = right_inner_[index(v)];
        inner.clear();
        for (auto e = right_->indptr[v]; source_[index(v)] == open && e < right_->indptr[v + 1]; ++e) {
            if (source_[index(right_->indices[e])] == open) {
                inner.push_back({right_->indices[e], edge_label_at(*right_, e)});
            }
        }
    }
    // The insertion cost of a column is stored in its dual variable until `assign` resets it.
    for (Node v = 0; v < right_->n; ++v) {
        if (source_[index(v)] == open) {
            const auto inner = static_cast<double>(right_inner_[index(v)].size());
            const double outer = right_->degree(v) - inner;
            col_dual_[index(v)] = costs_->node_insert + (inner / 2 + outer) * costs_->edge_insert;
            base_ += col_dual_[index(v)];
        }
    }
    for (Node u = 0; u < left_->n; ++u) {
        if (image_[index(u)] != open || expired()) {
            continue;
        }
        double* row = cost_.data() + index(u) * width_;
        const auto inner = static_cast<double>(left_inner_[index(u)].size());
        const double outer = left_->degree(u) - inner;
        row[m] = costs_->node_delete + (inner / 2 + outer) * costs_->edge_delete;
        for (Node v = 0; v < right_->n; ++v) {
            if (source_[index(v)] != open) {
                row[v] = infinity;
                continue;
            }
            double cost = costs_->relabel_node(left_->labels[u], right_->labels[v]) + inner_cost(u, v);
            // Edges to decided nodes are kept where both graphs have them.
            double inserted = right_->degree(v) - static_cast<double>(right_inner_[index(v)].size());
            for (auto e = left_->indptr[u]; e < left_->indptr[u + 1]; ++e) {
                const Node image = image_[index(left_->indices[e])];
                if (image == open) {
                    continue;
                }
                const Label label = image == deleted ? -1 : edge_[index(v) * m + index(image)];
                if (label < 0) {
                    cost += costs_->edge_delete;
                } else {
                    cost += keep_edge(*costs_, edge_label_at(*left_, e), label);
                    inserted -= 1;
                }
            }
            row[v] = cost + inserted * costs_->edge_insert - col_dual_[index(v)];
        }
    }
}

/// Optimal assignment of the undecided rows, each to its own column or to deletion, by shortest augmenting paths.
auto GeneralSearch::assign() -> double {
    const auto m = width_ - 1;
    std::fill(col_dual_.begin(), col_dual_.end(), 0.0);
    std::fill(col_to_row_.begin(), col_to_row_.end(), open);
    double total = 0;
    for (Node start = 0; start < left_->n; ++start) {
        if (image_[index(start)] != open || expired()) {
            continue;
        }
        std::fill(distance_.begin(), distance_.end(), infinity);
        std::fill(scanned_.begin(), scanned_.end(), char{0});
        Node row = start;
        double reached = 0;
        row_dual_[index(start)] = 0;
        std::size_t last = 0;
        while (true) {
            const double* cost = cost_.data() + index(row) * width_;
            double least = infinity;
            for (std::size_t x = 0; x < width_; ++x) {
                if (scanned_[x] != 0) {
                    continue;
                }
                const double next = reached + (cost[x] - row_dual_[index(row)] - col_dual_[x]);
                if (next < distance_[x]) {
                    distance_[x] = next;
                    pred_[x] = row;
                }
                if (distance_[x] < least) {
                    least = distance_[x];
                    last = x;
                }
            }
            reached = least;
            if (last == m || col_to_row_[last] == open) {  // any number of rows can be deleted
                break;
            }
            scanned_[last] = 1;
            row = col_to_row_[last];
        }
        for (std::size_t x = 0; x < m; ++x) {
            if (scanned_[x] != 0) {
                col_dual_[x] -= reached - distance_[x];
                row_dual_[index(col_to_row_[x])] += reached - distance_[x];
            }
        }
        row_dual_[index(start)] += reached;
        total += reached;
        for (std::size_t x = last;;) {
            const Node mate = pred_[x];
            const auto before = index(row_to_col_[index(mate)]);
            row_to_col_[index(mate)] = static_cast<Node>(x);
            if (x < m) {
                col_to_row_[x] = mate;
            }
            if (mate == start) {
                break;
            }
            x = before;
        }
    }
    return total;
}

auto GeneralSearch::search(Node decided) -> void {
    const Node m = right_->n;
    fill_costs();
    const double lower = fixed_ + base_ + assign();
    if (expired()) {
        return;
    }
    if (decided == 0) {
        root_lower_ = std::max(root_lower_, lower);
    }
    for (Node u = 0; u < left_->n; ++u) {
        const Node image = image_[index(u)] == open ? row_to_col_[index(u)] : image_[index(u)];
        candidate_[index(u)] = image == m ? deleted : image;
    }
    if (const double cost = edit_cost(*left_, *right_, *costs_, candidate_); cost < upper_) {
        upper_ = cost;
        std::copy(candidate_.begin(), candidate_.end(), best_.begin());
    }
    if (decided == left_->n || hopeless(lower)) {
        return;
    }
    // Branch on the node with the fewest possible images; ties are broken by the largest degree.
    Node chosen = open;
    Node chosen_degree = 0;
    auto& children = children_[index(decided)];
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    const auto reduced = [&](Node u, Node x) {
        return lower + (cost_[index(u) * width_ + index(x)] - row_dual_[index(u)] - col_dual_[index(x)]);
    };
    for (Node u = 0; u < left_->n; ++u) {
        if (image_[index(u)] != open) {
            continue;
        }
        std::size_t hopeful = 0;
        for (Node x = 0; x <= m; ++x) {
            hopeful += hopeless(reduced(u, x)) ? 0 : 1;
        }
        if (hopeful < fewest || (hopeful == fewest && left_->degree(u) > chosen_degree)) {
            fewest = hopeful;
            chosen = u;
            chosen_degree = left_->degree(u);
        }
    }
    children.clear();
    for (Node x = 0; x <= m; ++x) {
        if (const double child = reduced(chosen, x); !hopeless(child)) {
            children.push_back({child, x});
        }
    }
    std::sort(children.begin(), children.end(), [](const Child& a, const Child& b) {
        return a.lower != b.lower ? a.lower < b.lower : a.image < b.image;
    });
    const double fixed = fixed_;
    for (const auto [child_lower, x] : children) {
        if (hopeless(child_lower)) {
            break;
        }
        // Cost of the pair itself and of its edges to decided nodes.
        const Node image = x == m ? deleted : x;
        double paid =
            image == deleted ? costs_->node_delete : costs_->relabel_node(left_->labels[chosen], right_->labels[image]);
        double inserted = 0;
        if (image != deleted) {
            for (const Node y : right_->neighbors(image)) {
                inserted += source_[index(y)] != open ? 1 : 0;
            }
        }
        for (auto e = left_->indptr[chosen]; e < left_->indptr[chosen + 1]; ++e) {
            const Node other = image_[index(left_->indices[e])];
            if (other == open) {
                continue;
            }
            const Label label =
                other == deleted || image == deleted ? -1 : edge_[index(image) * index(m) + index(other)];
            if (label < 0) {
                paid += costs_->edge_delete;
            } else {
                paid += keep_edge(*costs_, edge_label_at(*left_, e), label);
                inserted -= 1;
            }
        }
        fixed_ = fixed + paid + inserted * costs_->edge_insert;
        image_[index(chosen)] = image;
        if (image != deleted) {
            source_[index(image)] = chosen;
        }
        search(decided + 1);
        image_[index(chosen)] = open;
        if (image != deleted) {
            source_[index(image)] = open;
        }
        if (stopped_) {
            break;
        }
    }
    fixed_ = fixed;
}

}  // namespace uge::ged
