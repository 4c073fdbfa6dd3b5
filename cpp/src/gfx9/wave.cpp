// How issues, reports and stalls of a wave become instructions and states (spec_gfx9 section 5). An ISSUE token opens
// an instruction; a later INST token tells its kind, and with it how long it took.
#include "gfx9/wave.hpp"

#include <unordered_map>
#include <utility>

namespace wavewright::gfx9 {

void InstructionList::erase(size_t i) {
    Instruction* items = items_.data();
    if (gap_ == 0) gap_at_ = i;
    // Entries between the old gap and the new one move to the other side of it.
    if (i < gap_at_) {
        std::memmove(items + i + gap_ + 1, items + i + 1, (gap_at_ - i - 1) * sizeof(Instruction));
    } else {
        std::memmove(items + gap_at_, items + gap_at_ + gap_, (i - gap_at_) * sizeof(Instruction));
    }
    gap_at_ = i;
    ++gap_;
    if (size() - i <= kShortTail) close_gap();
}

std::span<Instruction> InstructionList::close_gap() {
    if (gap_ != 0) {
        const size_t count = size();
        std::memmove(items_.data() + gap_at_, items_.data() + gap_at_ + gap_, (count - gap_at_) * sizeof(Instruction));
        items_.clear();
        items_.extend(count);  // what is there stays: this only shortens the column
        gap_ = gap_at_ = 0;
    }
    return {items_.begin(), items_.end()};
}

void Wave::start(const WaveStartInfo& start_info) {
    info = start_info;
    end_time = 0;
    complete = false;
    contexts = 0;
    instructions_.clear();
    pending_.clear();
    stalls_.clear();
    states_.clear();
    since_ = until_ = info.time;
    mode_ = Mode::running;
    state_ = WaveState::idle;
    was_trapped_ = false;
    last_of_kind_.fill(0);
    pcs_.clear();
    pc_shifts_.clear();
    first_unset_pc_ = 0;
    if (info.entry.known()) {
        pcs_.push_back({0, info.entry});
        first_unset_pc_ = 1;
    }
}

// s_waitcnt, s_nop and their like: everything since the previous instruction was waiting (5.2).
void Wave::issue_immediate(int64_t now) {
    int64_t begin = now;
    if (!instructions_.empty() && !instructions_.back().is(Category::unfinished)) {
        instructions_.back().trim(now);
        begin = std::min(instructions_.back().end(), now);
    }
    const int64_t lasted = now - begin + kCyclesPerDelta;
    instructions_.push({begin, Category::immed, lasted, lasted});
    until_ = std::max(until_, begin);
    close_state();
    states_.push_back({WaveState::wait, static_cast<int32_t>(lasted)});  // never merged
    state_ = WaveState::exec;
    since_ = until_ = now + kCyclesPerDelta;
}

void Wave::close_state() {
    if (until_ <= since_) return;
    const auto lasted = static_cast<uint32_t>(until_ - since_);
    if (!states_.empty() && states_.back().state == state_) {
        states_.back().duration = static_cast<int32_t>(static_cast<uint32_t>(states_.back().duration) + lasted);
    } else {
        states_.push_back({state_, static_cast<int32_t>(lasted)});
    }
    since_ = until_;
}

bool Wave::report(uint32_t kind, int64_t now, uint32_t simd, uint32_t& phase_counter) {
    if (pending_.empty()) return true;
    const uint32_t index = pending_.front();
    pending_.pop();
    const size_t count = instructions_.size();
    if (index >= count) return false;
    Instruction& reported = instructions_[index];

    // Quirk: the second to last of the list, whichever instruction is reported. (No branch: it would be a coin toss.)
    phase_counter += uint32_t{count >= 2} & uint32_t{reported.time < instructions_.second_to_last().end()};
    int64_t previous_end = 0;
    if (index > 0) {
        Instruction& previous = instructions_[index - 1];
        previous.trim(reported.time);
        previous_end = previous.end();
    }
    last_of_kind_[kind] = index + 1;
    const InstKind& what = kInstKinds[kind];
    if (what.effect != InstKind::typed) [[unlikely]] {
        if (what.category == Category::none) {
            take_back(what, index, now);
            return true;
        }
        redirect(what.effect, index);
    }
    reported.category = static_cast<uint8_t>(what.category);
    const uint32_t phase = (phase_counter + simd) % 4 + what.phase;
    const int64_t late = kCyclesPerDelta * (phase / 4);
    reported.duration = static_cast<int32_t>(kCyclesPerDelta + std::max<int64_t>(now - reported.time - late, 0));
    if (!stalls_.empty() && reported.time > stalls_.front()) take_stalls(reported, previous_end);
    return true;
}

// The instruction after this one is not the next line: its PC comes in an INST_PC token, or after the trap handler.
void Wave::redirect(InstKind::Effect effect, uint32_t index) {
    if (effect == InstKind::new_pc) {
        pcs_.push_back({size_t{index} + 1, {}});
    } else {
        mode_ = Mode::trap_wait_pc;
        was_trapped_ = true;
        pc_shifts_.push_back({pcs_.size(), instructions_.size()});
    }
}

void Wave::report_in_trap(uint32_t kind, int64_t now) {
    if (mode_ != Mode::trap_wait_pc || kInstKinds[kind].effect != InstKind::new_pc) return;
    mode_ = Mode::running;
    pcs_.push_back({instructions_.size(), {}});
    if (instructions_.empty() || !instructions_.back().is(Category::context)) return;
    Instruction& handler = instructions_.back();
    handler.duration = static_cast<int32_t>(now + kCyclesPerDelta - handler.time);
}

// The last stall event before the issue is where the instruction first tried.
void Wave::take_stalls(Instruction& issued, int64_t previous_end) {
    const int64_t issue_time = issued.time;
    int64_t begin = issue_time;
    while (!stalls_.empty() && issue_time > stalls_.front()) {
        begin = std::max(stalls_.front(), previous_end);
        stalls_.pop();
    }
    issued.set_stall(std::max<int64_t>(issue_time - begin, 0));
    issued.duration = static_cast<int32_t>(std::max<int64_t>(issue_time + issued.duration - begin, kCyclesPerDelta));
    issued.time = begin;
}

// Removes an instruction that was no issue of its own. Quirk: indices kept elsewhere are not adjusted (5.4).
void Wave::take_back(const InstKind& kind, uint32_t index, int64_t now) {
    if (kind.effect == InstKind::replay) {
        const uint32_t last = std::exchange(last_of_kind_[kind.replay_of], 0);
        if (last > 0 && last < instructions_.size() && last < index) {
            Instruction& replayed = instructions_[last - 1];
            const int32_t before = replayed.duration;
            replayed.duration = static_cast<int32_t>(std::max<int64_t>(before, now + kCyclesPerDelta - replayed.time));
            replayed.set_stall(int64_t{replayed.stall} + replayed.duration - before);
        }
    }
    instructions_.erase(index);
}

void Wave::set_pc(Pc pc) {
    if (first_unset_pc_ == pcs_.size()) pcs_.push_back({instructions_.size(), {}});
    pcs_[first_unset_pc_].pc = pc;
    if (pc.known()) ++first_unset_pc_;
}

void Wave::restore_context(int64_t now) {
    if (mode_ == Mode::trap_requested) {
        if (contexts < UINT8_MAX) ++contexts;
        instructions_.push({now, Category::context, 0, kCyclesPerDelta});
        was_trapped_ = true;
        mode_ = Mode::trap_standby;
    } else if (mode_ == Mode::trap_standby) {
        mode_ = Mode::trap_wait_pc;
    }
}

void Wave::end(int64_t now) {
    end_time = now + kCyclesPerDelta;
    complete = true;
    close_state();
    if (instructions_.empty() || states_.empty() || end_time <= since_) return;
    states_.push_back({state_, static_cast<int32_t>(end_time - since_)});  // quirk: never merged
}

// Every GO_TO_TRAP moves the PC entries at the instruction before it by one (4.4). Doing that on the spot would cost
// the square of their number, so it is done here, backwards: `final_index` says where an index ends up after the moves
// that are still to come.
void Wave::settle_pc_indices() {
    if (pc_shifts_.empty()) return;
    std::unordered_map<size_t, size_t> final_index;
    const auto settled = [&](size_t index) {
        const auto found = final_index.find(index);
        return found == final_index.end() ? index : found->second;
    };
    size_t at = pcs_.size();
    for (auto shift = pc_shifts_.rbegin(); shift != pc_shifts_.rend(); ++shift) {
        for (; at > shift->pcs; --at) pcs_[at - 1].index = settled(pcs_[at - 1].index);
        final_index[shift->instructions - 1] = settled(shift->instructions);
    }
    for (; at > 0; --at) pcs_[at - 1].index = settled(pcs_[at - 1].index);
    pc_shifts_.clear();
}

}  // namespace wavewright::gfx9
