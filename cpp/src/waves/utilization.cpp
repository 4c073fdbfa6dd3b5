// How busy the pipes of each SIMD are: unions of the times in which instructions issue and occupy them.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "waves/issues.hpp"
#include "wavewright/timeline.hpp"

namespace wavewright {
namespace {

constexpr uint8_t kKinds = kPipeBusy + kMaxPipes;

// Of one unit, for each pipe: how many instructions its waves issue to it, and the phases of these waves, each from its
// first to its last instruction for the pipe.
class Phases {
  public:
    // Returns the issues of one wave, and adds its phases: WaveIssues looks at each of them once when it is made.
    WaveIssues read_wave(const IssueReader& reader, uint32_t wave) {
        std::array<Interval, kMaxPipes> phase;
        phase.fill({kNever, -kNever});  // empty
        WaveIssues issues(reader, wave, [&](const Issue& issue) {
            ++counts_[issue.pipe];
            phase[issue.pipe].begin = std::min(phase[issue.pipe].begin, issue.begin);
            phase[issue.pipe].end = std::max(phase[issue.pipe].end, issue.begin + issue.busy_cycles);
        });
        for (size_t pipe = 0; pipe < kMaxPipes; ++pipe)
            if (phase[pipe].end > phase[pipe].begin) phases_[pipe].push_back(phase[pipe]);
        return issues;
    }

    void append(uint32_t unit, PipeIssues& issues) {
        for (size_t pipe = 0; pipe < kMaxPipes; ++pipe) {
            if (counts_[pipe] == 0) continue;
            issues.unit.push_back(unit);
            issues.pipe.push_back(static_cast<uint8_t>(pipe));
            issues.issue_count.push_back(counts_[pipe]);
            issues.phase_cycles.push_back(covered(phases_[pipe]));
        }
    }

  private:
    static int64_t covered(std::vector<Interval>& intervals) {
        std::sort(intervals.begin(), intervals.end(), [](Interval a, Interval b) { return a.begin < b.begin; });
        Union phases;
        int64_t cycles = 0;
        const auto add = [&](Interval joined) { cycles += joined.end - joined.begin; };
        for (const Interval next : intervals) phases.add(next, add);
        phases.finish(add);
        return cycles;
    }

    std::array<int64_t, kMaxPipes> counts_{};
    std::array<std::vector<Interval>, kMaxPipes> phases_;
};

// Counts unit by unit. Unions of intervals come out of the sweep over a unit one after the other and are added to the
// total of the unit and to the bins of its group, so that nothing grows with the number of instructions.
class PipeCounter {
  public:
    PipeCounter(const IssuingWaves& waves, const PipeRules& rules, const Bins& bins)
        : waves_(waves), reader_(waves, rules), has_busy_rows_(!rules.busy_of_row.empty()), bins_(bins) {}

    PipeUse count() {
        for (const std::vector<uint32_t>& members : waves_by_unit(waves_.unit)) count_unit(members);
        for (size_t at = 0; at < groups_.size(); ++at)
            if (groups_[at] != nullptr)
                use_.groups.append(static_cast<uint32_t>(at / kKinds), static_cast<uint8_t>(at % kKinds), *groups_[at]);
        return std::move(use_);
    }

  private:
    void count_unit(std::span<const uint32_t> members) {
        unit_ = waves_.unit[members.front()];
        group_ = waves_.group[members.front()];
        totals_.fill(0);
        std::vector<WaveIssues> issuing;
        Phases phases;
        Lives lives;
        for (const uint32_t wave : members) {
            issuing.push_back(phases.read_wave(reader_, wave));
            lives.add({bounded(waves_.begin[wave]) + bounded(waves_.offset[wave]),
                       bounded(waves_.end[wave]) + bounded(waves_.offset[wave])});
        }
        lives.join([&](Interval life) { book(kResident, life); });
        count_issues(std::move(issuing), lives);
        phases.append(unit_, use_.issues);
        append_totals();
    }

    // Books the times of each pipe, of all of them, and the bubbles between these.
    void count_issues(std::vector<WaveIssues> issuing, Lives& lives) {
        const auto book_bubble = [&](Interval free) { book(kBubble, free); };
        const auto book_any = [&](Interval issued) {
            book(kAnyPipe, issued);
            lives.issue(issued, book_bubble);
        };
        std::array<Union, kMaxPipes> pipes, busy;  // times in which each pipe is issued to, and occupied
        Union any;
        visit_by_begin(std::move(issuing), [&](const Issue& issue) {
            const auto pipe = static_cast<uint8_t>(issue.pipe);
            const Interval issued{issue.begin, issue.begin + issue.cycles};
            pipes[pipe].add(issued, [&](Interval joined) { book(pipe, joined); });
            any.add(issued, book_any);
            if (!has_busy_rows_) return;
            const Interval occupied{issue.begin, issue.begin + issue.busy_cycles};
            busy[pipe].add(occupied, [&](Interval joined) { book(busy_kind(pipe), joined); });
        });
        for (uint8_t pipe = 0; pipe < kMaxPipes; ++pipe) {
            pipes[pipe].finish([&](Interval joined) { book(pipe, joined); });
            busy[pipe].finish([&](Interval joined) { book(busy_kind(pipe), joined); });
        }
        any.finish(book_any);
        lives.finish(book_bubble);
    }

    void append_totals() {
        for (uint8_t kind = 0; kind < kKinds; ++kind) {
            if (totals_[kind] == 0) continue;
            use_.units.group.push_back(unit_);
            use_.units.kind.push_back(kind);
            use_.units.bin.push_back(kAllBins);
            use_.units.cycles.push_back(totals_[kind]);
        }
    }

    static uint8_t busy_kind(uint8_t pipe) { return static_cast<uint8_t>(kPipeBusy + pipe); }

    // Adds an interval of a kind to the present unit.
    void book(uint8_t kind, Interval interval) {
        if (interval.end <= interval.begin) return;
        totals_[kind] += interval.end - interval.begin;
        const size_t place = size_t{group_} * kKinds + kind;
        if (place >= groups_.size()) groups_.resize(place + 1);
        if (groups_[place] == nullptr) groups_[place] = std::make_unique<BinnedCycles>(bins_);
        groups_[place]->add(interval.begin, interval.end);
    }

    const IssuingWaves& waves_;
    IssueReader reader_;
    bool has_busy_rows_;
    Bins bins_;
    PipeUse use_;
    std::vector<std::unique_ptr<BinnedCycles>> groups_;  // group * kKinds + kind; null = nothing was booked
    // Of the present unit.
    uint32_t unit_ = 0, group_ = 0;
    std::array<int64_t, kKinds> totals_{};  // cycles
};

}  // namespace

PipeUse pipe_use(const IssuingWaves& waves, const PipeRules& rules, const Bins& bins) {
    return PipeCounter(waves, rules, bins).count();
}

}  // namespace wavewright
