// Finished waves -> rows of the waves, instructions and states tables, with what could not be told about them
// (spec_rdna 11.6).
#pragma once

#include "decode/registers.hpp"
#include "rdna/pcmap.hpp"
#include "wavewright/decode.hpp"

namespace wavewright::rdna {

class WaveEmitter {
  public:
    WaveEmitter(const Program& program, const Options& options, bool is_gfx12, size_t input_bytes, Records& records)
        : pc_map_(program, is_gfx12, input_bytes), keeps_rows_(options.rows), records_(records) {}

    // False: the reference gives up at this wave. It is emitted all the same.
    bool emit(Wave& wave, const AddressRanges& from_start);

    // The reference has given up: it reports nothing more.
    void stop_reporting() { reports_ = false; }

  private:
    void report(Info code, bool& reported);
    void add_rows(const Wave& wave, Pc entry);

    PcMap pc_map_;
    const bool keeps_rows_;
    Records& records_;
    bool reports_ = true;
    bool wave_incomplete_reported_ = false;
    bool stitch_incomplete_reported_ = false;
};

}  // namespace wavewright::rdna
