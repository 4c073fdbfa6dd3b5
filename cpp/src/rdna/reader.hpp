// Bytes -> tokens with their times, one reader per generation (spec_rdna 3, 4 and 5). Total: any bytes are read, every
// step consumes input, and nothing outside the buffer is touched.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "rdna/reorder.hpp"
#include "rdna/tokens.hpp"
#include "rdna/wave.hpp"

namespace wavewright::rdna {

// v5: slots of the latest vector instructions, the newest first (spec_rdna 10.2). An 8-bit VALU token does not name its
// slot but its place in this list.
class RecentSlots {
  public:
    // The slot of an 8-bit VALU token.
    uint64_t use(uint64_t token) {
        const uint8_t slot = slots_[kShortValuPlace[(token >> 4) & 15]];
        touch(slot);
        return slot & 31;
    }

    // Moves a slot to the front; one that is not in the list pushes the last one out.
    void touch(uint8_t slot) {
        if (slots_[0] == slot) return;
        size_t from = 4;
        while (from > 0 && slots_[from] != slot) --from;
        if (from == 0) from = 5;
        std::copy_backward(slots_.begin(), slots_.begin() + from, slots_.begin() + from + 1);
        slots_[0] = slot;
    }

  private:
    static constexpr uint8_t kNone = 0xFF;
    std::array<uint8_t, 6> slots_{kNone, kNone, kNone, kNone, kNone, kNone};
};

// Positions are in bits: `at` is the token about to be read, `previous` the one read before it. Far from the end `bulk`
// does the work; the last bytes follow the reference's end-of-data rules literally (`tail`).
//
// The sink has
//   bool deliver(Token, int64_t time, uint64_t contents, int64_t position)   false: stop reading
//   void pass(int64_t time)                                  a token of which only the time counts
//   void realtime(int64_t time, uint64_t ticks, bool merge)  a pair of clocks
//   void lose_packets(int64_t position)                      the next token delivered or passed reports it
//   bool has_lost_packets() const
//   bool has_pending() const                                 whether pass() would do something
//   bool is_silent_reg(uint64_t contents) const              whether a REG token leaves no record
template <int kVersion, class Sink>
class Reader {
    static_assert(kVersion == 1 || kVersion == 3 || kVersion == 4 || kVersion == 5);

  public:
    Reader(std::span<const uint8_t> bytes, Sink& sink)
        : data_(bytes.data()), bits_(static_cast<int64_t>(bytes.size()) * 8), sink_(sink), waiting_(sink) {}

    void read_all() {
        if (bulk() == Step::stopped) return;
        if constexpr (kReorders) {
            tail_reordering();
        } else {
            tail();
        }
    }

    int64_t position() const { return s_.at; }  // first bit after the tokens that were read
    uint64_t token_count() const { return s_.tokens; }
    uint64_t unknown_count() const { return unknown_; }
    int64_t time() const { return s_.time; }
    // Whether the last token goes on after the end; zeros there are padding.
    bool has_cut_token() const { return cut_; }
    int64_t first_unknown() const { return first_unknown_; }

    // Whether bits from position() on are set: tokens that the reference never reads, or the rest of a cut one.
    bool has_unread_bits() const {
        for (int64_t at = s_.at; at < bits_; at += kWindow) {
            if (padded_window(at) != 0) return true;
        }
        return false;
    }

  private:
    static constexpr bool kReorders = kVersion <= 3;
    static constexpr bool kByteTokens = kVersion == 5;
    static constexpr bool kExtends = kVersion >= 4;  // WAVE_START_EXT has continuation bytes
    static constexpr const TokenTable& kTable = kTokenTable<kVersion>;
    static constexpr int64_t kWindow = 64;
    // Twice what the longest token and the window after it need.
    static constexpr int64_t kBulkMargin = 4 * kWindow;

    struct Cursor {
        int64_t at = 0;
        int64_t time = 0;
        uint64_t tokens = 0;  // read so far, padding included
    };
    struct State : Cursor {
        int64_t previous = -kWindow;
        uint64_t window = 0;       // of the token read last
        uint8_t length = kWindow;  // of the token read last
        bool extends = false;      // the token read last, padding aside, was WAVE_START_EXT
    };

    static uint64_t load(const uint8_t* at) {
        uint64_t value;
        std::memcpy(&value, at, sizeof value);
        if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
        return value;
    }

    // 64 bits from bit `at` on, far from the end.
    uint64_t full_window(int64_t at) const {
        const uint8_t* bytes = data_ + (at >> 3);
        return (at & 7) == 0 ? load(bytes) : load(bytes) >> 4 | uint64_t{bytes[8]} << 60;
    }

    // The same near the end; bits after it read as 0.
    uint64_t padded_window(int64_t at) const {
        std::array<uint8_t, 9> bytes{};
        const int64_t first = at >> 3, size = bits_ >> 3;
        if (first < size) {
            std::memcpy(bytes.data(), data_ + first, std::min(bytes.size(), static_cast<size_t>(size - first)));
        }
        return (at & 7) == 0 ? load(bytes.data()) : load(bytes.data()) >> 4 | uint64_t{bytes[8]} << 60;
    }

    // v5: a VALU token with its slot where other versions have it.
    uint64_t with_slot(Token token, uint64_t contents) {
        constexpr Field kSlot = bits(7, 11), kShortOp = bits(12, 19);
        if (token == Token::valu) return recent_.use(contents) << kValuSlot.first;
        if (token == Token::inst && kShortOp.of(contents) >= 10 && kShortOp.of(contents) <= 14) {
            recent_.touch(kSlot.byte(contents));
        }
        return contents;
    }

    // Hands a token on, or lets it wait for its turn.
    [[gnu::always_inline]] Step take(Token token, uint64_t contents, int64_t at, int64_t time, bool must_wait = true) {
        if constexpr (kReorders) {
            if (is_time_only(token)) return waiting_.add_passing(time, must_wait);
            if (token == Token::reg && sink_.is_silent_reg(contents)) {
                return waiting_.add_silent(token, time, contents, at, must_wait);
            }
            const int64_t when = token == Token::wave_ready ? wrap_sub(time, 1) : time;
            return waiting_.add(token, when, contents, at, must_wait);
        } else {
            if (is_time_only(token)) {
                sink_.pass(time);
                return Step::delivered;
            }
            if constexpr (kByteTokens) contents = with_slot(token, contents);
            return sink_.deliver(token, time, contents, at) ? Step::delivered : Step::stopped;
        }
    }

    static void advance_time(Cursor& cursor, const TokenEntry& entry, uint64_t window) {
        const uint64_t late_field = (window >> entry.time_begin) & entry.time_mask;
        cursor.time = wrap_add(cursor.time, static_cast<int64_t>(entry.delta + late_field));
    }

    struct Fetched {
        uint64_t window;  // in the middle of a byte the top nibble is missing; only the longest tokens need it
        const TokenEntry* entry;
    };
    Fetched fetch(int64_t at) const {
        const uint64_t window = load(data_ + (at >> 3)) >> (at & 7);
        return {window, &kTable[window & 0xFF]};
    }

    // A token of a frequent kind; fetches the next one. The step to the next token is a constant after a predicted
    // branch and not a table look-up, so that the next token can be fetched before this one is known for sure.
    template <Token kToken>
    [[gnu::always_inline]] Step take_frequent(Cursor& cursor, Fetched& fetched) {
        constexpr int64_t kStep = step_of(kTable, kToken);
        const uint64_t window = fetched.window;
        const TokenEntry& entry = *fetched.entry;
        const int64_t at = cursor.at;
        cursor.at += kStep;
        ++cursor.tokens;
        if constexpr (kStep % 8 != 0) {
            // Mostly a padding nibble completes the byte.
            if (__builtin_expect_with_probability(((window >> kStep) & 0xF) == 0, 1, 0.99)) {
                cursor.at += 4;
                ++cursor.tokens;
            }
        }
        if constexpr (has_late_field(kTable, kToken)) {
            advance_time(cursor, entry, window);
        } else {
            cursor.time = wrap_add(cursor.time, entry.delta);
        }
        fetched = fetch(cursor.at);
        if (kToken == Token::time) return Step::quiet;
        return take(kToken, kStep > kWindow - 4 ? full_window(at) : window, at, cursor.time, !fetched.entry->ends_wait);
    }

    static void skip_zeros(Cursor& cursor, uint64_t window) {
        constexpr int64_t kStep = step_of(kTable, Token::nop);
        const int64_t zeros = window == 0 ? kWindow - 4 : std::countr_zero(window);
        const int64_t count = std::max<int64_t>(1, zeros / kStep);
        cursor.at += count * kStep;
        cursor.tokens += static_cast<uint64_t>(count);
    }

    int64_t timestamp(int64_t time, uint64_t contents, int64_t at, bool in_phase_b);
    template <bool kFarFromEnd>
    [[gnu::noinline]] Step read_one(bool in_phase_b);
    Step run(int64_t end);
    Step bulk();
    void tail();
    void tail_reordering();

    const uint8_t* data_;
    int64_t bits_;
    Sink& sink_;
    State s_;
    uint64_t unknown_ = 0;
    int64_t first_unknown_ = 0;
    bool cut_ = false;
    WaitingTokens<Sink> waiting_;
    RecentSlots recent_;
};

// Clock, realtime sample or loss report (spec_rdna 5).
template <int kVersion, class Sink>
int64_t Reader<kVersion, Sink>::timestamp(int64_t time, uint64_t contents, int64_t at, bool in_phase_b) {
    // How samples out of order are treated differs by generation and by distance from the end.
    const bool merge = kVersion == 5 || (kVersion == 4) != in_phase_b;
    bool is_realtime, is_loss;
    Field value;
    if constexpr (kVersion == 1) {
        const uint64_t type = bits(14, 15).of(contents);
        value = bits(16, 63);
        is_realtime = type == 2;
        is_loss = false;
        if (type == 0 || type == 3) return time;
    } else {
        value = kVersion == 3 ? bits(12, 47) : bits(12, 63);
        is_realtime = bit(kVersion == 3 ? 9 : 7).set(contents);
        is_loss = bit(8).set(contents);
    }
    if (is_realtime) {
        if (!is_loss && value.set(contents)) sink_.realtime(time, value.of(contents), merge);
        return time;
    }
    if (is_loss) sink_.lose_packets(at);
    return wrap_add(time, static_cast<int64_t>(value.of(contents)));
}

// Any token, anywhere, whatever came before it.
template <int kVersion, class Sink>
template <bool kFarFromEnd>
Step Reader<kVersion, Sink>::read_one(bool in_phase_b) {
    auto window_at = [this](int64_t at) { return kFarFromEnd ? full_window(at) : padded_window(at); };
    State& s = s_;
    const int64_t at = s.at;
    uint64_t window = window_at(at);
    s.previous = at;
    s.window = window;
    if (kExtends && s.extends && (window & 1) != 0) {
        s.length = 8;
        s.at += 8;
        return Step::quiet;
    }
    const TokenEntry& entry = kTable[window & 0xFF];
    ++s.tokens;
    s.at += entry.step;
    s.length = entry.length;
    if (entry.token == Token::nop) return Step::quiet;
    s.extends = entry.token == Token::wave_start_ext;
    if constexpr (!kFarFromEnd) cut_ = at < bits_ && at + entry.length > bits_;
    advance_time(s, entry, window);
    if (entry.token == Token::time || entry.token == Token::timestamp) {
        if (entry.token == Token::timestamp) s.time = timestamp(s.time, window, at, in_phase_b);
        if (!kByteTokens || !in_phase_b || !sink_.has_lost_packets()) return Step::quiet;
        sink_.pass(s.time);
        return Step::delivered;
    }
    if (entry.token == Token::unknown && unknown_++ == 0) first_unknown_ = at;
    if (entry.length > kWindow && (kFarFromEnd || at + (kByteTokens ? 64 : 128) < bits_)) {
        s.previous += 8;
        s.length = kWindow;
        s.window = window = window_at(at + 8);
    }
    return take(entry.token, window, at, s.time);
}

// Reads on until a token comes that leaves something to care about.
template <int kVersion, class Sink>
Step Reader<kVersion, Sink>::run(int64_t end) {
    Cursor cursor = s_;  // a copy that nothing else can see stays in registers
    Step step = Step::quiet;
    bool special = false;
    Fetched fetched = fetch(cursor.at);
    while (cursor.at < end && step != Step::stopped && !special) {
        switch (fetched.entry->token) {
            case Token::inst: step = take_frequent<Token::inst>(cursor, fetched); break;
            case Token::valu: step = take_frequent<Token::valu>(cursor, fetched); break;
            case Token::alu_exec: step = take_frequent<Token::alu_exec>(cursor, fetched); break;
            case Token::vmem_exec: step = take_frequent<Token::vmem_exec>(cursor, fetched); break;
            case Token::imm_one: step = take_frequent<Token::imm_one>(cursor, fetched); break;
            case Token::wave_ready: step = take_frequent<Token::wave_ready>(cursor, fetched); break;
            case Token::wave_start: step = take_frequent<Token::wave_start>(cursor, fetched); break;
            case Token::wave_end: step = take_frequent<Token::wave_end>(cursor, fetched); break;
            case Token::reg: step = take_frequent<Token::reg>(cursor, fetched); break;
            case Token::misc: step = take_frequent<Token::misc>(cursor, fetched); break;
            case Token::time: step = take_frequent<Token::time>(cursor, fetched); break;
            case Token::nop:
                skip_zeros(cursor, fetched.window);
                fetched = fetch(cursor.at);
                break;
            default:
                const int64_t at = cursor.at;
                const TokenEntry& entry = *fetched.entry;
                uint64_t window = fetched.window;
                cursor.at += entry.step;
                ++cursor.tokens;
                advance_time(cursor, entry, window);
                if (entry.length > kWindow - 4) window = full_window(entry.length > kWindow ? at + 8 : at);
                if (entry.token == Token::timestamp) {
                    cursor.time = timestamp(cursor.time, window, at, false);
                } else {
                    if (entry.token == Token::unknown && unknown_++ == 0) first_unknown_ = at;
                    step = take(entry.token, window, at, cursor.time);
                }
                s_.extends = kExtends && entry.token == Token::wave_start_ext;
                special = s_.extends || sink_.has_pending();
                fetched = fetch(cursor.at);
        }
    }
    static_cast<Cursor&>(s_) = cursor;
    return step;
}

template <int kVersion, class Sink>
Step Reader<kVersion, Sink>::bulk() {
    const int64_t end = bits_ - kBulkMargin;
    while (s_.at < end) {
        if (run(end) == Step::stopped) return Step::stopped;
        while (s_.at < end && (s_.extends || sink_.has_pending())) {
            if (read_one<true>(false) == Step::stopped) return Step::stopped;
        }
    }
    if (s_.at > 0) s_.previous = s_.at - 4;  // close enough: the tail begins far from the end
    return Step::quiet;
}

// v4 and v5: tokens that begin in the last 8 bytes are never read (spec_rdna 3.2, 3.3).
template <int kVersion, class Sink>
void Reader<kVersion, Sink>::tail() {
    constexpr int64_t kPhaseA = kByteTokens ? 136 : 128;
    const State& s = s_;
    while (s.previous + 128 < bits_ || s.window != 0) {
        Step step = Step::quiet;
        while (step == Step::quiet) {
            const bool in_phase_b = s.previous + kPhaseA >= bits_;
            if (in_phase_b) {
                if (s.previous + kWindow >= bits_ && s.window == 0) return;
                const int64_t next = kByteTokens ? s.previous + s.length / 8 * 8 : s.at;
                if (next + kWindow > bits_) return;
            }
            step = read_one<false>(in_phase_b);
        }
        if (step == Step::stopped) return;
    }
}

// v1..v3: zeros after the end are read until a window is all zero (spec_rdna 3.1).
template <int kVersion, class Sink>
void Reader<kVersion, Sink>::tail_reordering() {
    const State& s = s_;
    while (s.previous + 128 < bits_) {
        if (read_one<false>(false) == Step::stopped) return;
    }
    if (waiting_.release() == Step::stopped) return;
    while (s.window != 0) {
        Step step = Step::quiet;
        while (step == Step::quiet && (s.previous + kWindow < bits_ || s.window != 0)) step = read_one<false>(true);
        if (step == Step::stopped || waiting_.release() == Step::stopped) return;
    }
}

}  // namespace wavewright::rdna
