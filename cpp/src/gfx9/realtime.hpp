// Pairs of shader clock and realtime clock from the words written to USERDATA3 (spec_gfx9 3.6).
//
// A header word says how many payload words follow. A full timestamp has three: the low and the high half of the clock
// as read first, then the low half read again at the moment of the write (`fresh_low_`). A short one has the last only.
#pragma once

#include <cstdint>

#include "gfx9/tokens.hpp"
#include "wavewright/records.hpp"

namespace wavewright::gfx9 {

class RealtimeWords {
  public:
    // `now` is the shader clock at the write of the word.
    void write(uint32_t word, int64_t now, RealtimeTable& table) {
        if (words_left_ == 0) {
            read_header(word);
            return;
        }
        --words_left_;
        if (!is_timestamp_) return;
        if (words_left_ == 2) low_ = word;
        if (words_left_ == 1) high_ = word;
        if (words_left_ != 0) return;
        fresh_low_ = word;
        if (fresh_low_ < low_) ++high_;  // the low word wrapped between the two readings
        table.add(now, uint64_t{high_} << 32 | fresh_low_);
    }

  private:
    enum Opcode : uint32_t { timestamp = 5, timestamp_low = 7 };
    static constexpr uint32_t kTimestampWords = 3, kTimestampLowWords = 1;  // what a count of 0 stands for
    static constexpr Field kOpcode = bits(0, 7);
    static constexpr Field kWordCount = bits(12, 31);

    void read_header(uint32_t word) {
        const uint32_t opcode = kOpcode.word(word), count = kWordCount.word(word);
        is_timestamp_ = opcode == timestamp || opcode == timestamp_low;
        words_left_ = count;
        if (opcode == timestamp && count == 0) words_left_ = kTimestampWords;
        if (opcode == timestamp_low) {
            if (count == 0) words_left_ = kTimestampLowWords;
            low_ = fresh_low_;  // the high half goes on from the last pair
        }
    }

    uint32_t words_left_ = 0;    // payload words still to come
    bool is_timestamp_ = false;  // payloads of other opcodes are passed over
    uint32_t low_ = 0, high_ = 0, fresh_low_ = 0;
};

}  // namespace wavewright::gfx9
