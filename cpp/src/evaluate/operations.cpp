// Finds the handler of an instruction, runs it, and writes its result (operations.hpp).
#include "operations.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace wavewright::evaluate {
namespace operations {
namespace {

const std::unordered_map<std::string_view, Handler>& joined_tables() {
    static const auto kTable = [] {
        std::unordered_map<std::string_view, Handler> table;
        for (const auto& operations : {carry_operations(), float_operations(), half_operations(), lane_operations(),
                                       mask_operations(), scalar_operations(), vector_operations(), wide_operations()})
            for (const auto& [mnemonic, handler] : operations) table.emplace(mnemonic, handler);
        return table;
    }();
    return kTable;
}

Handler handler_of(std::string_view mnemonic) {
    const auto entry = joined_tables().find(mnemonic);
    return entry != joined_tables().end() ? entry->second : comparison_handler(mnemonic);
}

// The result of an instruction whose `dst_sel` selects a byte or a word of the register.
Value selected_part(Machine& machine, const Instruction& instruction, std::string_view part, const Value& result) {
    Domain& domain = machine.domain();
    // Other settings of dst_unused merge with the old value.
    if (instruction.word("dst_unused").value_or("") != "UNUSED_PAD") return domain.unknown(not_evaluated(machine));
    const unsigned bits = part.starts_with("BYTE_") ? 8 : 16;
    const auto place = static_cast<uint32_t>(part.back() - '0');
    const Value lowest = domain.logic(Logic::and_, result, domain.constant((1U << bits) - 1));
    return domain.shift_left(lowest, domain.constant(place * bits));
}

}  // namespace

void set(Machine& machine, const Instruction& instruction, Value result) {
    const Operand& to = instruction.operands.front();
    if (to.kind != Operand::Kind::register_) return;
    Domain& domain = machine.domain();
    if (instruction.has_sdwa) {
        const auto part = instruction.word("dst_sel").value_or("DWORD");
        if (part != "DWORD") result = selected_part(machine, instruction, part, result);
    }
    if (to.half == Half::low)
        result = with_halves(domain, domain.low_16(result), domain.high_16(machine.value(to.number)));
    if (to.half == Half::high)
        result = with_halves(domain, domain.low_16(machine.value(to.number)), domain.low_16(result));
    machine.write(to, 0, std::move(result));
}

Value with_halves(Domain& domain, const Value& low, const Value& high) {
    const Lanes low_lanes = low.base == 0 ? low.lanes : 0, high_lanes = high.base == 0 ? high.lanes : 0;
    Value merged;
    merged.reason = domain.reason_of({&low, &high}, domain.scope());
    merged.lanes = low_lanes & high_lanes;
    merged.low_lanes = low_lanes & ~high_lanes;
    merged.high_lanes = high_lanes & ~low_lanes;
    for (unsigned lane = 0; lane < kLanes; ++lane) merged.lane[lane] = low.lane[lane] | high.lane[lane] << 16;
    return domain.stamped(std::move(merged));
}

void set_wide(Machine& machine, const Instruction& instruction, std::optional<Wide> wide, std::optional<Value> low) {
    const Operand& to = instruction.operands.front();
    const Lanes scope = machine.domain().scope();
    if (wide && (scope & ~wide->lanes) == 0) return machine.write_wide(to, std::move(wide), {});
    const Reason reason = wide_reason(machine, instruction);
    if (machine.is_alike(instruction))
        machine.write_all(instruction, reason);
    else
        machine.write_wide(to, std::move(wide), reason);
    if (low && (scope & ~low->lanes) == 0 && to.kind == Operand::Kind::register_) machine.write(to, 0, *std::move(low));
}

Reason wide_reason(Machine& machine, const Instruction& instruction) {
    for (size_t index = 1; index < instruction.operands.size(); ++index) {
        const Operand& operand = instruction.operands[index];
        if (operand.kind != Operand::Kind::register_) continue;
        for (unsigned part = 0; part < operand.count; ++part) {
            const Value value = machine.value(static_cast<uint16_t>(operand.number + part));
            const Reason reason = machine.domain().reason_of(value);
            if (reason.kind != ReasonKind::none && reason.kind != ReasonKind::high_half) return reason;
        }
    }
    return not_evaluated(machine);
}

}  // namespace operations

void prepare(Instruction& instruction) {
    const std::string_view name = instruction.mnemonic;
    const bool is_packed = name.starts_with("v_pk_");
    const bool has_move = instruction.move.is_there;
    instruction.is_scalar = (instruction.facts & isa::is_valu) == 0 && !name.starts_with("ds_");
    instruction.chooses_registers = name.find("movrel") != std::string_view::npos;
    instruction.is_float = name.find("_f32") != std::string_view::npos;
    const bool names_halves = std::any_of(instruction.operands.begin(), instruction.operands.end(),
                                          [](const Operand& operand) { return operand.half != Half::none; });
    // Carries and masks have their sources at other places, which SDWA and DPP would move.
    const bool moves_carry = (has_move || instruction.has_sdwa) && name.find("_co_") != std::string_view::npos;
    const bool moves_compared = has_move && name.starts_with("v_cmp");
    const bool has_modifier = instruction.has("byte_sel") || instruction.has("mul") || instruction.has("div") ||
                              (instruction.has("op_sel") && !is_packed && !names_halves);
    if (instruction.operands.empty() || moves_carry || moves_compared || has_modifier) return;
    instruction.handler = instruction.has("clamp") ? operations::clamped_handler(name) : operations::handler_of(name);
}

void Machine::run(const Instruction& instruction, int32_t row) {
    begin(row);
    const Reason reason{ReasonKind::not_evaluated, row};
    if (!instruction.is_understood) return write_all(instruction, reason);
    if (instruction.chooses_registers) return write_all({}, reason);
    domain_.set_scope(instruction.is_scalar ? domain_.all() : active().maybe);
    if (instruction.handler == nullptr || (instruction.move.is_there && !move_lanes(instruction))) {
        write_all(instruction, reason);
    } else {
        if (narrowed_) domain_.set_scope(narrowed_->maybe);
        instruction.handler(*this, instruction);
    }
    moved_.reset();
    narrowed_.reset();
    domain_.set_scope(domain_.all());
}

void Machine::run_both(const Instruction& one, const Instruction& other, int32_t row) {
    if (one.operands.empty() || one.operands.front().kind != Operand::Kind::register_) {
        run(one, row);
        return run(other, row);
    }
    const uint16_t number = one.operands.front().number;
    const Value before = registers_[number];
    run(one, row);
    Value after = registers_[number];
    registers_[number] = before;
    run(other, row);
    registers_[number] = std::move(after);
}

}  // namespace wavewright::evaluate
