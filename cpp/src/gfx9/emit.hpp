// Finished waves become records: their instructions get PCs, and what is missing in them is said (spec_gfx9 6.5, 8.2).
#pragma once

#include <cstdint>
#include <span>

#include "decode/registers.hpp"
#include "gfx9/pcmap.hpp"
#include "gfx9/wave.hpp"
#include "wavewright/decode.hpp"

namespace wavewright::gfx9 {

class WaveEmitter {
  public:
    WaveEmitter(const Program& program, const Options& options, Records& records)
        : pc_map_(program), corrected_(options.corrected), keeps_rows_(options.rows), records_(records) {}

    // Whether the tables must grow to take this wave: then it is time to leave_room().
    bool lacks_room(const Wave& wave) const {
        const auto lacks = [](const auto& column, size_t more) { return column.capacity() - column.size() < more; };
        return lacks(records_.instructions.row, wave.instruction_count()) ||
               lacks(records_.states.state, wave.state_count());
    }
    // Sizes the tables for this many rows in total; too few does no harm.
    void leave_room(size_t instructions, size_t states);

    // False: a taken branch leads nowhere, and the reference would give up here. The wave is emitted all the same.
    bool emit(Wave& wave, WaveSlot slot, const AddressRanges& from_start);

  private:
    void add_instructions(std::span<const Instruction> instructions, uint32_t number);
    void add_states(std::span<const StateSpan> states, uint32_t number);
    void judge(const Wave& wave, uint32_t number, bool stitched, std::span<const int32_t> rows);
    void inform_once(Info code, bool& informed);

    PcMap pc_map_;
    const bool corrected_, keeps_rows_;
    Records& records_;
    bool informed_wave_incomplete_ = false, informed_stitch_incomplete_ = false;
};

}  // namespace wavewright::gfx9
