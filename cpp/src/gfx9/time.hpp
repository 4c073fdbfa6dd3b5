// Time of gfx9 tokens: deltas, and the absolute anchors that follow a reset (spec_gfx9 2.4).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "gfx9/tokens.hpp"

namespace wavewright::gfx9 {

// The leading MISC/TIME tokens of an 8-byte word at once and without a branch: about half of all tokens are such,
// in short runs of no pattern.
struct TimeRun {
    uint32_t tokens;
    uint32_t bytes;
    int64_t cycles;

    static TimeRun of(uint64_t word) {
        constexpr uint64_t kNotTime = 0xE00F'E00F'E00F'E00F;  // bits that are zero in a MISC/TIME token
        constexpr uint64_t kDeltas = 0x00FF'00FF'00FF'00FF;
        constexpr uint64_t kSumOfLanes = 0x0001'0001'0001'0001;
        const auto bits = static_cast<uint32_t>(std::countr_zero(word & kNotTime)) & ~15U;
        const uint64_t behind = ~uint64_t{0} << bits / 2 << bits / 2;  // in two steps, because bits can be 64
        const uint64_t deltas = (word >> 4) & kDeltas & ~behind;
        return {bits / 16, bits / 8, static_cast<int64_t>((deltas * kSumOfLanes) >> 48) * kCyclesPerDelta};
    }
};

// After a TIME_RESET the true time is in a TIMESTAMP a few tokens later, and the tokens between them belong
// after it. So the reader looks ahead once, sets the clock, and later passes over the token it has used.
class Anchor {
  public:
    struct Result {
        int64_t now;
        bool bad_slot = false;  // the reference checks slots while it looks ahead and gives up right there
        size_t bad_slot_at = 0;
    };

    // Called after a TIME_RESET that ends at `at`; `now` includes its delta.
    Result look_ahead(const TokenBytes& tokens, size_t at, int64_t now, bool stop_at_bad_slot) {
        for (; at < tokens.size(); at += kTokens[Token::type.word(tokens.load(at))].bytes) {
            const uint64_t word = tokens.load(at);
            if (!tokens.fits(at, word)) return {set(0, now)};  // quirk: a cut token counts as TIMESTAMP 0 (2.5)
            const auto type = static_cast<TokenType>(Token::type.word(word));
            if (type == TokenType::timestamp) {
                used_at_ = at;
                return {set(static_cast<int64_t>(Timestamp::time.of(word)), now)};
            }
            if (type == TokenType::misc && Misc::kind.word(word) == Misc::time_reset) {
                used_at_ = at;  // quirk: the second reset is lost, no anchor is set
                return {now};
            }
            if (stop_at_bad_slot && names_bad_slot(word)) return {now, true, at};
        }
        return {now};
    }

    // Whether look_ahead() has already consumed the TIMESTAMP or TIME_RESET at this position.
    bool used(size_t at) const { return at == used_at_; }

  private:
    int64_t set(int64_t timestamp, int64_t now) {
        if (base_ == 0) base_ = timestamp - now + kCyclesPerDelta;
        return timestamp > base_ ? (timestamp - base_) & ~int64_t{3} : now;
    }

    int64_t base_ = 0;    // timestamp at time 0
    size_t used_at_ = 0;  // 0 is inside the header, so never a token
};

}  // namespace wavewright::gfx9
