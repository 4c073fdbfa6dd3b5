// The fuzz targets: each takes any bytes and aborts when what comes out breaks an invariant. libFuzzer drives them one
// by one (`make fuzz`), replay drives them over seeds, mutations and regressions (`make test`).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wavewright::fuzz {

using Bytes = std::span<const uint8_t>;

// The bytes are a stream; no code. The token layer of all families.
void fuzz_tokens(Bytes input);
// A control byte (see Control) and a recipe of tokens (see recipe.hpp). Waves, states, stitching over known code.
void fuzz_waves(Bytes input);
// A control byte, a listing up to the first NUL, then a recipe or, by the control byte, raw stream bytes. PC mapping.
void fuzz_pcmap(Bytes input);
// A listing up to the first NUL, then the text of a function map. Programs, and waits over their texts.
void fuzz_program(Bytes input);
// A dialect byte, texts (one per line) up to the first NUL, then one byte per executed instruction: its row, and with
// the top bit the first of a new wave.
void fuzz_waits(Bytes input);
// Wave files, separated by NULs; each is also read as rows and as an object.
void fuzz_wave_json(Bytes input);
// Rules of up to 31 rows, then executed instructions with any times: the resolving of waits.
void fuzz_stalls(Bytes input);
// Rules of up to 32 rows, a block in another order, then executed instructions with any times: replays of edits.
void fuzz_edits(Bytes input);
// The page where a table begins, types of columns (two bits each), then the file of an SQLite database.
void fuzz_sqlite(Bytes input);
// Tracks, cells and bounds, then spans with any times: levels of detail of timelines.
void fuzz_spans(Bytes input);
// Flags of code rows, bins, then executed instructions with any times, rows and waves: costs, paths, timelines.
void fuzz_executed(Bytes input);
// Events with any keys and times: statistics, covered time, trees of calls, tracks.
void fuzz_groups(Bytes input);
// The bytes are a Perfetto trace.
void fuzz_perfetto(Bytes input);
// Texts up to NULs, then rows with any times and numbers: Chrome and Perfetto traces.
void fuzz_writers(Bytes input);
// A column of the tables, flags (wave size, texts instead of code, size of chunks), then machine code or texts.
void fuzz_isa(Bytes input);
// Registers that kernels are given, then rows: what follows, masks, habits, a target, up to three operands.
void fuzz_live(Bytes input);
// The bytes are a stream; the C functions and the calls of AMD's decoder, with code for any address.
void fuzz_library(Bytes input);
// A byte for GPU and wave size, one for the start and the path, then texts, one per line: lane addresses.
void fuzz_evaluate(Bytes input);

// First byte of fuzz_waves and fuzz_pcmap.
struct Control {
    explicit Control(uint8_t byte)
        : family(byte % 6),
          corrected((byte & 8) != 0),
          raw_stream((byte & 16) != 0),
          switches((byte & 32) != 0),
          loaded((byte & 64) == 0) {}
    uint32_t family;  // index into testing::kFamilies
    bool corrected;
    bool raw_stream;
    bool switches;  // RDNA: double buffer, excluded barrier waits
    bool loaded;    // the stream announces the code object; else raw virtual addresses find it
};

struct Target {
    std::string_view name;
    void (*run)(Bytes);
};
constexpr Target kTargets[] = {
    {"fuzz_tokens", fuzz_tokens},     {"fuzz_waves", fuzz_waves},       {"fuzz_pcmap", fuzz_pcmap},
    {"fuzz_program", fuzz_program},   {"fuzz_waits", fuzz_waits},       {"fuzz_wave_json", fuzz_wave_json},
    {"fuzz_stalls", fuzz_stalls},     {"fuzz_sqlite", fuzz_sqlite},     {"fuzz_spans", fuzz_spans},
    {"fuzz_executed", fuzz_executed}, {"fuzz_groups", fuzz_groups},     {"fuzz_writers", fuzz_writers},
    {"fuzz_isa", fuzz_isa},           {"fuzz_live", fuzz_live},         {"fuzz_evaluate", fuzz_evaluate},
    {"fuzz_library", fuzz_library},   {"fuzz_perfetto", fuzz_perfetto}, {"fuzz_edits", fuzz_edits},
};

struct Seed {
    std::string name;
    std::vector<uint8_t> bytes;
};
std::vector<Seed> seeds_of(std::string_view target);

}  // namespace wavewright::fuzz
