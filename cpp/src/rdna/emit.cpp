#include "rdna/emit.hpp"

#include <algorithm>

namespace wavewright::rdna {
namespace {

// Anchors whose code object was reported after they were seen.
void repair_anchors(Wave& wave, const AddressRanges& from_start) {
    for (Anchor& anchor : wave.anchors) {
        if (anchor.pc.object == 0) anchor.pc = from_start.translate(anchor.pc.address);
    }
}

int64_t end_without_token(const Wave& wave) {
    constexpr int64_t kBehindLastInstruction = 4;  // cycles
    int64_t end = wave.end;
    for (const Instruction& instruction : wave.instructions) {
        end = std::max(end, wrap_add(instruction.end(), kBehindLastInstruction));
    }
    return end;
}

}  // namespace

void WaveEmitter::report(Info code, bool& reported) {
    if (reports_ && !reported) records_.info.code.push_back(static_cast<uint8_t>(code));
    reported = true;
}

bool WaveEmitter::emit(Wave& wave, const AddressRanges& from_start) {
    repair_anchors(wave, from_start);
    const size_t count = wave.instructions.size();
    const PcMap::Result result = pc_map_.map(wave);
    const bool stitched = result.mapped == count;
    const auto& rows = pc_map_.rows();
    auto lose = [&](Loss kind, uint64_t lost) {
        const uint64_t wave_number = records_.waves.cu.size();
        records_.losses.add(static_cast<uint8_t>(kind), wave.begin, 0, lost, wave_number);
    };
    auto without_pc = [&] { return static_cast<uint64_t>(std::count(rows.begin(), rows.end(), -1)); };
    if (result.target_missing) {
        lose(Loss::branch_target_missing, without_pc());
    }
    if (!wave.complete) {
        lose(Loss::wave_incomplete, wave.instructions.size());
        if (!result.target_missing) report(Info::wave_incomplete, wave_incomplete_reported_);
        wave.end = end_without_token(wave);
    } else if (!stitched && !result.target_missing) {
        lose(Loss::stitch_incomplete, without_pc());
        report(Info::stitch_incomplete, stitch_incomplete_reported_);
    }
    add_rows(wave, wave.has_entry ? wave.anchors.front().pc : Pc{});
    records_.count_rows(wave.instructions.size(), wave.timeline.size(), keeps_rows_);  // mapping may have added some
    return !result.target_missing;
}

void WaveEmitter::add_rows(const Wave& wave, Pc entry) {
    const auto number = static_cast<uint32_t>(records_.waves.cu.size());
    const size_t count = wave.instructions.size(), state_count = wave.timeline.size();
    const WavePlace& at = wave.place;
    InstructionTable& instructions = records_.instructions;
    StateTable& states = records_.states;
    records_.waves.add(at.cu, at.simd, at.slot, wave.contexts, at.me, at.pipe, at.workgroup, at.cluster, wave.complete,
                       wave.begin, wave.end, entry.object, entry.address, records_.next_instruction(),
                       static_cast<uint32_t>(count), records_.next_state(), static_cast<uint32_t>(state_count));

    std::fill_n(instructions.wave.extend(count), count, number);
    instructions.row.append(pc_map_.rows());
    int64_t* times = instructions.time_cycles.extend(count);
    int32_t* stalls = instructions.stall_cycles.extend(count);
    int32_t* durations = instructions.duration_cycles.extend(count);
    uint8_t* categories = instructions.category.extend(count);
    const Instruction* from = wave.instructions.data();
    for (size_t i = 0; i < count; ++i) {
        times[i] = from[i].time;
        stalls[i] = from[i].stall();
        durations[i] = from[i].duration;
        categories[i] = static_cast<uint8_t>(from[i].category());
    }

    std::fill_n(states.wave.extend(state_count), state_count, number);
    uint8_t* kinds = states.state.extend(state_count);
    int32_t* spans = states.duration_cycles.extend(state_count);
    for (size_t i = 0; i < state_count; ++i) {
        kinds[i] = static_cast<uint8_t>(wave.timeline[i].state);
        spans[i] = wave.timeline[i].duration;
    }
}

}  // namespace wavewright::rdna
