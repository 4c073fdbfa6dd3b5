// Turns any bytes into a stream of whole tokens that concern few waves, so that fuzzing reaches the wave layer instead
// of drowning in misread tokens. One step = one byte that picks the token and two that fill its fields.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "targets.hpp"

namespace wavewright::fuzz {

constexpr uint32_t kTargetCu = 2, kTargetSimd = 1;
constexpr uint64_t kCodeAddress = 0x10000, kCodeSize = 0x10000;
constexpr uint64_t kCodeObject = 1;

std::vector<uint8_t> stream_of(const Control& control, Bytes recipe);

// A header of the family, then the bytes as they are.
std::vector<uint8_t> raw_stream_of(const Control& control, Bytes body);

}  // namespace wavewright::fuzz
