// Performance-counter samples of gfx9 (spec_gfx9 section 7). Each CU reports up to 4 banks of 4 counters, once per
// sampling interval. The hardware leaves out reports that are all zero; once the interval is known, a zero sample is
// put into each gap. Where these stand follows the reference, quirks included.
#pragma once

#include <array>
#include <cstdint>

#include "gfx9/tokens.hpp"
#include "wavewright/column.hpp"
#include "wavewright/records.hpp"

namespace wavewright::gfx9 {

class Counters {
  public:
    // `stream_bytes` bounds how much gap filling a stream can ask for: it may announce the interval again and again,
    // each time with all samples so far, and every gap may need a sample.
    explicit Counters(uint64_t stream_bytes) : fill_left_(stream_bytes), work_left_(kWorkPerByte * stream_bytes) {}

    // `word` is a PERF token. `interval` is in cycles; 0 = not announced yet.
    void add(uint64_t word, int64_t now, uint64_t interval);

    // The interval was announced (again): fills the gaps of all samples so far, and puts them into order of time.
    void fill_gaps(uint64_t interval);

    // Ends every sequence with a zero sample and hands all samples over.
    void finish(uint64_t interval, CounterTable& table);

    // Announcements whose gaps were left alone because there were too many of them.
    uint64_t skipped() const { return skipped_; }

  private:
    // A unit of work is passing over one sample in fill_gaps().
    static constexpr uint64_t kWorkPerByte = 32;
    static constexpr uint64_t kSortCost = 8;  // of a sample, in units

    struct Sample {
        int64_t time;
        std::array<uint16_t, 4> values;
        uint8_t cu, bank;
    };
    // The time of the last sample of each bank of each CU; 0 = none yet.
    struct LastTimes {
        static constexpr size_t kCus = 16, kBanks = 4;
        std::array<int64_t, kCus * kBanks> by_source{};
        int64_t& of(const Sample& sample) { return by_source[sample.cu * kBanks + sample.bank]; }
    };

    // Whether a report is missing between two. Quirk: unsigned, so a negative time counts as very late; not so in
    // fill_gaps().
    static bool leaves_gap(int64_t last, int64_t time, uint64_t interval) {
        return last > 0 && static_cast<uint64_t>(time) > static_cast<uint64_t>(last) + interval;
    }
    static int64_t plus(int64_t time, uint64_t cycles) {
        return static_cast<int64_t>(static_cast<uint64_t>(time) + cycles);
    }

    Column<Sample> samples_;
    LastTimes last_;
    uint64_t fill_left_;  // zero samples that fill_gaps() may still add
    uint64_t work_left_;  // units
    uint64_t skipped_ = 0;
};

}  // namespace wavewright::gfx9
