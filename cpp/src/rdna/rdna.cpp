// The RDNA families: one buffer of tokens -> records (spec_rdna 1, 7, 8, 12.1, 13 and 14).
#include <array>
#include <unordered_map>

#include "decode/families.hpp"
#include "decode/markers.hpp"
#include "decode/registers.hpp"
#include "decode/stream_end.hpp"
#include "rdna/emit.hpp"
#include "rdna/occupancy.hpp"
#include "rdna/ops.hpp"
#include "rdna/reader.hpp"
#include "rdna/slots.hpp"

namespace wavewright {
namespace rdna {
namespace {

// EVENT ids -> event types; ids not listed give no record (spec_rdna 13.1).
constexpr std::array<EventType, 64> event_types() {
    std::array<EventType, 64> types{};
    types[0x07] = EventType::cs_partial_flush;
    types[0x28] = EventType::bottom_of_pipe;
    for (const size_t id : {0x04, 0x06, 0x14, 0x16}) types[id] = EventType::cache_flush;
    types[0x36] = EventType::trace_flush;
    return types;
}
constexpr std::array<EventType, 64> kEventTypes = event_types();

// What stops a trace: THREAD_TRACE_FINISH, or COMPUTE_THREAD_TRACE_ENABLE = 0. aqlprofile writes the register, and
// the event from gfx12 on; Mesa and tinygrad send both.
constexpr uint64_t kTraceFinish = 0x37;
constexpr uint32_t kTraceEnable = 0x1E;

constexpr uint64_t byte_of(int64_t position) {
    return static_cast<uint64_t>(position) >> 3;
}

// Receives the tokens of one buffer in the reader's order.
class Dispatcher {
  public:
    Dispatcher(const Program& program, const Options& options, bool is_gfx12, size_t input_bytes, Records& records)
        : corrected_(options.corrected),
          new_pc_(is_gfx12 ? kLongNewPc : kShortNewPc),
          records_(records),
          occupancy_(records.occupancy),
          markers_(program, records),
          emitter_(program, options, is_gfx12, input_bytes, records) {
        registers_.code_object_event_flags = 0;
        set_version(0);
    }

    // False: stop reading. In the reader's loop the token is a constant, and only its case remains.
    [[gnu::always_inline]] bool deliver(Token token, int64_t time, uint64_t contents, int64_t position) {
        const bool after_loss = loss_pending_;
        if (after_loss) report_loss(time);
        switch (token) {
            case Token::inst: inst(time, contents); break;
            case Token::valu:
                if (Wave* wave = slots_.top(kValuSlot.of(contents))) wave->valu(time);
                break;
            case Token::imm_one:
                if (Wave* wave = slots_.top(layout_->imm_one_slot.of(contents))) wave->immediate(time);
                break;
            case Token::immediate: each_masked(contents, [time](Wave& wave) { wave.immediate(time); }); break;
            case Token::wave_ready: each_masked(contents, [time](Wave& wave) { wave.ready(time); }); break;
            case Token::new_pc: new_pc(time, contents); break;
            case Token::wave_start:
            case Token::wave_start_ext: return wave_start(time, contents, position, after_loss);
            case Token::wave_end: wave_end(time, contents); break;
            case Token::shader_data: shader_data(time, contents, false); break;
            case Token::shader_data_short: shader_data(time, contents, true); break;
            case Token::misc: misc(time, contents, position); break;
            case Token::event: event(time, contents); break;
            case Token::reg: reg(time, contents); break;
            case Token::reg_init: reg_init(time, contents); break;
            case Token::header: header(contents); break;
            default: break;
        }
        return true;
    }

    // A token of which only the time counts.
    void pass(int64_t time) {
        if (has_pending_) finish_pending(time);
    }
    bool has_pending() const { return has_pending_; }

    // Whether a register write leaves no record.
    static bool is_silent_reg(uint64_t contents) { return reg_field::address.of(contents) != Registers::userdata2; }

    void realtime(int64_t time, uint64_t ticks, bool merge);

    void lose_packets(int64_t position) {
        has_pending_ = loss_pending_ = true;
        loss_position_ = position;
    }
    bool has_lost_packets() const { return loss_pending_; }

    // Everything that waits for the end of the buffer.
    void finish();
    void finish_stream();

    template <class Reader>
    void note_reading(const Reader& reader, std::span<const uint8_t> bytes);

  private:
    // Of the WAVE_START count field: values from the first up to the second are context switches (spec_rdna 8.1).
    static constexpr uint32_t kContextSwitches = 66, kContextSwitchEnd = 90;

    template <class Action>
    void each_masked(uint64_t contents, Action&& action) {
        for (uint64_t mask = kSlotMask.of(contents); mask != 0; mask &= mask - 1) {
            if (Wave* wave = slots_.top(static_cast<size_t>(std::countr_zero(mask)))) action(*wave);
        }
    }

    void set_version(uint32_t tt) {
        trace_version_ = tt;
        layout_ = &layout_for(tt);
        ops_ = &ops_for(tt);
    }
    bool is_target(Location at) const { return at.cu == target_cu_ && at.simd == target_simd_; }

    [[gnu::noinline]] void finish_pending(int64_t time);
    [[gnu::always_inline]] void inst(int64_t time, uint64_t contents) {
        const Op& op = (*ops_)[layout_->inst.op.of(contents)];
        if (op.kind != OpKind::issue) return unusual_inst(time, contents, op);
        if (Wave* wave = slots_.top(layout_->inst.slot.of(contents))) wave->inst(time, op, trace_version_ <= 3);
    }
    [[gnu::noinline]] void unusual_inst(int64_t time, uint64_t contents, const Op& op);
    void header(uint64_t contents);
    void new_pc(int64_t time, uint64_t contents);
    bool wave_start(int64_t time, uint64_t contents, int64_t position, bool after_loss);
    void context_switch(int64_t time, uint32_t code, Location at, const Launch& launch);
    void wave_end(int64_t time, uint64_t contents);
    void shader_data(int64_t time, uint64_t contents, bool is_short);
    void misc(int64_t time, uint64_t contents, int64_t position);
    void event(int64_t time, uint64_t contents);
    void reg(int64_t time, uint64_t contents);
    void reg_init(int64_t time, uint64_t contents);
    bool emit(Wave& wave);
    void report_loss(int64_t time);
    void add_event(int64_t time, EventType type) { records_.events.add(time, static_cast<uint8_t>(type), 0, 0, 0, 0); }

    const bool corrected_;
    const NewPc new_pc_;
    Records& records_;
    Registers registers_;
    RunningWaves running_;
    std::unordered_map<uint32_t, Pc> saved_;  // entries of waves that a context switch put away
    OccupancyLog occupancy_;
    MarkerTracker markers_;
    WaveSlots slots_;
    WaveEmitter emitter_;

    uint32_t trace_version_ = 0;
    const Layout* layout_ = nullptr;
    const OpTable* ops_ = nullptr;
    std::array<uint8_t, kRates> rate_shift_{};  // log2 of what each Rate multiplies cycles with
    uint32_t target_cu_ = 0;
    uint32_t target_simd_ = 0;
    bool double_buffer_ = false;
    bool exclude_barrier_ = false;
    uint8_t active_cluster_ = 0;
    bool cluster_ends_ = false;

    bool has_pending_ = false;   // work for the next token without a handler
    bool loss_pending_ = false;  // a TIMESTAMP reported it, the next token carries it
    bool any_loss_ = false;
    int64_t loss_position_ = 0;
    size_t realtime_flushed_ = 0;
    StreamEnd end_;
};

// A token without a handler still reports a loss, and lets a full list of realtime pairs go (spec_rdna 14.2).
void Dispatcher::finish_pending(int64_t time) {
    if (loss_pending_) report_loss(time);
    const size_t pairs = records_.realtime.realtime_ticks.size();
    if (pairs - realtime_flushed_ >= OccupancyLog::kBatch) realtime_flushed_ = pairs;
    has_pending_ = false;
}

void Dispatcher::header(uint64_t contents) {
    set_version(header_field::version.word(contents));
    if (trace_version_ >= 4) double_buffer_ = header_field::double_buffer.set(contents);
    // The reference reads 3 bits on v4 although its wave tokens have 4: targets from WGP 8 on give no waves.
    const Field wgp = corrected_ && trace_version_ == 4 ? kLayoutV5.target_wgp : layout_->target_wgp;
    target_cu_ = (header_field::sa.word(contents) << 7) + wgp.word(contents);
    target_simd_ = header_field::simd.word(contents);
    records_.target_cu = static_cast<uint8_t>(target_cu_);
    records_.target_simd = static_cast<uint8_t>(target_simd_);
    records_.double_buffer = double_buffer_;
    if (trace_version_ >= 5) {
        const bool half_rate = header_field::half_rate_trans.set(contents);
        rate_shift_[static_cast<size_t>(Rate::transcendental)] = half_rate ? 0 : 1;
        return;
    }
    // The rate of double precision is a power of two, stored as its exponent plus one; 0 counts as 1.
    const uint64_t rate = header_field::dp_rate.of(contents) & (trace_version_ < 3 ? 15 : 7);
    const auto dp_shift = static_cast<uint8_t>(rate == 0 ? 0 : rate - 1);
    rate_shift_[static_cast<size_t>(Rate::double_precision)] = dp_shift;
    rate_shift_[static_cast<size_t>(Rate::derated_double_precision)] =
        static_cast<uint8_t>(dp_shift + header_field::dp_derate.of(contents));
    if (trace_version_ == 4) exclude_barrier_ = header_field::exclude_barrier.set(contents);
}

void Dispatcher::unusual_inst(int64_t time, uint64_t contents, const Op& op) {
    const uint32_t cycles = op.cycles << rate_shift_[static_cast<size_t>(op.rate)];
    if (op.kind == OpKind::other_simd) {
        records_.other_simd.add(time, static_cast<uint16_t>(cycles), static_cast<uint8_t>(target_cu_),
                                static_cast<uint8_t>(op.category));
        return;
    }
    Wave* wave = slots_.top(layout_->inst.slot.of(contents));
    if (wave == nullptr) return;
    if (op.kind == OpKind::replay) return wave->replay();
    if (op.kind == OpKind::matrix_scale) return wave->scale_next();
    wave->unusual_inst(time, op, cycles, trace_version_ <= 3);
}

void Dispatcher::new_pc(int64_t time, uint64_t contents) {
    Wave* wave = slots_.top(new_pc_.slot.of(contents));
    if (wave != nullptr) wave->new_pc(time, registers_.live.translate(new_pc_.pc.of(contents) << 2));
}

// Spec_rdna 8.1. False: the reference gives up at a wave that was emitted here.
bool Dispatcher::wave_start(int64_t time, uint64_t contents, int64_t position, bool after_loss) {
    end_.stopped = false;
    const auto& field = layout_->start;
    const Location at{static_cast<uint8_t>((field.sa.of(contents) << 7) + field.wgp.of(contents)),
                      field.simd.byte(contents), field.slot.byte(contents)};
    Launch launch{.me = field.me.byte(contents), .pipe = field.pipe.byte(contents)};
    if (field.ext.set(contents) && !field.lds_extension.set(contents)) {
        launch.is_ext = 1;
        launch.workgroup = field.workgroup.byte(contents);
    }
    const uint32_t count = field.count.word(contents);
    if (count >= kContextSwitches && count < kContextSwitchEnd) {
        context_switch(time, count - kContextSwitches, at, launch);
        return true;
    }
    // What runs here has ended, and its end was lost: the reference puts it right in front of the start.
    if (after_loss && running_.find(at)) occupancy_.add(wrap_sub(time, 1), at, false, {}, {});
    launch.cluster = active_cluster_;
    if (cluster_ends_) {
        active_cluster_ = 0;
        cluster_ends_ = false;
    }
    const Pc entry = registers_.kernel_entry(launch.me, launch.pipe);
    running_.set(at, entry);
    occupancy_.add(time, at, true, launch, entry);
    markers_.wave_start(at.cu, at.simd, at.slot, entry);
    if (double_buffer_ && occupancy_.pending() >= OccupancyLog::kBatch) occupancy_.flush(registers_.from_start);
    if (!is_target(at)) return true;

    // A wave is emitted here and not at its end, because a NEW_PC can follow the end.
    while (Wave* top = slots_.top(at.slot)) {
        if (!top->complete) break;
        const bool goes_on = emit(*top);
        slots_.pop(at.slot);
        if (!goes_on) {
            records_.stopped_at_byte = byte_of(position);
            return false;
        }
    }
    slots_.push(at.slot).start(time,
                               {at.cu, at.simd, at.slot, launch.me, launch.pipe, launch.workgroup, launch.cluster},
                               entry, exclude_barrier_);
    return true;
}

// Spec_rdna 8.3. Codes 0, 1, 4 and 5 save a wave, 2, 3, 6, 7, 8 and 9 restore one, others mean nothing.
void Dispatcher::context_switch(int64_t time, uint32_t code, Location at, const Launch& launch) {
    constexpr uint32_t kLastCode = 9, kLastSaving = 5, kRestores = 2;
    if (code > kLastCode) return;
    const bool saves = code <= kLastSaving && (code & kRestores) == 0;
    if (is_target(at)) {
        Wave* top = slots_.top(at.slot);
        if (!saves && (top == nullptr || top->complete)) {
            top = &slots_.push(at.slot);
            top->start(time, {at.cu, at.simd, at.slot, launch.me, launch.pipe, launch.workgroup, 0}, {},
                       exclude_barrier_);
        }
        if (top != nullptr) saves ? top->save_context(time) : top->restore_context(time);
    }
    if (saves) {
        if (const std::optional<Pc> entry = running_.find(at)) {
            occupancy_.add(time, at, false, launch, *entry);
            saved_[at.key()] = *entry;
        }
        return;
    }
    Pc entry;
    if (const auto saved = saved_.find(at.key()); saved != saved_.end()) {
        entry = saved->second;
        saved_.erase(saved);
    }
    running_.set(at, entry);
    occupancy_.add(time, at, true, launch, entry);
}

void Dispatcher::wave_end(int64_t time, uint64_t contents) {
    end_.stopped = false;
    const auto& field = layout_->end;
    const Location at{static_cast<uint8_t>((field.sa.of(contents) << 7) + field.wgp.of(contents)),
                      field.simd.byte(contents), field.slot.byte(contents)};
    if (is_target(at)) {
        if (Wave* wave = slots_.top(at.slot)) wave->finish(time);
    }
    const std::optional<Pc> running = running_.take(at);
    if (!running) occupancy_.add_missing_start(at);
    Pc entry = running.value_or(Pc{});
    if (entry.object == 0 && entry.address != 0) entry = registers_.from_start.translate(entry.address);
    occupancy_.add(time, at, false, {}, entry);
    markers_.wave_end(at.cu, at.simd, at.slot, entry);
}

void Dispatcher::shader_data(int64_t time, uint64_t contents, bool is_short) {
    constexpr uint8_t kImmediate = 1, kPrivileged = 2;
    const auto& field = layout_->shader_data;
    if (trace_version_ == 3 && field.exec_masked.set(contents)) return;
    const Field& data = is_short ? field.data_short : field.data;
    const Field& privileged = is_short ? field.privileged_short : field.privileged;
    const uint8_t flags =
        static_cast<uint8_t>((is_short ? kImmediate : 0) | (privileged.set(contents) ? kPrivileged : 0));
    const auto cu = static_cast<uint8_t>((field.sa.of(contents) << 7) + field.wgp.of(contents));
    const uint8_t simd = field.simd.byte(contents), slot = field.slot.byte(contents);
    records_.shader_data.add(time, data.of(contents), cu, simd, slot, flags);
    markers_.value(time, data.of(contents), cu, simd, slot, flags);
}

void Dispatcher::misc(int64_t time, uint64_t contents, int64_t position) {
    const auto& field = layout_->misc;
    if (!field.any.set(contents)) return;
    const bool low_bit = field.sample_or_loss.set(contents);
    if (low_bit && trace_version_ <= 2) {
        loss_position_ = position;
        report_loss(time);
    }
    if (field.save.set(contents)) {
        add_event(time, EventType::save_context);
        for (size_t slot = 0; slot < WaveSlots::kSlots; ++slot) {
            if (Wave* wave = slots_.top(slot)) wave->trap();
        }
    }
    if (field.stall_begin.set(contents)) add_event(time, EventType::trace_stall_begin);
    if (field.stall_end.set(contents)) add_event(time, EventType::trace_stall_end);
    if (field.didt_begin.set(contents)) add_event(time, EventType::didt_stall_begin);
    if (field.didt_end.set(contents)) add_event(time, EventType::didt_stall_end);
    if (field.rinse.set(contents)) add_event(time, EventType::gc_rinse);
    if (low_bit && trace_version_ > 2) add_event(time, EventType::spm_sample);
    if (field.cluster_first.set(contents) || field.cluster_last.set(contents)) {
        active_cluster_ = field.cluster.byte(contents);
        cluster_ends_ = field.cluster_last.set(contents);
    }
}

void Dispatcher::event(int64_t time, uint64_t contents) {
    constexpr uint16_t kPerPipe = 1, kBottomOfPipe = 2;
    if (event_field::id.of(contents) == kTraceFinish) end_.stopped = true;
    const EventType type = kEventTypes[event_field::id.of(contents)];
    if (type == EventType{}) return;
    const uint16_t flags = event_field::bottom_of_pipe.set(contents) ? kPerPipe | kBottomOfPipe : kPerPipe;
    records_.events.add(time, static_cast<uint8_t>(type), event_field::me.byte(contents) & 1,
                        event_field::pipe.byte(contents), flags, 0);
}

void Dispatcher::reg(int64_t time, uint64_t contents) {
    const uint32_t address = reg_field::address.word(contents), data = reg_field::data.word(contents);
    const uint32_t me = reg_field::me.word(contents), pipe = reg_field::pipe.word(contents);
    const bool compute = reg_field::compute.set(contents);
    if (compute) registers_.write_compute(address, data, me, pipe);
    if (compute && address == kTraceEnable && data == 0) end_.stopped = true;
    if ((!compute || trace_version_ <= 2) && address == Registers::userdata2) {
        end_.stopped = false;
        registers_.write_userdata2(data, me, pipe, time, records_);
    }
}

void Dispatcher::reg_init(int64_t time, uint64_t contents) {
    constexpr uint64_t kDispatch = 2;
    if (reg_init_field::type.of(contents) != kDispatch || (reg_init_field::data.of(contents) & 1) == 0) return;
    end_.stopped = false;
    // Spec_rdna 7.5: bytes of a granule of LDS; v5 has granules of twice the size, for VGPRs too; v1 counts 10/4 of
    // LDS.
    constexpr uint32_t kGranule = 512, kAllSgprs = 128;
    const uint32_t scale = trace_version_ >= 5 ? 2 : 1;
    uint32_t lds_bytes = registers_.lds_granules() * kGranule * scale;
    if (trace_version_ == 1) lds_bytes = lds_bytes * 10 / 4;
    registers_.add_dispatch(time, reg_init_field::me.word(contents), reg_init_field::pipe.word(contents),
                            {.vgprs = registers_.vgprs() * scale,
                             .sgprs = trace_version_ <= 1 ? registers_.sgprs() : kAllSgprs,
                             .lds_bytes = lds_bytes},
                            records_.dispatches);
}

// A pair of clocks. With `merge` one that goes back in either clock is averaged with the one before it, unless that one
// has already left (spec_rdna 5).
void Dispatcher::realtime(int64_t time, uint64_t ticks, bool merge) {
    RealtimeTable& table = records_.realtime;
    const bool pending = table.realtime_ticks.size() > realtime_flushed_;
    if (merge && pending && (table.realtime_ticks.back() >= ticks || table.shader_clock_cycles.back() >= time)) {
        table.shader_clock_cycles.back() = wrap_add(table.shader_clock_cycles.back(), time) / 2;
        table.realtime_ticks.back() = (table.realtime_ticks.back() + ticks) / 2;
    } else {
        table.add(time, ticks);
        if (table.realtime_ticks.size() - realtime_flushed_ >= OccupancyLog::kBatch) has_pending_ = true;
    }
}

void Dispatcher::report_loss(int64_t time) {
    loss_pending_ = false;
    any_loss_ = true;
    markers_.packet_loss();
    add_event(time, EventType::packet_loss);
    records_.losses.add(static_cast<uint8_t>(Loss::packet_loss), time, byte_of(loss_position_), 1, 0);
}

// False: the reference gives up at this wave. Corrected, a missing line after a branch is a loss like any other.
bool Dispatcher::emit(Wave& wave) {
    if (emitter_.emit(wave, registers_.from_start) || corrected_) return true;
    records_.status = Status::stopped;
    emitter_.stop_reporting();
    return false;
}

void Dispatcher::finish() {
    if (loss_pending_) report_loss(0);
    markers_.finish(registers_.from_start);
    occupancy_.flush(registers_.from_start);
    slots_.drain([this](Wave& wave) { emit(wave); });
    if (any_loss_ && records_.status != Status::stopped) {
        records_.info.code.push_back(static_cast<uint8_t>(Info::data_lost));
    }
    finish_stream();
}

void Dispatcher::finish_stream() {
    for (const auto& [key, entry] : saved_) running_.take(Location::of(key));  // put away, and shown as ended
    end_.unended_waves = any_loss_ ? 0 : running_.count();                     // lost packets take ends with them
    end_.note(records_);
}

template <class Reader>
void Dispatcher::note_reading(const Reader& reader, std::span<const uint8_t> bytes) {
    records_.token_count = reader.token_count();
    LossTable& losses = records_.losses;
    if (reader.unknown_count() != 0) {
        losses.add(static_cast<uint8_t>(Loss::unknown_tokens), 0, byte_of(reader.first_unknown()),
                   reader.unknown_count(), 0);
    }
    end_.time = reader.time();
    end_.whole_blocks = has_whole_blocks(bytes);
    if (records_.status == Status::stopped) return;
    const uint64_t read = byte_of(reader.position());
    if (reader.has_cut_token() && !end_.finished()) {
        end_.token_cut = true;
        losses.add(static_cast<uint8_t>(Loss::truncated_token), 0, bytes.size(), 1, 0);
    } else if (reader.has_unread_bits()) {
        losses.add(static_cast<uint8_t>(Loss::unread_tail), 0, read, bytes.size() - read, 0);
    }
}

template <int kVersion>
void decode(std::span<const uint8_t> bytes, const Program& program, const Options& options, Records& records) {
    Dispatcher dispatcher(program, options, kVersion >= 4, bytes.size(), records);
    Reader<kVersion, Dispatcher> reader(bytes, dispatcher);
    reader.read_all();
    dispatcher.note_reading(reader, bytes);
    dispatcher.finish();
}

}  // namespace
}  // namespace rdna

void decode_rdna(std::span<const uint8_t> bytes, Generation generation, const Program& program, const Options& options,
                 Records& records) {
    switch (generation) {
        case Generation::gfx10: return rdna::decode<1>(bytes, program, options, records);
        case Generation::gfx11: return rdna::decode<3>(bytes, program, options, records);
        case Generation::gfx12: return rdna::decode<4>(bytes, program, options, records);
        case Generation::gfx1250: return rdna::decode<5>(bytes, program, options, records);
        default: return;
    }
}

}  // namespace wavewright
