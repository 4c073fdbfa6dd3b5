#include "wavewright/entries.hpp"

#include <array>
#include <map>
#include <set>
#include <utility>

namespace wavewright {
namespace {

using Entry = std::pair<uint64_t, uint64_t>;

// What was asked for lately. A trace enters a handful of kernels, so that nearly every row is found here.
template <class Value>
class Recent {
  public:
    // What `look_up(entry)` gives; it is asked only for entries that are not here.
    template <class LookUp>
    Value of(const Entry& entry, LookUp&& look_up) {
        Slot& slot = slots_[((entry.second >> 8) ^ entry.second ^ entry.first) % slots_.size()];
        if (!slot.is_used || slot.entry != entry) slot = {entry, look_up(entry), true};
        return slot.value;
    }

  private:
    struct Slot {
        Entry entry;
        Value value;
        bool is_used = false;
    };
    std::array<Slot, 256> slots_{};
};

}  // namespace

Entries distinct_entries(std::span<const EntryColumns> tables) {
    std::set<Entry> found;
    Recent<bool> recent;
    for (const EntryColumns& table : tables) {
        for (size_t row = 0; row < table.address.size(); ++row)
            recent.of({table.code_object[row], table.address[row]},
                      [&](const Entry& entry) { return found.insert(entry).second; });
    }
    found.erase({0, 0});
    Entries entries;
    for (const auto& [code_object, address] : found) {
        entries.code_object.push_back(code_object);
        entries.address.push_back(address);
    }
    return entries;
}

EntryNumbers entry_numbers(const EntryColumns& rows, const EntryColumns& entries) {
    std::map<Entry, int64_t> places;
    for (size_t place = 0; place < entries.address.size(); ++place)
        places.try_emplace({entries.code_object[place], entries.address[place]}, static_cast<int64_t>(place));
    const size_t count = rows.address.size();
    EntryNumbers numbers;
    numbers.known.resize((count + 7) / 8);
    uint32_t* entry = numbers.entry.extend(count);
    Recent<int64_t> recent;
    for (size_t row = 0; row < count; ++row) {
        const int64_t place = recent.of({rows.code_object[row], rows.address[row]}, [&](const Entry& wanted) {
            const auto found = places.find(wanted);
            return found == places.end() ? int64_t{-1} : found->second;
        });
        entry[row] = place < 0 ? 0 : static_cast<uint32_t>(place);
        numbers.known[row / 8] |= static_cast<uint8_t>((place >= 0) << (row % 8));
        numbers.unknown_count += place < 0;
    }
    return numbers;
}

}  // namespace wavewright
