// Addresses of memory instructions, and what their loads leave in registers.
#pragma once

#include <optional>
#include <vector>

#include "machine.hpp"

namespace wavewright::evaluate {

// The addresses of one execution: one for each place that the instruction touches.
struct Addresses {
    std::vector<Wide> places;  // empty: not known
    Reason reason;             // why
    uint8_t assumptions = 0;
    Lanes outside = 0;  // lanes that touch nothing, because they are outside of the buffer
};

Addresses addresses_of(Machine& machine, const Instruction& instruction, const RowAccess& access);

// Runs a memory instruction whose addresses are known or not: writes what it loads.
void load_results(Machine& machine, const Instruction& instruction, const RowAccess& access,
                  const Addresses& addresses);

// The dword at an offset of a region, as a load of so many bytes leaves it in a register.
Value argument(Machine& machine, int region, int64_t offset_bytes, unsigned bytes, bool is_signed);

// s_load_...: arguments where they are certain.
void scalar_load(Machine& machine, const Instruction& instruction);

}  // namespace wavewright::evaluate
