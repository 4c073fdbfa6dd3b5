// Addresses of memory instructions, and what their loads leave in registers.
#pragma once

#include <optional>
#include <vector>

#include "machine.hpp"

namespace wavewright::evaluate {

// The addresses of one execution: one for each place that the instruction touches.
struct Addresses {
    std::vector<Wide> places;  // one, or the two of ds_read2_... and their kin; empty: not known
    Reason reason;             // why they are not known
    uint8_t assumptions = 0;   // bits of Assumption under which they hold
    Lanes outside = 0;         // lanes that touch nothing, because they are outside of the buffer
};

Addresses addresses_of(Machine& machine, const Instruction& instruction, const RowAccess& access);

// Writes what a memory instruction loads, whether its addresses are known or not.
void load_results(Machine& machine, const Instruction& instruction, const RowAccess& access,
                  const Addresses& addresses);

// What a load of `bytes` bytes (1, 2 or 4) from an offset of a region leaves in a register. `region` is a place in
// Start::regions.
Value argument(Machine& machine, int region, int64_t offset_bytes, unsigned bytes, bool is_signed);

// s_load_... and s_buffer_load_...: writes arguments where the address is in a region, else unknown numbers.
void scalar_load(Machine& machine, const Instruction& instruction);

}  // namespace wavewright::evaluate
