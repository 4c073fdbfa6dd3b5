// The value of one operand from the bits of its field. What the fields mean: AMD's ISA documents, and the decoders of
// LLVM's AMDGPUDisassembler.cpp, whose treatment of codes without a meaning is kept.
#include <algorithm>

#include "decode.hpp"

namespace wavewright::isa {
namespace {

using Kind = Value::Kind;

unsigned dwords_of(unsigned width_bits) {
    return (width_bits + 31) / 32;
}

// Scalar tuples begin at multiples of 2 or 4; LLVM drops the lower bits.
unsigned aligned(unsigned number, unsigned width_bits) {
    const unsigned alignment = width_bits <= 32 ? 1 : width_bits == 64 ? 2 : 4;
    return number / alignment * alignment;
}

// LLVM has no tuples of 6 and of 32 scalars, nor of 3 trap registers; where an operand wants them, it takes others.
unsigned tuple_bits(Bank bank, unsigned width_bits) {
    if (bank == Bank::ttmp && (width_bits == 96 || width_bits == 192)) return 256;
    return width_bits == 192 ? 160 : std::min(width_bits, 512U);
}

// The results say whether the registers exist; a value is made in any case.
bool tuple(Value& value, Bank bank, unsigned number, unsigned width_bits, unsigned bank_size) {
    width_bits = tuple_bits(bank, width_bits);
    const unsigned first = aligned(number, width_bits);
    value = Value::reg(bank, first, width_bits);
    return first + dwords_of(width_bits) <= bank_size;
}

bool acc(Value& value, unsigned number, unsigned width_bits) {
    value = Value::reg(Bank::agpr, number, width_bits);
    return number + dwords_of(width_bits) <= 256;
}

bool is_between(unsigned number, unsigned first, unsigned last) {
    return number >= first && number <= last;
}

// Whether there is a register with a name of its own, of this width, for the code of a source operand.
bool is_special(const Target& target, unsigned code, unsigned width_bits) {
    if (code == target.null_code()) return true;
    if (width_bits > 64) return false;
    if (is_between(code, code::shared_base, code::pops_exiting_wave_id) || is_between(code, code::vccz, code::scc))
        return true;
    if (width_bits == 64)
        return code == code::flat_scratch_lo || code == code::xnack_mask_lo || code == code::vcc_lo ||
               code == code::exec_lo || code == code::flat_scratch_base_lo;
    return is_between(code, code::flat_scratch_lo, code::vcc_hi) || is_between(code, code::m0, code::exec_hi) ||
           code == code::flat_scratch_base_lo || code == code::flat_scratch_base_hi || code == code::lds_direct;
}

// As take_literal(), 8 bytes.
bool take_literal_64(Instruction& instruction) {
    if (instruction.has_literal) return true;
    if (instruction.bytes.size() < instruction.size + 8) return false;
    instruction.literal = 0;
    for (unsigned byte = 0; byte < 8; ++byte)
        instruction.literal |= uint64_t{instruction.bytes[instruction.size + byte]} << 8 * byte;
    instruction.has_literal = true;
    instruction.size += 8;
    return true;
}

bool is_numbered_scalar(const Target& target, unsigned code) {
    const unsigned last = target.generation() >= 10 ? unsigned{code::last_sgpr} : unsigned{code::last_sgpr_gfx9};
    return code <= last || is_between(code, code::first_ttmp, code::last_ttmp);
}

// Of a code for which is_numbered_scalar() holds.
bool numbered_scalar(Value& value, unsigned code, unsigned width_bits) {
    if (code <= code::last_sgpr) return tuple(value, Bank::sgpr, code, width_bits, code::last_sgpr + 1);
    const unsigned ttmp_count = code::last_ttmp - code::first_ttmp + 1;
    return tuple(value, Bank::ttmp, code - code::first_ttmp, width_bits, ttmp_count);
}

bool special_register(const Target& target, Value& value, unsigned code, unsigned width_bits) {
    value = Value::reg(Bank::special, code, width_bits);
    return is_special(target, code, width_bits);
}

bool is_inline_constant(unsigned code) {
    return is_between(code, code::first_integer, code::last_integer) ||
           is_between(code, code::first_float, code::last_float);
}

// A source that is no vector register: the 8 lower bits of the 9.
bool scalar_source(const Target& target, Instruction& instruction, Value& value, unsigned code, unsigned width_bits) {
    if (is_numbered_scalar(target, code)) return numbered_scalar(value, code, width_bits);
    if (is_inline_constant(code) || code == kLiteralCode) {
        value = Value::of(Kind::constant, code);
        return true;
    }
    if (code == code::literal_64 && target.has(feature::literals_64)) {
        if (!take_literal_64(instruction)) return false;
        value = Value::of(Kind::literal_64, static_cast<int64_t>(instruction.literal));
        return true;
    }
    return special_register(target, value, code, width_bits);
}

bool source(const Target& target, Instruction& instruction, Value& value, unsigned code, unsigned width_bits) {
    if ((code & code::vector_bit) == 0) return scalar_source(target, instruction, value, code & 255, width_bits);
    if (code & code::accumulation_bit) return acc(value, code & 255, width_bits);
    value = Value::reg(Bank::vgpr, code & 255, width_bits);
    return true;
}

// SDWA turns the meaning of bit 8 round: vector registers do not have it. It has no room for a literal.
bool sdwa_source(const Target& target, Instruction& instruction, Value& value, unsigned code) {
    constexpr unsigned kIsScalar = 256;
    if (code < kIsScalar) {
        value = Value::reg(Bank::vgpr, code, 32);
        return true;
    }
    return code - kIsScalar != kLiteralCode && scalar_source(target, instruction, value, (code - kIsScalar) & 255, 32);
}

// The result of a comparison in SDWA: a scalar register if bit 7 says so, else VCC.
bool sdwa_mask(const Target& target, Value& value, unsigned code) {
    constexpr unsigned kIsScalar = 128;
    const unsigned number = code & kIsScalar ? code & 127 : unsigned{code::vcc_lo};
    const unsigned width_bits = target.mask_width_bits();
    return is_numbered_scalar(target, number) ? numbered_scalar(value, number, width_bits)
                                              : special_register(target, value, number, width_bits);
}

// A literal that is a field of the instruction. It must be the only one.
bool literal_field(Instruction& instruction, uint64_t field) {
    if (instruction.has_literal && instruction.literal != field) return false;
    instruction.has_literal = true;
    instruction.literal = field;
    return true;
}

int64_t sign_extended(uint64_t value, unsigned bits) {
    return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

}  // namespace

bool decode_operand(const Target& target, Instruction& instruction, size_t operand, uint64_t field) {
    const OperandKind& kind = instruction.kind(operand);
    Value& value = instruction.values[operand];
    const auto code = static_cast<unsigned>(field);
    const unsigned width_bits = kind.width_bits;
    switch (kind.decode) {
        case Decode::number: value = Value::of(Kind::number, static_cast<int64_t>(field)); return true;
        case Decode::source: return source(target, instruction, value, code, width_bits);
        case Decode::source_acc: return source(target, instruction, value, code | code::accumulation_bit, width_bits);
        case Decode::source_64: return source(target, instruction, value, code, 64);
        case Decode::vector_or_acc: return source(target, instruction, value, code | code::vector_bit, width_bits);
        case Decode::wave_mask: return source(target, instruction, value, code, target.mask_width_bits());
        case Decode::vector: value = Value::reg(Bank::vgpr, code, width_bits); return true;
        case Decode::vector_lo128: value = Value::reg(Bank::vgpr, code, width_bits); return code < 128;
        case Decode::acc: return acc(value, code, width_bits);
        case Decode::half: value = Value::reg_half(code & 255, code & 512); return true;
        case Decode::half_lo128: value = Value::reg_half(code & 127, code & 128); return true;
        case Decode::source_half:
            if ((code & code::vector_bit) == 0)
                return scalar_source(target, instruction, value, code & 255, width_bits);
            value = Value::reg_half(code & 255, code & 512);
            return true;
        case Decode::source_half_lo128:
            if ((code & code::vector_bit) == 0)
                return scalar_source(target, instruction, value, code & 255, width_bits);
            value = Value::reg_half(code & 127, code & 128);
            return true;
        case Decode::smem_offset:
            value = Value::of(Kind::number, sign_extended(field, target.generation() >= 12 ? 24 : 21));
            return true;
        case Decode::dpp8_fi:
            value = Value::of(Kind::number, static_cast<int64_t>(field));
            return field == 0xE9 || field == 0xEA;  // the two codes of DPP8: without and with fetch of inactive lanes
        case Decode::literal_field:
            value = Value::of(Kind::number, static_cast<int64_t>(field));
            return literal_field(instruction, field);
        case Decode::literal_field_64:
            value = Value::of(Kind::literal_64, static_cast<int64_t>(field));
            return literal_field(instruction, field);
        case Decode::vopd_dst_y: {  // the lowest bit is not encoded: it differs from that of the other half's result
            const Value* other = instruction.value(Name::vdstX);
            const unsigned low_bit = other != nullptr && (other->number & 1) == 0 ? 1 : 0;
            value = Value::reg(Bank::vgpr, code | low_bit, width_bits);
            return true;
        }
        case Decode::sdwa_source: return sdwa_source(target, instruction, value, code);
        case Decode::sdwa_vopc_dst: return sdwa_mask(target, value, code);
    }
    return false;
}

}  // namespace wavewright::isa
