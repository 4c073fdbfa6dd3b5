// Vector and scalar instructions of 64-bit integers, which lie in pairs of registers.
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "operations.hpp"

namespace wavewright::evaluate::operations {
namespace {

void mov_b64(Machine& machine, const Instruction& instruction) {
    const Operand& to = instruction.operands.front();
    if (to.kind != Operand::Kind::register_ || instruction.operands.size() < 2)
        return machine.write_all(instruction, not_evaluated(machine));
    const Operand& from = instruction.operands[1];
    if (from.kind == Operand::Kind::register_ && from.count == 2) {
        Value low = machine.value(from.number), high = machine.value(static_cast<uint16_t>(from.number + 1));
        machine.write(to, 0, std::move(low));
        machine.write(to, 1, std::move(high));
        return;
    }
    machine.write_wide(to, machine.wide_source(instruction, 1), not_evaluated(machine));
}

void shift_wide(Machine& machine, const Instruction& instruction, const std::optional<Wide>& number, const Value& low,
                const Value& count) {
    Domain& domain = machine.domain();
    if (!domain.is_one_number(count)) return set_wide(machine, instruction, std::nullopt);
    const unsigned by = domain.first(count) & 63;
    set_wide(machine, instruction, number ? std::optional(domain.shift_left(*number, by)) : std::nullopt,
             by >= kDwordBits ? domain.constant(0) : domain.shift_left(low, domain.constant(by)));
}

void lshlrev_b64(Machine& machine, const Instruction& instruction) {
    shift_wide(machine, instruction, machine.wide_source(instruction, 2), machine.source(instruction, 2),
               machine.source(instruction, 1));
}

// Scalar shifts say in SCC whether their result is not zero.
void scc_of_pair(Machine& machine, const Operand& to) {
    if (to.kind == Operand::Kind::register_ && to.count == 2)
        machine.write_scc_nonzero(machine.value(to.number), machine.value(static_cast<uint16_t>(to.number + 1)));
    else
        machine.write_scc(std::nullopt, not_evaluated(machine));
}

void lshl_b64(Machine& machine, const Instruction& instruction) {
    shift_wide(machine, instruction, machine.wide_source(instruction, 1), machine.source(instruction, 1),
               machine.source(instruction, 2));
    scc_of_pair(machine, instruction.operands.front());
}

// Shifts to the right, of plain numbers only.
template <bool Signed>
void right_b64(Machine& machine, const Instruction& instruction, const std::optional<Wide>& number,
               const Value& count) {
    Domain& domain = machine.domain();
    if (!number || number->base != 0 || !domain.is_one_number(count))
        return set_wide(machine, instruction, std::nullopt);
    Wide result = *number;
    const unsigned by = domain.first(count) & 63;
    for (int64_t& lane : result.lane)
        lane = Signed ? lane >> by : static_cast<int64_t>(static_cast<uint64_t>(lane) >> by);
    set_wide(machine, instruction, result);
}

void lshrrev_b64(Machine& machine, const Instruction& instruction) {
    right_b64<false>(machine, instruction, machine.wide_source(instruction, 2), machine.source(instruction, 1));
}

void ashrrev_i64(Machine& machine, const Instruction& instruction) {
    right_b64<true>(machine, instruction, machine.wide_source(instruction, 2), machine.source(instruction, 1));
}

void lshr_b64(Machine& machine, const Instruction& instruction) {
    right_b64<false>(machine, instruction, machine.wide_source(instruction, 1), machine.source(instruction, 2));
    scc_of_pair(machine, instruction.operands.front());
}

void ashr_i64(Machine& machine, const Instruction& instruction) {
    right_b64<true>(machine, instruction, machine.wide_source(instruction, 1), machine.source(instruction, 2));
    scc_of_pair(machine, instruction.operands.front());
}

void lshl_add_u64(Machine& machine, const Instruction& instruction) {
    const auto number = machine.wide_source(instruction, 1), addend = machine.wide_source(instruction, 3);
    const Value count = machine.source(instruction, 2);
    Domain& domain = machine.domain();
    if (!domain.is_one_number(count)) return set_wide(machine, instruction, std::nullopt);
    const unsigned by = domain.first(count) & 7;
    std::optional<Wide> sum;
    if (number && addend) sum = domain.add(domain.shift_left(*number, by), *addend);
    set_wide(machine, instruction, sum,
             domain.add(domain.shift_left(machine.source(instruction, 1), domain.constant(by)),
                        machine.source(instruction, 3)));
}

void add_u64(Machine& machine, const Instruction& instruction) {
    const auto one = machine.wide_source(instruction, 1), other = machine.wide_source(instruction, 2);
    set_wide(machine, instruction, one && other ? std::optional(machine.domain().add(*one, *other)) : std::nullopt,
             machine.domain().add(machine.source(instruction, 1), machine.source(instruction, 2)));
}

void sub_u64(Machine& machine, const Instruction& instruction) {
    const auto one = machine.wide_source(instruction, 1), other = machine.wide_source(instruction, 2);
    set_wide(machine, instruction, one && other ? machine.domain().subtract(*one, *other) : std::nullopt,
             machine.domain().subtract(machine.source(instruction, 1), machine.source(instruction, 2)));
}

void mul_u64(Machine& machine, const Instruction& instruction) {
    const auto one = machine.wide_source(instruction, 1), other = machine.wide_source(instruction, 2);
    set_wide(machine, instruction, one && other ? machine.domain().multiply(*one, *other) : std::nullopt,
             machine.domain().multiply(machine.source(instruction, 1), machine.source(instruction, 2)));
}

template <bool Signed>
void mad_64_32(Machine& machine, const Instruction& instruction) {  // operands: result, carry, a, b, c
    if (instruction.operands.size() < 5) return machine.write_all(instruction, not_evaluated(machine));
    Domain& domain = machine.domain();
    const Value a = machine.source(instruction, 2), b = machine.source(instruction, 3);
    const auto addend = machine.wide_source(instruction, 4);
    const auto product = domain.multiply(domain.extended(a, Signed), domain.extended(b, Signed));
    set_wide(machine, instruction, product && addend ? std::optional(domain.add(*product, *addend)) : std::nullopt,
             domain.add(domain.multiply(a, b), machine.source(instruction, 4)));
    machine.write_mask(instruction.operands[1], 0, 0, not_evaluated(machine));
}

void ctz_b64(Machine& machine, const Instruction& instruction) {
    const auto number = machine.wide_source(instruction, 1);
    if (!number || number->base != 0 || number->lanes == 0)
        return machine.write_all(instruction, wide_reason(machine, instruction));
    const auto bits = static_cast<uint64_t>(number->lane[0]);
    set(machine, instruction,
        machine.domain().constant(bits == 0 ? UINT32_MAX : static_cast<uint32_t>(std::countr_zero(bits))));
}

}  // namespace

std::span<const Operation> wide_operations() {
    static constexpr Operation kOperations[] = {
        {"v_mov_b64", mov_b64},
        {"v_lshlrev_b64", lshlrev_b64},
        {"v_lshrrev_b64", lshrrev_b64},
        {"v_ashrrev_i64", ashrrev_i64},
        {"v_lshl_add_u64", lshl_add_u64},
        {"v_add_nc_u64", add_u64},
        {"v_sub_nc_u64", sub_u64},
        {"v_mul_u64", mul_u64},
        {"v_mad_u64_u32", mad_64_32<false>},
        {"v_mad_co_u64_u32", mad_64_32<false>},
        {"v_mad_i64_i32", mad_64_32<true>},
        {"v_mad_co_i64_i32", mad_64_32<true>},
        {"s_mov_b64", mov_b64},
        {"s_ff1_i32_b64", ctz_b64},
        {"s_ctz_i32_b64", ctz_b64},
        {"s_add_nc_u64", add_u64},
        {"s_add_u64", add_u64},
        {"s_sub_nc_u64", sub_u64},
        {"s_sub_u64", sub_u64},
        {"s_mul_u64", mul_u64},
        {"s_lshl_b64", lshl_b64},
        {"s_lshr_b64", lshr_b64},
        {"s_ashr_i64", ashr_i64},
    };
    return kOperations;
}

}  // namespace wavewright::evaluate::operations
