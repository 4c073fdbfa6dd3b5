// The machine that a wave is evaluated on: its registers, and how instructions read and write them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "instruction.hpp"
#include "value.hpp"
#include "wavewright/isa.hpp"

namespace wavewright::evaluate {

// Lanes that are active for certain, and those that may be.
struct Active {
    Lanes surely = 0;
    Lanes maybe = 0;
    bool is_certain() const { return surely == maybe; }
};

class Machine {
  public:
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
    void begin(int32_t row);

    const Value& value(uint16_t number);
    Value source(const Instruction& instruction, size_t index);
    std::optional<Wide> wide_source(const Instruction& instruction, size_t index);
    void write(uint16_t number, Value value);                        // vector registers in active lanes only
    void write(const Operand& operand, unsigned part, Value value);  // one dword of an operand
    void write_all(const Instruction& instruction, Reason reason);
    void write_wide(const Operand& operand, std::optional<Wide> wide, Reason reason);
    // What a branch says about its condition, after the trace told whether it was taken; -1 = nothing, 0 = it
    // contradicts.
    int branch(const Instruction& instruction, bool is_taken);

    // A mask of lanes in one or two registers; bits outside of `certain` are not known.
    void write_mask(const Operand& operand, Lanes bits, Lanes certain, Reason reason);
    // A mask that is `bits` or 0, as a condition decides.
    void write_choice(const Operand& operand, Lanes bits, uint32_t condition);
    Active lanes_of(uint16_t number, bool is_wide);
    // One dword of a mask operand: 0 low, 1 high.
    Value mask_half(const Operand& operand, unsigned half);
    void write_scc(int outcome, Reason reason);  // -1 = not certain
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
    bool move_lanes(const Instruction& instruction);  // false = not evaluated

    const Start& start_;
    Domain domain_;
    std::array<Value, isa::register_end> registers_;
    int32_t row_ = -1;
    int rounding_;  // of reciprocals: -1, 0 or 1 units in the last place
    bool used_reciprocal_ = false;
    bool is_indexing_ = false;        // s_set_gpr_idx_on: registers are chosen while it runs
    std::optional<Value> moved_;      // the first source of an instruction that takes it from other lanes
    std::optional<Active> narrowed_;  // the lanes that such an instruction writes
};

// Finds the function that computes an instruction whose facts have been set.
void prepare(Instruction& instruction);

}  // namespace wavewright::evaluate
