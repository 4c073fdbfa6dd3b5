// Parts of a pass over all instructions that threads can make at once: some whole waves each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"

namespace wavewright {

// Calls part(first, behind) for pieces of the instructions on all cores, and returns its results in their order.
// `waves` has the wave of each instruction. Neighbouring instructions of a wave are in one piece; where waves are
// mixed, a wave is in several. Every result has a value; it is optional only because it need not be
// default-constructible.
template <class Part>
auto in_pieces(std::span<const uint32_t> waves, Part&& part) {
    constexpr size_t kPieceInstructions = size_t{1} << 20;
    std::vector<size_t> firsts{0};
    while (firsts.back() < waves.size()) {
        size_t end = std::min(firsts.back() + kPieceInstructions, waves.size());
        while (end < waves.size() && waves[end] == waves[end - 1]) ++end;
        firsts.push_back(end);
    }
    std::vector<std::optional<decltype(part(size_t{}, size_t{}))>> results(firsts.size() - 1);
    in_parallel(results.size(), workers_for(results.size()),
                [&](size_t turn, unsigned) { results[turn] = part(firsts[turn], firsts[turn + 1]); });
    return results;
}

}  // namespace wavewright
