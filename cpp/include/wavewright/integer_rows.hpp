// A JSON list of rows of whole numbers, `[[1000, 1, 2], [1004, 3, 0]]`, into columns.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "wavewright/column.hpp"

namespace wavewright {

struct IntegerRows {
    std::vector<Column<int64_t>> values;  // by column; 0 where a row is too short
    Column<uint32_t> width;               // of each row, as written
    uint64_t malformed_count = 0;         // rows that are not numbers, or fewer than asked for; left out
    bool is_json = true;                  // false = reading stopped at byte_offset; the rows before it are here
    uint64_t byte_offset = 0;
};

// `text` is a list or null, followed by a NUL. Rows have at least `least` columns; those after `most` are passed over.
IntegerRows read_integer_rows(std::string_view text, size_t least, size_t most);

// The members of a JSON object: their keys as written, and where their values lie in the text.
struct ObjectMembers {
    struct Member {
        std::string_view key;
        size_t begin, end;
    };
    std::vector<Member> members;
    bool is_json = true;  // false = reading stopped at byte_offset; the members before it are here
    uint64_t byte_offset = 0;
};

// `text` is followed by a NUL.
ObjectMembers split_object(std::string_view text);

}  // namespace wavewright
