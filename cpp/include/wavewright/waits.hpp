// Which memory operations every executed wait waited for. AMD's tools find them from the texts alone
// (rcv_features 2.4); this is the same matching with every text read once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "wavewright/column.hpp"
#include "wavewright/program.hpp"

namespace wavewright {

// Values of Waits::counter. `idle` stands for all counters at once (s_wait_idle).
enum class WaitCounter : uint8_t { lgkm, vm, vs, load, store, sample, ds, km, exp, bvh, async, tensor, idle };

// Names by WaitCounter, as the assembler spells them.
inline constexpr std::array<std::string_view, 13> kWaitCounterNames = {
    "lgkmcnt", "vmcnt",  "vscnt",  "loadcnt",  "storecnt",  "samplecnt", "dscnt",
    "kmcnt",   "expcnt", "bvhcnt", "asynccnt", "tensorcnt", "idle"};

// One row per producer. Waits are in the order of execution; the counters of one wait in the order in which AMD's
// writer lists them; the producers of one counter in the order of its list. Rows with the same instruction and
// counter are therefore one entry of ui_output's `waitcnt`.
struct Waits {
    Column<uint64_t> instruction;  // index of the wait
    Column<uint64_t> producer;     // index of the awaited instruction
    Column<uint8_t> counter;       // WaitCounter

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("instruction", instruction);
        visit("producer", producer);
        visit("counter", counter);
    }
};

// `waves` and `rows` have one value per executed instruction; the instructions of a wave follow each other. `rows`
// index `texts`; a negative row is an instruction without a PC, which is passed over. An empty text, or a row
// after the last text, ends the matching of its wave: what is in flight after it cannot be known.
// Linear in the number of instructions plus the length of the texts.
Waits match_waits(std::span<const std::string_view> texts, Dialect dialect, std::span<const uint32_t> waves,
                  std::span<const int32_t> rows);

}  // namespace wavewright
