// Pairs of shader clock and realtime clock from the words written to USERDATA3 (spec_gfx9 3.6).
#pragma once

#include <cstdint>

#include "gfx9/tokens.hpp"
#include "wavewright/records.hpp"

namespace wavewright::gfx9 {

class RealtimeWords {
  public:
    void write(uint32_t word, int64_t now, RealtimeTable& table) {
        if (left_ == 0) {
            header(word);
            return;
        }
        --left_;
        if (!known_) return;
        if (left_ == 2) low_ = word;
        if (left_ == 1) high_ = word;
        if (left_ != 0) return;
        fresh_ = word;
        if (fresh_ < low_) ++high_;  // the low word wrapped between the two samples
        table.add(now, uint64_t{high_} << 32 | fresh_);
    }

  private:
    enum : uint32_t { timestamp = 5, timestamp_low = 7 };  // opcodes; the latter sends a fresh low word only
    static constexpr Field kOpcode = bits(0, 7);
    static constexpr Field kWordCount = bits(12, 31);

    void header(uint32_t word) {
        const uint32_t opcode = kOpcode.word(word), count = kWordCount.word(word);
        known_ = opcode == timestamp || opcode == timestamp_low;
        left_ = count;
        if (opcode == timestamp && count == 0) left_ = 3;
        if (opcode == timestamp_low) {
            if (count == 0) left_ = 1;
            low_ = fresh_;
        }
    }

    uint32_t left_ = 0;  // payload words still to come
    bool known_ = false;
    uint32_t low_ = 0, high_ = 0, fresh_ = 0;
};

}  // namespace wavewright::gfx9
