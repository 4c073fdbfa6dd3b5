// The entry points of the core: bytes of thread-trace buffers in, records out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wavewright/program.hpp"
#include "wavewright/records.hpp"

namespace wavewright {

struct Options {
    // Repairs what the reference gets plainly wrong instead of being equal to it; the list is
    // docs/explanation/differences.md.
    bool corrected = false;
    // Keep the rows of instructions and states; else they are only counted, in Records::tally.
    bool rows = true;
};

enum class Generation : uint8_t { unknown, gfx9, gfx10, gfx11, gfx12, gfx1250 };

// Which generation wrote this buffer, from its first 8 bytes.
Generation detect(std::span<const uint8_t> bytes);

// Decodes one buffer (one shader engine). Total: any bytes give records plus losses; never throws but for
// std::bad_alloc.
Records decode(std::span<const uint8_t> bytes, const Program& program, const Options& options = {});

// Decodes buffers independently on up to `threads` threads (0 = all cores); results in the order of the input.
std::vector<Records> decode_all(std::span<const std::span<const uint8_t>> buffers, const Program& program,
                                const Options& options, unsigned threads);

// Makes wave, instruction and state numbers run through all buffers instead of starting at 0 in each. Waves are counted
// from `first_wave` on: how many there are in the buffers before these.
void rebase(std::span<Records> decoded, size_t first_wave = 0);

}  // namespace wavewright
