#include "wavewright/hidden.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/parallel.hpp"
#include "waves/busy.hpp"
#include "waves/by_row.hpp"
#include "waves/coverage.hpp"

namespace wavewright {
namespace {

// Sets of pipes. The first four are Pipe.
enum Set : size_t { kValu, kMatrix, kMemory, kScalar, kMath, kVector, kAll, kSetCount };

template <class T>
using PerSet = std::array<T, kSetCount>;

// Busy times as AMD's viewer merges them, whoever is busy.
class ReferenceSets {
  public:
    void fill(const Pipes& pipes, size_t) {
        for (size_t pipe = 0; pipe < pipes.size(); ++pipe) {
            sets_[pipe].clear();
            for (const Busy& busy : pipes[pipe]) sets_[pipe].add_length(busy.begin, busy.length);
        }
        unite(sets_[kValu], sets_[kMatrix], sets_[kMath]);
        unite(sets_[kMath], sets_[kMemory], sets_[kVector]);
        unite(sets_[kVector], sets_[kScalar], sets_[kAll]);
    }

    class Cursor {
      public:
        Cursor(const ReferenceSets& sets, uint32_t) : sets_(sets) {}
        int64_t before(Set set, int64_t time) { return sets_.sets_[set].before(time, near_[set]); }

      private:
        const ReferenceSets& sets_;
        PerSet<size_t> near_{};
    };

  private:
    PerSet<Coverage> sets_;
};

// Busy times as they are, and for every wave those in which only it is busy.
class CorrectedSets {
  public:
    void fill(const Pipes& pipes, size_t wave_count) {
        static constexpr PerSet<std::array<bool, 4>> kPipesOf = {{{true, false, false, false},
                                                                  {false, true, false, false},
                                                                  {false, false, true, false},
                                                                  {false, false, false, true},
                                                                  {true, true, false, false},
                                                                  {true, true, true, false},
                                                                  {true, true, true, true}}};
        for (size_t set = 0; set < kSetCount; ++set) {
            anyone_[set].clear();
            alone_[set].resize(std::max(alone_[set].size(), wave_count));
            for (Coverage& alone : alone_[set]) alone.clear();
            sweep(pipes, kPipesOf[set], anyone_[set], alone_[set]);
        }
    }

    class Cursor {
      public:
        Cursor(const CorrectedSets& sets, uint32_t wave) : sets_(sets), wave_(wave) {}
        int64_t before(Set set, int64_t time) {
            return sets_.anyone_[set].before(time, near_[set]) -
                   sets_.alone_[set][wave_].before(time, near_alone_[set]);
        }

      private:
        const CorrectedSets& sets_;
        uint32_t wave_;
        PerSet<size_t> near_{}, near_alone_{};
    };

  private:
    // Of the intervals so far, the latest end with its owner, and the latest end of all other owners: between the two
    // only that owner is busy, until the next interval begins.
    static void sweep(const Pipes& pipes, const std::array<bool, 4>& taken, Coverage& anyone,
                      std::vector<Coverage>& alone) {
        std::array<size_t, 4> at{};
        int64_t latest = INT64_MIN, latest_of_others = INT64_MIN;
        uint32_t owner = kOtherSimd;
        auto only_owner_until = [&](int64_t begin, int64_t end) {
            if (owner != kOtherSimd) alone[owner].add(std::max(begin, latest_of_others), std::min(latest, end));
        };
        int64_t begin = INT64_MIN;
        while (const Busy* next = take_next(pipes, taken, at)) {
            only_owner_until(begin, next->begin);
            begin = next->begin;
            anyone.add(next->begin, next->end());
            if (next->owner == owner) {
                latest = std::max(latest, next->end());
            } else if (next->end() > latest) {
                latest_of_others = std::exchange(latest, next->end());
                owner = next->owner;
            } else {
                latest_of_others = std::max(latest_of_others, next->end());
            }
        }
        only_owner_until(begin, INT64_MAX);
    }

    static const Busy* take_next(const Pipes& pipes, const std::array<bool, 4>& taken, std::array<size_t, 4>& at) {
        const Busy* next = nullptr;
        size_t from = 0;
        for (size_t pipe = 0; pipe < pipes.size(); ++pipe) {
            if (!taken[pipe] || at[pipe] == pipes[pipe].size()) continue;
            const Busy& candidate = pipes[pipe][at[pipe]];
            if (next != nullptr && candidate.begin >= next->begin) continue;
            next = &candidate;
            from = pipe;
        }
        if (next != nullptr) ++at[from];
        return next;
    }

    PerSet<Coverage> anyone_;
    PerSet<std::vector<Coverage>> alone_;  // by wave of the group
};

struct Parts {
    int64_t idle = 0, stall = 0, issue = 0;
    int64_t total() const { return idle + stall + issue; }
};

struct Sums {
    int64_t hits = 0;
    Parts hidden;
};

template <class Cursor>
Parts hidden_by(Cursor& cursor, Set set, bool hides_issue, int64_t gap, const Token& token) {
    const bool has_gap = gap < token.time, has_issue = hides_issue && token.length > token.stall;
    if (!has_gap && !has_issue && token.stall == 0) return {};  // most of them, where waves run well
    const int64_t from = has_gap ? cursor.before(set, gap) : 0;
    const int64_t time = cursor.before(set, token.time);
    const int64_t issue = token.stall != 0 ? cursor.before(set, token.issue()) : time;
    return {.idle = has_gap ? time - from : 0,
            .stall = issue - time,
            .issue = has_issue ? cursor.before(set, token.end()) - issue : 0};
}

// What hides a token: of two sets of pipes the one that hides more of it. Its own pipe does not hide its issue.
template <class Cursor>
Parts hidden_parts(Cursor& cursor, int64_t gap, const Token& token) {
    struct Candidate {
        Set set;
        bool hides_issue;
    };
    static constexpr Candidate kCandidates[][2] = {
        {{kValu, false}, {kMatrix, false}},  // matrix
        {{kValu, false}, {kMatrix, true}},   // valu
        {{kMath, true}, {kMemory, false}},   // memory
        {{kVector, true}, {kScalar, false}}  // scalar
    };
    if (token.work == Work::other) return hidden_by(cursor, kAll, true, gap, token);
    const auto& [first, second] = kCandidates[static_cast<size_t>(token.work)];
    const Parts a = hidden_by(cursor, first.set, first.hides_issue, gap, token);
    const Parts b = hidden_by(cursor, second.set, second.hides_issue, gap, token);
    return a.total() > b.total() ? a : b;
}

// The order in which AMD's viewer lines up the tokens of a wave: tokens that start in the same cycle while one is
// running go to further tracks.
void sort_as_viewer(std::vector<Token>& tokens) {
    struct Placed {
        Token token;
        size_t track;
    };
    auto before = [](const Placed& a, const Placed& b) {
        return std::tuple(a.token.time, a.track, -a.token.length) < std::tuple(b.token.time, b.track, -b.token.length);
    };
    auto later = [](const Token& a, const Token& b) { return a.time >= b.time; };
    if (std::adjacent_find(tokens.begin(), tokens.end(), later) == tokens.end()) return;
    constexpr size_t kTracks = 4;
    std::array<const Token*, kTracks> last{};
    std::vector<Placed> placed;
    placed.reserve(tokens.size());
    for (const Token& token : tokens) {
        auto taken = [&](size_t track) {
            return last[track] != nullptr && last[track]->time == token.time && last[track]->length > 0;
        };
        size_t track = 0;
        while (track + 1 < kTracks && taken(track)) ++track;
        last[track] = &token;
        placed.push_back({token, track});
    }
    std::stable_sort(placed.begin(), placed.end(), before);
    for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = placed[i].token;
}

void count(ByRow<Sums>& sums, const Token& token, const Parts& parts) {
    Sums& row = sums.of(token.row);
    row.hits += 1;
    row.hidden.idle = add(row.hidden.idle, parts.idle);
    row.hidden.stall = add(row.hidden.stall, parts.stall);
    row.hidden.issue = add(row.hidden.issue, parts.issue);
}

// One worker: what it counts, and room that it uses again for every group.
template <class Sets>
struct Worker {
    explicit Worker(size_t row_count) : sums(row_count) {}

    ByRow<Sums> sums;
    Sets sets;
    Pipes pipes;
    Column<Busy> buffer;
    std::vector<Token> tokens;
};

void measure(const HidingInput& input, const SimdGroup& group, Worker<ReferenceSets>& worker) {
    for (uint32_t wave = 0; wave < group.waves.size(); ++wave) {
        read_tokens(input, group.waves[wave], worker.tokens);
        sort_as_viewer(worker.tokens);
        ReferenceSets::Cursor cursor(worker.sets, wave);
        int64_t gap = group.waves[wave].begin;
        for (const Token& token : worker.tokens) {
            if (token.counts) count(worker.sums, token, hidden_parts(cursor, gap, token));
            gap = token.end();
        }
    }
}

// Gaps as in row_totals(): from the latest end, and instructions without a row do not end one.
void measure(const HidingInput& input, const SimdGroup& group, Worker<CorrectedSets>& worker) {
    for (const uint32_t wave : group.asked) {
        read_tokens(input, group.waves[wave], worker.tokens);
        CorrectedSets::Cursor cursor(worker.sets, wave);
        int64_t gap = group.waves[wave].begin;
        for (const Token& token : worker.tokens) {
            if (token.row < 0) continue;
            if (token.counts) count(worker.sums, token, hidden_parts(cursor, gap, token));
            gap = std::max(gap, token.end());
        }
    }
}

template <class Sets>
HiddenLatency table_of(std::vector<Worker<Sets>>& workers) {
    ByRow<Sums>& all = workers.front().sums;
    for (size_t i = 1; i < workers.size(); ++i) {
        workers[i].sums.each([&](int32_t row, const Sums& sums) {
            if (sums.hits == 0) return;
            Sums& sum = all.of(row);
            sum.hits += sums.hits;
            sum.hidden.idle = add(sum.hidden.idle, sums.hidden.idle);
            sum.hidden.stall = add(sum.hidden.stall, sums.hidden.stall);
            sum.hidden.issue = add(sum.hidden.issue, sums.hidden.issue);
        });
    }
    HiddenLatency table;
    all.each([&](int32_t row, const Sums& sums) {
        if (sums.hits == 0) return;
        table.row.push_back(row);
        table.idle.push_back(sums.hidden.idle);
        table.stall.push_back(sums.hidden.stall);
        table.issue.push_back(sums.hidden.issue);
    });
    return table;
}

template <class Sets>
HiddenLatency measured(const HidingInput& input) {
    std::vector<SimdGroup> groups = simd_groups(input);
    if constexpr (std::is_same_v<Sets, CorrectedSets>) groups = batches_of(input, std::move(groups));
    std::stable_sort(groups.begin(), groups.end(), [](const SimdGroup& a, const SimdGroup& b) {
        return a.instruction_count > b.instruction_count;  // so that a long one does not start last
    });
    std::vector<Worker<Sets>> workers;
    for (unsigned i = workers_for(groups.size()); i > 0; --i) workers.emplace_back(input.is_matrix.size());
    in_parallel(groups.size(), static_cast<unsigned>(workers.size()), [&](size_t turn, unsigned number) {
        Worker<Sets>& worker = workers[number];
        read_pipes(input, groups[turn], worker.pipes, worker.buffer);
        worker.sets.fill(worker.pipes, groups[turn].waves.size());
        measure(input, groups[turn], worker);
    });
    return table_of(workers);
}

}  // namespace

HiddenLatency hidden_latency(const HidingInput& input, HidingRule rule) {
    return rule == HidingRule::reference ? measured<ReferenceSets>(input) : measured<CorrectedSets>(input);
}

}  // namespace wavewright
