#include "rdna/wave.hpp"

namespace wavewright::rdna {

void Wave::unusual_inst(int64_t time, const Op& op, int64_t cycles, bool opens_barrier) {
    if (is(scaling)) {
        set(scaling, false);
        time = wrap_sub(time, 1);
        cycles += 1;
    }
    end_barrier(time);
    if (op.kind == OpKind::trap_return) return leave_trap(time);
    if (op.kind == OpKind::trap_entry) enter_trap(time);
    if (is(trapped)) return;
    end = time;
    if (op.kind == OpKind::nothing) return;
    if (op.kind == OpKind::wait) {
        immediate(time);
        set(barrier_open, opens_barrier);
        return;
    }
    if (is(replaying) && state_ == WaveState::stall && last_ < time) {
        set(replaying, false);
        replay_time_ = time;
    }
    issue(time, op.category, cycles);
    if (op.kind == OpKind::register_jump) anchors.push_back({instructions.size(), {}});
}

// v1..v3: the barrier lasted until the wave moved again (spec_rdna 9.6).
void Wave::close_barrier(int64_t time) {
    set(barrier_open, false);
    if (instructions.empty() || instructions.back().category() != Category::immed) return;
    Instruction& barrier = instructions.back();
    set_state(WaveState::wait, barrier.end());
    set_state(WaveState::exec, wrap_add(time, 1));
    barrier.duration = low32(std::max<int64_t>(0, wrap_sub(time, barrier.time)));
    barrier.set_category(Category::message);
}

void Wave::enter_trap(int64_t time) {
    instructions.push_back({time, Category::context, 1, 0});
    set(trapped, true);
}

void Wave::leave_trap(int64_t time) {
    anchors.push_back({instructions.size(), {}});
    set(trapped, false);
    stretch_context(time);
}

// The CONTEXT instruction covers everything up to and including `time`.
void Wave::stretch_context(int64_t time) {
    if (instructions.empty() || instructions.back().category() != Category::context) return;
    Instruction& context = instructions.back();
    context.duration = low32(std::max<int64_t>(context.duration, wrap_add(wrap_sub(time, context.time), 1)));
}

void Wave::save_context(int64_t time) {
    enter_trap(time);
    ++contexts;
}

void Wave::restore_context(int64_t time) {
    stretch_context(time);
    set(trapped, true);
    ++contexts;
}

void Wave::finish(int64_t time) {
    set_state(WaveState::empty, time);
    end = time;
    complete = true;
    if (instructions.empty() || is(trapped)) return;
    const int64_t idle_from = instructions.back().end();
    // Hardware sends no token for s_endpgm; this instruction stands for it.
    if (idle_from < time) instructions.push_back({idle_from, Category::message, wrap_sub(time, idle_from), 0});
}

void Wave::replay() {
    while (!instructions.empty() && instructions.back().category() == Category::immed) instructions.pop_back();
    if (!instructions.empty()) {
        const int64_t until = wrap_sub(instructions.back().time, 1);
        while (!timeline.empty()) {
            StateSpan& span = timeline.back();
            last_ = wrap_sub(last_, span.duration);
            if (last_ <= until) {
                span.duration = low32(wrap_sub(until, last_));
                last_ = until;
                break;
            }
            timeline.pop_back();
        }
        const Category category = instructions.back().category();
        if (category == Category::vmem || category == Category::lds || category == Category::smem) {
            instructions.pop_back();
        }
    }
    state_ = WaveState::stall;
    set(replaying, true);
}

}  // namespace wavewright::rdna
