// One wave of the target CU while it runs: which instructions were issued, when, and what the wave did in between
// (spec_gfx9 sections 4.4 and 5).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "gfx9/ring.hpp"
#include "gfx9/tokens.hpp"
#include "wavewright/column.hpp"
#include "wavewright/program.hpp"
#include "wavewright/records.hpp"

namespace wavewright::gfx9 {

// Later steps read the stored values, so the widths (and their wrapping) are part of the result (8.2).
struct Instruction {
    int64_t time;
    int32_t duration;
    uint32_t stall : 24;
    uint32_t category : 8;

    Instruction(int64_t issued, Category kind, int64_t stalled, int64_t lasted)
        : time(issued), duration(static_cast<int32_t>(lasted)), stall(0), category(static_cast<uint8_t>(kind)) {
        set_stall(stalled);
    }
    int64_t end() const { return time + duration; }
    bool is(Category kind) const { return category == static_cast<uint8_t>(kind); }
    void set_stall(int64_t cycles) { stall = static_cast<uint32_t>(cycles) & 0xFF'FFFF; }

    // Cuts the instruction where the next one begins.
    void trim(int64_t at) {
        if (at >= end()) return;
        duration = static_cast<int32_t>(std::max<int64_t>(at - time, kCyclesPerDelta));
        set_stall(std::min<int64_t>(stall, duration));
    }
};

// The instructions of a wave. Removal leaves a gap that moves to the next removal instead of being closed each time:
// removals come in the order of issue, so all moves together stay linear in the length of the stream.
class InstructionList {
  public:
    size_t size() const { return items_.size() - gap_; }
    bool empty() const { return items_.empty(); }
    void clear() {
        items_.clear();
        items_.reserve(kFirstRoom);
        gap_ = gap_at_ = 0;
    }
    void push(const Instruction& added) { items_.push_back(added); }
    Instruction& operator[](size_t i) { return items_[i < gap_at_ ? i : i + gap_]; }

    // The gap never reaches into the last kShortTail entries.
    Instruction& back() { return items_.back(); }
    Instruction& second_to_last() { return items_[std::max<size_t>(items_.size(), 2) - 2]; }  // or the only one

    void erase(size_t i);
    std::span<Instruction> close_gap();

  private:
    static constexpr size_t kShortTail = 64, kFirstRoom = 256;

    Column<Instruction> items_;
    size_t gap_at_ = 0, gap_ = 0;
};

struct StateSpan {
    WaveState state;
    int32_t duration;
};

// From instruction `index` on the wave runs at `pc`; unknown until an INST_PC token tells.
struct PcEntry {
    size_t index;
    Pc pc;
};

struct WaveStartInfo {
    int64_t time = 0;
    Pc entry;
    uint8_t me = 0, pipe = 0, count = 0, workgroup = 0;
};

// What a place on the CU is doing. Only running waves take issues, reports, PCs and their end (4.4).
enum class Mode : uint8_t { absent, running, trap_requested, trap_standby, trap_wait_pc };

// A wave slot of the target CU with the wave in it.
class alignas(64) Wave {
  public:
    // Forgets the wave before it and keeps its memory.
    void start(const WaveStartInfo& info);
    void leave() { mode_ = Mode::absent; }

    Mode mode() const { return mode_; }
    bool running() const { return mode_ == Mode::running; }
    bool absent() const { return mode_ == Mode::absent; }
    bool was_trapped() const { return was_trapped_; }

    // Of a running wave: its slot in an ISSUE token.
    void issue(uint32_t issue_state, int64_t now) {
        switch (issue_state) {
            case Issue::inst: issue_instruction(now); break;
            case Issue::immed: issue_immediate(now); break;
            default: issue_stall(now); break;
        }
    }

    // Of a running wave: an INST token. False: it belongs to an instruction that is not there any more (5.4).
    bool report(uint32_t kind, int64_t now, uint32_t simd, uint32_t& phase_counter);
    void report_in_trap(uint32_t kind, int64_t now);

    // Of a running wave: an INST_PC token. Quirk: waves without any PC entry do not take it.
    bool takes_pc() const { return !pcs_.empty(); }
    void set_pc(Pc pc);

    void save_context() { mode_ = Mode::trap_requested; }
    void restore_context(int64_t now);
    void end(int64_t now);

    // Late look-back (3.5): PCs that no code object claimed when they were recorded.
    template <class Translate>
    void resolve_pcs(Translate&& translate) {
        settle_pc_indices();
        for (PcEntry& entry : pcs_) translate(entry.pc);
        if (info.entry.known()) translate(info.entry);
    }

    size_t instruction_count() const { return instructions_.size(); }
    size_t state_count() const { return states_.size() + 2; }  // at most: the present one, and the last at the end
    std::span<Instruction> instructions() { return instructions_.close_gap(); }
    std::span<const PcEntry> pcs() const { return pcs_; }
    std::span<const StateSpan> states() {
        close_state();
        return {states_.begin(), states_.end()};
    }

    WaveStartInfo info;
    int64_t end_time = 0;  // 0 until end()
    bool complete = false;
    uint8_t contexts = 0;

  private:
    void issue_instruction(int64_t now) {
        pending_.push(static_cast<uint32_t>(instructions_.size()));
        instructions_.push({now, Category::unfinished, 0, 0});
        enter(WaveState::exec, now);
    }
    void issue_stall(int64_t now) {
        stalls_.push(now);
        enter(WaveState::stall, now);
    }
    void issue_immediate(int64_t now);

    // The present state lasts from since_ to until_; time can step back, until_ does not.
    void enter(WaveState next, int64_t now) {
        until_ = std::max(until_, now);
        if (state_ == next) return;
        close_state();
        state_ = next;
    }
    void close_state();

    void redirect(InstKind::Effect effect, uint32_t index);
    void take_stalls(Instruction& issued, int64_t previous_end);
    void take_back(const InstKind& kind, uint32_t index, int64_t now);
    void settle_pc_indices();

    struct PcShift {
        size_t pcs, instructions;  // how many there were at a GO_TO_TRAP
    };

    InstructionList instructions_;
    Ring<uint32_t> pending_;  // instructions whose kind was not reported yet
    Ring<int64_t> stalls_;    // times
    int64_t since_ = 0, until_ = 0;
    Mode mode_ = Mode::absent;
    WaveState state_ = WaveState::idle;
    bool was_trapped_ = false;
    Column<StateSpan> states_;
    std::array<uint32_t, kInstKinds.size()> last_of_kind_{};  // index + 1 of the last instruction; 0 = none
    std::vector<PcEntry> pcs_;
    size_t first_unset_pc_ = 0;  // start of the unknown entries at the end of pcs_
    std::vector<PcShift> pc_shifts_;
};

}  // namespace wavewright::gfx9
