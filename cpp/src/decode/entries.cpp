#include "wavewright/entries.hpp"

#include <array>
#include <map>
#include <set>
#include <utility>

namespace wavewright {
namespace {

using Entry = std::pair<uint64_t, uint64_t>;  // code object, address

// A small direct-mapped cache in front of a search tree. A trace enters a handful of kernels, so that nearly every row
// is found here.
template <class Value>
class Recent {
  public:
    // The result of look_up(entry), which is called only for entries that are not here.
    template <class LookUp>
    Value of(const Entry& entry, LookUp&& look_up) {
        // Kernels start at multiples of 256 bytes: the bits above tell them apart.
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
    std::set<Entry> distinct;
    Recent<bool> recent;  // the value does not matter: what is here has been inserted
    for (const EntryColumns& table : tables) {
        for (size_t row = 0; row < table.address.size(); ++row)
            recent.of({table.code_object[row], table.address[row]},
                      [&](const Entry& entry) { return distinct.insert(entry).second; });
    }
    distinct.erase({0, 0});
    Entries entries;
    for (const auto& [code_object, address] : distinct) {
        entries.code_object.push_back(code_object);
        entries.address.push_back(address);
    }
    return entries;
}

EntryNumbers entry_numbers(const EntryColumns& rows, const EntryColumns& entries) {
    constexpr int64_t kUnknown = -1;
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
            return found == places.end() ? kUnknown : found->second;
        });
        const bool is_known = place != kUnknown;
        entry[row] = is_known ? static_cast<uint32_t>(place) : 0;
        numbers.known[row / 8] |= static_cast<uint8_t>(is_known << (row % 8));
        numbers.unknown_count += is_known ? 0 : 1;
    }
    return numbers;
}

}  // namespace wavewright
