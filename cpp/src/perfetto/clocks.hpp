// Clocks of a Perfetto trace: snapshots say what several clocks showed at one moment, and packets name the clock of
// their time. All times become those of the clock of the trace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "perfetto/wire.hpp"

namespace wavewright::pftrace {

class Clocks {
  public:
    // A ClockSnapshot of a sequence. False when it is damaged.
    bool snapshot(uint64_t sequence, Text message);

    // The time of a packet; none when nothing relates its clock to that of the trace. Clock 0 = not said.
    std::optional<int64_t> trace_time(uint64_t sequence, uint64_t clock, uint64_t time);

  private:
    struct Reading {
        uint64_t clock;
        int64_t time_ns;
    };
    struct Clock {
        int64_t unit_ns = 1;
        bool is_incremental = false;
        int64_t last_ns = 0;                                // of an incremental one
        std::vector<std::pair<int64_t, uint32_t>> moments;  // its time and the number of the snapshot, as they came
        bool is_sorted = true;
    };

    std::optional<int64_t> through(uint64_t clock, int64_t time, int depth) const;
    static uint32_t moment_of(const Clock& clock, int64_t time);

    std::map<uint64_t, Clock> clocks_;
    std::vector<std::vector<Reading>> snapshots_;
    uint64_t trace_clock_ = 6;  // boot time, unless a snapshot says another
    bool has_trace_clock_ = false;
};

}  // namespace wavewright::pftrace
