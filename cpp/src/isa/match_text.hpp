// Reads a text that LLVM, or somebody who writes like LLVM, printed for an instruction of a record.
#pragma once

#include <string>
#include <string_view>

#include "instruction.hpp"

namespace wavewright::isa {

// The first word of the texts of a record.
std::string first_word(const Record& record);

constexpr int kNoMatch = -1;

// Fills the values of the operands that are registers, from what follows the first word. The result is larger for a
// record that explains more of the text; kNoMatch: it is no text of this record.
int match_text(const Target& target, const Record& record, std::string_view rest, Instruction& instruction);

}  // namespace wavewright::isa
