// Starts and ends of the waves of all CUs (spec_gfx9 4.2, 4.3, 8.2).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "decode/registers.hpp"
#include "gfx9/tokens.hpp"
#include "wavewright/program.hpp"
#include "wavewright/records.hpp"

namespace wavewright::gfx9 {

class Occupancy {
  public:
    Occupancy(OccupancyTable& table, const AddressRanges& from_start) : table_(table), from_start_(from_start) {}

    // `word` is the WAVE_START token.
    void start(uint64_t word, int64_t now, Pc entry) {
        Running& running = running_[WaveIdentity::key.word(word)];
        running.entry = entry;
        if (running.active) return;
        running.active = true;
        add(word, now, true, entry);
    }

    // `word` is the WAVE_END token cut to its length. Gives the kernel entry that the end record names. A wave whose
    // start was not seen started before the trace, unless packets were lost.
    std::optional<Pc> end(uint64_t word, int64_t now, bool packets_lost) {
        Running& running = running_[WaveIdentity::key.word(word)];
        if (!running.active) {
            if (packets_lost) return std::nullopt;
            unseen_starts_.push_back(static_cast<uint16_t>(word));
            add(word, 0, false, {});  // quirk: both records at time 0
            return std::nullopt;
        }
        running.active = false;
        Pc entry = running.entry;
        if (entry.object == 0 && entry.address != 0) entry = from_start_.translate(entry.address);
        add(word, now, false, entry);
        return entry;
    }

    // Chunked captures hand records over in batches, as the reference does: the order of the table shows it.
    void flush_full_batch() {
        if (table_.cu.size() - batch_begin_ + unseen_starts_.size() >= kBatch) flush();
    }

    uint64_t running_count() const {
        return static_cast<uint64_t>(
            std::count_if(running_.begin(), running_.end(), [](const Running& wave) { return wave.active; }));
    }

    // Late look-back, and the unseen starts, the latest first, in front of their batch.
    void flush();

  private:
    static constexpr size_t kBatch = 65536;

    struct Running {
        Pc entry;
        bool active = false;
    };

    void add(uint64_t word, int64_t time, bool start, Pc entry) {
        constexpr uint8_t kIsExt = 1, kNoCluster = 0;  // the reference's record has them so on gfx9 (8.2)
        const WaveId wave = WaveId::of(word);
        table_.add(time, wave.cu, wave.simd, wave.slot, start, WaveStart::me.byte(word), WaveStart::pipe.byte(word),
                   kIsExt, WaveStart::workgroup.byte(word), kNoCluster, entry.object, entry.address);
    }

    OccupancyTable& table_;
    const AddressRanges& from_start_;
    std::array<Running, WaveIdentity::key.mask + 1> running_{};  // the shader array is not told apart
    Column<uint16_t> unseen_starts_;                             // WAVE_END tokens
    size_t batch_begin_ = 0;
};

}  // namespace wavewright::gfx9
