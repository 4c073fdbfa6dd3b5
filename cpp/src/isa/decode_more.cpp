// What one operand says about another.
#include "decode.hpp"

namespace wavewright::isa {
namespace {

// Bits of a modifiers operand.
constexpr int64_t kOpSelSource = 4, kOpSelResult = 8;

void choose_half(Instruction& instruction, Name operand, Name modifiers, int64_t bit) {
    Value* value = instruction.value(operand);
    if (value == nullptr || !value->is_reg() || value->half == Half::whole) return;
    if (instruction.number(modifiers) & bit) value->half = Half::high;
}

// Registers of a source by its number format: FP8, BF8, FP6, BF6, FP4.
// The others are reserved; LLVM counts them as 8.
constexpr unsigned kFormatDwords[] = {8, 8, 6, 6, 4, 8, 8, 8};
constexpr int64_t kLastFormat = 4;

void narrow(Value* value, int64_t format) {
    if (value == nullptr || !value->is_reg() || value->bank == Bank::special || value->dwords == 1) return;
    const unsigned dwords = kFormatDwords[format & 7] * (value->dwords == 16 ? 2 : 1);
    if (value->bank == Bank::ttmp && dwords == 8) return;  // LLVM has no half of ttmp[0:15]
    value->dwords = static_cast<uint8_t>(dwords);
}

}  // namespace

// 16-bit operands of VOP3 have the bit that chooses the half in their modifiers.
void choose_halves(Instruction& instruction) {
    if (!instruction.encoded_as(encoding::vop3)) return;
    choose_half(instruction, Name::src0, Name::src0_modifiers, kOpSelSource);
    choose_half(instruction, Name::src1, Name::src1_modifiers, kOpSelSource);
    choose_half(instruction, Name::src2, Name::src2_modifiers, kOpSelSource);
    choose_half(instruction, Name::vdst, Name::src0_modifiers, kOpSelResult);
}

// Matrix instructions whose sources have as many registers as their formats need.
void narrow_matrix_sources(Instruction& instruction) {
    int64_t a_format = 0, b_format = 0;
    if (instruction.is(flag::is_mai) && instruction.is(flag::f8f6f4) && instruction.has(Name::blgp)) {
        a_format = instruction.number(Name::cbsz);
        b_format = instruction.number(Name::blgp);
    } else if (instruction.is(flag::is_wmma) && instruction.has(Name::matrix_a_fmt)) {
        a_format = instruction.number(Name::matrix_a_fmt);
        b_format = instruction.number(Name::matrix_b_fmt);
        if (a_format > kLastFormat || b_format > kLastFormat) return;
    } else {
        return;
    }
    narrow(instruction.value(Name::src0), a_format);
    narrow(instruction.value(Name::src1), b_format);
}

}  // namespace wavewright::isa
