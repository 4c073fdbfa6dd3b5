// Whether a stream goes on to the end of its trace. Nothing ends a stream by definition, but a finished one shows that
// the trace was stopped after its last wave, leaves no wave running, and fills whole blocks. Zeros after the last block
// are padding of whoever wrote the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wavewright/records.hpp"

namespace wavewright {

inline constexpr size_t kBlockBytes = 32;  // the hardware's write pointer counts them

// Whether the last block that holds anything is there as a whole.
inline bool has_whole_blocks(std::span<const uint8_t> blocks) {
    size_t used = blocks.size();
    while (used != 0 && blocks[used - 1] == 0) --used;
    const size_t block_count = used / kBlockBytes + (used % kBlockBytes != 0 ? 1 : 0);
    return block_count <= blocks.size() / kBlockBytes;
}

struct StreamEnd {
    int64_t time = 0;            // of the last token
    bool whole_blocks = false;   // has_whole_blocks of the stream
    bool stopped = false;        // the trace was, after the last thing that leaves records
    bool token_cut = false;      // the last token goes on after the end
    uint64_t unended_waves = 0;  // on the whole shader engine

    // Tokens after the stop that the hardware keeps back are not a loss: often half a token is left.
    bool finished() const { return stopped && whole_blocks; }

    void note(Records& records) const {
        if (records.status == Status::stopped) return;  // the end was not reached
        const size_t end = records.byte_count;
        const auto lose = [&](Loss kind, uint64_t count) {
            records.losses.add(static_cast<uint8_t>(kind), time, end, count, 0);
        };
        if (unended_waves != 0) lose(Loss::unended_waves, unended_waves);
        // The parts of a chunked capture end anywhere.
        if (!finished() && !token_cut && !(records.double_buffer && whole_blocks)) lose(Loss::missing_end, 1);
    }
};

}  // namespace wavewright
