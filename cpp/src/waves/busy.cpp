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

// Far beyond any clock, and small enough that sums of times and lengths do not overflow.
constexpr int64_t kFarthest = int64_t{1} << 60;

int64_t clamped(int64_t time) {
    return std::clamp(time, -kFarthest, kFarthest);
}

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
            .counts = executed.row[i] >= 0 && (input.kept.empty() || input.kept[i] != 0)};
}

void add_busy(Pipes& pipes, const Token& token, uint32_t owner) {
    auto add = [&](Pipe pipe, uint32_t length) {
        if (length != 0) pipes[static_cast<size_t>(pipe)].push_back({token.issue(), length, owner});
    };
    const auto cycles = static_cast<uint32_t>(token.length - token.stall);
    switch (token.work) {
        case Work::matrix:
            add(Pipe::matrix, cycles);
            add(Pipe::valu, static_cast<uint32_t>(uint64_t{3} * cycles / 4));  // it shares the issue of the vector ALU
            break;
        case Work::valu: add(Pipe::valu, cycles); break;
        case Work::memory: add(Pipe::memory, cycles); break;
        case Work::scalar: add(Pipe::scalar, cycles); break;
        case Work::other: break;
    }
}

constexpr size_t kBatchInstructions = 1 << 17;
constexpr int64_t kLongestOther = UINT16_MAX;  // cycles of an instruction of a neighbour

struct Extent {
    int64_t begin = INT64_MAX, end = INT64_MIN;
};

// From the begin of a wave to the end of its last instruction.
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

void cut(const SimdGroup& group, std::span<const Extent> extents, std::vector<SimdGroup>& batches) {
    std::vector<int64_t> latest(group.waves.size());  // end of the waves up to here
    for (size_t i = 0; i < latest.size(); ++i) latest[i] = std::max(i == 0 ? INT64_MIN : latest[i - 1], extents[i].end);
    std::vector<int64_t> earliest(
        group.waves.size());  // begin of the waves from here on: an instruction may come first
    for (size_t i = earliest.size(); i-- > 0;)
        earliest[i] = std::min(i + 1 == earliest.size() ? INT64_MAX : earliest[i + 1], extents[i].begin);
    for (size_t first = 0, behind = 0; first < group.waves.size(); first = behind) {
        SimdGroup& batch = batches.emplace_back();
        batch.se = group.se;
        batch.from = INT64_MAX;
        batch.to = INT64_MIN;
        for (; behind < group.waves.size() && (behind == first || batch.instruction_count < kBatchInstructions);
             ++behind) {
            batch.instruction_count += instructions_of(group.waves[behind]);
            batch.from = std::min(batch.from, extents[behind].begin);
            batch.to = std::max(batch.to, extents[behind].end);
        }
        size_t beside = first;
        while (beside > 0 && latest[beside - 1] >= batch.from) --beside;
        for (size_t i = beside; i < group.waves.size() && (i < behind || earliest[i] <= batch.to); ++i) {
            if (extents[i].end < batch.from || extents[i].begin > batch.to) continue;
            if (i >= first && i < behind) batch.asked.push_back(static_cast<uint32_t>(batch.waves.size()));
            batch.waves.push_back(group.waves[i]);
        }
    }
}

}  // namespace

std::vector<SimdGroup> simd_groups(const HidingInput& input) {
    constexpr size_t kUnknown = SIZE_MAX;
    struct Place {
        size_t wave = kUnknown;
    };
    PerWave<Place> places;
    std::vector<WaveRuns> waves(input.wave.size());
    for (size_t i = 0; i < waves.size(); ++i) {
        places.of(input.wave[i]).wave = i;
        waves[i].begin = clamped(input.begin[i]);
    }
    const std::span<const uint32_t> numbers = input.executed.wave;
    for (size_t first = 0, next = 0; first < numbers.size(); first = next) {
        while (next < numbers.size() && numbers[next] == numbers[first]) ++next;
        const size_t wave = places.of(numbers[first]).wave;
        if (wave != kUnknown) waves[wave].runs.push_back({first, next - first});
    }
    std::map<std::pair<uint16_t, uint8_t>, SimdGroup> groups;
    for (size_t i = 0; i < waves.size(); ++i) {
        SimdGroup& group = groups[{input.se[i], input.simd[i]}];
        group.se = input.se[i];
        for (const Run& run : waves[i].runs) group.instruction_count += run.count;
        group.waves.push_back(std::move(waves[i]));
    }
    std::vector<SimdGroup> ordered;
    for (auto& [place, group] : groups) {
        std::stable_sort(group.waves.begin(), group.waves.end(),
                         [](const WaveRuns& a, const WaveRuns& b) { return a.begin < b.begin; });
        group.asked.resize(group.waves.size());
        std::iota(group.asked.begin(), group.asked.end(), uint32_t{0});
        ordered.push_back(std::move(group));
    }
    return ordered;
}

std::vector<SimdGroup> batches_of(const HidingInput& input, std::vector<SimdGroup> groups) {
    std::vector<SimdGroup> batches;
    for (SimdGroup& group : groups) {
        if (group.instruction_count <= 2 * kBatchInstructions) {
            batches.push_back(std::move(group));
            continue;
        }
        std::vector<Extent> extents(group.waves.size());
        in_parallel(extents.size(), workers_for(group.instruction_count / kBatchInstructions),
                    [&](size_t wave, unsigned) { extents[wave] = extent_of(input, group.waves[wave]); });
        cut(group, extents, batches);
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
        if (time < clamped(group.from) - kLongestOther || time > group.to) continue;
        pipes[static_cast<size_t>(Pipe::memory)].push_back(
            {clamped(input.other_time[i]), input.other_duration[i], kOtherSimd});
    }
    for (Column<Busy>& intervals : pipes)  // the intervals of a wave nearly always come sorted
        sort_runs(intervals, buffer, [](const Busy& a, const Busy& b) { return a.begin < b.begin; });
}

}  // namespace wavewright
