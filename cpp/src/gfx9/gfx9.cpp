// The gfx9/CDNA stream: one pass over the tokens of a buffer, record for record equal to the reference
// (spec_gfx9; section numbers below are its).
#include <algorithm>
#include <array>
#include <bit>

#include "decode/families.hpp"
#include "decode/markers.hpp"
#include "decode/registers.hpp"
#include "decode/stream_end.hpp"
#include "gfx9/counters.hpp"
#include "gfx9/emit.hpp"
#include "gfx9/occupancy.hpp"
#include "gfx9/realtime.hpp"
#include "gfx9/time.hpp"
#include "gfx9/tokens.hpp"
#include "gfx9/wave.hpp"

namespace wavewright {
namespace gfx9 {
namespace {

// Tokens that cannot be followed: the reference gives up at the first one; corrected decoding passes over all.
struct Unusable {
    Loss kind;
    uint64_t count = 0;
    int64_t first_time = 0;
    size_t first_byte = 0;

    void note(int64_t now, size_t at) {
        if (count++ != 0) return;
        first_time = now;
        first_byte = at;
    }
};

class Decoder {
  public:
    Decoder(std::span<const uint8_t> bytes, const Program& program, const Options& options, Records& records)
        : tokens_(bytes),
          corrected_(options.corrected),
          records_(records),
          emitter_(program, options, records),
          markers_(program, records),
          occupancy_(records.occupancy, registers_.from_start),
          counters_(bytes.size()) {
        end_.whole_blocks = has_whole_blocks(bytes.subspan(kHeaderBytes));
        const uint64_t header = tokens_.load_inside(0);
        records_.target_cu = Header::target_cu.byte(header);
        records_.double_buffer = Header::double_buffer.set(header);
    }

    void decode() {
        read_tokens();
        finish();
    }

  private:
    static constexpr size_t kBytesInSight = 2 * kLongestToken;  // a run of time tokens and the token after it

    // Everything but ISSUE and INST stays out of line, so that the loop over the tokens keeps its registers.
    // Those that return a bool handle one token; false ends decoding (survive()).
    [[gnu::noinline]] void read_tokens();
    [[gnu::noinline]] bool misc(uint64_t word, size_t at, int64_t& now);
    bool inst(uint64_t word, size_t at, int64_t now);
    void issue(uint32_t word, int64_t now);
    [[gnu::noinline]] bool inst_pc(uint64_t word, size_t at, int64_t now);
    [[gnu::noinline]] void reg(uint64_t word, int64_t now);
    [[gnu::noinline]] void reg_cs(uint64_t word, int64_t now);
    void dispatch(uint32_t me, uint32_t pipe, int64_t now);
    [[gnu::noinline]] bool shader_data(uint64_t word, size_t at, int64_t now);
    void packet_lost(size_t at, int64_t now);
    void save_context(int64_t now);
    [[gnu::noinline]] bool wave_start(uint64_t word, size_t at, int64_t now);
    [[gnu::noinline]] bool wave_end(uint64_t word, size_t at, int64_t now);
    bool emit(WaveSlot slot, size_t bytes_read);
    void project_tables(size_t bytes_read);
    void finish();
    void finish_stream();

    bool on_target(uint64_t word) const {
        return WaveIdentity::cu.word(word) == records_.target_cu && WaveIdentity::sh.word(word) == 0;
    }
    void event(EventType type, int64_t now, uint32_t me = 0, uint32_t pipe = 0) {
        records_.events.add(now, static_cast<uint8_t>(type), static_cast<uint8_t>(me), static_cast<uint8_t>(pipe), 0,
                            0);
    }
    void lose(Loss kind, int64_t now, size_t at, uint64_t count, uint64_t value) {
        records_.losses.add(static_cast<uint8_t>(kind), now, at, count, value);
    }
    // Whether decoding goes on after something the reference cannot digest.
    bool survive(size_t at) {
        if (corrected_) return true;
        if (records_.status != Status::stopped) {
            records_.status = Status::stopped;
            records_.stopped_at_byte = at;
        }
        return false;
    }
    Wave& wave_at(WaveSlot slot) { return waves_[slot.index]; }
    [[gnu::noinline]] bool bad_slot(size_t at, int64_t now) {
        bad_slots_.note(now, at);
        return survive(at);
    }

    const TokenBytes tokens_;
    const bool corrected_;
    Records& records_;
    Registers registers_;
    RealtimeWords realtime_words_;
    WaveEmitter emitter_;
    MarkerTracker markers_;
    Occupancy occupancy_;
    Counters counters_;
    Anchor anchor_;

    std::array<Wave, WaveSlot::kCount> waves_;  // of the target CU
    uint32_t phase_counter_ = 15;               // of the whole buffer; says how late instruction reports come (5.3)

    StreamEnd end_;
    bool time_awaited_ = false;  // by a TIME_RESET: its TIMESTAMP has not come yet
    bool packets_lost_ = false;
    Unusable bad_slots_{Loss::bad_slot};
    Unusable stale_{Loss::stale_instruction};
};

void Decoder::read_tokens() {
    const TokenBytes tokens = tokens_;  // a local, so that it stays in registers
    size_t next_at = kHeaderBytes;
    int64_t now = 0;
    uint64_t count = 0;
    bool go_on = true;
    while (go_on && next_at < tokens.size()) {
        uint64_t word;
        if (tokens.size() - next_at >= kBytesInSight) [[likely]] {
            const TimeRun run = TimeRun::of(tokens.load_inside(next_at));
            next_at += run.bytes;
            now += run.cycles;
            count += run.tokens;
            word = tokens.load_inside(next_at);
        } else {
            word = tokens.load(next_at);
            if (!tokens.fits(next_at, word)) {
                if (word == 0) break;  // half of a token of padding
                lose(Loss::truncated_token, now, next_at, tokens.size() - next_at, 0);
                end_.token_cut = true;
                break;
            }
        }
        const size_t at = next_at;
        const int64_t before = now;
        const auto type = static_cast<TokenType>(Token::type.word(word));
        now += kCyclesPerDelta * Token::delta.word(word);
        ++count;
        if (type == TokenType::issue) {  // the two most frequent ones by themselves: a constant length is known sooner
            next_at += bytes_of(TokenType::issue);
            issue(static_cast<uint32_t>(word), now);
            continue;
        }
        if (type == TokenType::inst) {
            next_at += bytes_of(TokenType::inst);
            go_on = inst(word, at, now);
            continue;
        }
        next_at += bytes_of(type);
        switch (type) {
            case TokenType::misc:
                now = before;
                go_on = misc(word, at, now);
                break;
            case TokenType::timestamp:
                if (anchor_.used(at)) now = before;
                time_awaited_ = false;
                break;
            case TokenType::inst_pc: go_on = inst_pc(word, at, now); break;
            case TokenType::inst_userdata: go_on = shader_data(word, at, now); break;
            case TokenType::wave_start: go_on = wave_start(word, at, now); break;
            case TokenType::wave_end: go_on = wave_end(word, at, now); break;
            case TokenType::wave_alloc: go_on = !names_bad_slot(word) || bad_slot(at, now); break;
            case TokenType::reg: reg(word, now); break;
            case TokenType::reg_cs:
            case TokenType::reg_cs_priv: reg_cs(word, now); break;
            case TokenType::perf: counters_.add(word, now, records_.counter_interval_cycles); break;
            case TokenType::issue:
            case TokenType::inst:
            case TokenType::event:
            case TokenType::event_cs:
            case TokenType::event_gfx1: break;
        }
    }
    records_.token_count = count;
    end_.time = now;
}

bool Decoder::misc(uint64_t word, size_t at, int64_t& now) {
    const uint32_t kind = Misc::kind.word(word);
    if (kind == Misc::time_reset && anchor_.used(at)) return true;
    now += kCyclesPerDelta * Misc::delta.word(word);
    switch (kind) {
        case Misc::time_reset: {
            time_awaited_ = true;
            const Anchor::Result ahead = anchor_.look_ahead(tokens_, at + kTokens[0].bytes, now, !corrected_);
            now = ahead.now;
            return !ahead.bad_slot || bad_slot(ahead.bad_slot_at, now);
        }
        case Misc::packet_lost: packet_lost(at, now); break;
        case Misc::surface_sync: end_.stopped = true; break;
        case Misc::trace_stall_begin: event(EventType::trace_stall_begin, now); break;
        case Misc::trace_stall_end: event(EventType::trace_stall_end, now); break;
        case Misc::save_context: save_context(now); break;
        default: break;
    }
    return true;
}

void Decoder::packet_lost(size_t at, int64_t now) {
    packets_lost_ = true;
    event(EventType::packet_loss, now);
    lose(Loss::packet_loss, now, at, 1, 0);
    markers_.packet_loss();
}

void Decoder::save_context(int64_t now) {
    event(EventType::save_context, now);
    for (Wave& wave : waves_) {
        if (!wave.absent()) wave.save_context();
    }
}

void Decoder::issue(uint32_t word, int64_t now) {
    const uint32_t simd = Issue::simd.word(word);
    uint32_t slots = (word | word >> 1) & Issue::kLowBits;
    while (slots != 0) {
        const auto bit = static_cast<uint32_t>(std::countr_zero(slots));
        Wave& wave = wave_at({simd * 16 + (bit - Issue::kFirstBit) / 2});
        if (wave.running()) wave.issue(word >> bit & 3, now);
        slots &= slots - 1;
    }
}

bool Decoder::inst(uint64_t word, size_t at, int64_t now) {
    const WaveSlot slot{Inst::wave_slot.word(word)};
    if (!slot.exists()) [[unlikely]]
        return bad_slot(at, now);
    Wave& wave = wave_at(slot);
    if (!wave.running()) [[unlikely]] {
        if (!wave.absent()) {
            wave.report_in_trap(Inst::kind.word(word), now);
            return true;
        }
        WaveStartInfo unseen;  // its start was lost (4.5)
        unseen.time = now;
        wave.start(unseen);
    }
    if (wave.report(Inst::kind.word(word), now, slot.simd(), phase_counter_)) [[likely]]
        return true;
    stale_.note(now, at);
    if (survive(at)) return true;
    emit(slot, at);
    return false;
}

bool Decoder::inst_pc(uint64_t word, size_t at, int64_t now) {
    const WaveSlot slot{InstPc::wave_slot.word(word)};
    if (!slot.exists()) return bad_slot(at, now);
    Wave& wave = wave_at(slot);
    if (wave.running() && wave.takes_pc()) wave.set_pc(registers_.live.translate(InstPc::dword.of(word) << 2));
    return true;
}

void Decoder::reg(uint64_t word, int64_t now) {
    if (!Reg::write.set(word)) return;
    const uint32_t me = effective_me(Reg::raw_me.word(word)), data = Reg::data.word(word);
    if (Reg::address.word(word) == Registers::userdata3) {
        end_.stopped = false;
        if (registers_.instrumented()) realtime_words_.write(data, now, records_.realtime);
    } else if (Reg::address.word(word) == Registers::userdata2) {
        end_.stopped = false;
        const auto agent = registers_.write_userdata2(data, me, Reg::pipe.word(word), now, records_);
        if (agent.counter_interval_written) counters_.fill_gaps(records_.counter_interval_cycles);
    }
}

void Decoder::reg_cs(uint64_t word, int64_t now) {
    constexpr uint32_t kNowhere = 0x7F, kPartialFlush = 7;  // a register that does nothing: its writes are events (8.6)
    const uint32_t me = effective_me(RegCs::raw_me.word(word)), pipe = RegCs::pipe.word(word);
    const uint32_t address = RegCs::address.word(word), data = RegCs::data.word(word);
    registers_.write_compute(address, data, me, pipe);
    if (address == Registers::dispatch_initiator && (data & 1) != 0) dispatch(me, pipe, now);
    if (address == kNowhere && data == kPartialFlush) {
        event(EventType::cs_partial_flush, now, me, pipe);
        end_.stopped = true;
    }
}

void Decoder::dispatch(uint32_t me, uint32_t pipe, int64_t now) {
    end_.stopped = false;
    constexpr uint32_t kMi350Version = 6, kGranule = 512, kMi350Granule = 1280;
    // Correction: the reference takes MI350's granule on every GPU.
    const bool small_granule = corrected_ && records_.stream_version != kMi350Version;
    registers_.add_dispatch(now, me, pipe,
                            {.vgprs = registers_.vgprs(),
                             .sgprs = registers_.sgprs(),
                             .lds_bytes = registers_.lds_granules() * (small_granule ? kGranule : kMi350Granule)},
                            records_.dispatches);
}

bool Decoder::shader_data(uint64_t word, size_t at, int64_t now) {
    if (names_bad_slot(word)) return bad_slot(at, now);
    constexpr uint8_t kNoFlags = 0;
    const WaveId wave = WaveId::of(word);
    const uint32_t value = InstUserdata::value.word(word);
    records_.shader_data.add(now, value, wave.cu, wave.simd, wave.slot, kNoFlags);
    markers_.value(now, value, wave.cu, wave.simd, wave.slot, kNoFlags);
    return true;
}

bool Decoder::wave_start(uint64_t word, size_t at, int64_t now) {
    const WaveSlot slot{WaveStart::wave_slot.word(word)};
    if (!slot.exists()) return bad_slot(at, now);
    end_.stopped = false;
    const uint32_t me = WaveStart::me.word(word), pipe = WaveStart::pipe.word(word);
    const Pc entry = registers_.kernel_entry(me, pipe);
    if (on_target(word)) {
        Wave& wave = wave_at(slot);
        if (WaveStart::count.word(word) > WaveStart::kMaxCount) {
            wave.restore_context(now);
            return true;
        }
        if (wave.absent()) {  // quirk: otherwise the wave before goes on
            wave.start({.time = now,
                        .entry = entry,
                        .me = static_cast<uint8_t>(me),
                        .pipe = static_cast<uint8_t>(pipe),
                        .count = WaveStart::count.byte(word),
                        .workgroup = WaveStart::workgroup.byte(word)});
        }
    }
    occupancy_.start(word, now, entry);
    const WaveId started = WaveId::of(word);
    markers_.wave_start(started.cu, started.simd, started.slot, entry);
    return true;
}

bool Decoder::wave_end(uint64_t word, size_t at, int64_t now) {
    const WaveSlot slot{WaveIdentity::wave_slot.word(word)};
    if (!slot.exists()) return bad_slot(at, now);
    end_.stopped = false;
    const uint64_t own_bits = word & 0xFFFF;  // quirk: the token has no room for me, pipe and workgroup
    if (on_target(own_bits)) {
        Wave& wave = wave_at(slot);
        if (!wave.running()) return true;
        wave.end(now);
        if (!emit(slot, at) && !survive(at)) return false;
    }
    if (const auto entry = occupancy_.end(own_bits, now, packets_lost_)) {
        const WaveId wave = WaveId::of(word);
        markers_.wave_end(wave.cu, wave.simd, wave.slot, *entry);
    }
    if (records_.double_buffer) occupancy_.flush_full_batch();
    return true;
}

bool Decoder::emit(WaveSlot slot, size_t bytes_read) {
    Wave& wave = wave_at(slot);
    if (emitter_.lacks_room(wave)) project_tables(bytes_read);
    wave.leave();
    return emitter_.emit(wave, slot, registers_.from_start);
}

// Sizes the tables for the whole buffer, as if the rest of it were like what was read so far.
void Decoder::project_tables(size_t bytes_read) {
    size_t instructions = records_.instructions.wave.size(), states = records_.states.wave.size();
    for (const Wave& wave : waves_) {
        if (wave.absent()) continue;
        instructions += wave.instruction_count();
        states += wave.state_count();
    }
    constexpr double kMargin = 1.1;
    constexpr size_t kBytesPerRow = 4;  // streams with more rows than that grow their tables step by step
    const double growth = kMargin * static_cast<double>(tokens_.size()) / static_cast<double>(bytes_read);
    const auto projected = [&](size_t rows) {
        return static_cast<size_t>(
            std::min(static_cast<double>(rows) * growth, static_cast<double>(tokens_.size() / kBytesPerRow)));
    };
    emitter_.leave_room(projected(instructions), projected(states));
}

void Decoder::finish() {
    occupancy_.flush();
    markers_.finish(registers_.from_start);
    for (uint32_t index = 0; index < WaveSlot::kCount; ++index) {
        if (!wave_at({index}).absent() && !emit({index}, tokens_.size())) survive(tokens_.size());
    }
    if (packets_lost_ && records_.status != Status::stopped) {  // the reference says nothing once it has given up
        records_.info.code.push_back(static_cast<uint8_t>(Info::data_lost));
    }
    counters_.finish(records_.counter_interval_cycles, records_.counters);
    if (counters_.skipped() != 0) lose(Loss::counter_gaps, 0, 0, counters_.skipped(), 0);
    for (const Unusable& unusable : {bad_slots_, stale_}) {
        if (unusable.count == 0) continue;
        lose(unusable.kind, unusable.first_time, unusable.first_byte, unusable.count, 0);
    }
    finish_stream();
}

// The profiler stops a trace with a flush of the compute pipe or of caches. Lost packets take ends of waves with them.
void Decoder::finish_stream() {
    if (time_awaited_) end_.stopped = false;
    end_.unended_waves = packets_lost_ ? 0 : occupancy_.running_count();
    end_.note(records_);
}

}  // namespace
}  // namespace gfx9

void decode_gfx9(std::span<const uint8_t> bytes, const Program& program, const Options& options, Records& records) {
    gfx9::Decoder(bytes, program, options, records).decode();
}

}  // namespace wavewright
