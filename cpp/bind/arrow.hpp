// Columns of the core as Arrow data (the C data interface), without a copy.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace wavewright::bind {

// Layouts fixed by the Arrow C data interface specification.
struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    int64_t flags;
    int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

// A column of texts in Arrow's layout of large_utf8 (format "U").
struct ArrowTexts {
    int64_t length;       // number of texts
    const void* offsets;  // int64_t, length + 1 of them: text i is data[offsets[i], offsets[i + 1])
    const void* data;     // UTF-8, one text behind the other
};

struct ArrowColumn {
    std::string name;
    const char* format;              // Arrow C format string; a literal: exported schemas point to it
    const void* data;                // values of fixed width, or the bytes of texts
    const void* offsets = nullptr;   // of text columns: where each value begins in `data`, as in ArrowTexts
    const void* validity = nullptr;  // a bit per row, set where there is a value; none = every row has one
    int64_t null_count = 0;
    std::optional<ArrowTexts> dictionary = {};  // if set, `data` has places in it: the column is dictionary-encoded
};

// A table whose columns live in memory kept alive by `owner`; Python reads it through __arrow_c_array__.
struct ArrowTable {
    std::vector<ArrowColumn> columns;
    int64_t length = 0;
    std::shared_ptr<void> owner;
};

template <class>
inline constexpr bool kHasNoArrowFormat = false;  // depends on the type, so that it fails only where it is used

// The Arrow C format string of a type of fixed width.
template <class T>
constexpr const char* arrow_format() {
    if constexpr (std::is_same_v<T, int8_t>)
        return "c";
    else if constexpr (std::is_same_v<T, uint8_t>)
        return "C";
    else if constexpr (std::is_same_v<T, uint16_t>)
        return "S";
    else if constexpr (std::is_same_v<T, uint32_t>)
        return "I";
    else if constexpr (std::is_same_v<T, uint64_t>)
        return "L";
    else if constexpr (std::is_same_v<T, int32_t>)
        return "i";
    else if constexpr (std::is_same_v<T, int64_t>)
        return "l";
    else if constexpr (std::is_same_v<T, double>)
        return "g";
    else
        static_assert(kHasNoArrowFormat<T>, "columns of this type cannot be exported");
}

// The columns of `table`, a struct with each_column() that `owner` keeps alive. Throws when they differ in length, as
// Python would read a shorter one behind its end.
template <class Table>
ArrowTable arrow_table(Table& table, std::shared_ptr<void> owner) {
    ArrowTable exported;
    exported.owner = std::move(owner);
    table.each_column([&](const char* name, auto& column) {
        using T = typename std::remove_reference_t<decltype(column)>::value_type;
        const auto length = static_cast<int64_t>(column.size());
        if (!exported.columns.empty() && length != exported.length)
            throw std::logic_error(std::string("column ") + name + " differs in length from those before it");
        exported.columns.push_back({name, arrow_format<T>(), column.data()});
        exported.length = length;
    });
    return exported;
}

// (schema capsule, array capsule), as the Arrow PyCapsule interface wants them.
nanobind::tuple export_table(const ArrowTable& table);

}  // namespace wavewright::bind
