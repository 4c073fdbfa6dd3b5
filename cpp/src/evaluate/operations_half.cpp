// Vector instructions of 16-bit integers, in one half of a register or in both (v_pk_...). Results are known only for
// plain numbers, without an unknown base.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "operations.hpp"

namespace wavewright::evaluate::operations {
namespace {

using HalfFunction = uint32_t (*)(uint32_t, uint32_t, uint32_t);

template <HalfFunction Function, unsigned Sources>
void half(Machine& machine, const Instruction& instruction) {
    Domain& domain = machine.domain();
    const Value a = domain.low_16(machine.source(instruction, 1)), b = domain.low_16(machine.source(instruction, 2));
    const Value c = Sources > 2 ? domain.low_16(machine.source(instruction, 3)) : domain.constant(0);
    Value result = domain.lanewise(
        [&](unsigned lane) { return Function(a.lane[lane], b.lane[lane], c.lane[lane]) & 0xFFFF; }, {&a, &b, &c});
    const Operand& to = instruction.operands.front();
    if (to.half == Half::none && instruction.keeps_high && !instruction.has_sdwa && to.kind == Operand::Kind::register_)
        result = with_halves(domain, result, domain.high_16(machine.value(to.number)));
    set(machine, instruction, std::move(result));
}

uint32_t half_sum(uint32_t a, uint32_t b, uint32_t) {
    return a + b;
}
uint32_t half_difference(uint32_t a, uint32_t b, uint32_t) {
    return a - b;
}
uint32_t half_reverse(uint32_t a, uint32_t b, uint32_t) {
    return b - a;
}
uint32_t half_product(uint32_t a, uint32_t b, uint32_t) {
    return a * b;
}
uint32_t half_mad(uint32_t a, uint32_t b, uint32_t c) {
    return a * b + c;
}
uint32_t half_shlrev(uint32_t a, uint32_t b, uint32_t) {
    return b << (a & 15);
}
uint32_t half_shrrev(uint32_t a, uint32_t b, uint32_t) {
    return b >> (a & 15);
}
uint32_t half_and(uint32_t a, uint32_t b, uint32_t) {
    return a & b;
}
uint32_t half_or(uint32_t a, uint32_t b, uint32_t) {
    return a | b;
}
uint32_t half_xor(uint32_t a, uint32_t b, uint32_t) {
    return a ^ b;
}
uint32_t half_min(uint32_t a, uint32_t b, uint32_t) {
    return std::min(a, b);
}
uint32_t half_max(uint32_t a, uint32_t b, uint32_t) {
    return std::max(a, b);
}

// Whether a half of the result takes the high half of a source: `op_sel` says it for the low half, `op_sel_hi` for the
// high one.
bool takes_high(const Instruction& instruction, std::string_view list, size_t operand, bool otherwise) {
    const auto text = instruction.word(list);
    const size_t at = 1 + 2 * (operand - 1);  // "[0,1]"
    return text && at < text->size() ? (*text)[at] == '1' : otherwise;
}

// A function of 16 bits for both halves of the result; `shift[half][source]` moves the half of a source that it takes
// down.
using HalfShifts = std::array<std::array<unsigned, 3>, 2>;

HalfShifts half_shifts(const Instruction& instruction, size_t source_count) {
    HalfShifts shift{};
    for (size_t source = 0; source < source_count; ++source) {
        shift[0][source] = takes_high(instruction, "op_sel", source + 1, false) ? 16 : 0;
        shift[1][source] = takes_high(instruction, "op_sel_hi", source + 1, true) ? 16 : 0;
    }
    return shift;
}

bool is_inline_number(const Operand& operand) {
    return operand.kind == Operand::Kind::number && operand.is_inline;
}

Value both_halves(Domain& domain, const HalfShifts& shift, const std::array<Value, 3>& sources, HalfFunction function) {
    const auto& [a, b, c] = sources;
    return domain.lanewise(
        [&](unsigned lane) {
            uint32_t result = 0;
            for (unsigned half = 0; half < 2; ++half) {
                const auto& [of_a, of_b, of_c] = shift[half];
                const uint32_t number = function(a.lane[lane] >> of_a & 0xFFFF, b.lane[lane] >> of_b & 0xFFFF,
                                                 c.lane[lane] >> of_c & 0xFFFF);
                result |= (number & 0xFFFF) << 16 * half;
            }
            return result;
        },
        {&a, &b, &c});
}

template <HalfFunction Function>
void packed(Machine& machine, const Instruction& instruction) {
    if (instruction.operands.size() < 3) return machine.write_all(instruction, not_evaluated(machine));
    const HalfShifts shift = half_shifts(instruction, 2);
    // Literals have two halves; what the high half of an inline number is differs between generations.
    for (size_t source = 0; source < 2; ++source)
        if (is_inline_number(instruction.operands[source + 1]) && (shift[0][source] | shift[1][source]) != 0)
            return machine.write_all(instruction, not_evaluated(machine));
    Domain& domain = machine.domain();
    const std::array<Value, 3> sources{machine.source(instruction, 1), machine.source(instruction, 2),
                                       domain.constant(0)};
    set(machine, instruction, both_halves(domain, shift, sources, Function));
}

void packed_mad(Machine& machine, const Instruction& instruction) {
    if (instruction.operands.size() < 4) return machine.write_all(instruction, not_evaluated(machine));
    const HalfShifts shift = half_shifts(instruction, 3);
    // As for `packed`; the high halves of zero and of negative inline numbers are the same in all generations.
    for (size_t source = 0; source < 3; ++source) {
        const Operand& operand = instruction.operands[source + 1];
        if (is_inline_number(operand) && static_cast<int32_t>(operand.literal) > 0 &&
            (shift[0][source] | shift[1][source]) != 0)
            return machine.write_all(instruction, not_evaluated(machine));
    }
    const std::array<Value, 3> sources{machine.source(instruction, 1), machine.source(instruction, 2),
                                       machine.source(instruction, 3)};
    set(machine, instruction, both_halves(machine.domain(), shift, sources, half_mad));
}

// v_pk_mov_b32: the low dword of the result is one of the first pair, the high dword one of the second, as op_sel says.
void packed_mov(Machine& machine, const Instruction& instruction) {
    const auto& operands = instruction.operands;
    const auto is_register = [](const Operand& operand) { return operand.kind == Operand::Kind::register_; };
    if (operands.size() != 3 || !std::all_of(operands.begin(), operands.end(), is_register) || operands[1].count != 2 ||
        operands[2].count != 2)
        return machine.write_all(instruction, not_evaluated(machine));
    const auto selected = [&](size_t source) {
        const unsigned part = takes_high(instruction, "op_sel", source, false) ? 1 : 0;
        return machine.value(static_cast<uint16_t>(operands[source].number + part));
    };
    Value low = selected(1), high = selected(2);
    machine.write(operands[0], 0, std::move(low));
    machine.write(operands[0], 1, std::move(high));
}

}  // namespace

std::span<const Operation> half_operations() {
    static constexpr Operation kOperations[] = {
        {"v_add_u16", half<half_sum, 2>},
        {"v_add_nc_u16", half<half_sum, 2>},
        {"v_sub_u16", half<half_difference, 2>},
        {"v_sub_nc_u16", half<half_difference, 2>},
        {"v_subrev_u16", half<half_reverse, 2>},
        {"v_mul_lo_u16", half<half_product, 2>},
        {"v_mad_u16", half<half_mad, 3>},
        {"v_mad_legacy_u16", half<half_mad, 3>},
        {"v_lshlrev_b16", half<half_shlrev, 2>},
        {"v_lshrrev_b16", half<half_shrrev, 2>},
        {"v_and_b16", half<half_and, 2>},
        {"v_or_b16", half<half_or, 2>},
        {"v_xor_b16", half<half_xor, 2>},
        {"v_min_u16", half<half_min, 2>},
        {"v_max_u16", half<half_max, 2>},
        {"v_pk_mad_u16", packed_mad},
        {"v_pk_mov_b32", packed_mov},
        {"v_pk_add_u16", packed<half_sum>},
        {"v_pk_sub_u16", packed<half_difference>},
        {"v_pk_mul_lo_u16", packed<half_product>},
        {"v_pk_lshlrev_b16", packed<half_shlrev>},
        {"v_pk_lshrrev_b16", packed<half_shrrev>},
    };
    return kOperations;
}

}  // namespace wavewright::evaluate::operations
