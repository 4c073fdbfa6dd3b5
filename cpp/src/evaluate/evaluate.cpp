#include "wavewright/evaluate.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>

#include "machine.hpp"
#include "memory.hpp"
#include "wavewright/isa.hpp"

namespace wavewright::evaluate {
namespace {

// Instructions that a trace may leave out, because they do nothing to registers.
bool may_be_silent(const Instruction& instruction) {
    return instruction.is_understood && instruction.written.empty() &&
           (instruction.facts & (isa::is_branch | isa::is_call | isa::ends_block | isa::loads | isa::stores)) == 0;
}

bool jumps_anywhere(const Instruction& instruction) {
    return instruction.mnemonic.starts_with("s_setpc") || instruction.mnemonic.starts_with("s_set_pc") ||
           instruction.mnemonic.starts_with("s_swappc") || instruction.mnemonic.starts_with("s_swap_pc") ||
           instruction.mnemonic.starts_with("s_call") || instruction.mnemonic.starts_with("s_add_pc");
}

bool is_conditional(const Instruction& instruction) {
    return instruction.mnemonic.starts_with("s_cbranch") || instruction.mnemonic.starts_with("s_subvector");
}

bool is_scalar_load(const Instruction& instruction) {
    return instruction.mnemonic.starts_with("s_load_") || instruction.mnemonic.starts_with("s_buffer_load_");
}

void add_unknown(ExecutionRows& rows, size_t position, Reason reason) {
    rows.position.push_back(position);
    rows.place.push_back(0);
    rows.is_known.push_back(0);
    rows.kind.push_back(static_cast<uint8_t>(reason.kind));
    rows.detail.push_back(reason.detail);
    rows.active.push_back(0);
    rows.has_base.push_back(0);
    rows.base_pointer.push_back(-1);
    for (unsigned lane = 0; lane < kLanes; ++lane) rows.address.push_back(0);
}

void add_known(ExecutionRows& rows, size_t position, Lanes active, const Addresses& addresses, const Domain& domain) {
    for (size_t place = 0; place < addresses.places.size(); ++place) {
        rows.position.push_back(position);
        rows.place.push_back(static_cast<uint8_t>(place));
        rows.is_known.push_back(1);
        rows.kind.push_back(0);
        rows.detail.push_back(0);
        rows.active.push_back(active);
        const Base& base = domain.base(addresses.places[place].base);
        rows.has_base.push_back(addresses.places[place].base != 0 ? 1 : 0);
        rows.base_pointer.push_back(base.pointers == 1 && base.reason.kind == ReasonKind::argument ? base.reason.detail
                                                                                                   : -1);
        for (const int64_t address : addresses.places[place].lane) rows.address.push_back(address);
    }
}

uint32_t greatest_alignment(const Base& base, uint8_t pointer_zero_bits, uint8_t& assumptions) {
    if (base.pointers == 0) return base.zero_bits;
    if (base.pointers > 1) return 0;
    assumptions |= pointer_aligned;
    return std::min(base.zero_bits, pointer_zero_bits);
}

}  // namespace

// The text of a row as instructions: one, or the two of a v_dual_... that run together.
struct Evaluator::Row {
    std::vector<Instruction> instructions;
};

Evaluator::Evaluator(EvaluatedCode code, unsigned lane_count) : code_(std::move(code)), lane_count_(lane_count) {
    const size_t count = code_.texts.size();
    if (code_.target.size() != count || code_.access.size() != count)
        throw std::invalid_argument("columns differ in length");
    if (lane_count != 32 && lane_count != 64) throw std::invalid_argument("a wave has 32 or 64 lanes");
    for (const RowAccess& access : code_.access)
        if (access.lds_rule >= static_cast<int>(code_.lds_rules.size()))
            throw std::invalid_argument("no such LDS rule");
    std::vector<std::string_view> texts(code_.texts.begin(), code_.texts.end());
    const isa::Disassembly read = isa::read_texts(texts, code_.column, lane_count == kLanes);
    rows_.reserve(count);
    for (size_t row = 0; row < count; ++row) {
        rows_.push_back(std::make_unique<Row>());
        rows_.back()->instructions = read_instruction(texts[row], lane_count);
        for (Instruction& each : rows_.back()->instructions) {
            each.facts = read.facts[row];
            each.is_understood = read.record[row] != isa::kNoRecord;
            // gfx9 fills the high half with zeros, but for one form (LLVM, GCNSubtarget::zeroesHigh16BitsOfDest).
            each.keeps_high = !code_.column.starts_with("gfx9") || each.mnemonic == "v_mad_u16";
        }
    }
    for (size_t at = 0; at < read.operand_row.size(); ++at) {
        std::vector<Instruction>& instructions = rows_[read.operand_row[at]]->instructions;
        const uint8_t role = read.operand_role[at];
        if ((role & isa::writes) == 0) continue;
        const bool keeps_old = (role & (isa::reads | isa::tied | isa::low_half | isa::high_half)) != 0;
        for (Instruction& each : instructions) {
            each.written.push_back({read.operand_register[at], read.operand_count[at]});
            each.merges_old = each.merges_old || keeps_old || each.mnemonic.find("16") != std::string::npos;
        }
    }
    for (const auto& row : rows_)
        for (Instruction& each : row->instructions) prepare(each);
    // Both halves of a v_dual_... name their own result.
    for (const auto& row : rows_)
        if (row->instructions.size() == 2)
            for (Instruction& each : row->instructions) {
                if (each.operands.empty()) continue;
                const uint16_t number = each.operands.front().number;
                std::erase_if(each.written, [&](const Written& written) { return written.number != number; });
            }
}

Evaluator::~Evaluator() = default;

// What the accesses to one place of an instruction cost, or why that is not known.
struct PlaceCost {
    Reason reason, base_reason;
    uint8_t assumptions = 0;
    LdsCost lds;
    uint64_t segments = 0, least_segments = 0;
};

// What is collected while a wave is evaluated, besides the sums of rows: reasons of unknown numbers, patterns of lane
// addresses and, where they are wanted, all executions of memory instructions.
struct Tally {
    unsigned most_patterns;
    bool keeps_executions;
    ExecutionRows executions{};
    struct Pattern {
        uint32_t count = 0;
        Lanes active = 0;
        uint8_t width = 0, place = 0;
        std::array<int64_t, kLanes> address{};
    };
    std::map<std::tuple<int32_t, Reason, Reason, bool>, uint32_t> reasons{};  // row, reason, that of a base, of a cost
    std::map<int32_t, std::vector<Pattern>> patterns{};

    void add(int32_t row, Reason reason, Reason base, bool is_cost) { ++reasons[{row, reason, base, is_cost}]; }

    // An execution whose lane addresses are not known.
    void add_unknown_addresses(size_t position, int32_t row, Reason reason) {
        add(row, reason, {}, false);
        if (keeps_executions) add_unknown(executions, position, reason);
    }

    void write(Evaluation& result) {
        result.executions = std::move(executions);
        for (const auto& [key, times] : reasons) {
            const auto& [row, reason, base, is_cost] = key;
            result.reasons.row.push_back(row);
            result.reasons.kind.push_back(static_cast<uint8_t>(reason.kind));
            result.reasons.detail.push_back(reason.detail);
            result.reasons.base_kind.push_back(static_cast<uint8_t>(base.kind));
            result.reasons.base_detail.push_back(base.detail);
            result.reasons.count.push_back(times);
            result.reasons.is_cost.push_back(is_cost ? 1 : 0);
        }
        for (const auto& [row, patterns_of_row] : patterns)
            for (const Pattern& pattern : patterns_of_row) {
                result.patterns.row.push_back(row);
                result.patterns.count.push_back(pattern.count);
                result.patterns.active.push_back(pattern.active);
                result.patterns.width_bytes.push_back(pattern.width);
                result.patterns.place.push_back(pattern.place);
                for (const int64_t address : pattern.address) result.patterns.address.push_back(address);
            }
    }
};

Evaluation Evaluator::run(const Start& start, unsigned wave, std::span<const int32_t> path, unsigned most_patterns,
                          bool keeps_executions) const {
    bool used_reciprocal = false;
    Evaluation result = run(start, wave, path, most_patterns, keeps_executions, 0, used_reciprocal);
    for (const int rounding : {-1, 1}) {
        if (!used_reciprocal) break;
        const Evaluation other = run(start, wave, path, most_patterns, keeps_executions, rounding, used_reciprocal);
        keep_equal(result, other);
    }
    return result;
}

Evaluation Evaluator::run(const Start& start, unsigned wave, Walk& walk) const {
    bool used_reciprocal = false;
    Evaluation result = run(start, wave, {}, 0, true, 0, used_reciprocal, &walk);
    for (const int rounding : {-1, 1}) {
        if (!used_reciprocal) break;
        const std::span<const int32_t> path(walk.row.data(), walk.row.size());
        const Evaluation other = run(start, wave, path, 0, true, rounding, used_reciprocal);
        if (other.contradiction_row >= 0) walk.is_complete = false;
        keep_equal(result, other);
    }
    return result;
}

// Two evaluations that differ in how reciprocals are rounded: where their numbers differ, they are not known.
void Evaluator::keep_equal(Evaluation& result, const Evaluation& other) {
    if (result.contradiction_row < 0) result.contradiction_row = other.contradiction_row;
    std::map<int32_t, std::string> one, another;
    const auto patterns_of = [](const PatternRows& patterns, std::map<int32_t, std::string>& by_row) {
        for (size_t each = 0; each < patterns.row.size(); ++each) {
            std::string& key = by_row[patterns.row[each]];
            key.append(reinterpret_cast<const char*>(&patterns.active[each]), sizeof(uint64_t));
            key.append(reinterpret_cast<const char*>(patterns.address.data() + kLanes * each),
                       kLanes * sizeof(int64_t));
        }
    };
    patterns_of(result.patterns, one);
    patterns_of(other.patterns, another);
    RowSums& sums = result.rows;
    for (size_t row = 0; row < sums.known_count.size(); ++row) {
        const auto number = static_cast<int32_t>(row);
        const RowSums& others = other.rows;
        const bool is_equal = sums.known_count[row] == others.known_count[row] &&
                              sums.mask_known_count[row] == others.mask_known_count[row] &&
                              sums.active_lane_total[row] == others.active_lane_total[row] &&
                              sums.extra_cycle_total[row] == others.extra_cycle_total[row] &&
                              sums.segment_total[row] == others.segment_total[row] && one[number] == another[number];
        if (is_equal || sums.known_count[row] == 0) continue;
        result.reasons.row.push_back(number);
        result.reasons.kind.push_back(static_cast<uint8_t>(ReasonKind::rounding));
        result.reasons.detail.push_back(0);
        result.reasons.base_kind.push_back(0);
        result.reasons.base_detail.push_back(0);
        result.reasons.count.push_back(sums.known_count[row]);
        result.reasons.is_cost.push_back(0);
        sums.known_count[row] = sums.cost_known_count[row] = 0;
        sums.ideal_cycle_total[row] = sums.extra_cycle_total[row] = 0;
        sums.segment_total[row] = sums.least_segment_total[row] = sums.requested_byte_total[row] = 0;
    }
    ExecutionRows& executions = result.executions;
    for (size_t each = 0; each < executions.position.size() && each < other.executions.position.size(); ++each) {
        const bool is_equal =
            executions.active[each] == other.executions.active[each] &&
            std::equal(executions.address.data() + kLanes * each, executions.address.data() + kLanes * (each + 1),
                       other.executions.address.data() + kLanes * each);
        if (!is_equal) {
            executions.is_known[each] = 0;
            executions.kind[each] = static_cast<uint8_t>(ReasonKind::rounding);
        }
    }
}

Evaluation Evaluator::run(const Start& start, unsigned wave, std::span<const int32_t> path, unsigned most_patterns,
                          bool keeps_executions, int rounding, bool& used_reciprocal, Walk* walk) const {
    if (start.lane_count != lane_count_) throw std::invalid_argument("waves differ in size");
    Evaluation result;
    RowSums& sums = result.rows;
    const size_t count = rows_.size();
    sums.each_column([&](const char*, auto& column) {
        for (size_t row = 0; row < count; ++row) column.push_back({});
    });
    Tally tally{.most_patterns = most_patterns, .keeps_executions = keeps_executions};
    Machine machine(start, wave, rounding);
    Reason stopped;  // why nothing is known any more
    int32_t walked = walk != nullptr && !walk->traced.empty() ? walk->traced[0] : -1;
    for (size_t at = 0; walk != nullptr ? walked >= 0 && at < walk->most_steps : at < path.size(); ++at) {
        const int32_t row = walk != nullptr ? walked : path[at];
        if (walk != nullptr) walk->row.push_back(row);
        if (row < 0 || static_cast<size_t>(row) >= count) {
            const int32_t before = walk == nullptr && at > 0 ? path[at - 1] : -1;
            if (stopped.kind == ReasonKind::none) stopped = {ReasonKind::path, before};
            if (result.misfit_row < 0) result.misfit_row = std::max(before, 0);
            walked = -1;
            continue;
        }
        const auto index = static_cast<size_t>(row);
        const std::vector<Instruction>& instructions = rows_[index]->instructions;
        const Instruction& instruction = instructions.front();
        const RowAccess& access = code_.access[index];
        ++sums.execution_count[index];
        if (stopped.kind != ReasonKind::none) {
            if (access.space != Space::none) tally.add_unknown_addresses(at, row, stopped);
            continue;
        }
        machine.begin(row);
        const Active active = machine.active();
        if (active.is_certain()) {
            ++sums.mask_known_count[index];
            sums.active_lane_total[index] += static_cast<uint64_t>(std::popcount(active.surely));
        }
        if (access.space != Space::none) {
            access_memory(machine, instruction, at, sums, tally);
        } else if (is_scalar_load(instruction)) {
            scalar_load(machine, instruction);
        } else if (instructions.size() == 2) {
            machine.run_both(instruction, instructions[1], row);
        } else if ((instruction.facts & (isa::is_branch | isa::ends_block)) == 0 || !instruction.written.empty()) {
            machine.run(instruction, row);
        }
        if (walk != nullptr) {
            walked = next_row(machine, instruction, row, result, *walk);
            continue;
        }
        if (at + 1 >= path.size()) break;
        follow(machine, instruction, row, path[at + 1], result, stopped);
    }
    used_reciprocal = used_reciprocal || machine.used_reciprocal();
    tally.write(result);
    return result;
}

// Runs a memory instruction: adds its lane addresses and their cost, and writes what it loads.
void Evaluator::access_memory(Machine& machine, const Instruction& instruction, size_t position, RowSums& sums,
                              Tally& tally) const {
    const int32_t row = machine.row();
    const RowAccess& access = code_.access[static_cast<size_t>(row)];
    const Active active = machine.active();
    const Addresses addresses = addresses_of(machine, instruction, access);
    if (addresses.places.empty()) {
        tally.add_unknown_addresses(position, row, addresses.reason);
    } else if (!active.is_certain()) {
        tally.add_unknown_addresses(position, row, {ReasonKind::mask, row});
    } else {
        const Lanes lanes = active.surely & ~addresses.outside;
        if (tally.keeps_executions) add_known(tally.executions, position, lanes, addresses, machine.domain());
        record(machine, lanes, addresses, sums, tally);
    }
    load_results(machine, instruction, access, addresses);
}

// Adds one execution whose lane addresses are certain.
void Evaluator::record(Machine& machine, uint64_t active, const Addresses& addresses, RowSums& sums,
                       Tally& tally) const {
    const int32_t number = machine.row();
    const auto row = static_cast<size_t>(number);
    const RowAccess& access = code_.access[row];
    ++sums.known_count[row];
    sums.requested_byte_total[row] +=
        static_cast<uint64_t>(std::popcount(active)) * access.width_bytes * addresses.places.size();
    sums.assumptions[row] |= addresses.assumptions;
    if (machine.start().workgroup[0] == 0) sums.assumptions[row] |= flat_workgroup;
    const bool is_lds = access.space == Space::lds;
    const bool has_rule = is_lds ? access.lds_rule >= 0 : access.has_segments && code_.segment_bytes != 0;
    PlaceCost whole;
    if (!has_rule) whole.reason = {ReasonKind::no_rule, 0};
    for (size_t place = 0; place < addresses.places.size(); ++place) {
        const Wide& wide = addresses.places[place];
        keep_pattern(wide, active, access.width_bytes, static_cast<uint8_t>(place), number, tally);
        if (whole.reason.kind != ReasonKind::none) continue;
        const PlaceCost cost = cost_of(access, wide, machine.domain().base(wide.base), active);
        sums.assumptions[row] |= cost.assumptions;
        whole.reason = cost.reason;
        whole.base_reason = cost.base_reason;
        whole.lds.ideal_cycles += cost.lds.ideal_cycles;
        whole.lds.extra_cycles += cost.lds.extra_cycles;
        whole.segments += cost.segments;
        whole.least_segments += cost.least_segments;
    }
    if (whole.reason.kind != ReasonKind::none) return tally.add(number, whole.reason, whole.base_reason, true);
    ++sums.cost_known_count[row];
    sums.ideal_cycle_total[row] += whole.lds.ideal_cycles;
    sums.extra_cycle_total[row] += whole.lds.extra_cycles;
    sums.segment_total[row] += whole.segments;
    sums.least_segment_total[row] += whole.least_segments;
}

// What lane addresses relative to a base cost; a base that is known to be aligned too little hides it.
PlaceCost Evaluator::cost_of(const RowAccess& access, const Wide& wide, const Base& base, uint64_t active) const {
    PlaceCost cost;
    const bool is_lds = access.space == Space::lds;
    uint8_t pointer_assumption = 0;
    const unsigned zero_bits =
        wide.base == 0 ? 63 : greatest_alignment(base, code_.pointer_zero_bits, pointer_assumption);
    const uint64_t base_step = uint64_t{1} << std::min(zero_bits, 62U);  // the base is a multiple of it
    // Three dwords: LDS wants them at multiples of four, memory at any dword.
    const unsigned width_unit = is_lds ? std::bit_ceil(unsigned{access.width_bytes})
                                : access.width_bytes % 3 == 0
                                    ? access.width_bytes / 3
                                    : std::min<unsigned>(std::bit_floor(unsigned{access.width_bytes}), 16);
    const auto unknown_base = [&] {
        cost.reason = {ReasonKind::base_alignment, 0};
        cost.base_reason = base.reason;
        return cost;
    };
    if (base_step < width_unit) return unknown_base();
    cost.assumptions = pointer_assumption;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if ((active >> lane & 1) != 0 && static_cast<uint64_t>(wide.lane[lane]) % width_unit != 0) {
            cost.reason = {ReasonKind::unaligned, 0};
            return cost;
        }
    if (is_lds) {
        std::array<uint32_t, kLanes> dwords{};
        for (unsigned lane = 0; lane < kLanes; ++lane) dwords[lane] = static_cast<uint32_t>(wide.lane[lane] >> 2);
        cost.lds = lds_cost(dwords, active, (access.width_bytes + 3U) / 4U,
                            code_.lds_rules[static_cast<size_t>(access.lds_rule)]);
        return cost;
    }
    std::array<uint64_t, kLanes> bytes{};
    std::optional<uint32_t> touched;
    for (uint64_t shift = 0; shift < code_.segment_bytes; shift += base_step) {  // wherever the base lies in a segment
        for (unsigned lane = 0; lane < kLanes; ++lane) bytes[lane] = static_cast<uint64_t>(wide.lane[lane]) + shift;
        const uint32_t at_shift =
            segment_count(bytes, active, access.width_bytes, code_.group_lanes, code_.segment_bytes);
        if (touched && *touched != at_shift) return unknown_base();
        touched = at_shift;
    }
    cost.segments = touched.value_or(0);
    // Lanes that share bytes touch fewer than lanes side by side.
    cost.least_segments = std::min(
        least_segment_count(active, access.width_bytes, code_.group_lanes, code_.segment_bytes), touched.value_or(0));
    return cost;
}

void Evaluator::keep_pattern(const Wide& wide, uint64_t active, uint8_t width, uint8_t place, int32_t row,
                             Tally& tally) {
    if (active == 0 || tally.most_patterns == 0) return;
    // Patterns that lie elsewhere by whole lines of banks and segments are the same.
    constexpr int64_t kLine = 256;
    const int64_t first = wide.lane[static_cast<unsigned>(std::countr_zero(active))];
    const int64_t line = first - (first % kLine + kLine) % kLine;
    auto& patterns = tally.patterns[row];
    std::array<int64_t, kLanes> relative{};
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if ((active >> lane & 1) != 0) relative[lane] = wide.lane[lane] - line;
    for (Tally::Pattern& each : patterns)
        if (each.active == active && each.place == place && each.address == relative) {
            ++each.count;
            return;
        }
    if (patterns.size() < tally.most_patterns) patterns.push_back({1, active, width, place, relative});
}

// Whether the rows behind `from` that a trace does not show lead to `next`.
bool Evaluator::falls_to(int32_t from, int32_t next) const {
    if (next < from || next - from > 64) return false;
    for (int32_t between = from; between < next; ++between)
        if (!may_be_silent(rows_[static_cast<size_t>(between)]->instructions.front())) return false;
    return true;
}

// Compares where the trace goes with what the branch says.
void Evaluator::follow(Machine& machine, const Instruction& instruction, int32_t row, int32_t next, Evaluation& result,
                       Reason& stopped) const {
    if (next < 0) return;  // reported by whoever meets it
    const auto index = static_cast<size_t>(row);
    const int32_t target = code_.target[index];
    const auto misfit = [&] {
        result.misfit_row = row;
        stopped = {ReasonKind::path, row};
    };
    if (jumps_anywhere(instruction)) return;
    if ((instruction.facts & isa::is_branch) != 0 || target >= 0) {
        const bool goes_on = is_conditional(instruction) && falls_to(row + 1, next);
        const bool is_taken = target >= 0 && falls_to(target, next);
        if (!goes_on && !is_taken) return misfit();
        if (!is_conditional(instruction)) return;
        ++result.branch_count;
        if (goes_on == is_taken) return;
        const int verdict = machine.branch(instruction, is_taken);
        if (verdict >= 0) ++result.checked_branch_count;
        if (verdict == 0) {
            result.contradiction_row = row;
            stopped = {ReasonKind::contradiction, row};
        }
        return;
    }
    if (next == row && instruction.written.empty()) return;  // traces show both halves of s_barrier
    if ((instruction.facts & isa::ends_block) != 0 || !falls_to(row + 1, next)) misfit();
}

int32_t Evaluator::next_row(Machine& machine, const Instruction& instruction, int32_t row, Evaluation& result,
                            Walk& walk) const {
    const auto traced_row = [&] {
        return walk.is_in_step && walk.traced_at < walk.traced.size() ? walk.traced[walk.traced_at] : -1;
    };
    const int32_t target = code_.target[static_cast<size_t>(row)];
    const bool is_branch = (instruction.facts & isa::is_branch) != 0 || target >= 0;
    if (traced_row() == row) {
        ++walk.traced_at;
        if (!is_branch && instruction.written.empty() && traced_row() == row) ++walk.traced_at;  // s_barrier
    } else if (!may_be_silent(instruction)) {
        walk.is_in_step = false;
    }
    const int32_t traced_next = traced_row();
    const auto stop = [&] {
        result.misfit_row = row;
        return -1;
    };
    if (jumps_anywhere(instruction)) return traced_next >= 0 ? traced_next : stop();
    int32_t next = row + 1;
    if (is_branch) {
        bool is_taken = true;
        if (is_conditional(instruction)) {
            ++result.branch_count;
            const bool goes_on = traced_next >= 0 && falls_to(next, traced_next);
            is_taken = traced_next < 0 || !goes_on;
            const int verdict = machine.branch(instruction, is_taken);
            if (verdict >= 0)
                ++result.checked_branch_count;
            else if (traced_next < 0)
                return stop();
            else
                ++walk.assumed_branch_count;
            if (verdict == 0) is_taken = !is_taken;
        }
        if (is_taken) next = target >= 0 ? target : traced_next;
    } else if ((instruction.facts & isa::ends_block) != 0) {
        walk.is_complete = true;
        return -1;
    }
    return next >= 0 && static_cast<size_t>(next) < rows_.size() ? next : stop();
}

}  // namespace wavewright::evaluate
