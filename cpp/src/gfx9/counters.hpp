// Performance-counter samples of gfx9 (spec_gfx9 section 7). The hardware leaves out reports that are all zero; once
// the sampling interval is known the gaps are filled.
#pragma once

#include <array>
#include <cstdint>

#include "gfx9/tokens.hpp"
#include "wavewright/column.hpp"
#include "wavewright/records.hpp"

namespace wavewright::gfx9 {

class Counters {
  public:
    // `stream_bytes` bounds how much gap filling a stream can ask for.
    explicit Counters(uint64_t stream_bytes) : fill_left_(stream_bytes), work_left_(kWorkPerByte * stream_bytes) {}

    void add(uint64_t word, int64_t now, uint64_t interval);

    // The interval was announced (again): fills the gaps of everything collected so far.
    void fill_gaps(uint64_t interval);

    // Ends every sequence with a zero sample and hands all samples over.
    void finish(uint64_t interval, CounterTable& table);

    // Announcements whose gaps were left alone because there were too many of them.
    uint64_t skipped() const { return skipped_; }

  private:
    static constexpr uint64_t kWorkPerByte = 32;
    static constexpr uint64_t kSortCost = 8;  // of a sample, compared with passing over it

    struct Sample {
        int64_t time;
        std::array<uint16_t, 4> values;
        uint8_t cu, bank;
    };
    struct LastTimes {
        std::array<int64_t, 64> by_source{};  // 16 CUs x 4 banks; 0 = no sample yet
        int64_t& of(const Sample& sample) { return by_source[sample.cu * 4U + sample.bank]; }
    };

    // Between reports. Quirk: unsigned, so a negative time counts as very late; not so when gaps are filled later.
    static bool leaves_gap(int64_t last, int64_t time, uint64_t interval) {
        return last > 0 && static_cast<uint64_t>(time) > static_cast<uint64_t>(last) + interval;
    }
    static int64_t plus(int64_t time, uint64_t cycles) {
        return static_cast<int64_t>(static_cast<uint64_t>(time) + cycles);
    }

    Column<Sample> samples_;
    LastTimes last_;
    uint64_t fill_left_, work_left_;
    uint64_t skipped_ = 0;
};

}  // namespace wavewright::gfx9
