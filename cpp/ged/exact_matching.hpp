#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace uge::ged {

/// Maximum weight matchings of `Small` items with any number of other items, and for every pair the maximum weight of a
/// matching that contains it, by dynamic programming over subsets of the small items. Negative weights mark forbidden
/// pairs.
template <int Small, int MaxLarge>
class SmallMatching {
  public:
    using Cost = std::int32_t;

    /// weight[i][s]: weight of the pair of other item i and small item s. Each row is one step of the recurrence.
    std::array<std::array<Cost, Small>, MaxLarge> weight;

    /// Weight of the best matching. Must be called before `marginals` and `pairs`.
    auto best(int large) -> Cost {
        ahead_[0].fill(0);
        for (std::size_t i = 0; i < static_cast<std::size_t>(large); ++i) {
            step(weight[i], ahead_[i], ahead_[i + 1]);
        }
        return ahead_[static_cast<std::size_t>(large)][subsets - 1];
    }
    /// The same weight, without storing what `marginals` and `pairs` need.
    auto best_only(int large) const -> Cost {
        std::array<Cost, subsets> from{};
        for (std::size_t i = 0; i < static_cast<std::size_t>(large); ++i) {
            for (std::size_t set = subsets; set-- > 1;) {  // in place: smaller sets are updated later
                Cost most = from[set];
                for (std::size_t s = 0; s < Small; ++s) {
                    if ((set >> s & 1) != 0) {
                        most = std::max(most, from[set & ~(std::size_t{1} << s)] + weight[i][s]);
                    }
                }
                from[set] = most;
            }
        }
        return from[subsets - 1];
    }
    /// Calls report(i, s, weight of the best matching that contains the pair) for each i and s.
    template <class Report>
    auto marginals(int large, Report report) -> void {
        std::array<Cost, subsets> behind{};
        for (auto i = static_cast<std::size_t>(large); i-- > 0;) {
            for (std::size_t s = 0; s < Small; ++s) {
                Cost most = 0;
                for (std::size_t used = 0; used < subsets; ++used) {
                    if ((used >> s & 1) == 0) {
                        most = std::max(most, ahead_[i][used] + behind[(subsets - 1) & ~used & ~(std::size_t{1} << s)]);
                    }
                }
                report(static_cast<int>(i), static_cast<int>(s), most + weight[i][s]);
            }
            const auto before = behind;
            step(weight[i], before, behind);
        }
    }
    /// Calls report(i, s) for each pair of one best matching.
    template <class Report>
    auto pairs(int large, Report report) const -> void {
        std::size_t set = subsets - 1;
        for (auto i = static_cast<std::size_t>(large); i-- > 0;) {
            for (std::size_t s = 0; s < Small && ahead_[i + 1][set] != ahead_[i][set]; ++s) {
                const std::size_t rest = set & ~(std::size_t{1} << s);
                if (rest != set && ahead_[i + 1][set] == ahead_[i][rest] + weight[i][s]) {
                    report(static_cast<int>(i), static_cast<int>(s));
                    set = rest;
                    break;
                }
            }
        }
    }

  private:
    static constexpr std::size_t subsets = std::size_t{1} << Small;

    static auto step(const std::array<Cost, Small>& row, const std::array<Cost, subsets>& from,
                     std::array<Cost, subsets>& to) -> void {
        for (std::size_t set = 0; set < subsets; ++set) {
            Cost most = from[set];
            for (std::size_t s = 0; s < Small; ++s) {
                if ((set >> s & 1) != 0) {
                    most = std::max(most, from[set & ~(std::size_t{1} << s)] + row[s]);
                }
            }
            to[set] = most;
        }
    }

    std::array<std::array<Cost, subsets>, MaxLarge + 1>
        ahead_;  // [i][set]: best matching of the first i items with the set
};

}  // namespace uge::ged
