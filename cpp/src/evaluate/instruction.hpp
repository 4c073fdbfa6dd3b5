// Instructions as the evaluator needs them: operands and modifiers from their disassembly, the rest from the records of
// the instruction set (isa.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wavewright::evaluate {

enum class Half : uint8_t { none, low, high };  // of a register: v0, v0.l, v0.h

struct Operand {
    // `off` is the word of memory instructions without an address register; `other` a text that was not understood.
    enum class Kind : uint8_t { absent, register_, number, off, other };
    Kind kind = Kind::absent;

    // Of registers.
    uint16_t number = 0;  // isa::Register, the first of `count`
    uint8_t count = 1;    // dwords
    Half half = Half::none;
    bool is_sign_extended = false;  // sext(...) of SDWA
    bool is_negated = false, is_absolute = false;
    bool is_changed = false;  // one of the two above, or an abs(...), neg(...) whose operand was not read

    // Of numbers.
    uint32_t literal = 0;
    bool is_inline = true;  // an inline constant, -16 to 64: extended by its sign in 64-bit operands

    bool is_vector() const { return kind == Kind::register_ && number >= 256; }
    bool is_scalar() const { return kind == Kind::register_ && number < 256; }
};

// The lanes from which an instruction with DPP or DPP8 takes its first source.
struct LaneMove {
    bool is_there = false;          // the instruction has DPP or DPP8
    bool is_evaluated = true;       // false: a move that nobody computes here
    std::array<int8_t, 64> from{};  // by lane; -1 = no lane: the old value stays, or 0 with bound_ctrl
    bool bound_zero = false;        // bound_ctrl
    // Bit r of row_mask enables row r of 16 lanes, bit b of bank_mask lanes 4b to 4b + 3 of each row.
    uint8_t row_mask = 0xF, bank_mask = 0xF;
};

// Registers that an instruction writes.
struct Written {
    uint16_t number;  // isa::Register, the first one
    uint8_t count;
};

class Machine;

struct Instruction {
    std::string mnemonic;            // without its encoding: v_add_u32, not v_add_u32_e32
    std::vector<Operand> operands;   // in the order of the text
    std::vector<std::string> words;  // modifiers: "offset:16", "offen"
    LaneMove move;
    bool has_sdwa = false;

    // Set by Evaluator, from the records of the instruction set.
    std::vector<Written> written;
    uint32_t facts = 0;          // bits of isa::Fact
    bool is_understood = false;  // the instruction set has a record of it
    bool merges_old = false;     // a result keeps bits of the old value
    bool keeps_high = false;     // results of 16 bits leave the high half of the register alone

    // Set by prepare().
    void (*handler)(Machine&, const Instruction&) = nullptr;  // computes the results; null: they are not known
    bool is_float = false;                                    // `-` and `|` change the sign bit of its sources
    bool is_scalar = false;          // its results are the same for all lanes, whichever are active
    bool chooses_registers = false;  // which registers it uses is decided while it runs

    std::optional<std::string_view> word(std::string_view name) const;  // what follows `name:`, or the word itself
    bool has(std::string_view name) const { return word(name).has_value(); }
    int64_t number(std::string_view name, int64_t otherwise) const;
};

// A text as one instruction, or two that run together (v_dual_...).
std::vector<Instruction> read_instruction(std::string_view text, unsigned lane_count);

}  // namespace wavewright::evaluate
