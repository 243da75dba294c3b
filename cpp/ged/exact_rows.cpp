#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "exact_scale.hpp"
#include "exact_uniform.hpp"

/// SIMD operations on whole rows of cells of UniformSearch. The cells of a row use disjoint shares, so that each lane
/// of a vector processes one column. Arcs of right are stored in planes, one per position in a node's list of
/// neighbors.
namespace uge::ged {

using namespace uniform;

namespace {

#ifdef __AVX2__
constexpr std::size_t lanes = 16;
#else
constexpr std::size_t lanes = 8;
#endif
typedef std::int16_t Lanes __attribute__((vector_size(2 * lanes)));
typedef std::uint16_t Words __attribute__((vector_size(2 * lanes)));
typedef std::uint8_t Bytes __attribute__((vector_size(lanes)));

constexpr std::int16_t impossible = -8192;  // weight of a forbidden pair
constexpr std::int16_t plenty = 8000;       // more than the sum of all rewards of a node

auto load(const std::uint8_t* from) -> Lanes {
    Bytes bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    return __builtin_convertvector(bytes, Lanes);
}

auto larger(Lanes a, Lanes b) -> Lanes {
    return a > b ? a : b;
}

auto smaller(Lanes a, Lanes b) -> Lanes {
    return a < b ? a : b;
}

auto weights(const std::uint8_t* share) -> Lanes {
    const Lanes weight = load(share);
    return weight == Lanes{} + no_share ? Lanes{} + impossible : weight;
}

/// A third of each nonnegative value, rounded down; at most 255.
auto third(Lanes value) -> Lanes {
    constexpr std::int16_t most = 767;
    const auto small = std::bit_cast<Words>(smaller(value, Lanes{} + most));
    return std::bit_cast<Lanes>((small * std::uint16_t{85} + std::uint16_t{85}) >> 8);
}

/// Maximum weight matchings of `count` arcs of a row with the arcs of a column, for one column per lane, by dynamic
/// programming over subsets of the row's arcs.
template <std::size_t count>
struct RowMatching {
    static constexpr std::size_t sets = std::size_t{1} << count;
    using Best = std::array<Lanes, sets>;

    std::array<std::array<Lanes, count>, max_planes> weight;

    void fill(const std::uint8_t* const* share, std::size_t column, std::size_t planes, std::size_t width) {
        for (std::size_t i = 0; i < planes; ++i) {
            for (std::size_t s = 0; s < count; ++s) {
                weight[i][s] = weights(share[s] + i * width + column);
            }
        }
    }
    static void step(const std::array<Lanes, count>& row, const Best& from, Best& to) {
        for (std::size_t set = sets; set-- > 0;) {  // also works in place: smaller sets are updated later
            Lanes most = from[set];
            for (std::size_t s = 0; s < count; ++s) {
                if ((set >> s & 1) != 0) {
                    most = larger(most, from[set & ~(std::size_t{1} << s)] + row[s]);
                }
            }
            to[set] = most;
        }
    }
    auto best(std::size_t planes) const -> Lanes {
        Best now{};
        for (std::size_t i = 0; i < planes; ++i) {
            step(weight[i], now, now);
        }
        return now[sets - 1];
    }
    /// Calls report(i, s, weight of the best matching that contains the pair) for each plane i and arc s.
    template <class Report>
    void marginals(std::size_t planes, const Report& report) const {
        std::array<Best, max_planes> ahead;
        ahead[0].fill(Lanes{});
        for (std::size_t i = 0; i + 1 < planes; ++i) {
            step(weight[i], ahead[i], ahead[i + 1]);
        }
        Best behind{};
        for (std::size_t i = planes; i-- > 0;) {
            for (std::size_t s = 0; s < count; ++s) {
                const std::size_t others = (sets - 1) & ~(std::size_t{1} << s);
                Lanes most{};
                for (std::size_t used = 0; used < sets; ++used) {
                    if ((used >> s & 1) == 0) {
                        most = larger(most, ahead[i][used] + behind[others & ~used]);
                    }
                }
                report(i, s, most + weight[i][s]);
            }
            step(weight[i], behind, behind);
        }
    }
};

/// Calls use(std::integral_constant) with the number of arcs, 1 to max_row_arcs.
template <class Use>
void with_count(std::size_t count, const Use& use) {
    switch (count) {
        case 1:
            return use(std::integral_constant<std::size_t, 1>{});
        case 2:
            return use(std::integral_constant<std::size_t, 2>{});
        case 3:
            return use(std::integral_constant<std::size_t, 3>{});
        default:
            return use(std::integral_constant<std::size_t, max_row_arcs>{});
    }
}

}  // namespace

/// Computes the costs of all allowed cells of a row. Precondition: `list_row_arcs` listed 1 to max_row_arcs arcs of it.
auto UniformSearch::gain_row(Level& level, Node u) -> void {
    const auto width = index(stride_);
    Cost* cost = level.cost.data() + index(u) * width;
    const Cost* unary = level.unary.data() + index(u) * width;
    std::array<const std::uint8_t*, max_row_arcs> share;
    for (std::size_t s = 0; s < row_arcs_.size(); ++s) {
        share[s] = level.share.data() + row_arcs_[s] * share_row_;
    }
    with_count(row_arcs_.size(), [&](auto count) {
        for (std::size_t column = 0; column < width; column += lanes) {
            RowMatching<count> matching;
            matching.fill(share.data(), column, planes_, width);
            std::array<std::int16_t, lanes> gained;
            const Lanes best = matching.best(planes_);
            std::memcpy(gained.data(), &best, sizeof best);
            for (std::size_t x = 0; x < lanes; ++x) {
                Cost& own = cost[column + x];
                own = own < allowed ? unary[column + x] - gained[x] : own;
            }
        }
    });
}

/// `give` for all allowed cells of a row. Precondition: `list_row_arcs` listed 1 to max_row_arcs arcs of it.
auto UniformSearch::give_row(Level& level, Node u) -> void {
    const auto width = index(stride_);
    const Cost* cost = level.cost.data() + index(u) * width;
    const Cost* unary = level.unary.data() + index(u) * width;
    const Cost dual = level.row_dual[index(u)];
    std::array<std::uint8_t*, max_row_arcs> share;
    std::array<const std::uint8_t*, max_row_arcs> whole;
    for (std::size_t s = 0; s < row_arcs_.size(); ++s) {
        share[s] = level.share.data() + row_arcs_[s] * share_row_;
        whole[s] = whole_.data() + whole_of_[row_arcs_[s]] * share_row_;
    }
    with_count(row_arcs_.size(), [&](auto count) {
        for (std::size_t column = 0; column < width; column += lanes) {
            std::array<std::int16_t, lanes> room, usable, neighbors;
            for (std::size_t x = 0; x < lanes; ++x) {
                const std::size_t v = column + x;
                room[x] = static_cast<std::int16_t>(std::min<Cost>(unary[v] - level.col_dual[v] - dual, plenty));
                usable[x] = static_cast<std::int16_t>(cost[v] < allowed ? -1 : 0);
                neighbors[x] = static_cast<std::int16_t>(level.col_degree[v]);
            }
            const auto most = std::bit_cast<Lanes>(room);
            const auto open_cells = std::bit_cast<Lanes>(usable);
            const auto degree = std::bit_cast<Lanes>(neighbors);
            RowMatching<count> matching;
            matching.fill(share.data(), column, planes_, width);
            matching.marginals(planes_, [&](std::size_t i, std::size_t s, Lanes with) {
                // No matching has more pairs than the smaller side: each pair may take an equal part of the slack.
                const Lanes left = larger(most - with, Lanes{});
                Lanes part = left;
                if constexpr (count >= 2) {
                    part = degree >= 2 ? left >> 1 : part;
                }
                if constexpr (count >= 3) {
                    part = degree >= 3 ? third(left) : part;
                }
                if constexpr (count >= 4) {
                    part = degree >= 4 ? left >> 2 : part;
                }
                std::uint8_t* at = share[s] + i * width + column;
                const Lanes weight = matching.weight[i][s];
                const Lanes raised = smaller(weight + part, load(whole[s] + i * width + column));
                const Lanes old = load(at);
                const auto made = __builtin_convertvector((open_cells & (weight >= 0)) != 0 ? raised : old, Bytes);
                std::memcpy(at, &made, sizeof made);
            });
        }
    });
    give_back(level, cost, share.data(), whole.data());
}

/// Sets the shares at the other ends of the edges of a row's allowed cells to the remainders of the rewards.
auto UniformSearch::give_back(Level& level, const Cost* cost, std::uint8_t* const* share,
                              const std::uint8_t* const* whole) -> void {
    const std::size_t count = row_arcs_.size();
    std::array<std::uint8_t*, max_row_arcs> other;
    for (std::size_t s = 0; s < count; ++s) {
        other[s] = level.share.data() + index(left_.reverse[row_arcs_[s]]) * share_row_;
    }
    // Pointers to bytes may alias any object, so values used in the loops are copied to local variables.
    const std::uint32_t* place = reverse_place_.data();
    const Node* first = right_.first.data();
    const Node columns = right_.n;
    const auto width = index(stride_);
    std::uint8_t unused = 0;
    for (Node v = 0; v < columns; ++v) {
        if (cost[v] >= allowed) {
            continue;
        }
        const Node last = first[v + 1];
        std::size_t at = index(v);
        for (Node f = first[v]; f < last; ++f, at += width) {
            const std::size_t back = place[f];
            for (std::size_t s = 0; s < count; ++s) {
                const std::uint8_t mine = share[s][at];
                std::uint8_t* to = mine == no_share ? &unused : other[s] + back;
                *to = static_cast<std::uint8_t>(whole[s][at] - mine);
            }
        }
    }
}

}  // namespace uge::ged
