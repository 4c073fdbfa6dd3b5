// The two stream families that decode() knows. Each fills `records`; status and gfxip are set by the caller.
#pragma once

#include <cstdint>
#include <span>

#include "wavewright/decode.hpp"

namespace wavewright {

void decode_gfx9(std::span<const uint8_t> bytes, const Program& program, const Options& options, Records& records);
void decode_rdna(std::span<const uint8_t> bytes, Generation generation, const Program& program, const Options& options,
                 Records& records);

}  // namespace wavewright
