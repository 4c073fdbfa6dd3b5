// Text of SQLite values: sound UTF-8, numbers of texts, texts of numbers.
#pragma once

#include <string>
#include <string_view>

#include "wavewright/sqlite_columns.hpp"

namespace wavewright::sqlite {

bool is_utf8(std::string_view bytes);

// With U+FFFD for each maximal part that cannot begin a character, as WHATWG and Python replace them.
std::string repaired(std::string_view bytes);

// The number that a text is from end to end, white space around it aside: an integer when it is written as one and
// fits into 64 bits, else a real; nothing when it is not a number, or one that a real cannot hold.
SqliteValue number_of(std::string_view text);

// The shortest decimal that reads back as the same number, always with a point or an exponent.
std::string text_of(double value);

}  // namespace wavewright::sqlite
