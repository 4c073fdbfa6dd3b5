// Columns of the core as Arrow data (the C data interface), without a copy.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
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

struct ArrowTexts {
    int64_t length;
    const void* offsets;  // 64 bits each
    const void* data;
};

struct ArrowColumn {
    std::string name;
    const char* format;  // Arrow C format string
    const void* data;
    const void* offsets = nullptr;   // of text columns: where each value begins in `data`
    const void* validity = nullptr;  // a bit per row, set where there is a value; none = every row has one
    int64_t null_count = 0;
    std::optional<ArrowTexts> dictionary = {};  // `data` are numbers of these
};

// A table whose columns live in memory kept alive by `owner`; Python reads it through __arrow_c_array__.
struct ArrowTable {
    std::vector<ArrowColumn> columns;
    int64_t length = 0;
    std::shared_ptr<void> owner;
};

template <class T>
constexpr const char* arrow_format() {
    if constexpr (std::is_same_v<T, int8_t>) return "c";
    if constexpr (std::is_same_v<T, uint8_t>) return "C";
    if constexpr (std::is_same_v<T, uint16_t>) return "S";
    if constexpr (std::is_same_v<T, uint32_t>) return "I";
    if constexpr (std::is_same_v<T, uint64_t>) return "L";
    if constexpr (std::is_same_v<T, int32_t>) return "i";
    if constexpr (std::is_same_v<T, int64_t>) return "l";
    if constexpr (std::is_same_v<T, double>) return "g";
}

// The columns of `table`, a struct with each_column() that `owner` keeps alive.
template <class Table>
ArrowTable arrow_table(Table& table, std::shared_ptr<void> owner) {
    ArrowTable exported;
    exported.owner = std::move(owner);
    table.each_column([&](const char* name, auto& column) {
        using T = typename std::remove_reference_t<decltype(column)>::value_type;
        exported.columns.push_back({name, arrow_format<T>(), column.data()});
        exported.length = static_cast<int64_t>(column.size());
    });
    return exported;
}

// (schema capsule, array capsule), as the Arrow PyCapsule interface wants them.
nanobind::tuple export_table(const ArrowTable& table);

}  // namespace wavewright::bind
