#include <cstdint>
#include <vector>

#include "check.hpp"
#include "wavewright/entries.hpp"

namespace wavewright {
namespace {

using Values = std::vector<uint64_t>;

template <class T>
Values values(const Column<T>& column) {
    return {column.begin(), column.end()};
}

TEST(entries, are_told_once_and_in_order) {
    const Values objects{2, 0, 1, 2, 0, 1}, addresses{8, 0, 256, 8, 4, 0};
    const Values more_objects{1}, more_addresses{0};
    const EntryColumns tables[] = {{objects, addresses}, {more_objects, more_addresses}, {}};
    const Entries found = distinct_entries(tables);
    CHECK_EQUAL(values(found.code_object), (Values{0, 1, 1, 2}));
    CHECK_EQUAL(values(found.address), (Values{4, 0, 256, 8}));
    CHECK(distinct_entries({}).address.empty());
}

TEST(entries, rows_get_the_place_of_their_entry) {
    const Values objects{0, 1, 0, 1, 3}, addresses{0, 256, 4, 256, 9};
    const Values known_objects{0, 1}, known_addresses{4, 256};
    const EntryNumbers numbers = entry_numbers({objects, addresses}, {known_objects, known_addresses});
    CHECK_EQUAL(values(numbers.entry), (Values{0, 1, 0, 1, 0}));
    CHECK_EQUAL(numbers.known.size(), 1U);
    CHECK_EQUAL(numbers.known[0], uint8_t{0b01110});
    CHECK_EQUAL(numbers.unknown_count, 2U);
}

// More entries than are remembered, and some that are remembered in the same place.
TEST(entries, many_entries_do_not_mix) {
    Values objects, addresses, known_objects(1000, 7), known_addresses;
    for (uint64_t i = 0; i < 1000; ++i) known_addresses.push_back(i * 256);
    for (uint64_t i = 0; i < 5000; ++i) {
        objects.push_back(7);
        addresses.push_back(i * 7919 % 1000 * 256);
    }
    const EntryNumbers numbers = entry_numbers({objects, addresses}, {known_objects, known_addresses});
    CHECK_EQUAL(numbers.unknown_count, 0U);
    for (size_t row = 0; row < objects.size(); ++row) CHECK_EQUAL(numbers.entry[row] * uint64_t{256}, addresses[row]);
    const EntryColumns tables[] = {{objects, addresses}};
    CHECK_EQUAL(values(distinct_entries(tables).address), known_addresses);
}

}  // namespace
}  // namespace wavewright
