#include "wavescope/row_totals.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace wavescope {
namespace {

struct Totals {
    int64_t hits = 0, latency = 0, stall = 0, idle = 0;
    int32_t latency_max = 0, stall_max = 0;
};

struct WaveEnd {
    bool known = false;
    int64_t end = 0;  // latest end so far, at first the begin of the wave
};

// Totals by row: an array for the rows of the code table, a tree for those beyond it.
class Sums {
  public:
    explicit Sums(size_t row_count) : listed_(row_count) {}

    Totals& of(int32_t row) {
        const auto at = static_cast<size_t>(row);
        return at < listed_.size() ? listed_[at] : beyond_[row];
    }

    RowTotals table() const {
        RowTotals table;
        for (size_t row = 0; row < listed_.size(); ++row)
            if (listed_[row].hits != 0) append(table, static_cast<int32_t>(row), listed_[row]);
        for (const auto& [row, totals] : beyond_) append(table, row, totals);
        return table;
    }

  private:
    static void append(RowTotals& table, int32_t row, const Totals& totals) {
        table.row.push_back(row);
        table.hit_count.push_back(totals.hits);
        table.latency_total.push_back(totals.latency);
        table.stall_total.push_back(totals.stall);
        table.idle_total.push_back(totals.idle);
        table.latency_max.push_back(totals.latency_max);
        table.stall_max.push_back(totals.stall_max);
    }

    std::vector<Totals> listed_;
    std::map<int32_t, Totals> beyond_;
};

}  // namespace

RowTotals row_totals(const Executed& executed, std::span<const uint32_t> waves, std::span<const int64_t> begins,
                     size_t row_count) {
    PerWave<WaveEnd> ends;
    for (size_t i = 0; i < waves.size(); ++i) ends.of(waves[i]) = {true, begins[i]};
    Sums sums(row_count);
    for (size_t i = 0; i < executed.row.size(); ++i) {
        const int32_t row = executed.row[i], stall = executed.stall[i], duration = executed.duration[i];
        if (row < 0) continue;
        const int64_t time = executed.time[i];
        WaveEnd& last = ends.of(executed.wave[i]);
        Totals& totals = sums.of(row);
        totals.hits += 1;
        totals.latency += duration;
        totals.stall += stall;
        if (last.known && time > last.end) totals.idle = add(totals.idle, subtract(time, last.end));
        totals.latency_max = std::max(totals.latency_max, duration);
        totals.stall_max = std::max(totals.stall_max, stall);
        const int64_t end = add(time, duration);
        last = {true, last.known ? std::max(last.end, end) : end};
    }
    return sums.table();
}

}  // namespace wavescope
