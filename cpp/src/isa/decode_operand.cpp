#include <algorithm>

#include "decode.hpp"

namespace wavewright::isa {
namespace {

using Kind = Value::Kind;

constexpr unsigned kLastScalar = 105;

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

// Registers with a name of their own, by the code of a source operand.
bool is_special(const Target& target, unsigned code, unsigned width_bits) {
    const unsigned null_code = target.generation() >= 11 ? 124 : 125;
    if (width_bits > 64) return code == null_code;
    if (width_bits == 64) {
        switch (code) {
            case 102:
            case 104:
            case 106:
            case 126:
            case 230:
            case 235:
            case 236:
            case 237:
            case 238:
            case 239:
            case 251:
            case 252:
            case 253: return true;
            default: return code == null_code;
        }
    }
    return (code >= 102 && code <= 107) || (code >= 124 && code <= 127) || code == 230 || code == 231 ||
           (code >= 235 && code <= 239) || (code >= 251 && code <= 254);
}

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

bool scalar_register(const Target& target, Value& value, unsigned code, unsigned width_bits, bool& is_scalar) {
    const unsigned last = target.generation() >= 10 ? kLastScalar : kLastScalar - 4;
    is_scalar = true;
    if (code <= last) return tuple(value, Bank::sgpr, code, width_bits, kLastScalar + 1);
    if (code >= 108 && code <= 123) return tuple(value, Bank::ttmp, code - 108, width_bits, 16);
    is_scalar = false;
    return true;
}

bool special_register(const Target& target, Value& value, unsigned code, unsigned width_bits) {
    value = Value::reg(Bank::special, code, width_bits);
    return is_special(target, code, width_bits);
}

bool is_inline_constant(unsigned code) {
    return (code >= 128 && code <= 208) || (code >= 240 && code <= 248);
}

// A source that is no vector register: the 8 lower bits of the 9.
bool scalar_source(const Target& target, Instruction& instruction, Value& value, unsigned code, unsigned width_bits) {
    bool is_scalar = false;
    const bool is_valid = scalar_register(target, value, code, width_bits, is_scalar);
    if (is_scalar) return is_valid;
    if (is_inline_constant(code) || code == kLiteralCode) {
        value = Value::of(Kind::constant, code);
        return true;
    }
    if (code == 254 && target.has(feature::literals_64)) {
        if (!take_literal_64(instruction)) return false;
        value = Value::of(Kind::literal_64, static_cast<int64_t>(instruction.literal));
        return true;
    }
    return special_register(target, value, code, width_bits);
}

bool source(const Target& target, Instruction& instruction, Value& value, unsigned code, unsigned width_bits) {
    if ((code & 256) == 0) return scalar_source(target, instruction, value, code & 255, width_bits);
    if (code & 512) return acc(value, code & 255, width_bits);
    value = Value::reg(Bank::vgpr, code & 255, width_bits);
    return true;
}

bool sdwa_source(const Target& target, Instruction& instruction, Value& value, unsigned code) {
    if (code < 256) {
        value = Value::reg(Bank::vgpr, code, 32);
        return true;
    }
    return code - 256 != kLiteralCode && scalar_source(target, instruction, value, (code - 256) & 255, 32);
}

bool sdwa_mask(const Target& target, Value& value, unsigned code) {
    constexpr unsigned kIsScalar = 128, kVcc = 106;
    const unsigned number = code & kIsScalar ? code & 127 : kVcc;
    bool is_scalar = false;
    const bool is_valid = scalar_register(target, value, number, target.mask_width_bits(), is_scalar);
    return is_scalar ? is_valid : special_register(target, value, number, target.mask_width_bits());
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
        case Decode::source_acc: return source(target, instruction, value, code | 512, width_bits);
        case Decode::source_64: return source(target, instruction, value, code, 64);
        case Decode::vector_or_acc: return source(target, instruction, value, code | 256, width_bits);
        case Decode::wave_mask: return source(target, instruction, value, code, target.mask_width_bits());
        case Decode::vector: value = Value::reg(Bank::vgpr, code, width_bits); return true;
        case Decode::vector_lo128: value = Value::reg(Bank::vgpr, code, width_bits); return code < 128;
        case Decode::acc: return acc(value, code, width_bits);
        case Decode::half: value = Value::reg_half(code & 255, code & 512); return true;
        case Decode::half_lo128: value = Value::reg_half(code & 127, code & 128); return true;
        case Decode::source_half:
            if ((code & 256) == 0) return scalar_source(target, instruction, value, code & 255, width_bits);
            value = Value::reg_half(code & 255, code & 512);
            return true;
        case Decode::source_half_lo128:
            if ((code & 256) == 0) return scalar_source(target, instruction, value, code & 255, width_bits);
            value = Value::reg_half(code & 127, code & 128);
            return true;
        case Decode::smem_offset:
            value = Value::of(Kind::number, sign_extended(field, target.generation() >= 12 ? 24 : 21));
            return true;
        case Decode::dpp8_fi:
            value = Value::of(Kind::number, static_cast<int64_t>(field));
            return field == 0xE9 || field == 0xEA;
        case Decode::literal_field:
            value = Value::of(Kind::number, static_cast<int64_t>(field));
            return literal_field(instruction, field);
        case Decode::literal_field_64:
            value = Value::of(Kind::literal_64, static_cast<int64_t>(field));
            return literal_field(instruction, field);
        case Decode::vopd_dst_y: {
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
