// What must hold for the records of any byte string.
#pragma once

#include <string>

#include "wavewright/decode.hpp"

namespace wavewright::testing {

// The first invariant that does not hold, in words; empty when all do.
std::string broken_invariant(Records& records, const Program& program);

// The same for a linked program.
std::string broken_invariant(const Program& program);

}  // namespace wavewright::testing
