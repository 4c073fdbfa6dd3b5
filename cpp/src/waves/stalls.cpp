// Goes through the instructions of each wave with a model of its wait counters: operations in flight go up and come
// down, and a wait tells which of them it waited for. Sums per row, per pair of wait and producer, and per cause of
// idle time.
#include "wavewright/stalls.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "base/dense_index.hpp"
#include "wavewright/records.hpp"
#include "wavewright/stop.hpp"

namespace wavewright {
namespace {

constexpr size_t kMaxUnordered = 256;  // more than any hardware counter counts: older operations are done

// From `earlier` to `later`. Times of foreign files may lie anywhere: differences are cut to 32 bits, so that sums of
// them cannot overflow.
int64_t cycles_between(int64_t earlier, int64_t later) {
    constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
    int64_t difference = 0;
    if (__builtin_sub_overflow(later, earlier, &difference)) return later > earlier ? kMost : kLeast;
    return std::clamp(difference, kLeast, kMost);
}

int64_t later_by(int64_t time, int64_t cycles) {
    int64_t sum = 0;
    if (__builtin_add_overflow(time, cycles, &sum))
        return cycles > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
    return sum;
}

uint64_t pair_key(int32_t high, uint32_t low) {
    return uint64_t{static_cast<uint32_t>(high)} << 32 | low;
}

// An executed operation that a wait may wait for.
struct Operation {
    size_t instruction;  // its place in the input
    int32_t row;
    uint8_t order;   // StallRules::order: those of one number complete in order; 0 = at any time
    int64_t issued;  // time
};

// The operations that one wait counter still counts. A counter says how many are in flight, not which: where operations
// complete in one order, a wait for a value tells which of them are complete. Where orders are mixed, it often leaves
// candidates: then `operations_` has more of them than the counter can count (`at_most_`).
class Outstanding {
  public:
    void clear() {
        operations_.clear();
        first_ = at_most_ = 0;
        mixed_ = has_unknown = false;
    }

    void add(const Operation& operation) {
        if (size() == 0) {
            at_most_ = 0;
            mixed_ = false;
        }
        mixed_ |= operation.order == 0 || (size() != 0 && operations_.back().order != operation.order);
        operations_.push_back(operation);
        ++at_most_;
        if (mixed_ && size() > kMaxUnordered) {
            first_ = operations_.size() - kMaxUnordered;
            at_most_ = std::min(at_most_, size());
        }
        if (first_ > operations_.size() / 2 && first_ > kMaxUnordered) compact();
    }

    // Hands out the operations that are complete when the counter is down to `value`: `certain` those that must be,
    // `candidate` those of which some must be. Returns whether there are no candidates.
    template <class Certain, class Candidate>
    bool wait(size_t value, Certain&& certain, Candidate&& candidate) {
        if (at_most_ <= value) return true;
        if (!mixed_ || value == 0) {
            const size_t taken = size() - value;
            for (size_t i = 0; i < taken; ++i) certain(operations_[first_ + i]);
            first_ += taken;
            at_most_ = value;
            return true;
        }
        const size_t completed = at_most_ - value;
        const size_t certain_count = take_certain(value, certain);
        at_most_ = value;
        if (certain_count >= completed) return true;
        for (size_t i = first_; i < operations_.size(); ++i) candidate(operations_[i]);
        return false;
    }

    // Takes out an operation that another counter has seen complete.
    void forget(size_t instruction) {
        for (size_t i = operations_.size(); i > first_; --i) {
            if (operations_[i - 1].instruction != instruction) continue;
            operations_.erase(operations_.begin() + static_cast<std::ptrdiff_t>(i - 1));
            at_most_ = std::min(at_most_, size());
            mixed_ = at_most_ < size() || !is_one_sequence();
            return;
        }
    }

    // Whether all that is in flight completes in one order.
    bool is_ordered() const { return !mixed_; }

    bool has_unknown = false;  // an operation without a known PC may be in flight

  private:
    size_t size() const { return operations_.size() - first_; }

    bool is_one_sequence() const {
        return std::all_of(operations_.begin() + static_cast<std::ptrdiff_t>(first_), operations_.end(),
                           [&](const Operation& o) { return o.order != 0 && o.order == operations_.back().order; });
    }

    void compact() {
        operations_.erase(operations_.begin(), operations_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }

    // Of a sequence of s operations that complete in order, all but the last `value` are complete.
    template <class Certain>
    size_t take_certain(size_t value, Certain&& certain) {
        std::array<size_t, 256> count_of_order{};
        for (size_t i = first_; i < operations_.size(); ++i) ++count_of_order[operations_[i].order];
        size_t end = first_, taken = 0;  // operations that stay move up to `end`
        for (size_t i = first_; i < operations_.size(); ++i) {
            const Operation operation = operations_[i];
            if (operation.order != 0 && count_of_order[operation.order] > value) {
                --count_of_order[operation.order];
                ++taken;
                certain(operation);
            } else {
                operations_[end++] = operation;
            }
        }
        operations_.resize(end);
        return taken;
    }

    std::vector<Operation> operations_;
    size_t first_ = 0;    // operations in front of it are complete
    size_t at_most_ = 0;  // the highest value that the counter can have
    bool mixed_ = false;  // operations of more than one order, or one without an order, are in flight
};

// An executed wait.
struct Wait {
    size_t instruction;  // its place in the input
    int32_t row;
    int64_t began, ended;  // times
    int64_t stall;         // cycles beyond what a wait costs that need not wait; at most 0: it did not hold the wave
};

// Which row of StallGroups an execution belongs to, and what it adds to it.
struct GroupPlace {
    int32_t row;
    bool is_wait;
    uint32_t key;
};
struct GroupSums {
    int64_t stall, latency;  // cycles
    bool is_stalled;
};

// Finds the row of each result table that something belongs to, or appends it, and adds to its sums.
class Collector {
  public:
    explicit Collector(StallPass& result) : result_(result) {}

    // Adds an execution; returns its place in StallGroups.
    size_t add_to_group(const GroupPlace& group, const GroupSums& sums) {
        const auto& [row, is_wait, key] = group;
        StallGroups& groups = result_.groups;
        const auto [at, is_new] = group_index_[is_wait].find_or_add(pair_key(row, key));
        if (is_new) {
            group_place_[is_wait].push_back(groups.row.size());
            groups.row.push_back(row);
            groups.is_wait.push_back(is_wait);
            groups.key.push_back(key);
            for (auto* column : {&groups.execution_count, &groups.stalled_count, &groups.stall, &groups.latency})
                column->push_back(0);
            groups.stall_max.push_back(sums.stall);
        }
        const size_t place = group_place_[is_wait][at];
        ++groups.execution_count[place];
        groups.stalled_count[place] += sums.is_stalled;
        groups.stall[place] += sums.stall;
        groups.stall_max[place] = std::max(groups.stall_max[place], sums.stall);
        groups.latency[place] += sums.latency;
        return place;
    }

    // A wait waited for this producer for certain. `is_last`: its completion ended the wait.
    void add_certain(const Wait& wait, const Operation& producer, uint8_t counter, bool is_last) {
        StallEdges& edges = result_.edges;
        const size_t at = edge(wait, producer, counter);
        // A wait that did not hold the wave only shows that the operation was complete when it began.
        const bool is_free = wait.stall <= 0;
        const int64_t distance = cycles_between(producer.issued, wait.began);
        const int64_t latency = is_free ? distance : cycles_between(producer.issued, wait.ended);
        const auto steps = static_cast<int64_t>(wait.instruction - producer.instruction);
        ++edges.count[at];
        add(edges.distance, edges.distance_min, edges.distance_max, at, distance);
        add(edges.steps, edges.steps_min, edges.steps_max, at, steps);
        add(edges.latency, edges.latency_min, edges.latency_max, at, latency);
        if (is_free) {
            ++edges.free_count[at];
            edges.free_distance[at] += distance;
        }
        if (is_last) {
            ++edges.last_count[at];
            edges.last_stall[at] += wait.stall;
            edges.last_stall_max[at] = std::max(edges.last_stall_max[at], wait.stall);
        }
        if (latency >= 0) add_sample(producer.row, is_last, static_cast<uint32_t>(latency));
    }

    // A wait may have waited for this producer.
    void add_candidate(const Wait& wait, const Operation& producer, uint8_t counter) {
        const size_t at = edge(wait, producer, counter);
        ++result_.edges.candidate_count[at];
    }

    // Cycles without an instruction before an execution of the row, by their cause.
    void add_idle(int32_t row, Gap cause, int64_t cycles) {
        result_.idle.gap[static_cast<size_t>(cause)][idle_place(row)] += cycles;
    }

    void add_ending(int32_t row, int64_t cycles) { result_.idle.ending[idle_place(row)] += cycles; }

  private:
    size_t idle_place(int32_t row) {
        IdleParts& parts = result_.idle;
        const auto [at, is_new] = idle_index_.find_or_add(static_cast<uint32_t>(row));
        if (is_new) {
            parts.row.push_back(row);
            for (size_t gap = 1; gap < kGapCount; ++gap) parts.gap[gap].push_back(0);
            parts.ending.push_back(0);
        }
        return at;
    }

    // The place of the edge between the rows of a wait and of a producer.
    size_t edge(const Wait& wait, const Operation& producer, uint8_t counter) {
        StallEdges& edges = result_.edges;
        const auto [at, is_new] =
            edge_index_[counter].find_or_add(pair_key(wait.row, static_cast<uint32_t>(producer.row)));
        if (is_new) {
            edge_place_[counter].push_back(edges.row.size());
            edges.row.push_back(wait.row);
            edges.producer_row.push_back(producer.row);
            edges.counter.push_back(counter);
            for (auto* column :
                 {&edges.count, &edges.candidate_count, &edges.last_count, &edges.last_stall, &edges.last_stall_max,
                  &edges.free_count, &edges.free_distance, &edges.distance, &edges.steps, &edges.latency})
                column->push_back(0);
            for (auto* least : {&edges.distance_min, &edges.steps_min, &edges.latency_min})
                least->push_back(std::numeric_limits<int64_t>::max());
            for (auto* most : {&edges.distance_max, &edges.steps_max, &edges.latency_max})
                most->push_back(std::numeric_limits<int64_t>::min());
        }
        return edge_place_[counter][at];
    }

    static void add(Column<int64_t>& sum, Column<int64_t>& least, Column<int64_t>& most, size_t at, int64_t value) {
        sum[at] += value;
        least[at] = std::min(least[at], value);
        most[at] = std::max(most[at], value);
    }

    void add_sample(int32_t row, bool is_tight, uint32_t latency) {
        LatencySamples& samples = result_.samples;
        const auto [at, is_new] = sample_index_[is_tight].find_or_add(pair_key(row, latency));
        if (is_new) {
            sample_place_[is_tight].push_back(samples.row.size());
            samples.row.push_back(row);
            samples.is_tight.push_back(is_tight);
            samples.latency.push_back(latency);
            samples.count.push_back(0);
        }
        ++samples.count[sample_place_[is_tight][at]];
    }

    StallPass& result_;
    // Keys of an index have 64 bits: a row and one more number. So there is one index for each value of a third one,
    // with the places of its numbers in the result table.
    std::array<DenseIndex, 2> group_index_, sample_index_;  // by is_wait, by is_tight
    std::array<std::vector<size_t>, 2> group_place_, sample_place_;
    std::array<DenseIndex, kStallCounters> edge_index_;  // by counter
    std::array<std::vector<size_t>, kStallCounters> edge_place_;
    DenseIndex idle_index_;
};

// When each line of code was first executed by a wave of each unit (WaveStart::unit): the first one fetches it.
class FirstTouch {
  public:
    FirstTouch(const StallRules& rules, const StallInput& input) : line_of_row_(rules.line) {
        StopCheck check;
        for (size_t i = 0; i < input.wave.size(); ++i) {
            check.step();
            if (i == 0 || input.wave[i] != input.wave[i - 1]) enter_wave(input, input.wave[i]);
            const int64_t line = line_of(input.row[i]);
            if (line < 0 || (line == last_line_ && i != 0)) continue;
            last_line_ = line;
            const auto [at, is_new] = index_.find_or_add(key(line));
            if (is_new) first_time_.push_back(input.time[i]);
            first_time_[at] = std::min(first_time_[at], input.time[i]);
        }
    }

    // Questions from here on are about the unit of this wave.
    void enter_wave(const StallInput& input, uint32_t wave) {
        const auto known = input.begin.find(wave);
        unit_ = known == input.begin.end() ? 0 : known->second.unit;
        last_line_ = -1;
    }

    // -1 = not known.
    int64_t line_of(int32_t row) const {
        const bool is_known = row >= 0 && static_cast<size_t>(row) < line_of_row_.size();
        return is_known ? line_of_row_[static_cast<size_t>(row)] : -1;
    }

    // Of a line that has been executed.
    int64_t time_of(int64_t line) { return first_time_[index_.find_or_add(key(line)).first]; }

  private:
    // Lines are numbered by the caller and small.
    uint64_t key(int64_t line) const { return uint64_t{unit_} << 40 ^ static_cast<uint64_t>(line); }

    std::span<const int64_t> line_of_row_;
    uint32_t unit_ = 0;
    int64_t last_line_ = -1;
    DenseIndex index_;
    std::vector<int64_t> first_time_;
};

// By row: its first place in StallRules::wait_row, which is ascending; one more behind the last row.
std::vector<size_t> first_waits(const StallRules& rules) {
    const size_t row_count = rules.adds.size();
    const size_t wait_count = std::min({rules.wait_row.size(), rules.wait_counter.size(), rules.wait_value.size()});
    std::vector<size_t> first(row_count + 1);
    size_t at = 0;
    for (size_t row = 0; row <= row_count; ++row) {
        while (at < wait_count && rules.wait_row[at] < static_cast<int32_t>(row)) ++at;
        first[row] = at;
    }
    return first;
}

// Goes through the instructions, one wave after the other, and keeps what is in flight of the present one.
class WaveWalk {
  public:
    WaveWalk(const StallRules& rules, const StallInput& input, StallPass& result)
        : rules_(rules),
          input_(input),
          result_(result),
          collector_(result),
          first_touch_(rules, input),
          first_wait_(first_waits(rules)) {}

    void begin(uint32_t wave) {
        for (Outstanding& counter : counters_) counter.clear();
        const auto known = input_.begin.find(wave);
        end_ = known == input_.begin.end() ? std::nullopt : std::optional(known->second.begin);
        first_touch_.enter_wave(input_, wave);
        is_first_ = true;
        jumped_ = false;
        store_counters_ = 0;
        line_ = -1;
    }

    void step(size_t i) {
        const int32_t row = input_.row[i];
        const bool is_known = row >= 0 && static_cast<size_t>(row) < rules_.adds.size();
        const bool counted = input_.counted.empty() || input_.counted[i] != 0;
        group_ = std::numeric_limits<uint32_t>::max();  // does not count
        producer_distance_ = 0;
        gap_ = Gap::none;
        if (is_known) take_gap(i, counted);
        if (is_known && rules_.is_wait[static_cast<size_t>(row)] != 0) {
            take_wait(i, counted);
        } else {
            const GroupPlace place{
                .row = is_known ? row : -1, .is_wait = false, .key = input_.category[i] | port_flag(i)};
            const GroupSums sums{
                .stall = input_.stall[i], .latency = input_.duration[i], .is_stalled = input_.stall[i] > 0};
            if (counted) group_ = collector_.add_to_group(place, sums);
            if (is_known && rules_.adds[static_cast<size_t>(row)] != 0) issue(i);
            if (!is_known || rules_.kind[static_cast<size_t>(row)] == 0) note_unknown(input_.category[i]);
        }
        if (input_.keeps_each) {
            result_.each.group.push_back(static_cast<uint32_t>(group_));
            result_.each.gap.push_back(static_cast<uint8_t>(gap_));
            result_.each.producer.push_back(static_cast<uint32_t>(std::min<size_t>(producer_distance_, UINT32_MAX)));
        }
    }

  private:
    uint32_t port_flag(size_t i) const {
        return i < input_.port_was_busy.size() && input_.port_was_busy[i] != 0 ? kPortBusy : 0;
    }

    // Adds the gap before an instruction. As in row_totals() it begins at the latest end of the wave's earlier
    // instructions, those without a PC left out.
    void take_gap(size_t i, bool counted) {
        const int64_t time = input_.time[i];
        const auto row = static_cast<size_t>(input_.row[i]);
        const bool is_end = row < rules_.is_end.size() && rules_.is_end[row] != 0;
        const int64_t line = first_touch_.line_of(input_.row[i]);
        if (end_ && time > *end_) {
            gap_ = cause_of_gap(line, is_end);
            if (counted) collector_.add_idle(input_.row[i], gap_, cycles_between(*end_, time));
        }
        const int64_t ending = int64_t{input_.duration[i]} - input_.free_wait_cycles;
        if (is_end && store_counters_ != 0 && counted && ending > 0) collector_.add_ending(input_.row[i], ending);
        const int64_t end = later_by(time, input_.duration[i]);
        end_ = end_ ? std::max(*end_, end) : end;
        jumped_ = input_.category[i] == static_cast<uint8_t>(Category::jump);
        line_ = line;
        is_first_ = false;
    }

    // Why nothing was issued from the latest end to now. The surest cause comes first; a dependency is what is left
    // where the code of the instruction was there already.
    Gap cause_of_gap(int64_t line, bool is_end) {
        if (is_first_) return Gap::start;
        if (is_end && store_counters_ != 0) return Gap::drain;
        const bool is_other_line = line >= 0 && line != line_;
        if (is_other_line && first_touch_.time_of(line) >= *end_) return Gap::cold_fetch;
        return is_other_line || jumped_ || line < 0 ? Gap::fetch : Gap::dependency;
    }

    void issue(size_t i) {
        const auto row = static_cast<size_t>(input_.row[i]);
        const Operation operation{i, input_.row[i], rules_.order[row], later_by(input_.time[i], input_.stall[i])};
        for (size_t counter = 0; counter < kStallCounters; ++counter)
            if ((rules_.adds[row] >> counter & 1) != 0) counters_[counter].add(operation);
        const bool is_store = (rules_.store_kinds >> kind_of(row) & 1) != 0;
        if (is_store) store_counters_ |= rules_.adds[row];
    }

    // An operation of which the rules do not say on what it counts.
    void note_unknown(uint8_t category) {
        switch (static_cast<Category>(category)) {
            case Category::smem:
            case Category::vmem:
            case Category::flat:
            case Category::lds:
            case Category::bvh: break;
            default: return;
        }
        for (Outstanding& counter : counters_) counter.has_unknown = true;
    }

    // A producer, and the counter of the wait that it counted on.
    struct Produced {
        Operation operation;
        uint8_t counter;
    };

    // Finds what a wait waited for, on each of its counters.
    void take_wait(size_t i, bool counted) {
        const auto row = static_cast<size_t>(input_.row[i]);
        certain_.clear();
        candidates_.clear();
        bool is_certain = true, is_ordered = true;
        uint32_t key = first_wait_[row] == first_wait_[row + 1] ? kWaitUnknown : 0;
        for (size_t at = first_wait_[row]; at < first_wait_[row + 1]; ++at) {
            const uint8_t number = rules_.wait_counter[at];
            if (number >= kStallCounters) continue;
            const auto value = static_cast<size_t>(std::max(0, rules_.wait_value[at]));
            Outstanding& counter = counters_[number];
            if (counter.has_unknown) key |= kWaitUnknown;
            if (value == 0) counter.has_unknown = false;
            const size_t before = certain_.size();
            const bool was_ordered = counter.is_ordered();
            is_certain &= counter.wait(
                value, [&](const Operation& o) { certain_.push_back({o, number}); },
                [&](const Operation& o) { candidates_.push_back({o, number}); });
            is_ordered &= was_ordered || certain_.size() == before;
            forget_on_other_counters(before);
            if (value == 0) store_counters_ &= ~(1u << number);
        }
        if (counted) record(i, key, is_certain, is_ordered);
    }

    void record(size_t i, uint32_t key, bool is_certain, bool is_ordered) {
        const int64_t stall = int64_t{input_.duration[i]} - input_.free_wait_cycles;
        const Wait wait{.instruction = i,
                        .row = input_.row[i],
                        .began = input_.time[i],
                        .ended = later_by(input_.time[i], input_.duration[i]),
                        .stall = stall};
        // The last one to complete ended the wait. It is known where all producers are, and they complete in one order.
        const bool is_one_counter = !certain_.empty() && certain_.front().counter == certain_.back().counter;
        const bool are_all_known = is_certain && (key & kWaitUnknown) == 0;
        const bool knows_last = stall > 0 && are_all_known && is_one_counter && (is_ordered || certain_.size() == 1);
        for (const Produced& produced : certain_) {
            key |= 1u << kind_of(produced);
            const bool is_last = knows_last && &produced == &certain_.back();
            collector_.add_certain(wait, produced.operation, produced.counter, is_last);
        }
        for (const Produced& produced : candidates_) {
            key |= 1u << kind_of(produced);
            collector_.add_candidate(wait, produced.operation, produced.counter);
        }
        if (!is_certain) key |= kWaitUncertain;
        if (stall > 0 && is_certain && !certain_.empty()) producer_distance_ = i - youngest_producer();
        const GroupSums sums{.stall = input_.stall[i], .latency = input_.duration[i], .is_stalled = stall > 0};
        group_ = collector_.add_to_group({.row = wait.row, .is_wait = true, .key = key}, sums);
    }

    // A FLAT operation counts on two counters; once one of them has seen it complete, it is complete.
    void forget_on_other_counters(size_t first) {
        for (size_t i = first; i < certain_.size(); ++i) {
            const Produced& produced = certain_[i];
            const uint16_t adds = rules_.adds[static_cast<size_t>(produced.operation.row)];
            const bool is_one_counter = (adds & (adds - 1)) == 0;
            if (is_one_counter) continue;
            for (uint8_t counter = 0; counter < kStallCounters; ++counter)
                if (counter != produced.counter && (adds >> counter & 1) != 0)
                    counters_[counter].forget(produced.operation.instruction);
        }
    }

    // The place of the last instruction among the producers of a wait.
    size_t youngest_producer() const {
        return std::max_element(certain_.begin(), certain_.end(),
                                [](const Produced& a, const Produced& b) {
                                    return a.operation.instruction < b.operation.instruction;
                                })
            ->operation.instruction;
    }

    uint8_t kind_of(size_t row) const { return std::min(rules_.kind[row], kHighestProducerKind); }
    uint8_t kind_of(const Produced& produced) const { return kind_of(static_cast<size_t>(produced.operation.row)); }

    const StallRules& rules_;
    const StallInput& input_;
    StallPass& result_;
    Collector collector_;
    FirstTouch first_touch_;
    std::vector<size_t> first_wait_;  // first_waits()

    // Of the present wave.
    std::array<Outstanding, kStallCounters> counters_;
    std::optional<int64_t> end_;   // latest end so far; nothing: neither begin nor instruction is known
    int64_t line_ = -1;            // of the instruction before
    bool is_first_ = true;         // no instruction with a PC yet
    bool jumped_ = false;          // the instruction before was a taken branch
    uint32_t store_counters_ = 0;  // bit per counter on which stores may be in flight

    // Of the present instruction.
    std::vector<Produced> certain_, candidates_;
    size_t group_ = 0;              // EachInstruction::group
    size_t producer_distance_ = 0;  // EachInstruction::producer
    Gap gap_ = Gap::none;
};

}  // namespace

StallPass resolve_stalls(const StallRules& rules, const StallInput& input) {
    StallPass result;
    WaveWalk walk(rules, input, result);
    for (size_t i = 0; i < input.wave.size(); ++i) {
        if (i == 0 || input.wave[i] != input.wave[i - 1]) walk.begin(input.wave[i]);
        walk.step(i);
    }
    return result;
}

}  // namespace wavewright
