// Instructions that choose by a condition, and scalar instructions on masks of lanes.
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "operations.hpp"

namespace wavewright::evaluate::operations {
namespace {

// The lanes in which v_cndmask_b32 takes its second source, and the condition behind them where they are all or none of
// the active lanes.
struct SelectMask {
    Active lanes;
    uint32_t condition = 0;
};

std::optional<SelectMask> select_mask(Machine& machine, const Instruction& instruction) {
    const bool has_mask = instruction.operands.size() > 3;  // without one it is VCC
    if (has_mask && instruction.operands[3].kind == Operand::Kind::number) {
        const auto number = static_cast<int32_t>(instruction.operands[3].literal);
        const Lanes all = machine.domain().all();
        if (number == 0) return SelectMask{};
        return number == -1 ? std::optional(SelectMask{.lanes = {all, all}}) : std::nullopt;
    }
    if (has_mask && instruction.operands[3].kind != Operand::Kind::register_) return std::nullopt;
    const uint16_t number = has_mask ? instruction.operands[3].number : uint16_t{isa::vcc_lo};
    return SelectMask{.lanes = machine.lanes_of(number, machine.start().lane_count == kLanes),
                      .condition = machine.value(number).condition};
}

// `yes` in the chosen lanes, `no` in others; in open lanes it is not certain which.
Value blended(const Value& no, const Value& yes, Lanes scope, Lanes chosen, Lanes open) {
    Value result;
    if (no.base == yes.base) {
        result.base = no.base;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            const Lanes bit = bit_of(lane);
            const Value& from = (chosen & bit) != 0 ? yes : no;
            const bool is_same = (no.lanes & yes.lanes & bit) != 0 && no.lane[lane] == yes.lane[lane];
            if ((open & bit) != 0 && !is_same) continue;
            result.lane[lane] = from.lane[lane];
            result.lanes |= from.lanes & bit;
        }
    } else if (open == 0) {  // a value has one base: that of the majority
        const bool takes_yes = std::popcount(chosen) * 2 >= std::popcount(scope);
        const Value& from = takes_yes ? yes : no;
        result.base = from.base;
        result.lane = from.lane;
        result.lanes = from.lanes & (takes_yes ? chosen : scope & ~chosen);
    }
    return result;
}

void cndmask(Machine& machine, const Instruction& instruction) {  // operands: result, no, yes, mask
    Domain& domain = machine.domain();
    const Value no = machine.source(instruction, 1), yes = machine.source(instruction, 2);
    const auto mask = select_mask(machine, instruction);
    if (!mask) return machine.write_all(instruction, not_evaluated(machine));
    const Lanes scope = domain.scope();
    const Lanes chosen = mask->lanes.surely & scope, open = mask->lanes.maybe & ~mask->lanes.surely & scope;
    if (open == 0 && chosen == 0) return set(machine, instruction, no);
    if (open == 0 && chosen == scope) return set(machine, instruction, yes);
    Value result = blended(no, yes, scope, chosen, open);
    const Reason source_reason = domain.reason_of({&no, &yes}, scope);
    result.reason = open == 0 ? source_reason : Reason{ReasonKind::mask, machine.row()};
    // All lanes choose alike between two numbers that are the same in all lanes.
    if (open == scope && mask->condition != 0 && domain.is_common(no, scope) && domain.is_common(yes, scope) &&
        (scope & ~result.lanes) != 0)
        return set(machine, instruction, domain.common(source_reason));
    set(machine, instruction, domain.stamped(std::move(result)));
}

// One of two scalars, as SCC says.
Value choose(Machine& machine, const Value& yes_given, const Value& no_given) {
    Domain& domain = machine.domain();
    const Value scc = machine.value(isa::scc), yes = domain.settled(yes_given), no = domain.settled(no_given);
    if (scc.condition == 0 && scc.base == 0 && scc.lanes != 0) return scc.lane[0] != 0 ? yes : no;
    const bool is_plain = yes.base == 0 && no.base == 0 && yes.lanes != 0 && no.lanes != 0;
    Value result = domain.common(domain.reason_of(scc));
    if (scc.condition != 0 && is_plain) {
        result.condition = scc.condition;
        for (size_t at = 0; at < 2; ++at) result.either[at] = scc.either[at] != 0 ? yes.lane[0] : no.lane[0];
        if (result.either[0] == result.either[1]) return domain.constant(result.either[0]);
    }
    return result;
}

void cselect_b32(Machine& machine, const Instruction& instruction) {
    set(machine, instruction, choose(machine, machine.source(instruction, 1), machine.source(instruction, 2)));
}
void cselect_b64(Machine& machine, const Instruction& instruction) {
    if (instruction.operands.size() < 3) return machine.write_all(instruction, not_evaluated(machine));
    Value low =
        choose(machine, machine.mask_half(instruction.operands[1], 0), machine.mask_half(instruction.operands[2], 0));
    Value high =
        choose(machine, machine.mask_half(instruction.operands[1], 1), machine.mask_half(instruction.operands[2], 1));
    machine.write(instruction.operands[0], 0, std::move(low));
    machine.write(instruction.operands[0], 1, std::move(high));
}

void cmov_b32(Machine& machine, const Instruction& instruction) {
    set(machine, instruction, choose(machine, machine.source(instruction, 1), machine.source(instruction, 0)));
}
// Writes a mask, and in SCC whether it has a bit.
void write_pair(Machine& machine, const Operand& to, Value low, Value high) {
    machine.write_scc_nonzero(low, high);
    machine.write(to, 0, std::move(low));
    machine.write(to, 1, std::move(high));
}

template <auto Function>
void logic_b64(Machine& machine, const Instruction& instruction) {
    const auto& operands = instruction.operands;
    if (operands.size() < 3 || operands[0].kind != Operand::Kind::register_)
        return machine.write_all(instruction, not_evaluated(machine));
    const auto half = [&](unsigned at) {
        return Function(machine.domain(), machine.mask_half(operands[1], at), machine.mask_half(operands[2], at));
    };
    Value low = half(0), high = half(1);
    write_pair(machine, operands[0], std::move(low), std::move(high));
}

void not_b64(Machine& machine, const Instruction& instruction) {
    const auto& operands = instruction.operands;
    if (operands.size() < 2 || operands[0].kind != Operand::Kind::register_)
        return machine.write_all(instruction, not_evaluated(machine));
    Value low = not_(machine.domain(), machine.mask_half(operands[1], 0));
    Value high = not_(machine.domain(), machine.mask_half(operands[1], 1));
    write_pair(machine, operands[0], std::move(low), std::move(high));
}

// s_andn1_saveexec: negates the source, andn2 negates EXEC.
Value n2and(Domain& domain, const Value& a, const Value& b) {
    return and_(domain, not_(domain, a), b);
}

// s_..._saveexec: the result is the old EXEC, and EXEC becomes a function of the source and the old one.
template <auto Function, unsigned Halves>
void saveexec(Machine& machine, const Instruction& instruction) {
    if (instruction.operands.size() < 2 || instruction.operands[0].kind != Operand::Kind::register_)
        return machine.write_all(instruction, not_evaluated(machine));
    std::array<Value, 2> old, changed;
    for (unsigned half = 0; half < Halves; ++half) {
        old[half] = machine.value(static_cast<uint16_t>(isa::exec_lo + half));
        changed[half] = Function(machine.domain(), machine.mask_half(instruction.operands[1], half), old[half]);
    }
    if (Halves == 1) changed[1] = machine.domain().constant(0);
    machine.write_scc_nonzero(changed[0], changed[1]);
    for (unsigned half = 0; half < Halves; ++half) {
        machine.write(instruction.operands[0], half, old[half]);
        machine.write(static_cast<uint16_t>(isa::exec_lo + half), changed[half]);
    }
}

// Counts the lanes of a mask.
void bcnt1_b64(Machine& machine, const Instruction& instruction) {
    if (instruction.operands.size() < 2 || instruction.operands[1].kind != Operand::Kind::register_)
        return machine.write_all(instruction, not_evaluated(machine));
    const Active lanes = machine.lanes_of(instruction.operands[1].number, true);
    Value result = lanes.is_certain() && machine.start().lane_count == kLanes
                       ? machine.domain().constant(static_cast<uint32_t>(std::popcount(lanes.surely)))
                       : machine.domain().common({ReasonKind::mask, machine.row()}, 0, 64);
    machine.write_scc_nonzero(result);
    set(machine, instruction, std::move(result));
}

}  // namespace

std::span<const Operation> mask_operations() {
    static constexpr Operation kOperations[] = {
        {"v_cndmask_b32", cndmask},
        {"s_cmov_b32", cmov_b32},
        {"s_not_b64", not_b64},
        {"s_bcnt1_i32_b64", bcnt1_b64},
        {"s_and_b64", logic_b64<and_>},
        {"s_or_b64", logic_b64<or_>},
        {"s_xor_b64", logic_b64<xor_>},
        {"s_andn2_b64", logic_b64<andn2>},
        {"s_and_not1_b64", logic_b64<andn2>},
        {"s_orn2_b64", logic_b64<orn2>},
        {"s_or_not1_b64", logic_b64<orn2>},
        {"s_nand_b64", logic_b64<nand>},
        {"s_nor_b64", logic_b64<nor>},
        {"s_xnor_b64", logic_b64<xnor>},
        {"s_cselect_b32", cselect_b32},
        {"s_cselect_b64", cselect_b64},
        {"s_and_saveexec_b64", saveexec<and_, 2>},
        {"s_or_saveexec_b64", saveexec<or_, 2>},
        {"s_xor_saveexec_b64", saveexec<xor_, 2>},
        {"s_andn2_saveexec_b64", saveexec<andn2, 2>},
        {"s_and_not1_saveexec_b64", saveexec<andn2, 2>},
        {"s_andn1_saveexec_b64", saveexec<n2and, 2>},
        {"s_and_not0_saveexec_b64", saveexec<n2and, 2>},
        {"s_and_saveexec_b32", saveexec<and_, 1>},
        {"s_or_saveexec_b32", saveexec<or_, 1>},
        {"s_xor_saveexec_b32", saveexec<xor_, 1>},
        {"s_andn2_saveexec_b32", saveexec<andn2, 1>},
        {"s_and_not1_saveexec_b32", saveexec<andn2, 1>},
        {"s_andn1_saveexec_b32", saveexec<n2and, 1>},
        {"s_and_not0_saveexec_b32", saveexec<n2and, 1>},
    };
    return kOperations;
}

}  // namespace wavewright::evaluate::operations
