#include "wavewright/key_numbers.hpp"

#include <array>
#include <stdexcept>

namespace wavewright {
namespace {

// A pair whose number was asked for lately: most rows need no hash table.
struct Recent {
    uint64_t pair = ~uint64_t{0};
    uint32_t number = 0;
};
constexpr size_t recent_count = 1024;

}  // namespace

std::vector<uint32_t> KeyNumbers::of(Keys keys, size_t rows) {
    std::vector<uint32_t> numbers(rows, 0);
    for (size_t key = 0; key < codes_.size(); ++key) {
        auto& known = codes_[key];
        std::array<Recent, recent_count> recent{};
        for (size_t row = 0; row < rows; ++row) {
            const uint64_t code = keys[key].has(row) ? uint64_t{keys[key].values[row]} + 1 : 0;
            const uint64_t pair = uint64_t{numbers[row]} << 33 | code;
            Recent& entry = recent[(pair ^ pair >> 33) % recent_count];
            if (entry.pair != pair)
                entry = {pair, known.try_emplace(pair, static_cast<uint32_t>(known.size())).first->second};
            numbers[row] = entry.number;
        }
        if (known.size() >= uint64_t{1} << 31) throw std::length_error("too many groups");
    }
    return numbers;
}

}  // namespace wavewright
