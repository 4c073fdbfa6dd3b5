// Kernel entries: the distinct places that waves, occupancy and dispatches name, and which of them each row names.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wavewright/column.hpp"

namespace wavewright {

// The two columns of a table that name an entry; no entry is (0, 0).
struct EntryColumns {
    std::span<const uint64_t> code_object, address;
};

struct Entries {
    Column<uint64_t> code_object, address;

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("code_object", code_object);
        visit("address", address);
    }
};

// The entries of rows by number. `known` is a validity bitmap as Arrow has it.
struct EntryNumbers {
    Column<uint32_t> entry;      // by row: place in the list of entries; 0 where it names none of them
    std::vector<uint8_t> known;  // a bit per row, the lowest first: 1 = it names an entry of the list
    size_t unknown_count = 0;
};

// The entries that the columns name, each once, by code object and address.
Entries distinct_entries(std::span<const EntryColumns> tables);

// Of each row the place of its entry in `entries`.
EntryNumbers entry_numbers(const EntryColumns& rows, const EntryColumns& entries);

}  // namespace wavewright
