// Splits each execution into idle, stall and issue, asks how many cycles of each other work hides, and sums per code
// row. The rules, AMD's and the corrected one, are in docs/explanation/hidden-latency.md; busy.cpp collects the busy
// times.
#include "wavewright/hidden.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/parallel.hpp"
#include "waves/busy.hpp"
#include "waves/by_row.hpp"
#include "waves/coverage.hpp"

namespace wavewright {
namespace {

// Sets of pipes that hide work together. The first four are single pipes and have the numbers of Pipe.
enum Set : size_t {
    kValu,
    kMatrix,
    kMemory,
    kScalar,
    kMath,    // valu and matrix
    kVector,  // and memory
    kAll,     // and scalar
    kSetCount
};

template <class T>
using PerSet = std::array<T, kSetCount>;

// Both rules answer one question: how many cycles of [a, b) are hidden for a wave by a set of pipes? A cursor of the
// wave counts such cycles before a time; an answer is the difference of two. Questions of a wave come nearly in order
// of time, so that a cursor starts its search at the last answer (`near`).

// HidingRule::reference: busy times as AMD's viewer merges them, whoever is busy.
class ReferenceSets {
  public:
    void fill(const Pipes& pipes, size_t /*wave_count*/) {
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
        Cursor(const ReferenceSets& sets, uint32_t /*wave*/) : sets_(sets) {}
        int64_t before(Set set, int64_t time) { return sets_.sets_[set].before(time, near_[set]); }

      private:
        const ReferenceSets& sets_;
        PerSet<size_t> near_{};
    };

  private:
    PerSet<Coverage> sets_;
};

// HidingRule::corrected: busy times as they are, less those in which only the wave itself is busy.
class CorrectedSets {
  public:
    void fill(const Pipes& pipes, size_t wave_count) {
        for (size_t set = 0; set < kSetCount; ++set) {
            anyone_[set].clear();
            alone_[set].resize(std::max(alone_[set].size(), wave_count));
            for (Coverage& alone : alone_[set]) alone.clear();
            sweep(pipes, kPipesOfSet[set], anyone_[set], alone_[set]);
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
    using InSet = std::array<bool, kPipes>;  // by Pipe: valu, matrix, memory, scalar
    static constexpr PerSet<InSet> kPipesOfSet = {{{true, false, false, false},
                                                   {false, true, false, false},
                                                   {false, false, true, false},
                                                   {false, false, false, true},
                                                   {true, true, false, false},
                                                   {true, true, true, false},
                                                   {true, true, true, true}}};

    // Goes through the intervals of a set of pipes in order of begin. Of those so far it knows the latest end with its
    // owner, and the latest end of all other owners: between the two only that owner is busy, until the next begins.
    static void sweep(const Pipes& pipes, const InSet& in_set, Coverage& anyone, std::vector<Coverage>& alone) {
        std::array<size_t, kPipes> next_of_pipe{};
        int64_t latest = INT64_MIN, latest_of_others = INT64_MIN;
        uint32_t owner = kOtherSimd;
        auto only_owner_until = [&](int64_t begin, int64_t end) {
            if (owner != kOtherSimd) alone[owner].add(std::max(begin, latest_of_others), std::min(latest, end));
        };
        int64_t begin = INT64_MIN;
        while (const Busy* next = take_next(pipes, in_set, next_of_pipe)) {
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

    // The earliest interval that was not taken yet; null behind the last one.
    static const Busy* take_next(const Pipes& pipes, const InSet& in_set, std::array<size_t, kPipes>& next_of_pipe) {
        const Busy* earliest = nullptr;
        size_t pipe_of_earliest = 0;
        for (size_t pipe = 0; pipe < pipes.size(); ++pipe) {
            if (!in_set[pipe] || next_of_pipe[pipe] == pipes[pipe].size()) continue;
            const Busy& candidate = pipes[pipe][next_of_pipe[pipe]];
            if (earliest != nullptr && candidate.begin >= earliest->begin) continue;
            earliest = &candidate;
            pipe_of_earliest = pipe;
        }
        if (earliest != nullptr) ++next_of_pipe[pipe_of_earliest];
        return earliest;
    }

    PerSet<Coverage> anyone_;
    PerSet<std::vector<Coverage>> alone_;  // by wave of the group
};

// Hidden cycles of the three parts of an execution.
struct Parts {
    int64_t idle = 0, stall = 0, issue = 0;
    int64_t total() const { return idle + stall + issue; }
};

struct Sums {
    int64_t hits = 0;
    Parts hidden;
};

// A set of pipes that may hide an execution, with or without its issue.
struct Candidate {
    Set set;
    bool hides_issue;
};

// What hides an execution by its Work: the second table of docs/explanation/hidden-latency.md. Of the two the one
// counts that hides more of it. No pipe hides the issue of its own instructions.
constexpr std::array<std::array<Candidate, 2>, 4> kCandidates = {{
    {{{kValu, false}, {kMatrix, false}}},  // matrix, which issues through the vector pipe
    {{{kValu, false}, {kMatrix, true}}},   // valu
    {{{kMath, true}, {kMemory, false}}},   // memory
    {{{kVector, true}, {kScalar, false}}}  // scalar
}};
constexpr Candidate kOtherWork{kAll, true};

// `gap_begin` is where the wave was last busy before the token.
template <class Cursor>
Parts hidden_by(Cursor& cursor, const Candidate& candidate, int64_t gap_begin, const Token& token) {
    const bool has_gap = gap_begin < token.time;
    const bool has_issue = candidate.hides_issue && token.length > token.stall;
    if (!has_gap && !has_issue && token.stall == 0) return {};  // most of them, where waves run well
    const auto before = [&](int64_t time) { return cursor.before(candidate.set, time); };
    const int64_t at_gap_begin = has_gap ? before(gap_begin) : 0;
    const int64_t at_attempt = before(token.time);
    const int64_t at_issue = token.stall != 0 ? before(token.issue()) : at_attempt;
    return {.idle = has_gap ? at_attempt - at_gap_begin : 0,
            .stall = at_issue - at_attempt,
            .issue = has_issue ? before(token.end()) - at_issue : 0};
}

template <class Cursor>
Parts hidden_parts(Cursor& cursor, int64_t gap_begin, const Token& token) {
    if (token.work == Work::other) return hidden_by(cursor, kOtherWork, gap_begin, token);
    const auto& [first, second] = kCandidates[static_cast<size_t>(token.work)];
    const Parts by_first = hidden_by(cursor, first, gap_begin, token);
    const Parts by_second = hidden_by(cursor, second, gap_begin, token);
    return by_first.total() > by_second.total() ? by_first : by_second;
}

// Puts the tokens of a wave into the order in which AMD's viewer lines them up: it draws tokens that start in the same
// cycle while one is running on further tracks, and goes through those of a cycle track by track.
void sort_as_viewer(std::vector<Token>& tokens) {
    struct Placed {
        Token token;
        size_t track;
    };
    const auto comes_first = [](const Placed& a, const Placed& b) {
        return std::tuple(a.token.time, a.track, -a.token.length) < std::tuple(b.token.time, b.track, -b.token.length);
    };
    const auto starts_no_earlier = [](const Token& a, const Token& b) { return a.time >= b.time; };
    if (std::adjacent_find(tokens.begin(), tokens.end(), starts_no_earlier) == tokens.end()) return;
    constexpr size_t kTracks = 4;  // the last one takes whatever finds no other
    std::array<const Token*, kTracks> last_of_track{};
    std::vector<Placed> placed;
    placed.reserve(tokens.size());
    for (const Token& token : tokens) {
        const auto is_taken = [&](size_t track) {
            const Token* last = last_of_track[track];
            return last != nullptr && last->time == token.time && last->length > 0;
        };
        size_t track = 0;
        while (track + 1 < kTracks && is_taken(track)) ++track;
        last_of_track[track] = &token;
        placed.push_back({token, track});
    }
    std::stable_sort(placed.begin(), placed.end(), comes_first);
    for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = placed[i].token;
}

void add_to(Sums& sums, int64_t hits, const Parts& hidden) {
    sums.hits += hits;
    sums.hidden.idle = add(sums.hidden.idle, hidden.idle);
    sums.hidden.stall = add(sums.hidden.stall, hidden.stall);
    sums.hidden.issue = add(sums.hidden.issue, hidden.issue);
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

// A gap begins at the end of the wave's instruction before, in the order of the viewer.
void measure(const HidingInput& input, const SimdGroup& group, Worker<ReferenceSets>& worker) {
    for (uint32_t wave = 0; wave < group.waves.size(); ++wave) {
        read_tokens(input, group.waves[wave], worker.tokens);
        sort_as_viewer(worker.tokens);
        ReferenceSets::Cursor cursor(worker.sets, wave);
        int64_t gap_begin = group.waves[wave].begin;
        for (const Token& token : worker.tokens) {
            if (token.counts) add_to(worker.sums.of(token.row), 1, hidden_parts(cursor, gap_begin, token));
            gap_begin = token.end();
        }
    }
}

// Gaps as in row_totals(): they begin at the latest end so far, and instructions without a row do not end one.
void measure(const HidingInput& input, const SimdGroup& group, Worker<CorrectedSets>& worker) {
    for (const uint32_t wave : group.measured_waves) {
        read_tokens(input, group.waves[wave], worker.tokens);
        CorrectedSets::Cursor cursor(worker.sets, wave);
        int64_t gap_begin = group.waves[wave].begin;
        for (const Token& token : worker.tokens) {
            if (token.row < 0) continue;
            if (token.counts) add_to(worker.sums.of(token.row), 1, hidden_parts(cursor, gap_begin, token));
            gap_begin = std::max(gap_begin, token.end());
        }
    }
}

template <class Sets>
HiddenLatency table_of(std::vector<Worker<Sets>>& workers) {
    ByRow<Sums>& all = workers.front().sums;
    for (size_t i = 1; i < workers.size(); ++i) {
        workers[i].sums.each([&](int32_t row, const Sums& sums) {
            if (sums.hits != 0) add_to(all.of(row), sums.hits, sums.hidden);
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
    // Not for the reference: its busy times depend on all intervals before them.
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
