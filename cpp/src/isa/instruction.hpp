// One instruction while it is decoded and printed.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "tables.hpp"

namespace wavewright::isa {

// Codes of a source operand that have 8 bits (the ISA documents: "scalar source", SSRC). With bit 8 a code is a vector
// register, with bits 8 and 9 an accumulation register.
namespace code {
enum : unsigned {
    last_sgpr_gfx9 = 101,
    flat_scratch_lo = 102,
    flat_scratch_hi = 103,
    xnack_mask_lo = 104,
    xnack_mask_hi = 105,
    last_sgpr = 105,  // from gfx10 on, where flat_scratch and xnack_mask have no codes
    vcc_lo = 106,
    vcc_hi = 107,
    first_ttmp = 108,
    last_ttmp = 123,
    m0 = 124,             // null from gfx11 on: the two changed places
    null_register = 125,  // m0 from gfx11 on
    exec_lo = 126,
    exec_hi = 127,
    first_integer = 128,  // 0
    last_positive = 192,  // 64
    last_integer = 208,   // -16
    flat_scratch_base_lo = 230,
    flat_scratch_base_hi = 231,
    shared_base = 235,
    shared_limit = 236,
    private_base = 237,
    private_limit = 238,
    pops_exiting_wave_id = 239,
    first_float = 240,  // 0.5; the order of all is in print_constant.cpp
    last_float = 248,
    vccz = 251,
    execz = 252,
    scc = 253,
    lds_direct = 254,  // a literal of 64 bits follows where the target has those
    literal_64 = 254,
    literal = 255,  // a literal of 32 bits follows
    vector_bit = 256,
    accumulation_bit = 512,
};
}  // namespace code

// What decides how bytes are read and printed: the records of a target, and the size of waves.
struct Target {
    const TargetColumn* column = nullptr;
    bool wave32 = false;

    unsigned generation() const { return column->generation; }
    bool has(uint16_t feature_bit) const { return (column->features & feature_bit) != 0; }
    unsigned mask_width_bits() const { return wave32 ? 32 : 64; }
    unsigned null_code() const { return generation() >= 11 ? unsigned{code::m0} : unsigned{code::null_register}; }
};

enum class Bank : uint8_t { sgpr, ttmp, vgpr, agpr, special };
enum class Half : uint8_t { whole, low, high };

// The value of an operand.
struct Value {
    enum class Kind : uint8_t {
        absent,
        reg,
        constant,    // `number` is the code of an inline constant, or kLiteralCode
        number,      // of a field
        literal_64,  // `number` are its bits
    };
    Kind kind = Kind::absent;
    Bank bank = Bank::sgpr;
    Half half = Half::whole;
    uint8_t dwords = 1;
    uint16_t high_bits = 0;  // what s_set_vgpr_msb adds to the number
    int64_t number = 0;      // of a register: its number in the bank, or the code of a special one

    static Value reg(Bank bank, unsigned number, unsigned width_bits) {
        return {Kind::reg, bank, Half::whole, static_cast<uint8_t>((width_bits + 31) / 32), 0, number};
    }
    static Value reg_half(unsigned number, bool is_high) {
        return {Kind::reg, Bank::vgpr, is_high ? Half::high : Half::low, 1, 0, number};
    }
    static Value of(Kind kind, int64_t number) { return {kind, Bank::sgpr, Half::whole, 1, 0, number}; }

    bool is_reg() const { return kind == Kind::reg; }
    bool is_vector() const { return is_reg() && (bank == Bank::vgpr || bank == Bank::agpr); }
};

constexpr int64_t kLiteralCode = code::literal;
constexpr size_t kMaxOperands = 32;

struct Instruction {
    const Record* record = nullptr;
    const Traits* traits = nullptr;
    const Template* shape = nullptr;
    const Name* names = nullptr;     // of its operands
    const uint8_t* kinds = nullptr;  // likewise, in tables.kinds
    std::span<const uint8_t> bytes;  // of the instruction and what follows
    Word word;
    size_t size = 0;
    bool has_literal = false;
    uint64_t literal = 0;
    size_t address_count = 0;  // of separate image addresses, where fewer than the template has are used
    Value values[kMaxOperands];

    size_t operand_count() const { return shape->operand_count; }
    const OperandKind& kind(size_t operand) const { return tables.kinds[kinds[operand]]; }
    bool is(uint64_t flag_bits) const { return (traits->flags & flag_bits) != 0; }
    bool encoded_as(uint32_t encoding_bits) const { return (traits->encoding & encoding_bits) != 0; }

    // The place of an operand, or -1.
    int place(Name name) const {
        const void* at = std::memchr(names, static_cast<int>(name), operand_count());
        return at == nullptr ? -1 : static_cast<int>(static_cast<const Name*>(at) - names);
    }
    bool has(Name name) const { return place(name) >= 0; }
    const Value* value(Name name) const {
        const int at = place(name);
        return at < 0 ? nullptr : &values[at];
    }
    Value* value(Name name) {
        const int at = place(name);
        return at < 0 ? nullptr : &values[at];
    }
    // The number of an operand that is one; 0 where it is not there.
    int64_t number(Name name) const {
        const Value* found_value = value(name);
        return found_value != nullptr && found_value->kind == Value::Kind::number ? found_value->number : 0;
    }
};

}  // namespace wavewright::isa
