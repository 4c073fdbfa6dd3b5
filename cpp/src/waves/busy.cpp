// Groups the waves of a trace by SIMD, cuts long groups into batches, and collects when their instructions keep the
// pipes busy. Input: columns of instructions and waves (HidingInput); output: SimdGroups, Tokens and Pipes for
// hidden.cpp.
#include "waves/busy.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"
#include "base/sort_runs.hpp"
#include "wavewright/records.hpp"

namespace wavewright {
namespace {

// Times of foreign files can be anything. This is far beyond any clock, and sums of such times do not overflow.
constexpr int64_t kFarthest = int64_t{1} << 60;

int64_t clamped(int64_t time) {
    return std::clamp(time, -kFarthest, kFarthest);
}

// The hardware reports matrix instructions as VALU: only the code row tells them.
Work work_of(const HidingInput& input, size_t i) {
    const auto row = static_cast<size_t>(input.executed.row[i]);
    if (row < input.is_matrix.size() && input.is_matrix[row] != 0) return Work::matrix;
    switch (static_cast<Category>(input.category[i])) {
        case Category::valu: return Work::valu;
        case Category::vmem:
        case Category::flat:
        case Category::lds: return Work::memory;
        case Category::smem:
        case Category::salu: return Work::scalar;
        default: return Work::other;
    }
}

Token token_at(const HidingInput& input, size_t i) {
    const Executed& executed = input.executed;
    const int32_t stall = std::max(0, executed.stall[i]);
    return {.time = clamped(executed.time[i]),
            .stall = stall,
            .length = std::max(stall, executed.duration[i]),
            .row = executed.row[i],
            .work = work_of(input, i),
            .counts = executed.row[i] >= 0 && (input.counted.empty() || input.counted[i] != 0)};
}

void add_busy(Pipes& pipes, const Token& token, uint32_t owner) {
    auto add = [&](Pipe pipe, uint32_t length) {
        if (length != 0) pipes[static_cast<size_t>(pipe)].push_back({token.issue(), length, owner});
    };
    const auto issue_cycles = static_cast<uint32_t>(token.length - token.stall);
    switch (token.work) {
        case Work::matrix: {
            // Matrix instructions are issued through the vector pipe and take three quarters of their time from it.
            const auto vector_cycles = static_cast<uint32_t>(uint64_t{3} * issue_cycles / 4);
            add(Pipe::matrix, issue_cycles);
            add(Pipe::valu, vector_cycles);
            break;
        }
        case Work::valu: add(Pipe::valu, issue_cycles); break;
        case Work::memory: add(Pipe::memory, issue_cycles); break;
        case Work::scalar: add(Pipe::scalar, issue_cycles); break;
        case Work::other: break;
    }
}

constexpr size_t kBatchInstructions = 1 << 17;  // of the measured waves of a batch, at least
constexpr int64_t kLongestOther = UINT16_MAX;   // cycles of an instruction of a neighbour: other_duration has 16 bits

struct Extent {
    int64_t begin = INT64_MAX, end = INT64_MIN;
};

// From the begin of a wave, or its first instruction where that is earlier, to the end of its last instruction.
Extent extent_of(const HidingInput& input, const WaveRuns& wave) {
    Extent extent{wave.begin, wave.begin};
    for (const Run& run : wave.runs)
        for (size_t i = run.first; i < run.first + run.count; ++i) {
            const int64_t time = clamped(input.executed.time[i]);
            extent.begin = std::min(extent.begin, time);
            extent.end =
                std::max(extent.end, time + std::max({0, input.executed.stall[i], input.executed.duration[i]}));
        }
    return extent;
}

size_t instructions_of(const WaveRuns& wave) {
    size_t count = 0;
    for (const Run& run : wave.runs) count += run.count;
    return count;
}

// Extents of the waves of a group, for searches from both sides.
class GroupExtents {
  public:
    explicit GroupExtents(std::span<const Extent> extents)
        : extents_(extents), latest_end_(extents.size()), earliest_begin_(extents.size()) {
        int64_t latest = INT64_MIN, earliest = INT64_MAX;
        for (size_t i = 0; i < extents.size(); ++i) latest_end_[i] = latest = std::max(latest, extents[i].end);
        for (size_t i = extents.size(); i-- > 0;) earliest_begin_[i] = earliest = std::min(earliest, extents[i].begin);
    }

    const Extent& of(size_t wave) const { return extents_[wave]; }

    // The first wave behind which one may run at `from` or later. `before` is a wave that begins at `from` or later.
    size_t first_running_at(int64_t from, size_t before) const {
        size_t first = before;
        while (first > 0 && latest_end_[first - 1] >= from) --first;
        return first;
    }
    // Whether a wave from here on may begin by `to`.
    bool any_begins_by(int64_t to, size_t from_wave) const { return earliest_begin_[from_wave] <= to; }

  private:
    std::span<const Extent> extents_;
    std::vector<int64_t> latest_end_;      // of the waves up to here
    std::vector<int64_t> earliest_begin_;  // of the waves from here on: an instruction may come before its wave's begin
};

// Cuts a group into batches: the measured waves [first, behind), and all waves of the group that run beside them.
void cut(const SimdGroup& group, const GroupExtents& extents, std::vector<SimdGroup>& batches) {
    for (size_t first = 0, behind = 0; first < group.waves.size(); first = behind) {
        SimdGroup& batch = batches.emplace_back();
        batch.se = group.se;
        batch.from = INT64_MAX;
        batch.to = INT64_MIN;
        while (behind < group.waves.size() && (behind == first || batch.instruction_count < kBatchInstructions)) {
            batch.instruction_count += instructions_of(group.waves[behind]);
            batch.from = std::min(batch.from, extents.of(behind).begin);
            batch.to = std::max(batch.to, extents.of(behind).end);
            ++behind;
        }
        for (size_t i = extents.first_running_at(batch.from, first); i < group.waves.size(); ++i) {
            const bool is_measured = i >= first && i < behind;
            if (i >= behind && !extents.any_begins_by(batch.to, i)) break;
            if (extents.of(i).end < batch.from || extents.of(i).begin > batch.to) continue;
            if (is_measured) batch.measured_waves.push_back(static_cast<uint32_t>(batch.waves.size()));
            batch.waves.push_back(group.waves[i]);
        }
    }
}

}  // namespace

std::vector<SimdGroup> simd_groups(const HidingInput& input) {
    constexpr size_t kNotListed = SIZE_MAX;  // instructions of waves that the input does not list are left out
    struct Place {
        size_t wave = kNotListed;
    };
    PerWave<Place> place_of_wave;
    std::vector<WaveRuns> waves(input.wave.size());
    for (size_t i = 0; i < waves.size(); ++i) {
        place_of_wave.of(input.wave[i]).wave = i;
        waves[i].begin = clamped(input.begin[i]);
    }
    const std::span<const uint32_t> numbers = input.executed.wave;
    for (size_t first = 0, behind = 0; first < numbers.size(); first = behind) {
        while (behind < numbers.size() && numbers[behind] == numbers[first]) ++behind;
        const size_t wave = place_of_wave.of(numbers[first]).wave;
        if (wave != kNotListed) waves[wave].runs.push_back({first, behind - first});
    }
    std::map<std::pair<uint16_t, uint8_t>, SimdGroup> groups;
    for (size_t i = 0; i < waves.size(); ++i) {
        SimdGroup& group = groups[{input.se[i], input.simd[i]}];
        group.se = input.se[i];
        group.instruction_count += instructions_of(waves[i]);
        group.waves.push_back(std::move(waves[i]));
    }
    std::vector<SimdGroup> ordered;
    for (auto& [place, group] : groups) {
        std::stable_sort(group.waves.begin(), group.waves.end(),
                         [](const WaveRuns& a, const WaveRuns& b) { return a.begin < b.begin; });
        group.measured_waves.resize(group.waves.size());
        std::iota(group.measured_waves.begin(), group.measured_waves.end(), uint32_t{0});
        ordered.push_back(std::move(group));
    }
    return ordered;
}

std::vector<SimdGroup> batches_of(const HidingInput& input, std::vector<SimdGroup> groups) {
    std::vector<SimdGroup> batches;
    for (SimdGroup& group : groups) {
        const bool is_short = group.instruction_count <= 2 * kBatchInstructions;
        if (is_short) {
            batches.push_back(std::move(group));
            continue;
        }
        std::vector<Extent> extents(group.waves.size());
        in_parallel(extents.size(), workers_for(group.instruction_count / kBatchInstructions),
                    [&](size_t wave, unsigned) { extents[wave] = extent_of(input, group.waves[wave]); });
        cut(group, GroupExtents(extents), batches);
    }
    return batches;
}

void read_tokens(const HidingInput& input, const WaveRuns& wave, std::vector<Token>& tokens) {
    tokens.clear();
    for (const Run& run : wave.runs)
        for (size_t i = run.first; i < run.first + run.count; ++i) tokens.push_back(token_at(input, i));
}

void read_pipes(const HidingInput& input, const SimdGroup& group, Pipes& pipes, Column<Busy>& buffer) {
    for (Column<Busy>& intervals : pipes) intervals.clear();
    for (uint32_t owner = 0; owner < group.waves.size(); ++owner)
        for (const Run& run : group.waves[owner].runs)
            for (size_t i = run.first; i < run.first + run.count; ++i) add_busy(pipes, token_at(input, i), owner);
    for (size_t i = 0; i < input.other_se.size(); ++i) {
        if (input.other_se[i] != group.se || input.other_duration[i] == 0) continue;
        const int64_t time = clamped(input.other_time[i]);
        const bool is_beside = time >= clamped(group.from) - kLongestOther && time <= group.to;
        if (!is_beside) continue;
        pipes[static_cast<size_t>(Pipe::memory)].push_back({time, input.other_duration[i], kOtherSimd});
    }
    for (Column<Busy>& intervals : pipes)  // the intervals of a wave nearly always come sorted
        sort_runs(intervals, buffer, [](const Busy& a, const Busy& b) { return a.begin < b.begin; });
}

}  // namespace wavewright
