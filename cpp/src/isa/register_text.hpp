// Registers in the texts of instructions.
#pragma once

#include <string_view>

#include "instruction.hpp"

namespace wavewright::isa {

// Letters of names and numbers at the front of a text.
size_t word_length(std::string_view text);

// Takes a register off the front of a text: v7, v7.l, v[4:7], vcc_lo; false, and the text as it was, where there is
// none.
bool take_register(const Target& target, std::string_view& text, Value& value);

}  // namespace wavewright::isa
