// The gfx9/CDNA stream: one pass over the tokens of a buffer, record for record equal to the reference
// (spec_gfx9; section numbers below are its).
#include <algorithm>
#include <array>
#include <bit>

#include "families.hpp"
#include "gfx9_counters.hpp"
#include "gfx9_occupancy.hpp"
#include "gfx9_pcmap.hpp"
#include "gfx9_realtime.hpp"
#include "gfx9_time.hpp"
#include "gfx9_tokens.hpp"
#include "gfx9_wave.hpp"
#include "registers.hpp"

namespace wavescope {
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
          pc_map_(program),
          occupancy_(records.occupancy, registers_.from_start),
          counters_(bytes.size()) {
        const uint64_t header = tokens_.load_inside(0);
        records_.target_cu = static_cast<uint8_t>(Header::TargetCu::of(header));
        records_.double_buffer = Header::DoubleBuffer::of(header) != 0;
    }

    void decode() {
        read_tokens();
        finish();
    }

  private:
    static constexpr size_t kBytesInSight = 2 * kLongestToken;  // a run of time tokens and the token behind it

    struct SlotId {
        uint32_t simd, slot;
        size_t index() const { return simd * kSlots + slot; }
        uint32_t mask() const { return uint32_t{1} << (Issue::kFirstBit + 2 * slot); }
    };

    void read_tokens();
    bool misc(uint64_t word, size_t at, int64_t& now);
    bool inst(uint64_t word, size_t at, int64_t now);
    void issue(uint32_t word, int64_t now);
    void inst_pc(uint64_t word);
    void reg(uint64_t word, int64_t now);
    void reg_cs(uint64_t word, int64_t now);
    void dispatch(uint32_t me, uint32_t pipe, int64_t now);
    void shader_data(uint64_t word, int64_t now);
    void packet_lost(size_t at, int64_t now);
    void save_context(int64_t now);

    void wave_start(uint64_t word, int64_t now);
    bool wave_end(uint64_t word, size_t at, int64_t now);
    void create(SlotId id, const WaveStartInfo& info);
    void close(SlotId id);
    void update_issue_mask(SlotId id);
    bool emit(SlotId id);
    void add_instructions(std::span<const Instruction> instructions, uint32_t wave);
    void add_states(std::span<const StateSpan> states, uint32_t wave);
    void judge(const Wave& wave, uint32_t number, bool stitched, uint64_t without_pc);
    void finish();

    bool on_target(uint64_t word) const {
        return WaveIdentity::Cu::of(word) == records_.target_cu && WaveIdentity::Sh::of(word) == 0;
    }
    void event(EventType type, int64_t now, uint32_t me = 0, uint32_t pipe = 0) {
        records_.events.add(now, static_cast<uint8_t>(type), static_cast<uint8_t>(me), static_cast<uint8_t>(pipe), 0,
                            0);
    }
    void lose(Loss kind, int64_t now, size_t at, uint64_t count, uint64_t value) {
        records_.losses.add(static_cast<uint8_t>(kind), now, at, count, value);
    }
    // The reference's own report; it has none behind the point where it gives up.
    void inform(Info code) {
        if (records_.status != Status::stopped) records_.info.code.push_back(static_cast<uint8_t>(code));
    }
    // Whether decoding goes on behind something the reference cannot digest.
    bool survive(size_t at) {
        if (corrected_) return true;
        if (records_.status != Status::stopped) {
            records_.status = Status::stopped;
            records_.stopped_at_byte = at;
        }
        return false;
    }
    bool bad_slot(size_t at, int64_t now) {
        bad_slots_.note(now, at);
        return survive(at);
    }

    const TokenBytes tokens_;
    const bool corrected_;
    Records& records_;
    Registers registers_;
    RealtimeWords realtime_words_;
    PcMap pc_map_;
    Occupancy occupancy_;
    Counters counters_;
    Anchor anchor_;

    std::array<Wave, kSimds * kSlots> waves_;
    // Per SIMD, with the slots' bits where an ISSUE token has them: waves that exist, and those that take issues.
    std::array<uint32_t, kSimds> live_{};
    std::array<uint32_t, kSimds> issuing_{};
    uint32_t phase_counter_ = 15;

    bool packets_lost_ = false;
    bool said_wave_incomplete_ = false, said_stitch_incomplete_ = false;
    Unusable bad_slots_{Loss::bad_slot};
    Unusable stale_{Loss::stale_instruction};
};

void Decoder::read_tokens() {
    size_t at = kHeaderBytes;
    int64_t now = 0;
    uint64_t count = 0;
    bool go_on = true;
    while (go_on && at < tokens_.size()) {
        uint64_t word;
        if (tokens_.size() - at >= kBytesInSight) [[likely]] {
            const TimeRun run = TimeRun::of(tokens_.load_inside(at));
            at += run.bytes;
            now += run.cycles;
            count += run.tokens;
            word = tokens_.load_inside(at);
        } else {
            word = tokens_.load(at);
            if (!tokens_.fits(at, word)) {
                lose(Loss::truncated_token, now, at, tokens_.size() - at, 0);
                break;
            }
        }
        const uint32_t number = Token::Type::of(word);
        const auto type = static_cast<TokenType>(number);
        const size_t token_at = at;
        at += kTokens[number].bytes;
        ++count;
        if (type == TokenType::misc) {
            go_on = misc(word, token_at, now);
            continue;
        }
        if (type == TokenType::timestamp && anchor_.used(token_at)) continue;
        now += kCyclesPerDelta * Token::Delta::of(word);
        if (names_bad_slot(word)) [[unlikely]] {
            go_on = bad_slot(token_at, now);
            continue;
        }
        switch (type) {
            case TokenType::issue: issue(static_cast<uint32_t>(word), now); break;
            case TokenType::inst: go_on = inst(word, token_at, now); break;
            case TokenType::inst_pc: inst_pc(word); break;
            case TokenType::wave_start: wave_start(word, now); break;
            case TokenType::wave_end: go_on = wave_end(word, token_at, now); break;
            case TokenType::reg: reg(word, now); break;
            case TokenType::reg_cs:
            case TokenType::reg_cs_priv: reg_cs(word, now); break;
            case TokenType::inst_userdata: shader_data(word, now); break;
            case TokenType::perf: counters_.add(word, now, records_.counter_interval_cycles); break;
            case TokenType::misc:
            case TokenType::timestamp:
            case TokenType::wave_alloc:
            case TokenType::event:
            case TokenType::event_cs:
            case TokenType::event_gfx1: break;
        }
    }
    records_.token_count = count;
}

bool Decoder::misc(uint64_t word, size_t at, int64_t& now) {
    const uint32_t kind = Misc::Kind::of(word);
    if (kind == Misc::time_reset && anchor_.used(at)) return true;
    now += kCyclesPerDelta * Misc::Delta::of(word);
    switch (kind) {
        case Misc::time_reset: {
            const Anchor::Result ahead = anchor_.look_ahead(tokens_, at + kTokens[0].bytes, now, !corrected_);
            now = ahead.now;
            return !ahead.bad_slot || bad_slot(ahead.bad_slot_at, now);
        }
        case Misc::packet_lost: packet_lost(at, now); break;
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
}

void Decoder::save_context(int64_t now) {
    event(EventType::save_context, now);
    for (uint32_t simd = 0; simd < kSimds; ++simd) {
        for (uint32_t slot = 0; slot < kSlots; ++slot) {
            const SlotId id{simd, slot};
            if ((live_[simd] & id.mask()) != 0) waves_[id.index()].save_context();
        }
        issuing_[simd] = 0;
    }
}

void Decoder::issue(uint32_t word, int64_t now) {
    const uint32_t simd = Issue::Simd::of(word);
    uint32_t slots = (word | word >> 1) & issuing_[simd];
    while (slots != 0) {
        const auto bit = static_cast<unsigned>(std::countr_zero(slots));
        waves_[SlotId{simd, (bit - Issue::kFirstBit) / 2}.index()].issue(word >> bit & 3, now);
        slots &= slots - 1;
    }
}

bool Decoder::inst(uint64_t word, size_t at, int64_t now) {
    const SlotId id{Inst::Simd::of(word), Inst::Slot::of(word)};
    if ((live_[id.simd] & id.mask()) == 0) create(id, {.time = now});
    Wave& wave = waves_[id.index()];
    const uint32_t kind = Inst::Kind::of(word);
    if (wave.report(kind, now, id.simd, phase_counter_)) [[likely]] {
        if (kind == InstKind::pc || kind == InstKind::go_to_trap) update_issue_mask(id);
        return true;
    }
    stale_.note(now, at);
    if (survive(at)) return true;
    emit(id);
    close(id);
    return false;
}

void Decoder::inst_pc(uint64_t word) {
    const SlotId id{InstPc::Simd::of(word), InstPc::Slot::of(word)};
    if ((live_[id.simd] & id.mask()) == 0) return;
    Wave& wave = waves_[id.index()];
    if (wave.takes_pc()) wave.set_pc(registers_.live.translate(InstPc::Dword::of(word) << 2));
}

void Decoder::reg(uint64_t word, int64_t now) {
    if (Reg::Write::of(word) == 0) return;
    const uint32_t me = effective_me(Reg::RawMe::of(word)), data = Reg::Data::of(word);
    if (Reg::Address::of(word) == Registers::userdata3) {
        if (registers_.instrumented()) realtime_words_.write(data, now, records_.realtime);
    } else if (Reg::Address::of(word) == Registers::userdata2) {
        const auto agent = registers_.write_userdata2(data, me, Reg::Pipe::of(word), now, records_);
        if (agent.counter_interval_written) counters_.fill_gaps(records_.counter_interval_cycles);
    }
}

void Decoder::reg_cs(uint64_t word, int64_t now) {
    constexpr uint32_t kNowhere = 0x7F, kPartialFlush = 7;
    const uint32_t me = effective_me(RegCs::RawMe::of(word)), pipe = RegCs::Pipe::of(word);
    const uint32_t address = RegCs::Address::of(word), data = RegCs::Data::of(word);
    registers_.write_compute(address, data, me, pipe);
    if (address == Registers::dispatch_initiator && (data & 1) != 0) dispatch(me, pipe, now);
    if (address == kNowhere && data == kPartialFlush) event(EventType::cs_partial_flush, now, me, pipe);
}

// 8.7. The register fields of COMPUTE_PGM_RSRC1 and RSRC2.
void Decoder::dispatch(uint32_t me, uint32_t pipe, int64_t now) {
    const uint32_t rsrc1 = registers_.rsrc1, rsrc2 = registers_.rsrc2;
    const uint32_t flags = Bits<10, 10>::of(rsrc1) | Bits<11, 11>::of(rsrc1) << 1 | Bits<14, 14>::of(rsrc1) << 2 |
                           Bits<0, 0>::of(rsrc2) << 3;
    constexpr uint32_t kMi350Version = 6, kGranule = 512, kMi350Granule = 1280;
    // Correction: the reference takes MI350's granule on every GPU.
    const bool small_granule = corrected_ && records_.stream_version != kMi350Version;
    const Pc entry = registers_.kernel_entry(me, pipe);
    records_.dispatches.add(now, static_cast<uint8_t>(me), static_cast<uint8_t>(pipe),
                            static_cast<uint16_t>(Bits<1, 5>::of(rsrc2)), flags, Bits<0, 5>::of(rsrc1) * 8 + 8,
                            Bits<7, 9>::of(rsrc1) * 16 + 16,
                            Bits<15, 23>::of(rsrc2) * (small_granule ? kGranule : kMi350Granule), registers_.threads[0],
                            registers_.threads[1], registers_.threads[2], entry.object, entry.address);
}

void Decoder::shader_data(uint64_t word, int64_t now) {
    records_.shader_data.add(now, InstUserdata::Value::of(word), static_cast<uint8_t>(InstUserdata::Cu::of(word)),
                             static_cast<uint8_t>(InstUserdata::Simd::of(word)),
                             static_cast<uint8_t>(InstUserdata::Slot::of(word)), 0);
}

void Decoder::wave_start(uint64_t word, int64_t now) {
    const uint32_t me = WaveStart::Me::of(word), pipe = WaveStart::Pipe::of(word);
    const Pc entry = registers_.kernel_entry(me, pipe);
    if (on_target(word)) {
        const SlotId id{WaveStart::Simd::of(word), WaveStart::Slot::of(word)};
        const bool live = (live_[id.simd] & id.mask()) != 0;
        if (WaveStart::Count::of(word) > WaveStart::kMaxCount) {
            if (live) waves_[id.index()].restore_context(now);
            return;
        }
        if (!live) {  // quirk: otherwise the wave before goes on
            create(id, {.time = now,
                        .entry = entry,
                        .me = static_cast<uint8_t>(me),
                        .pipe = static_cast<uint8_t>(pipe),
                        .count = static_cast<uint8_t>(WaveStart::Count::of(word)),
                        .workgroup = static_cast<uint8_t>(WaveStart::Workgroup::of(word))});
        }
    }
    occupancy_.start(word, now, entry);
}

bool Decoder::wave_end(uint64_t word, size_t at, int64_t now) {
    const uint64_t own_bits = word & 0xFFFF;  // quirk: the token has no room for me, pipe and workgroup
    if (on_target(own_bits)) {
        const SlotId id{WaveIdentity::Simd::of(word), WaveIdentity::Slot::of(word)};
        if ((live_[id.simd] & id.mask()) == 0) return true;
        Wave& wave = waves_[id.index()];
        if (wave.trap() != Trap::none) return true;
        wave.end(now);
        const bool go_on = emit(id) || survive(at);
        close(id);
        if (!go_on) return false;
    }
    occupancy_.end(own_bits, now, packets_lost_);
    if (records_.double_buffer) occupancy_.flush_full_batch();
    return true;
}

void Decoder::create(SlotId id, const WaveStartInfo& info) {
    waves_[id.index()].start(info);
    live_[id.simd] |= id.mask();
    issuing_[id.simd] |= id.mask();
}

void Decoder::close(SlotId id) {
    live_[id.simd] &= ~id.mask();
    issuing_[id.simd] &= ~id.mask();
}

void Decoder::update_issue_mask(SlotId id) {
    issuing_[id.simd] &= ~id.mask();
    if (waves_[id.index()].trap() == Trap::none) issuing_[id.simd] |= id.mask();
}

// Gives the wave's instructions their PCs and adds it to the records. False: a taken branch leads nowhere, and the
// reference would give up.
bool Decoder::emit(SlotId id) {
    Wave& wave = waves_[id.index()];
    wave.resolve_pcs([this](Pc& pc) {
        if (pc.object == 0) pc = registers_.from_start.translate(pc.address);
    });
    const std::span<Instruction> instructions = wave.instructions();
    const auto number = static_cast<uint32_t>(records_.waves.cu.size());
    const size_t first_instruction = records_.instructions.wave.size();
    const size_t first_state = records_.states.wave.size();

    int32_t* rows = records_.instructions.row.extend(instructions.size());
    std::fill_n(rows, instructions.size(), -1);
    const PcMap::Result mapped = pc_map_.walk(wave, instructions, rows);
    if (!wave.complete) {
        for (const Instruction& last : instructions) {
            wave.end_time = std::max(wave.end_time, last.end() + kCyclesPerDelta);
        }
    }
    add_instructions(instructions, number);
    add_states(wave.states(), number);
    // Correction: the reference reports the number of work-items as the workgroup.
    const uint8_t workgroup = corrected_ ? wave.info.workgroup : wave.info.count;
    records_.waves.add(records_.target_cu, static_cast<uint8_t>(id.simd), static_cast<uint8_t>(id.slot), wave.contexts,
                       wave.info.me, wave.info.pipe, workgroup, 0, wave.complete, wave.info.time, wave.end_time,
                       wave.info.entry.object, wave.info.entry.address, first_instruction,
                       static_cast<uint32_t>(instructions.size()), first_state,
                       static_cast<uint32_t>(wave.states().size()));
    if (mapped.target_missing) {
        lose(Loss::branch_target_missing, wave.end_time, 0, 1, number);
        if (!corrected_) return false;
    }
    const auto without_pc = static_cast<uint64_t>(std::count(rows, rows + instructions.size(), -1));
    judge(wave, number, mapped.reached == instructions.size(), without_pc);
    return true;
}

void Decoder::add_instructions(std::span<const Instruction> instructions, uint32_t wave) {
    InstructionTable& table = records_.instructions;
    const size_t count = instructions.size();
    std::fill_n(table.wave.extend(count), count, wave);
    int64_t* time = table.time_cycles.extend(count);
    int32_t* stall = table.stall_cycles.extend(count);
    int32_t* duration = table.duration_cycles.extend(count);
    uint8_t* category = table.category.extend(count);
    for (size_t i = 0; i < count; ++i) {
        time[i] = instructions[i].time;
        stall[i] = static_cast<int32_t>(instructions[i].stall);
        duration[i] = instructions[i].duration;
        category[i] = instructions[i].category;
    }
}

void Decoder::add_states(std::span<const StateSpan> states, uint32_t wave) {
    const size_t count = states.size();
    std::fill_n(records_.states.wave.extend(count), count, wave);
    uint8_t* state = records_.states.state.extend(count);
    int32_t* duration = records_.states.duration_cycles.extend(count);
    for (size_t i = 0; i < count; ++i) {
        state[i] = static_cast<uint8_t>(states[i].state);
        duration[i] = states[i].duration;
    }
}

// What is missing in a wave (6.5): a line in the losses for each, the reference's report once.
void Decoder::judge(const Wave& wave, uint32_t number, bool stitched, uint64_t without_pc) {
    if (!wave.complete) {
        lose(Loss::wave_incomplete, wave.end_time, 0, without_pc, number);
    } else if (!stitched && without_pc != 0) {
        lose(Loss::stitch_incomplete, wave.end_time, 0, without_pc, number);
    }
    if (!wave.complete && !wave.trapped()) {
        if (!said_wave_incomplete_) inform(Info::wave_incomplete);
        said_wave_incomplete_ = true;
    } else if (!stitched) {
        if (!said_stitch_incomplete_) inform(Info::stitch_incomplete);
        said_stitch_incomplete_ = true;
    }
}

void Decoder::finish() {
    occupancy_.flush();
    for (uint32_t simd = 0; simd < kSimds; ++simd) {
        for (uint32_t slot = 0; slot < kSlots; ++slot) {
            const SlotId id{simd, slot};
            if ((live_[simd] & id.mask()) != 0 && !emit(id)) survive(tokens_.size());
        }
    }
    if (packets_lost_) inform(Info::data_lost);
    counters_.finish(records_.counter_interval_cycles, records_.counters);
    for (const Unusable& unusable : {bad_slots_, stale_}) {
        if (unusable.count == 0) continue;
        lose(unusable.kind, unusable.first_time, unusable.first_byte, unusable.count, 0);
    }
}

}  // namespace
}  // namespace gfx9

void decode_gfx9(std::span<const uint8_t> bytes, const Program& program, const Options& options, Records& records) {
    gfx9::Decoder(bytes, program, options, records).decode();
}

}  // namespace wavescope
