// A wave that is evaluated: its registers, and what instructions do to them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
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

    // Evaluates an instruction; memory instructions set their results by `write_unknown` or `write`.
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

  private:
    friend struct Operations;

    bool move_lanes(const Instruction& instruction);  // false = not evaluated
    void write_mask(const Operand& operand, Lanes bits, Lanes certain, Reason reason);
    void write_choice(const Operand& operand, Lanes bits, uint32_t condition);
    void write_scc(int outcome, Reason reason);  // -1 = not certain
    void write_scc_nonzero(const Value& value);
    void write_scc_nonzero(const Value& low, const Value& high);
    Value mask_half(const Operand& operand, unsigned half);
    Active lanes_of(uint16_t number, bool is_wide);
    bool is_alike(const Instruction& instruction);

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

bool has_handler(std::string_view mnemonic);

// Looks up what computes an instruction, once its facts are there.
void prepare(Instruction& instruction);

}  // namespace wavewright::evaluate
