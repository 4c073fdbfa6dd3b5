#include "wavewright/stalls.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "base/dense_index.hpp"
#include "wavewright/stop.hpp"

namespace wavewright {
namespace {

constexpr uint8_t kSmem = 1, kVmem = 3, kFlat = 4, kLds = 5, kJump = 7, kBvh = 12;  // instructions.category
constexpr size_t kMaxUnordered = 256;  // more than any hardware counter counts: older operations are done

// Hostile times may lie anywhere: differences are kept in 32 bits, so that sums of them cannot overflow.
int64_t gap(int64_t later, int64_t earlier) {
    int64_t difference = 0;
    if (__builtin_sub_overflow(later, earlier, &difference))
        return later > earlier ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int32_t>::min();
    return std::clamp<int64_t>(difference, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
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

struct Operation {
    size_t instruction;
    int32_t row;
    uint8_t order;  // 0 = on its own
    int64_t issued;
};

// What one counter still counts. `at_most` is the value it can have at most: after a wait that could not be told
// apart, `operations` holds more candidates than that.
class Outstanding {
  public:
    void clear() {
        operations_.clear();
        first_ = at_most_ = 0;
        mixed_ = lost = false;
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

    // Hands out who must be complete when the counter is down to `value`: certainly, or possibly. Returns whether
    // it is certain that nobody else was waited for.
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
        const size_t needed = at_most_ - value;
        const size_t found = take_certain(value, certain);
        at_most_ = value;
        if (found >= needed) return true;
        for (size_t i = first_; i < operations_.size(); ++i) candidate(operations_[i]);
        return false;
    }

    // An operation that another counter has seen complete.
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

    bool lost = false;  // something unknown may be in flight

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
        std::array<size_t, 256> count{};
        for (size_t i = first_; i < operations_.size(); ++i) ++count[operations_[i].order];
        size_t kept = first_, taken = 0;
        for (size_t i = first_; i < operations_.size(); ++i) {
            const Operation operation = operations_[i];
            if (operation.order != 0 && count[operation.order] > value) {
                --count[operation.order];
                ++taken;
                certain(operation);
            } else {
                operations_[kept++] = operation;
            }
        }
        operations_.resize(kept);
        return taken;
    }

    std::vector<Operation> operations_;
    size_t first_ = 0;  // operations in front of it are complete
    size_t at_most_ = 0;
    bool mixed_ = false;
};

struct Wait {
    size_t instruction;
    int32_t row;
    int64_t began, ended;
    int64_t stall;  // beyond what a wait costs that need not wait
};

class Collector {
  public:
    explicit Collector(StallPass& found) : found_(found) {}

    size_t group(int32_t row, bool is_wait, uint32_t key, int64_t stall, int64_t latency, bool stalled) {
        StallGroups& groups = found_.groups;
        const auto [at, is_new] = group_index_[is_wait].find_or_add(pair_key(row, key));
        if (is_new) {
            group_place_[is_wait].push_back(groups.row.size());
            groups.row.push_back(row);
            groups.is_wait.push_back(is_wait);
            groups.key.push_back(key);
            for (auto* column : {&groups.execution_count, &groups.stalled_count, &groups.stall, &groups.latency})
                column->push_back(0);
            groups.stall_max.push_back(stall);
        }
        const size_t place = group_place_[is_wait][at];
        ++groups.execution_count[place];
        groups.stalled_count[place] += stalled;
        groups.stall[place] += stall;
        groups.stall_max[place] = std::max(groups.stall_max[place], stall);
        groups.latency[place] += latency;
        return place;
    }

    void certain(const Wait& wait, const Operation& producer, uint8_t counter, bool is_last) {
        StallEdges& edges = found_.edges;
        const size_t at = edge(wait, producer, counter);
        const bool is_free = wait.stall <= 0;
        const int64_t distance = gap(wait.began, producer.issued);
        const int64_t latency = is_free ? distance : gap(wait.ended, producer.issued);
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
        if (latency >= 0) sample(producer.row, is_last, static_cast<uint32_t>(latency));
    }

    void candidate(const Wait& wait, const Operation& producer, uint8_t counter) {
        const size_t at = edge(wait, producer, counter);
        ++found_.edges.candidate_count[at];
    }

    void idle(int32_t row, Gap why, int64_t cycles) {
        found_.idle.gap[static_cast<size_t>(why)][idle_place(row)] += cycles;
    }

    void ending(int32_t row, int64_t cycles) { found_.idle.ending[idle_place(row)] += cycles; }

  private:
    size_t idle_place(int32_t row) {
        IdleParts& parts = found_.idle;
        const auto [at, is_new] = idle_index_.find_or_add(static_cast<uint32_t>(row));
        if (is_new) {
            parts.row.push_back(row);
            for (size_t gap = 1; gap < kGapCount; ++gap) parts.gap[gap].push_back(0);
            parts.ending.push_back(0);
        }
        return at;
    }

    size_t edge(const Wait& wait, const Operation& producer, uint8_t counter) {
        StallEdges& edges = found_.edges;
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

    void sample(int32_t row, bool is_tight, uint32_t latency) {
        LatencySamples& samples = found_.samples;
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

    StallPass& found_;
    std::array<DenseIndex, 2> group_index_, sample_index_;
    std::array<std::vector<size_t>, 2> group_place_, sample_place_;
    std::array<DenseIndex, kStallCounters> edge_index_;
    std::array<std::vector<size_t>, kStallCounters> edge_place_;
    DenseIndex idle_index_;
};

// When every line of code was first executed, in every unit.
class FirstTouch {
  public:
    FirstTouch(const StallRules& rules, const StallInput& input) : line_(rules.line) {
        StopCheck check;
        for (size_t i = 0; i < input.wave.size(); ++i) {
            check.step();
            if (i == 0 || input.wave[i] != input.wave[i - 1]) begin(input, input.wave[i]);
            const int64_t line = line_of(input.row[i]);
            if (line < 0 || (line == last_line_ && i != 0)) continue;
            last_line_ = line;
            const auto [at, is_new] = index_.find_or_add(key(line));
            if (is_new) first_.push_back(input.time[i]);
            first_[at] = std::min(first_[at], input.time[i]);
        }
    }

    void begin(const StallInput& input, uint32_t wave) {
        const auto known = input.begin.find(wave);
        unit_ = known == input.begin.end() ? 0 : known->second.unit;
        last_line_ = -1;
    }

    int64_t line_of(int32_t row) const {
        return row >= 0 && static_cast<size_t>(row) < line_.size() ? line_[static_cast<size_t>(row)] : -1;
    }

    int64_t of(int64_t line) { return first_[index_.find_or_add(key(line)).first]; }

  private:
    // Lines are numbered by the caller and small.
    uint64_t key(int64_t line) const { return uint64_t{unit_} << 40 ^ static_cast<uint64_t>(line); }

    std::span<const int64_t> line_;
    uint32_t unit_ = 0;
    int64_t last_line_ = -1;
    DenseIndex index_;
    std::vector<int64_t> first_;
};

// One wave after the other.
class Walk {
  public:
    Walk(const StallRules& rules, const StallInput& input, StallPass& found)
        : rules_(rules),
          input_(input),
          found_(found),
          collect_(found),
          touched_(rules, input),
          first_wait_(rules.adds.size() + 1) {
        const size_t waits = std::min({rules.wait_row.size(), rules.wait_counter.size(), rules.wait_value.size()});
        size_t at = 0;
        for (size_t row = 0; row < rules.adds.size(); ++row) {
            while (at < waits && rules.wait_row[at] < static_cast<int32_t>(row)) ++at;
            first_wait_[row] = at;
        }
        while (at < waits && rules.wait_row[at] < static_cast<int32_t>(rules.adds.size())) ++at;
        first_wait_.back() = at;
    }

    void begin(uint32_t wave) {
        for (Outstanding& counter : counters_) counter.clear();
        const auto known = input_.begin.find(wave);
        end_ = known == input_.begin.end() ? std::nullopt : std::optional(known->second.begin);
        touched_.begin(input_, wave);
        is_first_ = true;
        jumped_ = false;
        stores_ = 0;
        line_ = -1;
    }

    void step(size_t i) {
        const int32_t row = input_.row[i];
        const bool is_known = row >= 0 && static_cast<size_t>(row) < rules_.adds.size();
        const bool counted = input_.counted.empty() || input_.counted[i] != 0;
        group_ = std::numeric_limits<uint32_t>::max();
        producer_ = 0;
        gap_ = Gap::none;
        if (is_known) gap_before(i, counted);
        if (is_known && rules_.is_wait[static_cast<size_t>(row)] != 0) {
            wait(i, counted);
        } else {
            if (counted)
                group_ = collect_.group(is_known ? row : -1, false, input_.category[i] | port_flag(i), input_.stall[i],
                                        input_.duration[i], input_.stall[i] > 0);
            if (is_known && rules_.adds[static_cast<size_t>(row)] != 0) issue(i);
            if (!is_known || rules_.kind[static_cast<size_t>(row)] == 0) lose(input_.category[i]);
        }
        if (input_.keeps_each) {
            found_.each.group.push_back(static_cast<uint32_t>(group_));
            found_.each.gap.push_back(static_cast<uint8_t>(gap_));
            found_.each.producer.push_back(static_cast<uint32_t>(std::min<size_t>(producer_, UINT32_MAX)));
        }
    }

  private:
    uint32_t port_flag(size_t i) const {
        return i < input_.port_was_busy.size() && input_.port_was_busy[i] != 0 ? kPortBusy : 0;
    }

    // As in row_totals: from the latest end of the wave's earlier instructions, those without a PC left out.
    void gap_before(size_t i, bool counted) {
        const int64_t time = input_.time[i];
        const auto row = static_cast<size_t>(input_.row[i]);
        const bool is_end = row < rules_.is_end.size() && rules_.is_end[row] != 0;
        const int64_t line = touched_.line_of(input_.row[i]);
        if (end_ && time > *end_) {
            gap_ = why(line, is_end);
            if (counted) collect_.idle(input_.row[i], gap_, gap(time, *end_));
        }
        if (is_end && stores_ != 0 && counted && input_.duration[i] > input_.free_wait_cycles)
            collect_.ending(input_.row[i], int64_t{input_.duration[i]} - input_.free_wait_cycles);
        const int64_t end = later_by(time, input_.duration[i]);
        end_ = end_ ? std::max(*end_, end) : end;
        jumped_ = input_.category[i] == kJump;
        line_ = line;
        is_first_ = false;
    }

    // Why nothing was issued from the latest end to now.
    Gap why(int64_t line, bool is_end) {
        if (is_first_) return Gap::start;
        if (is_end && stores_ != 0) return Gap::drain;
        const bool is_other_line = line >= 0 && line != line_;
        if (is_other_line && touched_.of(line) >= *end_) return Gap::cold_fetch;
        return is_other_line || jumped_ || line < 0 ? Gap::fetch : Gap::dependency;
    }

    void issue(size_t i) {
        const auto row = static_cast<size_t>(input_.row[i]);
        const Operation operation{i, input_.row[i], rules_.order[row], later_by(input_.time[i], input_.stall[i])};
        for (size_t counter = 0; counter < kStallCounters; ++counter)
            if ((rules_.adds[row] >> counter & 1) != 0) counters_[counter].add(operation);
        if ((rules_.store_kinds >> std::min<uint8_t>(rules_.kind[row], 29) & 1) != 0) stores_ |= rules_.adds[row];
    }

    void lose(uint8_t category) {
        if (category != kSmem && category != kVmem && category != kFlat && category != kLds && category != kBvh) return;
        for (Outstanding& counter : counters_) counter.lost = true;
    }

    struct Produced {
        Operation operation;
        uint8_t counter;
    };

    void wait(size_t i, bool counted) {
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
            if (counter.lost) key |= kWaitUnknown;
            if (value == 0) counter.lost = false;
            const size_t before = certain_.size();
            const bool was_ordered = counter.is_ordered();
            is_certain &= counter.wait(
                value, [&](const Operation& o) { certain_.push_back({o, number}); },
                [&](const Operation& o) { candidates_.push_back({o, number}); });
            is_ordered &= was_ordered || certain_.size() == before;
            forget_on_other_counters(before);
            if (value == 0) stores_ &= ~(1u << number);
        }
        if (counted) record(i, key, is_certain, is_ordered);
    }

    void record(size_t i, uint32_t key, bool is_certain, bool is_ordered) {
        const int64_t stall = int64_t{input_.duration[i]} - input_.free_wait_cycles;
        const Wait here{i, input_.row[i], input_.time[i], later_by(input_.time[i], input_.duration[i]), stall};
        const bool one_counter = !certain_.empty() && certain_.front().counter == certain_.back().counter;
        const bool tells_last =
            stall > 0 && is_certain && (key & kWaitUnknown) == 0 && one_counter && (is_ordered || certain_.size() == 1);
        for (const Produced& produced : certain_) {
            key |= 1u << kind(produced);
            collect_.certain(here, produced.operation, produced.counter, tells_last && &produced == &certain_.back());
        }
        for (const Produced& produced : candidates_) {
            key |= 1u << kind(produced);
            collect_.candidate(here, produced.operation, produced.counter);
        }
        if (!is_certain) key |= kWaitUncertain;
        if (stall > 0 && is_certain && !certain_.empty()) producer_ = i - latest();
        group_ = collect_.group(here.row, true, key, input_.stall[i], input_.duration[i], stall > 0);
    }

    // A FLAT operation counts on two counters; once one of them has seen it complete, it is complete.
    void forget_on_other_counters(size_t first) {
        for (size_t i = first; i < certain_.size(); ++i) {
            const Produced& produced = certain_[i];
            const uint16_t adds = rules_.adds[static_cast<size_t>(produced.operation.row)];
            if ((adds & (adds - 1)) == 0) continue;
            for (uint8_t counter = 0; counter < kStallCounters; ++counter)
                if (counter != produced.counter && (adds >> counter & 1) != 0)
                    counters_[counter].forget(produced.operation.instruction);
        }
    }

    // The youngest of the operations that a wait waited for.
    size_t latest() const {
        return std::max_element(certain_.begin(), certain_.end(),
                                [](const Produced& a, const Produced& b) {
                                    return a.operation.instruction < b.operation.instruction;
                                })
            ->operation.instruction;
    }

    uint8_t kind(const Produced& produced) const {
        return std::min<uint8_t>(rules_.kind[static_cast<size_t>(produced.operation.row)], 29);
    }

    const StallRules& rules_;
    const StallInput& input_;
    StallPass& found_;
    Collector collect_;
    FirstTouch touched_;
    std::vector<size_t> first_wait_;  // by row, and one after the last
    std::array<Outstanding, kStallCounters> counters_;
    std::vector<Produced> certain_, candidates_;
    std::optional<int64_t> end_;  // latest end so far
    int64_t line_ = -1;           // of the instruction before
    bool is_first_ = true, jumped_ = false;
    uint32_t stores_ = 0;  // bit per counter on which stores may be in flight
    // Of the instruction at hand.
    size_t group_ = 0, producer_ = 0;
    Gap gap_ = Gap::none;
};

}  // namespace

StallPass resolve_stalls(const StallRules& rules, const StallInput& input) {
    StallPass found;
    Walk walk(rules, input, found);
    for (size_t i = 0; i < input.wave.size(); ++i) {
        if (i == 0 || input.wave[i] != input.wave[i - 1]) walk.begin(input.wave[i]);
        walk.step(i);
    }
    return found;
}

}  // namespace wavewright
