// Writes a finished wave into the tables of Records, and says what is missing in it.
#include "gfx9/emit.hpp"

#include <algorithm>

namespace wavewright::gfx9 {

void WaveEmitter::leave_room(size_t instructions, size_t states) {
    records_.instructions.each_column([&](const char*, auto& column) { column.reserve(instructions); });
    records_.states.each_column([&](const char*, auto& column) { column.reserve(states); });
}

bool WaveEmitter::emit(Wave& wave, WaveSlot slot, const AddressRanges& from_start) {
    // PCs that no code object claimed when they were recorded may belong to one that was loaded before the trace (3.5).
    wave.resolve_pcs([&from_start](Pc& pc) {
        if (pc.object == 0) pc = from_start.translate(pc.address);
    });
    const std::span<Instruction> instructions = wave.instructions();
    const std::span<const StateSpan> states = wave.states();
    const size_t count = instructions.size();
    const auto number = static_cast<uint32_t>(records_.waves.cu.size());
    const uint64_t first_instruction = records_.next_instruction(), first_state = records_.next_state();

    int32_t* rows = records_.instructions.row.extend(count);
    std::fill_n(rows, count, -1);
    const PcMap::Result mapped = pc_map_.walk(wave, instructions, rows);
    if (!wave.complete) {
        for (const Instruction& last : instructions) {
            wave.end_time = std::max(wave.end_time, last.end() + kCyclesPerDelta);
        }
    }
    add_instructions(instructions, number);
    add_states(states, number);
    // Correction: the reference reports the number of work-items as the workgroup.
    const uint8_t workgroup = corrected_ ? wave.info.workgroup : wave.info.count;
    records_.waves.add(records_.target_cu, static_cast<uint8_t>(slot.simd()), static_cast<uint8_t>(slot.slot()),
                       wave.contexts, wave.info.me, wave.info.pipe, workgroup, 0, wave.complete, wave.info.time,
                       wave.end_time, wave.info.entry.object, wave.info.entry.address, first_instruction,
                       static_cast<uint32_t>(count), first_state, static_cast<uint32_t>(states.size()));
    if (mapped.target_missing) {
        records_.losses.add(static_cast<uint8_t>(Loss::branch_target_missing), wave.info.time, 0, 1, number);
    }
    const bool goes_on = !mapped.target_missing || corrected_;
    if (goes_on) judge(wave, number, mapped.reached == count, {rows, count});
    records_.count_rows(count, states.size(), keeps_rows_);
    return goes_on;
}

void WaveEmitter::add_instructions(std::span<const Instruction> instructions, uint32_t number) {
    InstructionTable& table = records_.instructions;
    const size_t count = instructions.size();
    std::fill_n(table.wave.extend(count), count, number);
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

void WaveEmitter::add_states(std::span<const StateSpan> states, uint32_t number) {
    const size_t count = states.size();
    std::fill_n(records_.states.wave.extend(count), count, number);
    uint8_t* state = records_.states.state.extend(count);
    int32_t* duration = records_.states.duration_cycles.extend(count);
    for (size_t i = 0; i < count; ++i) {
        state[i] = static_cast<uint8_t>(states[i].state);
        duration[i] = states[i].duration;
    }
}

// A loss for every wave that lacks something; the reference's own report comes once.
void WaveEmitter::judge(const Wave& wave, uint32_t number, bool stitched, std::span<const int32_t> rows) {
    const auto lose = [&](Loss kind, uint64_t count) {
        records_.losses.add(static_cast<uint8_t>(kind), wave.info.time, 0, count, number);
    };
    if (!wave.complete) {
        lose(Loss::wave_incomplete, rows.size());
    } else if (!stitched) {
        const auto without_pc = static_cast<uint64_t>(std::count(rows.begin(), rows.end(), -1));
        if (without_pc != 0) lose(Loss::stitch_incomplete, without_pc);
    }
    if (!wave.complete && !wave.was_trapped()) {
        inform_once(Info::wave_incomplete, informed_wave_incomplete_);
    } else if (!stitched) {
        inform_once(Info::stitch_incomplete, informed_stitch_incomplete_);
    }
}

// The reference says nothing more once it has given up.
void WaveEmitter::inform_once(Info code, bool& informed) {
    if (!informed && records_.status != Status::stopped) records_.info.code.push_back(static_cast<uint8_t>(code));
    informed = true;
}

}  // namespace wavewright::gfx9
