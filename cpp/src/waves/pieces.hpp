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

// What part(first, last) returns for every piece, in their order. Only neighbouring instructions of a wave are known to
// be in one piece: where waves are mixed, a wave is in several.
template <class Part>
auto in_pieces(std::span<const uint32_t> waves, Part&& part) {
    constexpr size_t kPieceInstructions = size_t{1} << 20;
    std::vector<size_t> firsts{0};
    while (firsts.back() < waves.size()) {
        size_t end = std::min(firsts.back() + kPieceInstructions, waves.size());
        while (end < waves.size() && waves[end] == waves[end - 1]) ++end;
        firsts.push_back(end);
    }
    std::vector<std::optional<decltype(part(size_t{}, size_t{}))>> found(firsts.size() - 1);
    in_parallel(found.size(), workers_for(found.size()),
                [&](size_t turn, unsigned) { found[turn] = part(firsts[turn], firsts[turn + 1]); });
    return found;
}

}  // namespace wavewright
