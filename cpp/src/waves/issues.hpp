// The issues of instructions to the pipes of a SIMD, merged over its waves in order of time, and unions of intervals.
//
// Pictures and tables of pipes (utilization.cpp, busy_times.cpp) visit issues in order of begin without storing them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "wavewright/timeline.hpp"

namespace wavewright {

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// One instruction that goes to a pipe.
struct Issue {
    int64_t begin;
    uint32_t cycles;       // in which it issues
    uint32_t busy_cycles;  // in which it occupies the pipe: as long, or longer (matrix instructions)
    uint32_t pipe;
};

struct Interval {
    int64_t begin, end;
};

// Joins intervals that come in order of begin; calls `visit` with each union once it is complete.
class Union {
  public:
    template <class Visit>
    void add(Interval next, Visit&& visit) {
        if (next.begin <= current_.end && is_open_) {
            current_.end = std::max(current_.end, next.end);
            return;
        }
        if (is_open_) visit(current_);
        current_ = next;
        is_open_ = true;
    }
    template <class Visit>
    void finish(Visit&& visit) {
        if (is_open_) visit(current_);
        is_open_ = false;
    }

  private:
    Interval current_{0, 0};
    bool is_open_ = false;
};

// Reads from the columns of waves when each instruction issues, and to which pipe.
class IssueReader {
  public:
    IssueReader(const IssuingWaves& waves, const PipeRules& rules) : waves_(waves), rules_(rules) {
        for (size_t row = 0; row < rules.busy_of_row.size(); ++row) {
            if (rules.busy_of_row[row] <= 0) continue;
            const uint8_t pipe = row < rules.of_row.size() ? rules.of_row[row] : kByCategory;
            long_pipes_ |= pipe < kMaxPipes ? uint32_t{1} << pipe : pipe == kByCategory ? ~uint32_t{0} : 0;
        }
    }

    // A bit per pipe: an instruction may occupy it for longer than it issues.
    uint32_t long_pipes() const { return long_pipes_; }

    // The instructions of a wave: from `first` on, up to but without `behind`.
    uint64_t first(uint32_t wave) const { return std::min<uint64_t>(waves_.first[wave], waves_.time.size()); }
    uint64_t behind(uint32_t wave) const {
        return first(wave) + std::min<uint64_t>(waves_.count[wave], waves_.time.size() - first(wave));
    }

    // Returns false for instructions that go to no pipe; else fills `issue`.
    bool read(uint32_t wave, uint64_t instruction, Issue& issue) const {
        const uint8_t pipe = pipe_of(instruction);
        if (pipe >= kMaxPipes) return false;
        const int64_t stall = std::max(waves_.stall[instruction], 0);
        const bool is_short = (rules_.short_pipes >> pipe & 1) != 0;
        const int64_t reported = is_short ? 0 : waves_.duration[instruction] - stall;
        issue.begin = bounded(waves_.time[instruction]) + bounded(waves_.offset[wave]) + stall;
        issue.cycles = static_cast<uint32_t>(std::max<int64_t>(reported, rules_.issue_cycles));
        issue.busy_cycles = std::max(issue.cycles, busy_of(instruction));
        issue.pipe = pipe;
        return true;
    }

  private:
    uint32_t busy_of(uint64_t instruction) const {
        const auto row = static_cast<size_t>(waves_.row[instruction]);  // a negative one is beyond the end
        return row < rules_.busy_of_row.size() ? static_cast<uint32_t>(std::max(rules_.busy_of_row[row], 0)) : 0;
    }
    uint8_t pipe_of(uint64_t instruction) const {
        const int32_t row = waves_.row[instruction];
        const bool is_known = row >= 0 && static_cast<size_t>(row) < rules_.of_row.size();
        if (!is_known && !rules_.counts_unknown_rows) return kNoPipe;
        const uint8_t pipe = is_known ? rules_.of_row[static_cast<size_t>(row)] : kByCategory;
        return pipe == kByCategory ? rules_.of_category[waves_.category[instruction]] : pipe;
    }

    const IssuingWaves& waves_;
    const PipeRules& rules_;
    uint32_t long_pipes_ = 0;
};

inline bool earlier(const Issue& a, const Issue& b) {
    return a.begin < b.begin;
}

// The issues of one wave in order of begin. Instructions nearly always are in that order; else issues are copied and
// sorted.
class WaveIssues {
  public:
    WaveIssues(const IssueReader& reader, uint32_t wave) : WaveIssues(reader, wave, [](const Issue&) {}) {}
    // Calls `seen` with each issue, in the order of execution.
    template <class Seen>
    WaveIssues(const IssueReader& reader, uint32_t wave, Seen&& seen)
        : reader_(&reader), wave_(wave), at_(reader.first(wave)), behind_(reader.behind(wave)) {
        if (!is_ordered(seen)) sort();
    }

    // Steps to the next issue; false = there is none.
    bool next() {
        if (is_sorted_) {
            if (at_ == sorted_.size()) return false;
            current_ = sorted_[at_++];
            return true;
        }
        while (at_ < behind_)
            if (reader_->read(wave_, at_++, current_)) return true;
        return false;
    }
    const Issue& current() const { return current_; }

  private:
    template <class Seen>
    bool is_ordered(Seen&& seen) const {
        Issue issue{};
        int64_t latest = std::numeric_limits<int64_t>::min();
        bool is_so = true;
        for (uint64_t at = at_; at < behind_; ++at) {
            if (!reader_->read(wave_, at, issue)) continue;
            seen(issue);
            is_so &= issue.begin >= latest;
            latest = issue.begin;
        }
        return is_so;
    }
    void sort() {
        Issue issue{};
        for (uint64_t at = at_; at < behind_; ++at)
            if (reader_->read(wave_, at, issue)) sorted_.push_back(issue);
        std::stable_sort(sorted_.begin(), sorted_.end(), earlier);
        is_sorted_ = true;
        at_ = 0;
    }

    const IssueReader* reader_;
    uint32_t wave_;
    uint64_t at_, behind_;
    Issue current_{};
    std::vector<Issue> sorted_;
    bool is_sorted_ = false;
};

// Calls `visit` with the issues of several waves in order of begin. A wave enters the heap when its first issue is due
// and leaves it behind its last one, so that the heap stays small.
template <class Visit>
void visit_by_begin(std::vector<WaveIssues> waves, Visit&& visit) {
    std::erase_if(waves, [](WaveIssues& wave) { return !wave.next(); });
    std::sort(waves.begin(), waves.end(),
              [](const WaveIssues& a, const WaveIssues& b) { return earlier(a.current(), b.current()); });
    const auto later = [](const WaveIssues* a, const WaveIssues* b) { return earlier(b->current(), a->current()); };
    std::vector<WaveIssues*> heap;
    for (size_t entering = 0; entering < waves.size() || !heap.empty();) {
        while (entering < waves.size() &&
               (heap.empty() || !earlier(heap.front()->current(), waves[entering].current()))) {
            heap.push_back(&waves[entering++]);
            std::push_heap(heap.begin(), heap.end(), later);
        }
        std::pop_heap(heap.begin(), heap.end(), later);
        WaveIssues* wave = heap.back();
        // the same wave goes on for as long as no other is due
        const int64_t others = std::min(heap.size() > 1 ? heap.front()->current().begin : kNever,
                                        entering < waves.size() ? waves[entering].current().begin : kNever);
        bool goes_on = true;
        do {
            visit(wave->current());
            goes_on = wave->next();
        } while (goes_on && wave->current().begin <= others);
        if (goes_on) {
            std::push_heap(heap.begin(), heap.end(), later);
        } else {
            heap.pop_back();
        }
    }
}

// The times in which a hardware unit has resident waves, and the parts of them in which nothing issues (bubbles).
class Lives {
  public:
    void add(Interval life) {
        if (life.end > life.begin) lives_.push_back(life);
    }

    // Joins all lives, and calls `live` with each union.
    template <class Live>
    void join(Live&& live) {
        std::sort(lives_.begin(), lives_.end(), [](Interval a, Interval b) { return a.begin < b.begin; });
        Union joined;
        std::vector<Interval> residents;
        const auto keep = [&](Interval life) {
            residents.push_back(life);
            live(life);
        };
        for (const Interval life : lives_) joined.add(life, keep);
        joined.finish(keep);
        lives_ = std::move(residents);
    }

    // Takes unions of issues in order of begin; calls `free` with the intervals before each in which nothing issued.
    template <class Free>
    void issue(Interval issued, Free&& free) {
        for (; at_ < lives_.size() && lives_[at_].end <= issued.begin; ++at_) free_until(lives_[at_].end, free);
        if (at_ < lives_.size()) free_until(issued.begin, free);
        free_from_ = std::max(free_from_, issued.end);
    }
    template <class Free>
    void finish(Free&& free) {
        for (; at_ < lives_.size(); ++at_) free_until(lives_[at_].end, free);
    }

  private:
    template <class Free>
    void free_until(int64_t time, Free&& free) {
        const int64_t from = std::max(free_from_, lives_[at_].begin);
        if (from < time) free(Interval{from, time});
    }

    std::vector<Interval> lives_;  // after join(): disjoint, in order of begin
    size_t at_ = 0;
    int64_t free_from_ = -kNever;
};

// The waves of every unit, unit by unit.
inline std::vector<std::vector<uint32_t>> waves_by_unit(std::span<const uint32_t> unit) {
    std::vector<std::vector<uint32_t>> members;
    for (uint32_t wave = 0; wave < unit.size(); ++wave) {
        if (unit[wave] >= members.size()) members.resize(unit[wave] + size_t{1});
        members[unit[wave]].push_back(wave);
    }
    std::erase_if(members, [](const auto& waves) { return waves.empty(); });
    return members;
}

}  // namespace wavewright
