// How busy the pipes of each SIMD are: unions of the times in which instructions issue and occupy them.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "wavewright/timeline.hpp"

namespace wavewright {
namespace {

constexpr uint8_t kKinds = kPipeBusy + kMaxPipes;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

struct Issue {
    int64_t begin;
    uint32_t cycles;
    uint32_t busy_cycles;
    uint32_t pipe;
};

struct Interval {
    int64_t begin, end;
};

// Joins intervals that come by begin; calls `found` with each finished union.
class Union {
  public:
    template <class Found>
    void add(Interval next, Found&& found) {
        if (next.begin <= current_.end && is_open_) {
            current_.end = std::max(current_.end, next.end);
            return;
        }
        if (is_open_) found(current_);
        current_ = next;
        is_open_ = true;
    }
    template <class Found>
    void finish(Found&& found) {
        if (is_open_) found(current_);
        is_open_ = false;
    }

  private:
    Interval current_{0, 0};
    bool is_open_ = false;
};

// What instructions of waves issue, and when.
class IssueReader {
  public:
    IssueReader(const IssuingWaves& waves, const PipeRules& rules) : waves_(waves), rules_(rules) {}

    uint64_t first(uint32_t wave) const { return std::min<uint64_t>(waves_.first[wave], waves_.time.size()); }
    uint64_t behind(uint32_t wave) const {
        return first(wave) + std::min<uint64_t>(waves_.count[wave], waves_.time.size() - first(wave));
    }

    // Whether the instruction goes through a pipe; then `issue` tells which and when.
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
};

bool earlier(const Issue& a, const Issue& b) {
    return a.begin < b.begin;
}

// The issues of one wave by begin. They are nearly always in that order already; else they are copied and sorted.
class WaveIssues {
  public:
    WaveIssues(const IssueReader& reader, uint32_t wave)
        : reader_(&reader), wave_(wave), at_(reader.first(wave)), behind_(reader.behind(wave)) {
        if (!is_ordered()) sort();
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
    bool is_ordered() const {
        Issue issue{};
        int64_t latest = std::numeric_limits<int64_t>::min();
        for (uint64_t at = at_; at < behind_; ++at) {
            if (!reader_->read(wave_, at, issue)) continue;
            if (issue.begin < latest) return false;
            latest = issue.begin;
        }
        return true;
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

// Calls `visit` with the issues of several waves by begin. A heap holds the waves that are at it at the moment: few,
// because waves enter when their first issue is due.
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

// From the first to the last instruction of waves for each pipe, and how many there are.
class Phases {
  public:
    void read(const IssueReader& reader, uint32_t wave) {
        std::array<Interval, kMaxPipes> phase;
        phase.fill({kNever, -kNever});
        Issue issue{};
        for (uint64_t at = reader.first(wave); at < reader.behind(wave); ++at) {
            if (!reader.read(wave, at, issue)) continue;
            ++counts_[issue.pipe];
            phase[issue.pipe].begin = std::min(phase[issue.pipe].begin, issue.begin);
            phase[issue.pipe].end = std::max(phase[issue.pipe].end, issue.begin + issue.busy_cycles);
        }
        for (size_t pipe = 0; pipe < kMaxPipes; ++pipe)
            if (phase[pipe].end > phase[pipe].begin) phases_[pipe].push_back(phase[pipe]);
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

class PipeCounter {
  public:
    PipeCounter(const IssuingWaves& waves, const PipeRules& rules, const Bins& bins)
        : waves_(waves), reader_(waves, rules), has_busy_rows_(!rules.busy_of_row.empty()), bins_(bins) {}

    PipeUse count() {
        const std::vector<uint32_t> order = waves_by_unit();
        for (size_t at = 0; at < order.size();) {
            size_t behind = at;
            while (behind < order.size() && waves_.unit[order[behind]] == waves_.unit[order[at]]) ++behind;
            count_unit(std::span(order).subspan(at, behind - at));
            at = behind;
        }
        for (size_t at = 0; at < groups_.size(); ++at)
            if (groups_[at] != nullptr)
                use_.groups.append(static_cast<uint32_t>(at / kKinds), static_cast<uint8_t>(at % kKinds), *groups_[at]);
        return std::move(use_);
    }

  private:
    std::vector<uint32_t> waves_by_unit() const {
        std::vector<uint32_t> order(waves_.unit.size());
        for (uint32_t wave = 0; wave < order.size(); ++wave) order[wave] = wave;
        std::stable_sort(order.begin(), order.end(),
                         [&](uint32_t a, uint32_t b) { return waves_.unit[a] < waves_.unit[b]; });
        return order;
    }

    void count_unit(std::span<const uint32_t> members) {
        std::vector<WaveIssues> issuing;
        Phases phases;
        lives_.clear();
        for (const uint32_t wave : members) {
            issuing.emplace_back(reader_, wave);
            phases.read(reader_, wave);
            lives_.push_back({bounded(waves_.begin[wave]) + bounded(waves_.offset[wave]),
                              bounded(waves_.end[wave]) + bounded(waves_.offset[wave])});
        }
        std::sort(lives_.begin(), lives_.end(), [](Interval a, Interval b) { return a.begin < b.begin; });
        unit_ = waves_.unit[members.front()];
        group_ = waves_.group[members.front()];
        for (auto& total : totals_) total = 0;

        std::array<Union, kMaxPipes> pipes, busy;
        Union any;
        issuing_.clear();
        visit_by_begin(std::move(issuing), [&](const Issue& issue) {
            const auto pipe = static_cast<uint8_t>(issue.pipe);
            const Interval issued{issue.begin, issue.begin + issue.cycles};
            pipes[pipe].add(issued, [&](Interval joined) { book(pipe, joined); });
            any.add(issued, [&](Interval joined) { issuing_.push_back(joined); });
            if (!has_busy_rows_) return;
            const Interval occupied{issue.begin, issue.begin + issue.busy_cycles};
            busy[pipe].add(occupied, [&](Interval joined) { book(busy_kind(pipe), joined); });
        });
        for (uint8_t pipe = 0; pipe < kMaxPipes; ++pipe) {
            pipes[pipe].finish([&](Interval joined) { book(pipe, joined); });
            busy[pipe].finish([&](Interval joined) { book(busy_kind(pipe), joined); });
        }
        phases.append(unit_, use_.issues);
        any.finish([&](Interval joined) { issuing_.push_back(joined); });
        for (const Interval joined : issuing_) book(kAnyPipe, joined);
        book_lives();
        for (uint8_t kind = 0; kind < kKinds; ++kind) {
            if (totals_[kind] == 0) continue;
            use_.units.group.push_back(unit_);
            use_.units.kind.push_back(kind);
            use_.units.bin.push_back(kAllBins);
            use_.units.cycles.push_back(totals_[kind]);
        }
    }

    static uint8_t busy_kind(uint8_t pipe) { return static_cast<uint8_t>(kPipeBusy + pipe); }

    // The union of the lives, and what of it lies in no union of issues.
    void book_lives() {
        Union resident;
        size_t next = 0;  // first union of issues that may reach into the current life
        auto live = [&](Interval life) {
            book(kResident, life);
            int64_t free_from = life.begin;
            while (next < issuing_.size() && issuing_[next].end <= life.begin) ++next;
            for (; next < issuing_.size() && issuing_[next].begin < life.end; ++next) {
                book(kBubble, {free_from, issuing_[next].begin});
                free_from = issuing_[next].end;
                if (free_from >= life.end) break;  // may reach into the next life too
            }
            book(kBubble, {free_from, life.end});
        };
        for (const Interval life : lives_)
            if (life.end > life.begin) resident.add(life, live);
        resident.finish(live);
    }

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
    std::vector<std::unique_ptr<BinnedCycles>> groups_;
    std::array<int64_t, kKinds> totals_{};
    uint32_t unit_ = 0, group_ = 0;
    std::vector<Interval> lives_, issuing_;
};

}  // namespace

PipeUse pipe_use(const IssuingWaves& waves, const PipeRules& rules, const Bins& bins) {
    return PipeCounter(waves, rules, bins).count();
}

}  // namespace wavewright
