// Registers that an instruction reads and writes.
#pragma once

#include "instruction.hpp"
#include "wavewright/isa.hpp"

namespace wavewright::isa {

// Adds the operands of an instruction, explicit ones first, in the order of the record.
void add_operands(const Target& target, const Instruction& instruction, uint32_t row, Disassembly& out);

// Fact bits of a record.
uint32_t facts_of(const Record& record);

// What s_set_vgpr_msb says about the registers of the instructions behind it (gfx1250): two more bits for each of
// src0, src1, src2 and the result.
class HighBits {
  public:
    // Gives vector registers of an instruction their upper bits, and follows the state.
    void apply(Instruction& instruction);
    void reset() { bits_ = 0; }

  private:
    unsigned bits_ = 0;
};

}  // namespace wavewright::isa
