// One wave of the target SIMD while its tokens arrive: instructions, state timeline and code anchors
// (spec_rdna 8.4, 9 and 10).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "rdna/ops.hpp"
#include "wavewright/column.hpp"
#include "wavewright/program.hpp"
#include "wavewright/records.hpp"

namespace wavewright::rdna {

// Hostile streams can push times to any 64-bit value: sums wrap instead of overflowing.
constexpr int64_t wrap_add(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t wrap_sub(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
constexpr int32_t low32(int64_t value) {
    return static_cast<int32_t>(static_cast<uint32_t>(value));
}

// Widths as in the reference's record: they wrap when stored, and later steps use the stored values (spec_rdna 9).
class Instruction {
  public:
    Instruction(int64_t from, Category kind, int64_t cycles, int64_t stalled)
        : time(from),
          duration(low32(cycles)),
          stall_and_category_(static_cast<uint32_t>(stalled) << 8 | static_cast<uint8_t>(kind)) {}

    int64_t time;
    int32_t duration;

    Category category() const { return static_cast<Category>(stall_and_category_ & 0xFF); }
    int32_t stall() const { return static_cast<int32_t>(stall_and_category_ >> 8); }
    int64_t end() const { return wrap_add(time, duration); }
    void set_category(Category category) {
        stall_and_category_ = (stall_and_category_ & ~uint32_t{0xFF}) | static_cast<uint8_t>(category);
    }

  private:
    uint32_t stall_and_category_;
};
static_assert(sizeof(Instruction) == 16);

struct StateSpan {
    WaveState state;
    int32_t duration;
};

// "Instruction number `index` is at `pc`"; an unknown pc is filled in by the next NEW_PC.
struct Anchor {
    size_t index;
    Pc pc;
};

struct WavePlace {
    uint8_t cu, simd, slot, me, pipe, workgroup, cluster;
};

class Wave {
  public:
    // `entry` unknown: a wave restored from a context switch, or one of an unknown kernel.
    void start(int64_t time, const WavePlace& where, Pc entry, bool barrier_waits_excluded) {
        place = where;
        begin = last_ = time;
        end = 0;
        contexts = 0;
        complete = has_entry = false;
        excludes_barrier_waits = barrier_waits_excluded;
        state_ = WaveState::idle;
        conditions_ = 0;
        replay_time_ = std::numeric_limits<int64_t>::min();
        instructions.clear();
        timeline.clear();
        anchors.clear();
        unknown_from_ = 0;
        if (entry.known()) {
            has_entry = true;
            anchors.push_back({0, entry});
            unknown_from_ = 1;
        }
    }

    void valu(int64_t time) {
        if (conditions_ != 0) {
            end_barrier(time);
            if (is(trapped)) return;
        }
        issue(time, Category::valu, 1);
    }

    // INST with an op of OpKind::issue.
    void inst(int64_t time, const Op& op, bool opens_barrier) {
        if (conditions_ != 0) return unusual_inst(time, op, op.cycles, opens_barrier);
        end = time;
        issue(time, op.category, op.cycles);
    }

    // INST with any op that belongs to this wave; `opens_barrier` is true on v1..v3.
    void unusual_inst(int64_t time, const Op& op, int64_t cycles, bool opens_barrier);

    void scale_next() { set(scaling, true); }

    // Waits and other instructions without a unit: charged from the end of the instruction before.
    void immediate(int64_t time) {
        if (conditions_ != 0) {
            end_barrier(time);
            if (is(trapped)) return;
        }
        int64_t from = time;
        if (!instructions.empty()) from = std::min(from, instructions.back().end());
        const int32_t waited = low32(wrap_sub(time, from));
        instructions.push_back({from, Category::immed, int64_t{waited} + 1, waited});
        set_state(WaveState::wait, from);
        set_state(WaveState::exec, wrap_add(time, 1));
    }

    void ready(int64_t time) {
        end_barrier(wrap_sub(time, 1));
        if (!is(replaying) && time > replay_time_) set_state(WaveState::stall, time);
    }

    // `pc` goes to the oldest of the unknown anchors at the end of the list.
    void new_pc(int64_t time, Pc pc) {
        end_barrier(time);
        if (anchors.empty() || is(trapped)) return;
        if (unknown_from_ == anchors.size()) anchors.push_back({instructions.size(), {}});
        anchors[unknown_from_].pc = pc;
        if (pc.known()) ++unknown_from_;
    }

    void finish(int64_t time);
    void save_context(int64_t time);
    void restore_context(int64_t time);
    void trap() { set(trapped, true); }
    void replay();  // v5, spec_rdna 10.3

    WavePlace place{};
    uint8_t contexts = 0;
    bool complete = false;
    bool has_entry = false;  // anchors.front() is the kernel entry
    bool excludes_barrier_waits = false;
    int64_t begin = 0;
    int64_t end = 0;
    Column<Instruction> instructions;
    Column<StateSpan> timeline;
    std::vector<Anchor> anchors;

  private:
    // What makes the next token special.
    enum Condition : uint8_t {
        trapped = 1,       // in the trap handler, whose instructions are not recorded
        barrier_open = 2,  // v1..v3: the last instruction is a barrier that still waits
        replaying = 4,     // v5: the next issue repeats an instruction
        scaling = 8,       // v5: the next instruction began with its matrix scale
    };
    bool is(Condition condition) const { return (conditions_ & condition) != 0; }
    void set(Condition condition, bool on) {
        conditions_ = static_cast<uint8_t>(on ? conditions_ | condition : conditions_ & ~condition);
    }

    void issue(int64_t time, Category category, int64_t cycles) {
        const bool stalled = state_ == WaveState::stall && last_ < time;
        const int64_t stall = stalled ? wrap_sub(time, last_) : 0;
        instructions.push_back({stalled ? last_ : time, category, wrap_add(cycles, stall), stall});
        set_state(WaveState::exec, time);
    }

    void set_state(WaveState state, int64_t time) {
        if (time > last_) {
            if (timeline.empty() || timeline.back().state != state_) timeline.push_back({state_, 0});
            int32_t& duration = timeline.back().duration;
            duration = low32(wrap_add(duration, wrap_sub(time, last_)));
            last_ = time;
        }
        state_ = state;
    }

    void end_barrier(int64_t time) {
        if (is(barrier_open)) close_barrier(time);
    }
    void close_barrier(int64_t time);
    void enter_trap(int64_t time);
    void leave_trap(int64_t time);
    void stretch_context(int64_t time);

    int64_t last_ = 0;  // time of the last state change
    int64_t replay_time_ = 0;
    size_t unknown_from_ = 0;  // anchors from here on have no pc yet
    WaveState state_ = WaveState::idle;
    uint8_t conditions_ = 0;
};

}  // namespace wavewright::rdna
