// One pass over the instructions in their order; waves may be mixed, so that each has its latest end in a table.
#include "wavewright/row_totals.hpp"

#include <algorithm>

#include "waves/by_row.hpp"
#include "wavewright/stop.hpp"

namespace wavewright {
namespace {

// Of one code row, in cycles but for the hits.
struct Totals {
    int64_t hits = 0, latency = 0, stall = 0, idle = 0;
    int32_t latency_max = 0, stall_max = 0;
};

struct WaveProgress {
    bool is_known = false;  // its begin, or an instruction of it
    int64_t end = 0;        // latest end so far, at first the begin of the wave
    ExecutionCounter executions = {};
};

RowTotals table_of(const ByRow<Totals>& sums) {
    RowTotals table;
    sums.each([&](int32_t row, const Totals& totals) {
        if (totals.hits == 0) return;
        table.row.push_back(row);
        table.hit_count.push_back(totals.hits);
        table.latency_total.push_back(totals.latency);
        table.stall_total.push_back(totals.stall);
        table.idle_total.push_back(totals.idle);
        table.latency_max.push_back(totals.latency_max);
        table.stall_max.push_back(totals.stall_max);
    });
    return table;
}

}  // namespace

RowTotals row_totals(const Executed& executed, std::span<const uint32_t> waves, std::span<const int64_t> begins,
                     size_t row_count) {
    PerWave<WaveProgress> progress;
    for (size_t i = 0; i < waves.size(); ++i) progress.of(waves[i]) = {.is_known = true, .end = begins[i]};
    ByRow<Totals> sums(row_count);
    StopCheck check;
    for (size_t i = 0; i < executed.row.size(); ++i) {
        check.step();
        const int32_t row = executed.row[i], stall = executed.stall[i], duration = executed.duration[i];
        if (row < 0) continue;
        const int64_t time = executed.time[i];
        WaveProgress& wave = progress.of(executed.wave[i]);
        Totals& totals = sums.of(row);
        const uint8_t category = executed.category.empty() ? uint8_t{0} : executed.category[i];
        totals.hits += wave.executions.counts(row, category) ? 1 : 0;
        totals.latency += duration;
        totals.stall += stall;
        if (wave.is_known && time > wave.end) totals.idle = add(totals.idle, subtract(time, wave.end));
        totals.latency_max = std::max(totals.latency_max, duration);
        totals.stall_max = std::max(totals.stall_max, stall);
        const int64_t end = add(time, duration);
        wave.end = wave.is_known ? std::max(wave.end, end) : end;
        wave.is_known = true;
    }
    return table_of(sums);
}

}  // namespace wavewright
