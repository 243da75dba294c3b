#include "search.hpp"

#include <algorithm>
#include <cmath>

#include "session.hpp"

namespace uge::search {

auto Search::limit(const Candidate& candidate) const -> double {
    if (!nearest()) {
        return question_.within + slack;
    }
    const auto worst = ranking_.worst();
    const double most = worst.value * candidate.scale;
    if (!(worst < Ranking::Entry{candidate.upper / candidate.scale, candidate.position, 0})) {
        return candidate.upper + slack;  // one of the k nearest so far: its exact distance is needed
    }
    if (!prices_[candidate.part].integral || most == infinity) {
        return most + slack;
    }
    const double whole = std::floor(most + slack);
    const bool late = whole / candidate.scale == worst.value && candidate.position > worst.position;
    return (late ? whole - 1 : whole) + slack;
}

auto Search::end() const -> Clock::time_point {
    constexpr double forever = 1e9;
    return question_.budget >= forever
               ? Clock::time_point::max()
               : begin_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(question_.budget));
}

auto Search::candidate(std::size_t part, std::size_t rank, const CounterFilter::Bound& bound) const -> Candidate {
    const Profiles& profiles = *parts_[part].profiles;
    const double degrees = prices_[part].possible(bound.degrees);
    return {.part = static_cast<std::uint32_t>(part),
            .rank = static_cast<std::uint32_t>(rank),
            .position = starts_[part] + profiles.position(rank),
            .scale = scale(profiles.nodes(rank)),
            .labels = bound.labels,
            .degrees = degrees,
            .branch = degrees,
            .lower = degrees,
            .mapping = {}};
}

void Search::add_near(std::span<const std::int64_t> near) {
    const double begin = thread_seconds();
    std::vector<std::int64_t> positions(near.begin(), near.end());
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    for (const std::int64_t position : positions) {
        const auto p =
            static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), position) - starts_.begin() - 1);
        const auto inside = static_cast<std::int32_t>(position - starts_[p]);
        const Part& part = parts_[p];
        const std::size_t rank = part.profiles->rank_of(inside, part.graphs[static_cast<std::size_t>(inside)]);
        candidates_.push_back(candidate(p, rank, counters_[p].bound(rank)));
    }
    answer_.seconds[index(Stage::degrees)] += thread_seconds() - begin;
}

void Search::bound_branch(Candidate& candidate, Worker& worker) {
    const Part& part = parts_[candidate.part];
    if (!prices_[candidate.part].constant || candidate.degrees > limit(candidate)) {
        return;  // already ruled out, or cost matrices, which only the solvers support
    }
    auto& filter = worker.branch[candidate.part];
    if (filter == nullptr) {
        filter =
            std::make_unique<BranchFilter>(part.query[0], part.edge_labels, prices_[candidate.part], *part.profiles);
    }
    candidate.branch = std::max(candidate.degrees, filter->bound(candidate.rank, limit(candidate)));
    candidate.lower = candidate.branch;
}

void Search::bound_branches(std::size_t first, std::size_t last) {
    constexpr std::size_t many = 2'000;
    const std::size_t count = last - first;
    answer_.asked[index(Stage::branch)] += static_cast<std::int64_t>(count);
    spread(count, count > many && question_.threads > 1, Stage::branch,
           [&](std::size_t i, Worker& worker) { bound_branch(candidates_[first + i], worker); });
}

void Search::scan() {
    std::vector<std::vector<std::uint32_t>> skip(parts_.size());
    for (const Candidate& known : candidates_) {
        skip[known.part].push_back(known.rank);
    }
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        std::sort(skip[p].begin(), skip[p].end());
        scan_part(p, skip[p]);
    }
}

void Search::scan_part(std::size_t p, std::span<const std::uint32_t> skip) {
    constexpr std::size_t piece = 1 << 16;
    const Part& part = parts_[p];
    const Profiles& profiles = *part.profiles;
    const std::size_t pieces = (profiles.size() + piece - 1) / piece;
    struct Piece {
        std::vector<Candidate> taken;
        std::array<std::int64_t, num_stages> removed{}, asked{};
    };
    std::vector<Piece> results(pieces);
    const auto counts = [&](std::size_t rank) {
        return part.mask.empty() || part.mask[static_cast<std::size_t>(profiles.position(rank))];
    };
    spread(pieces, pieces > 2 && question_.threads > 1, Stage::labels, [&](std::size_t i, Worker&) {
        Piece& result = results[i];
        const auto most = [&](std::int64_t nodes) { return limit(nodes); };
        counters_[p].for_each_run(
            i * piece, std::min((i + 1) * piece, profiles.size()), most, [&](const CounterFilter::Run& run) {
                result.asked[index(Stage::labels)] += static_cast<std::int64_t>(run.last - run.first);
                result.removed[index(Stage::labels)] +=
                    counters_[p].scan(run, skip, counts, [&](std::size_t rank, const CounterFilter::Bound& bound) {
                        ++result.asked[index(Stage::degrees)];
                        if (prices_[p].possible(bound.degrees) > run.limit) {
                            const bool by_labels = prices_[p].possible(bound.labels) > run.limit;
                            ++result.removed[index(by_labels ? Stage::labels : Stage::degrees)];
                        } else {
                            result.taken.push_back(candidate(p, rank, bound));
                        }
                    });
            });
    });
    for (Piece& result : results) {
        candidates_.insert(candidates_.end(), result.taken.begin(), result.taken.end());
        for (std::size_t s = 0; s < num_stages; ++s) {
            answer_.removed[s] += result.removed[s];
            answer_.asked[s] += result.asked[s];
        }
    }
}

auto Search::undecided(const Candidate& candidate) const -> bool {
    if (candidate.proven) {
        return false;
    }
    if (!nearest()) {
        return candidate.lower <= question_.within + slack && candidate.upper > question_.within + slack;
    }
    const auto worst = ranking_.worst();
    const double value = candidate.lower / candidate.scale;
    if (!prices_[candidate.part].integral) {
        return value < worst.value - slack;
    }
    return value < worst.value || (value == worst.value && candidate.position < worst.position);
}

/// The cheapest bound that rules the candidate out.
auto Search::removed_by(const Candidate& candidate) const -> Stage {
    const double most = limit(candidate);
    const auto& prices = prices_[candidate.part];
    return prices.possible(candidate.labels) > most ? Stage::labels
           : candidate.degrees > most               ? Stage::degrees
           : candidate.branch > most                ? Stage::branch
           : question_.budget <= 0                  ? Stage::tight
                                                    : Stage::exact;
}

auto Search::answer() -> Answer {
    std::vector<std::size_t> chosen;
    if (nearest()) {
        for (const auto& entry : ranking_.entries()) {
            chosen.push_back(entry.candidate);
        }
    } else {
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            if (candidates_[i].upper <= question_.within + slack) {
                chosen.push_back(i);
            }
        }
        std::sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
            const Candidate& left = candidates_[a];
            const Candidate& right = candidates_[b];
            const double difference = left.upper / left.scale - right.upper / right.scale;
            return difference != 0 ? difference < 0 : left.position < right.position;
        });
    }
    std::vector<bool> is_found(candidates_.size());
    for (const std::size_t i : chosen) {
        Candidate& one = candidates_[i];
        answer_.found.push_back({one.position, one.lower, one.upper, std::move(one.mapping)});
        is_found[i] = true;
    }
    std::vector<std::pair<std::int64_t, double>> left;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if (!is_found[i] && undecided(candidates_[i])) {
            left.emplace_back(candidates_[i].position, candidates_[i].lower);
        } else if (!is_found[i]) {
            ++answer_.removed[index(removed_by(candidates_[i]))];
        }
    }
    std::sort(left.begin(), left.end());
    for (const auto& [position, lower] : left) {
        answer_.undecided.push_back(position);
        answer_.undecided_lower.push_back(lower);
    }
    return std::move(answer_);
}

auto search(std::span<const Part> parts, const Question& question, std::span<const std::int64_t> near, Control& control,
            const Watch& watch) -> Answer {
    return Search(parts, question, control, watch).run(near);
}

}  // namespace uge::search
