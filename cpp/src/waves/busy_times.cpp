// Sets of the times in which each pipe of each SIMD issues and is busy, made once; pictures of any zoom ask them how
// much of an interval is covered (TimeSet::before). utilization.cpp sums the same times over bins instead.
#include "wavewright/busy_times.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/parallel.hpp"
#include "waves/issues.hpp"
#include "wavewright/stop.hpp"

namespace wavewright {
namespace {

constexpr uint32_t kSets = kPipeBusy + kMaxPipes;  // of a unit: one per kind of timeline.hpp
const TimeSet kEmptySet;

bool is_before(Interval a, Interval b) {
    return a.begin < b.begin;
}

// The union of a set and of sorted intervals.
TimeSet united(const TimeSet& set, std::span<const Interval> more) {
    TimeSet all;
    Union joined;
    const auto add_to_all = [&](Interval interval) { all.add(interval.begin, interval.end); };
    size_t next = 0;  // of `more`
    set.each([&](int64_t begin, int64_t end) {
        for (; next < more.size() && more[next].begin < begin; ++next) joined.add(more[next], add_to_all);
        joined.add({begin, end}, add_to_all);
    });
    for (; next < more.size(); ++next) joined.add(more[next], add_to_all);
    joined.finish(add_to_all);
    return all;
}

// Fills the sets of one unit, in this order: fill(), then add_bubbles().
class UnitTimes {
  public:
    UnitTimes(const IssuingWaves& waves, const PipeRules& rules, std::span<TimeSet> sets)
        : waves_(waves), reader_(waves, rules), sets_(sets) {}

    // `members` are the waves of the unit; `more` are further issues to one pipe, in any order.
    void fill(std::span<const uint32_t> members, std::vector<Interval>& more, uint8_t more_pipe) {
        std::vector<WaveIssues> issuing;
        for (const uint32_t wave : members) {
            issuing.emplace_back(reader_, wave);
            lives_.add({bounded(waves_.begin[wave]) + bounded(waves_.offset[wave]),
                        bounded(waves_.end[wave]) + bounded(waves_.offset[wave])});
        }
        lives_.join([&](Interval life) { add(kResident, life); });
        add_issues(std::move(issuing));
        if (more.empty()) return;
        std::sort(more.begin(), more.end(), is_before);
        sets_[more_pipe] = united(sets_[more_pipe], more);
        sets_[kAnyPipe] = united(sets_[kAnyPipe], more);
    }

    // Residence less the time in which any pipe issues. Nobody asks for the latter: it is dropped.
    void add_bubbles() {
        const auto add_bubble = [&](Interval interval) { add(kBubble, interval); };
        sets_[kAnyPipe].each([&](int64_t begin, int64_t end) { lives_.issue({begin, end}, add_bubble); });
        lives_.finish(add_bubble);
        sets_[kAnyPipe] = TimeSet();
    }

  private:
    static uint8_t busy_of(uint8_t pipe) { return static_cast<uint8_t>(kPipeBusy + pipe); }
    void add(uint8_t kind, Interval joined) { sets_[kind].add(joined.begin, joined.end); }

    void add_issues(std::vector<WaveIssues> issuing) {
        std::array<Union, kMaxPipes> pipes, busy;  // times in which each pipe is issued to, and occupied
        Union any;
        // Bit per pipe: something occupied it for longer than it issued. Of the others both times are the same, and the
        // second one is not kept.
        uint32_t long_pipes = 0;
        StopCheck check;
        visit_by_begin(std::move(issuing), [&](const Issue& issue) {
            check.step();
            const auto pipe = static_cast<uint8_t>(issue.pipe);
            const Interval issued{issue.begin, issue.begin + issue.cycles};
            pipes[pipe].add(issued, [&](Interval joined) { add(pipe, joined); });
            any.add(issued, [&](Interval joined) { add(kAnyPipe, joined); });
            const bool may_be_long = (reader_.long_pipes() >> pipe & 1) != 0;
            if (!may_be_long) return;
            long_pipes |= uint32_t{issue.busy_cycles > issue.cycles} << pipe;
            busy[pipe].add({issue.begin, issue.begin + issue.busy_cycles},
                           [&](Interval joined) { add(busy_of(pipe), joined); });
        });
        for (uint8_t pipe = 0; pipe < kMaxPipes; ++pipe) {
            pipes[pipe].finish([&](Interval joined) { add(pipe, joined); });
            busy[pipe].finish([&](Interval joined) { add(busy_of(pipe), joined); });
            if ((long_pipes >> pipe & 1) == 0) sets_[busy_of(pipe)] = TimeSet();
        }
        any.finish([&](Interval joined) { add(kAnyPipe, joined); });
    }

    const IssuingWaves& waves_;
    IssueReader reader_;
    std::span<TimeSet> sets_;
    Lives lives_;
};

}  // namespace

void TimeSet::add(int64_t begin, int64_t end) {
    while (begin < end) {
        // A piece says its begin in 32 bits, from that of its block.
        const bool needs_block = blocks_.empty() || pieces_.size() - blocks_.back().first == kBlock ||
                                 begin - blocks_.back().begin > int64_t{UINT32_MAX};
        if (needs_block) blocks_.push_back({begin, total_, pieces_.size()});
        const int64_t length = std::min<int64_t>(end - begin, UINT32_MAX);
        pieces_.push_back({static_cast<uint32_t>(begin - blocks_.back().begin), static_cast<uint32_t>(length)});
        total_ += length;
        begin += length;
        end_ = begin;
    }
}

int64_t TimeSet::before(int64_t time) const {
    const auto behind_it =
        std::partition_point(blocks_.begin(), blocks_.end(), [&](const Block& block) { return block.begin < time; });
    if (behind_it == blocks_.begin()) return 0;
    const auto block = static_cast<size_t>(behind_it - blocks_.begin()) - 1;
    const int64_t since = time - blocks_[block].begin;
    int64_t cycles = blocks_[block].before;
    for (size_t i = blocks_[block].first; i < behind(block) && pieces_[i].begin < since; ++i)
        cycles += std::min<int64_t>(pieces_[i].length, since - pieces_[i].begin);
    return cycles;
}

BusyTimes::BusyTimes(const IssuingWaves& waves, const PipeRules& rules, const MoreIssues& more, uint32_t unit_count)
    : sets_(size_t{unit_count} * kSets) {
    std::vector<std::vector<uint32_t>> members(unit_count);
    std::vector<std::vector<Interval>> more_of_unit(unit_count);
    for (uint32_t wave = 0; wave < waves.unit.size(); ++wave)
        if (waves.unit[wave] < unit_count) members[waves.unit[wave]].push_back(wave);
    for (size_t i = 0; i < more.unit.size(); ++i)
        if (more.unit[i] < unit_count && more.end[i] > more.begin[i])
            more_of_unit[more.unit[i]].push_back({more.begin[i], more.end[i]});
    in_parallel(unit_count, workers_for(unit_count), [&](size_t unit, unsigned) {
        UnitTimes times(waves, rules, std::span(sets_).subspan(unit * kSets, kSets));
        times.fill(members[unit], more_of_unit[unit], more.pipe);
        times.add_bubbles();
    });
}

const TimeSet& BusyTimes::of(uint32_t unit, uint8_t kind) const {
    const size_t place = size_t{unit} * kSets + kind;
    return kind < kSets && place < sets_.size() ? sets_[place] : kEmptySet;
}

}  // namespace wavewright
