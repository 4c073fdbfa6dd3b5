// What the lane addresses of one executed memory instruction cost: cycles of LDS, segments of the cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace wavewright {

// How LDS serves one operation and width of one architecture. A bank is a dword wide; the bank of a dword is its number
// modulo the banks.
struct LdsRule {
    uint8_t banks = 0;  // a power of two; 0: no rule
    std::vector<uint64_t>
        phases;  // masks of lanes that are served together, in the order of service; no lane is in two
};

struct LdsCost {
    uint32_t ideal_cycles = 0;  // phases with an active lane
    uint32_t extra_cycles = 0;  // sum over phases of the distinct dwords in the fullest bank, less one
};

constexpr unsigned kLanesMax = 64;
constexpr unsigned kLdsWidthMax = 4;  // dwords

// `dwords[lane]` = byte address of the lane / 4; width in dwords (1 for narrower accesses), at most kLdsWidthMax. Only
// lanes of `active` count, and of those the ones that have a dword and a phase. Lanes that want the same dword share
// it. No rule costs nothing: ask whether there is one before calling.
LdsCost lds_cost(std::span<const uint32_t> dwords, uint64_t active, unsigned width_dwords, const LdsRule& rule);

// Distinct aligned segments that lanes touch, counted per group of `group_lanes` consecutive lanes and summed.
// `segment_bytes` is a power of two.
uint32_t segment_count(std::span<const uint64_t> addresses, uint64_t active, unsigned width_bytes, unsigned group_lanes,
                       unsigned segment_bytes);

// The least that addresses could touch if each active lane asks for bytes of its own: side by side, from the start of a
// segment. Lanes that share bytes can touch fewer.
uint32_t least_segment_count(uint64_t active, unsigned width_bytes, unsigned group_lanes, unsigned segment_bytes);

}  // namespace wavewright
