// Instructions as the evaluator needs them, read from their texts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wavewright::evaluate {

struct Operand {
    enum class Kind : uint8_t { absent, register_, number, off, other };
    Kind kind = Kind::absent;
    uint16_t number = 0;            // isa::Register, the first of `count`
    uint8_t count = 1;              // dwords
    uint8_t half = 0;               // 1 low, 2 high 16 bits
    bool is_changed = false;        // negated or absolute: of floats, see `sign`
    bool is_sign_extended = false;  // sext(...) of SDWA
    bool is_negated = false, is_absolute = false;
    bool is_inline = true;  // a number within the inline constants: extended by its sign in 64-bit operands
    uint32_t literal = 0;
    bool is_vector() const { return kind == Kind::register_ && number >= 256; }
    bool is_scalar() const { return kind == Kind::register_ && number < 256; }
};

// Lanes that a DPP or DPP8 operand takes its first source from.
struct LaneMove {
    bool is_there = false;
    bool is_evaluated = true;
    std::array<int8_t, 64> from{};  // -1 = no lane: the old value stays, or 0 with bound_ctrl
    bool bound_zero = false;
    uint8_t row_mask = 0xF, bank_mask = 0xF;
};

struct Written {
    uint16_t number;
    uint8_t count;
};

class Machine;

struct Instruction {
    std::string mnemonic;            // without its encoding: v_add_u32, not v_add_u32_e32
    std::vector<Operand> operands;   // in the order of the text
    std::vector<std::string> words;  // modifiers: "offset:16", "offen"
    LaneMove move;
    bool has_sdwa = false;
    std::vector<Written> written;                             // by the records of the instruction set
    uint32_t facts = 0;                                       // isa::Fact
    bool is_understood = false;                               // whether the records have it
    bool merges_old = false;                                  // whether a result keeps bits of the old value
    void (*handler)(Machine&, const Instruction&) = nullptr;  // what computes it; none: results are not known
    bool keeps_high = false;         // whether results of 16 bits leave the high half of the register alone
    bool is_float = false;           // whether `-` and `|` change the sign bit of its sources
    bool is_scalar = false;          // whether it is the same for all lanes, whichever are active
    bool chooses_registers = false;  // which registers it uses is decided while it runs

    std::optional<std::string_view> word(std::string_view name) const;  // what follows `name:`, or the word itself
    bool has(std::string_view name) const { return word(name).has_value(); }
    int64_t number(std::string_view name, int64_t otherwise) const;
};

// A text as one instruction, or two that run together (v_dual_...).
std::vector<Instruction> read_instruction(std::string_view text, unsigned lane_count);

}  // namespace wavewright::evaluate
