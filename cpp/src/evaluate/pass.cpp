#include "pass.hpp"

#include <algorithm>
#include <bit>

#include "wavewright/isa.hpp"

namespace wavewright::evaluate {
namespace {

bool starts_with_any(std::string_view mnemonic, std::initializer_list<std::string_view> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return mnemonic.starts_with(prefix); });
}

// Instructions that a trace may leave out, because they do nothing to registers.
bool may_be_silent(const Instruction& instruction) {
    return instruction.is_understood && instruction.written.empty() &&
           (instruction.facts & (isa::is_branch | isa::is_call | isa::ends_block | isa::loads | isa::stores)) == 0;
}

bool jumps_anywhere(const Instruction& instruction) {
    return starts_with_any(instruction.mnemonic,
                           {"s_setpc", "s_set_pc", "s_swappc", "s_swap_pc", "s_call", "s_add_pc"});
}

bool is_conditional(const Instruction& instruction) {
    return starts_with_any(instruction.mnemonic, {"s_cbranch", "s_subvector"});
}

bool is_scalar_load(const Instruction& instruction) {
    return starts_with_any(instruction.mnemonic, {"s_load_", "s_buffer_load_"});
}

}  // namespace

Pass::Pass(const ReadCode& code, const Start& start, unsigned wave, const Details& details, int rounding)
    : code_(code), machine_(start, wave, rounding), tally_(details) {
    result_.rows.each_column([&](const char*, auto& column) {
        for (size_t row = 0; row < code.rows.size(); ++row) column.push_back({});
    });
}

Evaluation Pass::finished() {
    tally_.write(result_);
    return std::move(result_);
}

Evaluation Pass::follow(std::span<const int32_t> path) {
    for (size_t position = 0; position < path.size(); ++position) {
        const int32_t row = path[position];
        if (!is_row(row)) {
            const int32_t row_before = position > 0 ? path[position - 1] : -1;
            if (lost_.kind == ReasonKind::none) lost_ = {ReasonKind::path, row_before};
            if (result_.misfit_row < 0) result_.misfit_row = std::max(row_before, 0);
            continue;
        }
        ++result_.rows.execution_count[static_cast<size_t>(row)];
        if (lost_.kind != ReasonKind::none) {
            if (access_of(row).space != Space::none) tally_.add_unknown(position, row, lost_);
            continue;
        }
        execute(row, position);
        if (position + 1 < path.size()) compare_next(row, path[position + 1]);
    }
    return finished();
}

Evaluation Pass::walk(Walk& walk) {
    int32_t row = walk.traced.empty() ? -1 : walk.traced[0];
    for (size_t position = 0; row >= 0 && position < walk.most_steps; ++position) {
        walk.row.push_back(row);
        if (!is_row(row)) {
            if (result_.misfit_row < 0) result_.misfit_row = 0;
            break;
        }
        ++result_.rows.execution_count[static_cast<size_t>(row)];
        execute(row, position);
        row = next_of_walk(row, walk);
    }
    return finished();
}

void Pass::execute(int32_t row, size_t position) {
    const std::vector<Instruction>& instructions = code_.rows[static_cast<size_t>(row)];
    const Instruction& instruction = instructions.front();
    machine_.begin(row);
    if (const Active active = machine_.active(); active.is_certain()) {
        ++result_.rows.mask_known_count[static_cast<size_t>(row)];
        result_.rows.active_lane_total[static_cast<size_t>(row)] += static_cast<uint64_t>(std::popcount(active.surely));
    }
    const bool is_control_flow = (instruction.facts & (isa::is_branch | isa::ends_block)) != 0;
    if (access_of(row).space != Space::none) {
        access_memory(instruction, position);
    } else if (is_scalar_load(instruction)) {
        scalar_load(machine_, instruction);
    } else if (instructions.size() == 2) {
        machine_.run_both(instruction, instructions[1], row);
    } else if (!is_control_flow || !instruction.written.empty()) {
        machine_.run(instruction, row);
    }
}

// Whether the rows from `from` up to `next` are ones that a trace need not show.
bool Pass::falls_to(int32_t from, int32_t next) const {
    constexpr int32_t kMostSilent = 64;  // rows; bounds the work for each step
    if (next < from || next - from > kMostSilent) return false;
    for (int32_t between = from; between < next; ++between)
        if (!may_be_silent(instruction_of(between))) return false;
    return true;
}

// Compares where the trace goes behind a row with what the code does there. Sets `lost_` where the two do not fit.
void Pass::compare_next(int32_t row, int32_t next) {
    if (next < 0) return;  // follow() reports it with the next position
    const Instruction& instruction = instruction_of(row);
    const int32_t target = target_of(row);
    const auto misfit = [&] {
        result_.misfit_row = row;
        lost_ = {ReasonKind::path, row};
    };
    if (jumps_anywhere(instruction)) return;
    const bool is_branch = (instruction.facts & isa::is_branch) != 0 || target >= 0;
    if (!is_branch) {
        if (next == row && instruction.written.empty()) return;  // traces show both halves of s_barrier
        if ((instruction.facts & isa::ends_block) != 0 || !falls_to(row + 1, next)) misfit();
        return;
    }
    const bool goes_on = is_conditional(instruction) && falls_to(row + 1, next);
    const bool is_taken = target >= 0 && falls_to(target, next);
    if (!goes_on && !is_taken) return misfit();
    if (!is_conditional(instruction)) return;
    ++result_.branch_count;
    if (goes_on == is_taken) return;  // both ways lead there: the trace does not tell which one it was
    const Verdict agrees = machine_.branch(instruction, is_taken);
    if (!agrees) return;
    ++result_.checked_branch_count;
    if (!*agrees) {
        result_.contradiction_row = row;
        lost_ = {ReasonKind::contradiction, row};
    }
}

// The row to which a walk comes behind `row`; -1 = it ends, or nothing tells where it goes (`misfit_row`).
int32_t Pass::next_of_walk(int32_t row, Walk& walk) {
    const Instruction& instruction = instruction_of(row);
    const auto traced_row = [&] {
        return walk.is_in_step && walk.traced_at < walk.traced.size() ? walk.traced[walk.traced_at] : -1;
    };
    const int32_t target = target_of(row);
    const bool is_branch = (instruction.facts & isa::is_branch) != 0 || target >= 0;
    if (traced_row() == row) {
        ++walk.traced_at;
        const bool is_both_halves = !is_branch && instruction.written.empty() && traced_row() == row;
        if (is_both_halves) ++walk.traced_at;  // of s_barrier: arrival and release are one execution
    } else if (!may_be_silent(instruction)) {
        walk.is_in_step = false;
    }
    const int32_t traced_next = traced_row();
    const auto stop = [&] {
        result_.misfit_row = row;
        return -1;
    };
    if (jumps_anywhere(instruction)) return traced_next >= 0 ? traced_next : stop();
    int32_t next = row + 1;
    if (is_branch) {
        const std::optional<bool> is_taken = branches_in_walk(row, traced_next, walk);
        if (!is_taken) return stop();
        if (*is_taken) next = target >= 0 ? target : traced_next;
    } else if ((instruction.facts & isa::ends_block) != 0) {
        walk.is_complete = true;
        return -1;
    }
    return is_row(next) ? next : stop();
}

// Whether a walk takes a branch: as its condition says, else as the trace does; nothing where neither tells.
std::optional<bool> Pass::branches_in_walk(int32_t row, int32_t traced_next, Walk& walk) {
    const Instruction& instruction = instruction_of(row);
    if (!is_conditional(instruction)) return true;
    ++result_.branch_count;
    const bool goes_on = traced_next >= 0 && falls_to(row + 1, traced_next);
    const bool is_taken = !goes_on;
    const Verdict agrees = machine_.branch(instruction, is_taken);
    if (agrees) {
        ++result_.checked_branch_count;
        return *agrees ? is_taken : !is_taken;
    }
    if (traced_next < 0) return std::nullopt;
    ++walk.assumed_branch_count;
    return is_taken;
}

}  // namespace wavewright::evaluate
