// Reads recorded waves as steps, finds which stalls were waits for a port, and times all waves again with some of the
// waiting removed. The rules are in docs/explanation/replay.md, "Replay".
#include "wavewright/replay.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include "base/parallel.hpp"
#include "base/sort_runs.hpp"
#include "waves/coverage.hpp"
#include "waves/meetings.hpp"
#include "wavewright/records.hpp"

namespace wavewright {
namespace {

constexpr int64_t kBarrierCycles = 16;                            // what a barrier costs at most that nobody waits at
constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();  // no wave
constexpr int64_t kLatest = std::numeric_limits<int64_t>::max(), kEarliest = std::numeric_limits<int64_t>::min();
constexpr size_t kCauses = 64;  // causes are numbers below it, and masks of them have a bit each

// What an instruction takes. Those before kPortCount are ports, one of each per SIMD; memory and LDS have queues
// instead, so that a stall in front of them is their own.
enum Port : uint8_t { kValu, kMatrix, kScalar, kBranch, kPortCount, kMemory, kNoPort };

// By instructions.category.
constexpr std::array<Port, 16> kPortOfCategory = [] {
    std::array<Port, 16> ports{};
    ports.fill(kNoPort);
    const auto set = [&ports](Category category, Port port) { ports[static_cast<size_t>(category)] = port; };
    set(Category::salu, kScalar);
    set(Category::vmem, kMemory);
    set(Category::flat, kMemory);
    set(Category::bvh, kMemory);
    set(Category::valu, kValu);
    set(Category::jump, kBranch);
    set(Category::next, kBranch);
    return ports;
}();

// Cycles from `earlier` to `later`, 0 where it is the other way round. Times of foreign files may lie anywhere: what is
// returned fits in 32 bits, so that sums of it cannot overflow.
int64_t between(int64_t earlier, int64_t later) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    int64_t difference = 0;
    if (__builtin_sub_overflow(later, earlier, &difference)) return later > earlier ? kMost : 0;
    return std::clamp<int64_t>(difference, 0, kMost);
}

int64_t shifted(int64_t time, int64_t cycles) {
    int64_t sum = 0;
    return __builtin_add_overflow(time, cycles, &sum) ? kLatest : sum;
}

// Cycles in 16 bits; longer ones are cut.
uint16_t short_of(int64_t cycles) {
    return static_cast<uint16_t>(std::clamp<int64_t>(cycles, 0, std::numeric_limits<uint16_t>::max()));
}

// The value of a code row; 0 for rows that have none.
template <class T>
T of_row(std::span<const T> values, int32_t row) {
    return row >= 0 && static_cast<size_t>(row) < values.size() ? values[static_cast<size_t>(row)] : T{};
}

bool has(uint64_t causes, uint8_t cause) {
    return (causes >> cause % kCauses & 1) != 0;
}

}  // namespace

Replay::Replay(const ReplayInput& input) : input_(input) {
    for (const uint32_t cu : input_.cu) cu_count_ = std::max<size_t>(cu_count_, size_t{cu} + 1);
    for (const uint32_t simd : input_.simd) simd_count_ = std::max<size_t>(simd_count_, size_t{simd} + 1);
    read_steps();
    find_contention();
    find_triggers();
}

// Calls take(instruction, step) with each step of a wave. Returns when the last one was issued.
template <class Take>
int64_t Replay::read_wave(const ReplayInput& input, size_t wave, Take&& take) {
    int64_t issue = input.begin[wave];  // of the instruction before
    int64_t busy_until = issue;         // latest end so far
    for (size_t i = input.first[wave]; i < input.first[wave] + input.count[wave]; ++i) {
        const int64_t attempt = std::max(input.time[i], issue);
        const int64_t stall = between(attempt, shifted(input.time[i], std::max(0, input.stall[i])));
        const bool is_matrix = of_row(input.is_matrix, input.row[i]) != 0;
        const int32_t cycles = of_row(input.port_cycles, input.row[i]);
        take(i, Step{.wait = static_cast<int32_t>(between(issue, attempt)),
                     .gap = static_cast<int32_t>(between(std::max(busy_until, issue), attempt)),
                     .stall = static_cast<int32_t>(stall),
                     .own = static_cast<int32_t>(stall),  // until contend() finds that its port was taken
                     .issue = short_of(int64_t{input.duration[i]} - std::max(0, input.stall[i])),
                     .occupied = short_of(cycles > 0 ? cycles : input.issue_cycles),
                     .port = is_matrix ? kMatrix : kPortOfCategory[input.category[i] & 15]});
        issue = shifted(attempt, stall);
        busy_until = std::max(busy_until, shifted(input.time[i], std::max(0, input.duration[i])));
    }
    return issue;
}

void Replay::read_steps() {
    std::uninitialized_value_construct_n(steps_.extend(input_.time.size()), input_.time.size());
    rest_.resize(input_.first.size());
    for (size_t wave = 0; wave < input_.first.size(); ++wave) {
        const int64_t issue = read_wave(input_, wave, [&](size_t i, const Step& step) { steps_[i] = step; });
        rest_[wave] = between(issue, input_.end[wave]);
    }
}

// The issues to one port in order of time. They split stalls: while the port was taken, an instruction waited for it;
// the rest of the stall is its own.
//
// Waves are added in order of their start. When the next one begins, all issues before its begin are known: they are
// settled and forgotten, so that only the issues of waves that live at a time are in memory.
class Replay::PortIssues {
  public:
    struct Issue {
        int64_t time;
        size_t instruction;
        int32_t stall;
        uint16_t occupied;  // Step::occupied
    };

    explicit PortIssues(int32_t issue_cycles) : issue_cycles_(issue_cycles) {}

    void add(const Issue& issue) { issues_.push_back(issue); }

    // Calls settled(issue, own, occupied): the instruction's own part of the stall, and how long it takes the port.
    template <class Settled>
    void wave_begins(int64_t time, Settled&& settled) {
        if (issues_.size() < worth_settling_) return;
        settle([&](const Issue& next) { return next.time < time; }, settled);
        worth_settling_ = std::max(kFewest, 2 * issues_.size());
    }
    template <class Settled>
    void finish(Settled&& settled) {
        settle([](const Issue&) { return true; }, settled);
        for (const Issue& last : issues_) settled(last, own_stall(last), last.occupied);
    }

  private:
    static constexpr size_t kFewest = 1 << 14;  // issues; fewer are not worth a sort

    // Settles the issues whose successor is known and `is_complete`.
    template <class IsComplete, class Settled>
    void settle(IsComplete&& is_complete, Settled&& settled) {
        sort_runs(issues_, buffer_, [](const Issue& a, const Issue& b) {
            return a.time != b.time ? a.time < b.time : a.instruction < b.instruction;
        });
        size_t count = 0;
        for (; count + 1 < issues_.size() && is_complete(issues_[count + 1]); ++count) {
            const Issue& issue = issues_[count];
            // What was recorded can be repeated: nothing holds a port longer than until the next one got it.
            const int64_t until_next = between(issue.time, issues_[count + 1].time);
            settled(issue, own_stall(issue), short_of(std::min<int64_t>(issue.occupied, until_next)));
        }
        std::copy(issues_.begin() + count, issues_.end(), issues_.begin());
        issues_.truncate(issues_.size() - count);
    }

    // Call it in order of time. The port is busy as long as issues follow each other without a free issue slot between.
    int32_t own_stall(const Issue& issue) {
        if (issue.time >= free_at_) busy_since_ = issue.time;
        free_at_ = shifted(shifted(issue.time, issue.occupied), issue_cycles_);
        const int64_t attempt = issue.time - issue.stall;
        return issue.stall - static_cast<int32_t>(between(std::max(attempt, busy_since_), issue.time));
    }

    int32_t issue_cycles_;
    Column<Issue> issues_, buffer_;
    size_t worth_settling_ = kFewest;  // doubles with the issues that stay, so that sorting stays linear
    int64_t busy_since_ = 0;
    int64_t free_at_ = kEarliest;  // an issue before that finds the port taken
};

// Finds for the waves of one SIMD which stalls were waits for a port. steps_of(wave, take) calls take(instruction,
// step) for the steps of a wave; settled(issue, own, occupied) gets the results, see PortIssues.
template <class StepsOf, class Settled>
void Replay::contend(const ReplayInput& input, std::vector<size_t> waves, StepsOf&& steps_of, Settled&& settled) {
    std::stable_sort(waves.begin(), waves.end(), [&](size_t a, size_t b) { return input.begin[a] < input.begin[b]; });
    std::vector<PortIssues> ports;
    for (size_t port = 0; port < kPortCount; ++port) ports.emplace_back(input.issue_cycles);
    for (const size_t wave : waves) {
        for (PortIssues& port : ports) port.wave_begins(input.begin[wave], settled);
        int64_t time = input.begin[wave];
        steps_of(wave, [&](size_t i, const Step& step) {
            time = shifted(time, int64_t{step.wait} + step.stall);
            if (step.port < kPortCount) ports[step.port].add({time, i, step.stall, step.occupied});
        });
    }
    for (PortIssues& port : ports) port.finish(settled);
}

void Replay::find_contention() {
    const auto steps_of = [&](size_t wave, auto&& take) {
        for (size_t i = input_.first[wave]; i < input_.first[wave] + input_.count[wave]; ++i) take(i, steps_[i]);
    };
    for (const std::vector<size_t>& waves : waves_of_simds(input_))
        contend(input_, waves, steps_of, [&](const PortIssues::Issue& issue, int32_t own, uint16_t occupied) {
            steps_[issue.instruction].own = own;
            steps_[issue.instruction].occupied = occupied;
        });
}

Column<uint8_t> Replay::port_was_busy(const ReplayInput& input) {
    Column<uint8_t> was_busy;
    std::fill_n(was_busy.extend(input.time.size()), input.time.size(), uint8_t{0});
    const auto steps_of = [&](size_t wave, auto&& take) { read_wave(input, wave, take); };
    const std::vector<std::vector<size_t>> simds = waves_of_simds(input);
    in_parallel(simds.size(), workers_for(simds.size()), [&](size_t simd, unsigned) {
        contend(input, simds[simd], steps_of, [&](const PortIssues::Issue& issue, int32_t own, uint16_t) {
            const bool is_busy = issue.stall > 0 && own <= issue.stall / 2;
            // Atomic, because waves of foreign files may share instructions.
            if (is_busy) std::atomic_ref(was_busy[issue.instruction]).store(1, std::memory_order_relaxed);
        });
    });
    return was_busy;
}

std::vector<std::vector<size_t>> Replay::waves_of_simds(const ReplayInput& input) {
    std::vector<std::vector<size_t>> waves;
    for (size_t wave = 0; wave < input.first.size(); ++wave) {
        if (input.simd[wave] >= waves.size()) waves.resize(size_t{input.simd[wave]} + 1);
        waves[input.simd[wave]].push_back(wave);
    }
    return waves;
}

int64_t Replay::simd_cycles() const {
    std::vector<std::pair<int64_t, int64_t>> spans(simd_count_, {kLatest, kEarliest});  // empty
    for (size_t wave = 0; wave < input_.first.size(); ++wave) {
        auto& [begin, end] = spans[input_.simd[wave]];
        begin = std::min(begin, input_.begin[wave]);
        end = std::max(end, input_.end[wave]);
    }
    int64_t sum = 0;
    for (const auto& [begin, end] : spans) sum += between(begin, end);
    return sum;
}

namespace {

// A time in which a wave waits for a cause.
struct Waiting {
    int64_t begin, end;
    uint8_t cause;
};

struct Occupied {
    int64_t begin, end;
};

constexpr auto kByBegin = [](const auto& a, const auto& b) { return a.begin < b.begin; };

// Adds to `cycles`, by cause: the union of the times in which a wave waits for it, less those in which the SIMD issues.
void add_cycles_without_issue(std::vector<Waiting>& waiting, std::vector<Occupied>& occupied,
                              std::vector<int64_t>& cycles) {
    std::sort(waiting.begin(), waiting.end(), kByBegin);
    std::sort(occupied.begin(), occupied.end(), kByBegin);
    Coverage issuing;
    for (const Occupied& interval : occupied) issuing.add(interval.begin, interval.end);
    std::array<int64_t, kCauses> counted_until;
    counted_until.fill(kEarliest);
    size_t near = 0;  // where the last question to `issuing` was answered
    for (const Waiting& wait : waiting) {
        const size_t cause = wait.cause % kCauses;
        const int64_t begin = std::max(wait.begin, counted_until[cause]);
        if (wait.end <= begin) continue;
        counted_until[cause] = wait.end;
        const int64_t issuing_before = issuing.before(begin, near);
        const int64_t issuing_cycles = issuing.before(wait.end, near) - issuing_before;
        cycles[cause] += between(begin, wait.end) - issuing_cycles;
    }
}

}  // namespace

std::vector<int64_t> Replay::without_issue() const {
    std::vector<int64_t> cycles(kCauses);
    std::vector<Waiting> waiting;
    std::vector<Occupied> occupied;
    for (const std::vector<size_t>& of_simd : waves_of_simds(input_)) {
        waiting.clear();
        occupied.clear();
        for (const size_t wave : of_simd) {
            int64_t issue = input_.begin[wave];
            for (size_t i = input_.first[wave]; i < input_.first[wave] + input_.count[wave]; ++i) {
                const Step& step = steps_[i];
                const int64_t attempt = shifted(issue, step.wait);
                issue = shifted(attempt, step.stall);
                if (step.gap > 0) waiting.push_back({attempt - step.gap, attempt, input_.gap_cause[i]});
                if (step.own > 0) waiting.push_back({attempt, shifted(attempt, step.own), input_.cause[i]});
                occupied.push_back({issue, shifted(issue, std::max<int64_t>(input_.issue_cycles, step.occupied))});
            }
        }
        add_cycles_without_issue(waiting, occupied, cycles);
    }
    return cycles;
}

// A wave could start when another one made room: its trigger is the wave of its CU that ended last before it began.
void Replay::find_triggers() {
    const size_t wave_count = input_.first.size();
    trigger_.assign(wave_count, kNone);
    triggered_.resize(wave_count);
    std::vector<uint32_t> by_end(wave_count);  // CU by CU
    for (size_t wave = 0; wave < wave_count; ++wave) by_end[wave] = static_cast<uint32_t>(wave);
    std::sort(by_end.begin(), by_end.end(), [&](uint32_t a, uint32_t b) {
        return std::tuple(input_.cu[a], input_.end[a], a) < std::tuple(input_.cu[b], input_.end[b], b);
    });
    const auto begins_before_end = [&](uint32_t wave, uint32_t other) {
        return std::pair(input_.cu[wave], input_.begin[wave]) < std::pair(input_.cu[other], input_.end[other]);
    };
    for (uint32_t wave = 0; wave < wave_count; ++wave) {
        const auto behind = std::upper_bound(by_end.begin(), by_end.end(), wave, begins_before_end);
        if (behind == by_end.begin()) continue;
        const uint32_t last_ended = *(behind - 1);
        if (input_.cu[last_ended] != input_.cu[wave]) continue;
        // A wave that begins and ends with this one would be a trigger that waits for itself.
        if (input_.begin[last_ended] >= input_.begin[wave]) continue;
        trigger_[wave] = last_ended;
        triggered_[last_ended].push_back(wave);
    }
}

std::vector<int64_t> Replay::recorded() const {
    std::vector<int64_t> starts(cu_count_, kLatest), ends(cu_count_, kEarliest);
    for (size_t wave = 0; wave < input_.first.size(); ++wave) {
        starts[input_.cu[wave]] = std::min(starts[input_.cu[wave]], input_.begin[wave]);
        ends[input_.cu[wave]] = std::max(ends[input_.cu[wave]], input_.end[wave]);
    }
    std::vector<int64_t> cycles(cu_count_);
    for (size_t cu = 0; cu < cu_count_; ++cu) cycles[cu] = between(starts[cu], ends[cu]);
    return cycles;
}

// One replay with a removal, as a simulation of events in order of time: waves begin, attempt their next instruction
// and end; ports get free; meetings at barriers let their waves go on. Times count from the first start of a wave of
// the CU.
class Replay::Run {
  public:
    Run(const Replay& replay, const Removal& removal)
        : replay_(replay),
          input_(replay.input_),
          removal_(removal),
          waves_(input_.first.size()),
          ports_(replay.simd_count_ * kPortCount),
          makespans_(replay.cu_count_),
          last_arrivals_(input_.meeting.empty() ? 0 : size_t{*std::ranges::max_element(input_.meeting)} + 1, kEarliest),
          meetings_(last_arrivals_.size()) {
        for (size_t i = 0; i < input_.barrier.size(); ++i) {
            int64_t& last_arrival = last_arrivals_[input_.meeting[i]];
            last_arrival = std::max(last_arrival, input_.arrival[i]);
            meetings_.expect(input_.meeting[i]);
        }
        if (removal.keeps_latency) issued_.resize(input_.time.size());
    }

    // The time of every CU, one CU after the other: they have nothing to do with each other.
    std::vector<int64_t> makespans() {
        std::vector<std::vector<uint32_t>> untriggered(replay_.cu_count_);  // waves that start by themselves
        std::vector<int64_t> starts(replay_.cu_count_, kLatest);
        for (uint32_t wave = 0; wave < waves_.size(); ++wave) {
            starts[input_.cu[wave]] = std::min(starts[input_.cu[wave]], input_.begin[wave]);
            if (replay_.trigger_[wave] == kNone) untriggered[input_.cu[wave]].push_back(wave);
        }
        for (size_t cu = 0; cu < untriggered.size(); ++cu) {
            for (const uint32_t wave : untriggered[cu])
                events_.push({between(starts[cu], input_.begin[wave]), input_.begin[wave], wave});
            do {
                while (!events_.empty()) events_.take([&](const Event& event) { happen(event); });
            } while (meetings_.release_someone(*this));  // where waves wait for each other for ever
        }
        return std::move(makespans_);
    }

    // Called by a meeting that ends: the wave passes its barrier.
    void go_on(uint32_t wave, int64_t time) { issue(wave, waves_[wave], time); }

  private:
    enum class Phase : uint8_t { begin, issue, end };  // what the next event of a wave is

    struct Wave {
        size_t at = 0, stop = 0;  // next instruction, and behind the last
        size_t barrier = 0;       // next execution of a barrier, a place in ReplayInput::barrier
        // Times of the last issue: in this replay, and as recorded (`recorded` is that of the next one once planned).
        int64_t issue = 0, recorded = 0;
        // The same of the last memory operation.
        int64_t memory_issue = 0, memory_recorded = 0;
        bool has_memory = false;  // there was one
        bool is_padded = false;   // the instruction before is padding that would not be there
        Phase phase = Phase::begin;
    };

    struct Event {
        int64_t time;
        int64_t recorded;  // among equals the one that came first goes first
        uint32_t wave;     // or, from the number of waves on, a port that gets free

        bool operator<(const Event& other) const {  // the queue gives the largest
            if (time != other.time) return time > other.time;
            return recorded != other.recorded ? recorded > other.recorded : wave > other.wave;
        }
    };

    // Events in order of time. What happens mostly plans one more: it takes the place of the one that happened.
    class Events {
      public:
        bool empty() const { return heap_.empty(); }

        void push(const Event& event) {
            if (has_hole_) {
                has_hole_ = false;
                return sink(event);
            }
            heap_.push_back(event);
            std::push_heap(heap_.begin(), heap_.end());
        }

        template <class Happen>
        void take(Happen&& happen) {
            const Event first = heap_.front();
            has_hole_ = true;
            happen(first);
            if (!has_hole_) return;
            has_hole_ = false;
            const Event last = heap_.back();
            heap_.pop_back();
            if (!heap_.empty()) sink(last);
        }

      private:
        void sink(const Event& event) {
            size_t at = 0;
            for (size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
                if (child + 1 < heap_.size() && heap_[child] < heap_[child + 1]) ++child;
                if (!(event < heap_[child])) break;
                heap_[at] = heap_[child];
                at = child;
            }
            heap_[at] = event;
        }

        std::vector<Event> heap_;
        bool has_hole_ = false;  // the first one has happened
    };

    // A port is taken by one instruction at a time; of those that wait for it, the one that got it first goes first.
    struct TakenPort {
        int64_t free_from = 0;
        std::vector<Event> waiting;
    };

    void happen(const Event& event) {
        if (event.wave >= waves_.size()) return hand_on(event.wave - static_cast<uint32_t>(waves_.size()), event.time);
        Wave& wave = waves_[event.wave];
        switch (wave.phase) {
            case Phase::begin: return begin(event, wave);
            case Phase::issue: return attempt(event, wave);
            case Phase::end: return finish(event);
        }
    }

    void begin(const Event& event, Wave& wave) {
        wave.at = input_.first[event.wave];
        wave.stop = wave.at + input_.count[event.wave];
        wave.barrier = static_cast<size_t>(std::lower_bound(input_.barrier.begin(), input_.barrier.end(), wave.at) -
                                           input_.barrier.begin());
        wave.recorded = input_.begin[event.wave];
        wave.issue = event.time;
        plan(event.wave, wave);
    }

    bool is_removed(uint8_t cause, int32_t row) const { return has(removal_.causes, cause) && is_meant(row); }

    // Whether the removal is for this code row.
    bool is_meant(int32_t row) const { return removal_.rows.empty() || of_row(removal_.rows, row) != 0; }

    bool is_barrier(const Wave& wave) const {
        return wave.barrier < input_.barrier.size() && input_.barrier[wave.barrier] == wave.at;
    }

    // Plans the next instruction of a wave, or its end.
    void plan(uint32_t number, Wave& wave) {
        if (wave.at >= wave.stop) {
            const bool is_short = removal_.removes_ending && input_.count[number] != 0;
            const int64_t recorded_rest = replay_.rest_[number];
            const int64_t rest = is_short ? std::min<int64_t>(recorded_rest, input_.issue_cycles) : recorded_rest;
            wave.phase = Phase::end;
            events_.push({wave.issue + rest, input_.end[number], number});
            return;
        }
        const Step& step = replay_.steps_[wave.at];
        int64_t ready = wave.issue + step.wait;  // the attempt, as long after the issue before as it was recorded
        if (step.gap != 0 && is_removed(input_.gap_cause[wave.at], input_.row[wave.at])) ready -= step.gap;
        if (wave.is_padded) ready -= std::min<int64_t>(step.wait - step.gap, replay_.steps_[wave.at - 1].issue);
        wave.recorded += int64_t{step.wait} + step.stall;
        if (step.own != 0 && !is_barrier(wave)) ready = stalled(wave, ready, step);
        wave.phase = Phase::issue;
        events_.push({ready, wave.recorded, number});
    }

    // When an instruction that stalled could be issued if its port were free.
    int64_t stalled(const Wave& wave, int64_t attempt, const Step& step) const {
        if (is_removed(input_.cause[wave.at], input_.row[wave.at])) return attempt;
        if (removal_.keeps_latency) {
            const uint32_t distance = input_.producer[wave.at];  // in instructions; 0 = not known
            if (distance != 0 && distance <= wave.at) {
                const size_t producer = wave.at - distance;
                const int64_t issued = shifted(input_.time[producer], std::max(0, input_.stall[producer]));
                return std::max(attempt, issued_[producer] + between(issued, wave.recorded));
            }
            if (step.port == kMemory && wave.has_memory)
                return std::max(attempt, wave.memory_issue + between(wave.memory_recorded, wave.recorded));
        }
        return attempt + step.own;
    }

    // Issues the next instruction of a wave, or puts the wave into the queue of a port that is taken.
    void attempt(const Event& event, Wave& wave) {
        if (is_barrier(wave)) return arrive(event, wave);
        const Step& step = replay_.steps_[wave.at];
        if (step.port >= kPortCount) return issue(event.wave, wave, event.time);
        const size_t number = input_.simd[event.wave] * kPortCount + step.port;
        TakenPort& port = ports_[number];
        if (port.free_from <= event.time && port.waiting.empty()) {
            port.free_from = event.time + step.occupied;
            return issue(event.wave, wave, event.time);
        }
        if (port.waiting.empty()) events_.push(freed(number));
        port.waiting.push_back(event);
        std::push_heap(port.waiting.begin(), port.waiting.end(), came_later);
    }

    static bool came_later(const Event& a, const Event& b) {
        return a.recorded != b.recorded ? a.recorded > b.recorded : a.wave > b.wave;
    }

    // The event that a port gets free: behind all events of waves at the same time.
    Event freed(size_t port) const {
        return {ports_[port].free_from, kLatest, static_cast<uint32_t>(waves_.size() + port)};
    }

    // A port that got free goes to the first wave in its queue.
    void hand_on(size_t number, int64_t time) {
        TakenPort& port = ports_[number];
        std::pop_heap(port.waiting.begin(), port.waiting.end(), came_later);
        const uint32_t next = port.waiting.back().wave;
        port.waiting.pop_back();
        Wave& wave = waves_[next];
        port.free_from = time + replay_.steps_[wave.at].occupied;
        if (!port.waiting.empty()) events_.push(freed(number));
        issue(next, wave, time);
    }

    void issue(uint32_t number, Wave& wave, int64_t time) {
        if (replay_.steps_[wave.at].port == kMemory) {
            wave.memory_issue = time;
            wave.memory_recorded = wave.recorded;
            wave.has_memory = true;
        }
        wave.issue = time;
        wave.is_padded = has(removal_.padding_causes, input_.cause[wave.at]) && is_meant(input_.row[wave.at]);
        if (removal_.keeps_latency) issued_[wave.at] = time;
        ++wave.at;
        plan(number, wave);
    }

    // A wave comes to a barrier. The last arrival lets all waves of the meeting go on, each as long after it as
    // recorded.
    void arrive(const Event& event, Wave& wave) {
        const size_t barrier = wave.barrier++;
        const size_t meeting = input_.meeting[barrier];
        const int64_t cost = between(last_arrivals_[meeting], wave.recorded);  // what the barrier itself took
        if (removal_.removes_barriers && is_meant(input_.row[wave.at]))
            return issue(event.wave, wave, event.time + std::min(cost, kBarrierCycles));
        // Split barriers, and those of gfx9 with two records: the wave has signalled its arrival before it waits here.
        const int64_t signal_to_wait = between(input_.arrival[barrier], input_.time[wave.at]);
        meetings_.arrive(meeting, event.time - signal_to_wait, {event.wave, event.time, cost}, *this);
    }

    // A wave ends, and makes room for those that it triggers.
    void finish(const Event& event) {
        int64_t& makespan = makespans_[input_.cu[event.wave]];
        makespan = std::max(makespan, event.time);
        for (const uint32_t next : replay_.triggered_[event.wave]) {
            const int64_t recorded_distance = between(input_.end[event.wave], input_.begin[next]);
            events_.push({event.time + recorded_distance, input_.begin[next], next});
        }
    }

    const Replay& replay_;
    const ReplayInput& input_;
    const Removal& removal_;
    std::vector<Wave> waves_;
    std::vector<TakenPort> ports_;        // SIMD by SIMD, kPortCount each
    std::vector<int64_t> makespans_;      // by CU: the latest end of a wave so far
    std::vector<int64_t> last_arrivals_;  // by meeting, as recorded
    Meetings<0> meetings_;
    std::vector<int64_t> issued_;  // by instruction: when this replay issued it; with Removal::keeps_latency only
    Events events_;
};

std::vector<std::vector<int64_t>> Replay::without(std::span<const Removal> removals) const {
    std::vector<std::vector<int64_t>> results(removals.size());
    in_parallel(removals.size(), workers_for(removals.size()),
                [&](size_t turn, unsigned) { results[turn] = Run(*this, removals[turn]).makespans(); });
    return results;
}

}  // namespace wavewright
