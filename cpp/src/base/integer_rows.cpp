#include "wavewright/integer_rows.hpp"

#include <algorithm>

#include "base/json_row.hpp"

namespace wavewright {

IntegerRows read_integer_rows(std::string_view text, size_t least, size_t most) {
    IntegerRows rows;
    rows.values.resize(most);
    std::vector<int64_t> values(most);
    JsonCursor cursor(text.data());
    const auto element = [&] {
        std::fill(values.begin(), values.end(), 0);
        JsonRow row;
        if (!read_row(cursor, values, row)) return false;
        if (!row.is_good || row.width < least) {
            ++rows.malformed_count;
            return true;
        }
        for (size_t i = 0; i < most; ++i) rows.values[i].push_back(values[i]);
        rows.width.push_back(static_cast<uint32_t>(std::min<size_t>(row.width, UINT32_MAX)));
        return true;
    };
    rows.is_json = (cursor.take_null() || cursor.array(element)) && cursor.at_end(text.size());
    rows.byte_offset = cursor.offset();
    return rows;
}

ObjectMembers split_object(std::string_view text) {
    ObjectMembers split;
    JsonCursor cursor(text.data());
    split.is_json = cursor.object([&](std::string_view key) {
        cursor.skip_space();
        const size_t begin = cursor.offset();
        if (!cursor.skip()) return false;
        split.members.push_back({key, begin, cursor.offset()});
        return true;
    }) && cursor.at_end(text.size());
    split.byte_offset = cursor.offset();
    return split;
}

}  // namespace wavewright
