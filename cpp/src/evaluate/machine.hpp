// The machine that a wave is evaluated on: its registers, and how instructions read and write them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "instruction.hpp"
#include "value.hpp"
#include "wavewright/isa.hpp"

namespace wavewright::evaluate {

// A set of lanes, usually the active ones, as far as it is certain.
struct Active {
    Lanes surely = 0;  // in the set
    Lanes maybe = 0;   // these and those of which it is not certain
    bool is_certain() const { return surely == maybe; }
};

class Machine {
  public:
    // `wave` is the number of the wave in its workgroup; `rounding` says which float v_rcp_... gives (`reciprocal`).
    Machine(const Start& start, unsigned wave, int rounding);

    // Evaluates an instruction that does not access memory; for others see memory.hpp.
    void run(const Instruction& instruction, int32_t row);
    // The two halves of a v_dual_... instruction, which read before either writes.
    void run_both(const Instruction& one, const Instruction& other, int32_t row);

    Active active();
    Domain& domain() { return domain_; }
    const Start& start() const { return start_; }
    int32_t row() const { return row_; }
    bool used_reciprocal() const { return used_reciprocal_; }  // of a number that is certain
    void begin(int32_t row);                                   // what follows happens at this row: reasons name it

    const Value& value(uint16_t number);  // of a register
    // An operand of an instruction, with its modifiers applied; `index` counts in the order of the text.
    Value source(const Instruction& instruction, size_t index);
    std::optional<Wide> wide_source(const Instruction& instruction, size_t index);  // of 64 bits; nothing = not certain
    void write(uint16_t number, Value value);                        // vector registers in active lanes only
    void write(const Operand& operand, unsigned part, Value value);  // one dword of an operand
    void write_all(const Instruction& instruction, Reason reason);   // unknown numbers to all that it writes
    void write_wide(const Operand& operand, std::optional<Wide> wide, Reason reason);
    // Whether the condition of a branch agrees with the trace, which took it or not. Where that is not certain, what
    // the trace shows decides what can be decided: the condition behind the number, or that a mask is zero.
    Verdict branch(const Instruction& instruction, bool is_taken);

    // A mask of lanes in one or two registers; bits outside of `certain` are not known.
    void write_mask(const Operand& operand, Lanes bits, Lanes certain, Reason reason);
    // A mask that is `bits` or 0, as a condition decides.
    void write_choice(const Operand& operand, Lanes bits, uint32_t condition);
    Active lanes_of(uint16_t number, bool is_wide);  // of a mask in one register, or in two
    // One dword of a mask operand: 0 low, 1 high.
    Value mask_half(const Operand& operand, unsigned half);
    void write_scc(Verdict outcome, Reason reason);
    void write_scc_nonzero(const Value& value);
    void write_scc_nonzero(const Value& low, const Value& high);
    // Whether all active lanes have the same result, because they have the same sources.
    bool is_alike(const Instruction& instruction);

    // Registers as they are, without regard to active lanes.
    Value& register_at(uint16_t number) { return registers_[number]; }
    std::span<Value> registers() { return registers_; }

    int rounding() const { return rounding_; }
    void note_reciprocal() { used_reciprocal_ = true; }
    void set_indexing(bool is_indexing) { is_indexing_ = is_indexing; }

  private:
    void set_work_item_ids(unsigned wave);
    void set_start_registers();
    Value selected(const Value& value, std::string_view part, bool is_sign_extended);
    bool move_lanes(const Instruction& instruction);  // false = not evaluated

    const Start& start_;
    Domain domain_;
    std::array<Value, isa::register_end> registers_;
    int32_t row_ = -1;
    int rounding_;  // of reciprocals: -1 to the lower neighbour, 0 to the nearest, 1 to the higher neighbour
    bool used_reciprocal_ = false;
    bool is_indexing_ = false;        // s_set_gpr_idx_on: registers are chosen while it runs
    std::optional<Value> moved_;      // the first source of an instruction that takes it from other lanes
    std::optional<Active> narrowed_;  // the lanes that such an instruction writes
};

// Finds the function that computes an instruction whose facts have been set.
void prepare(Instruction& instruction);

}  // namespace wavewright::evaluate
