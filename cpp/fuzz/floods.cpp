// Megabytes of one hostile idea each. Decoding must stay linear: four times the bytes may cost at most kGrowth times
// the processor time, nothing may take longer than the limit, and memory is bounded by input and output.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "invariants.hpp"
#include "sample.hpp"
#include "stream.hpp"
#include "wavewright/decode.hpp"

namespace wavewright::fuzz {
namespace {

using testing::CodeObject;
using testing::Family;
using testing::Gfx9Writer;
using testing::Place;
using testing::RdnaWriter;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;  // slow, and its shadow hides what memory is used
#else
constexpr bool kSanitized = false;
#endif
constexpr size_t kSmall = (kSanitized ? 32 : 256) << 10, kLarge = 4 * kSmall;
constexpr uint32_t kUnsetPcs = kSanitized ? 10'000 : 20'000, kLongWave = kSanitized ? 15'000 : 30'000;
constexpr double kGrowth = 8;          // allowed for 4 times the size; quadratic work gives 16
constexpr double kNoiseSeconds = 0.5;  // shorter runs are not judged by growth
constexpr int kTries = 8;
constexpr double kLimitSeconds = 30;
constexpr double kMemoryFactor = 2.5, kMemoryAlwaysMb = 16;  // the rest: the process, the stream's own writer
constexpr double kListingFactor = 8;                         // a linked line of code beside its text

constexpr uint32_t kCu = 2, kSimd = 1;
constexpr Place kWave{.cu = kCu, .simd = kSimd, .slot = 0};
constexpr uint32_t kEntry = 0x1000;

// Calls `fill(out, n)` with n = 0, 1, ... until the stream has the size.
template <class Writer, class Fill>
std::vector<uint8_t> filled(Writer out, size_t size, Fill fill) {
    for (uint32_t n = 0; out.bytes().size() < size; ++n) fill(out, n);
    out.zeros(32);
    return out.bytes();
}

struct Flood {
    std::string name;
    std::function<std::vector<uint8_t>(size_t)> stream;
    std::function<std::string(size_t)> listing = {};
};

Gfx9Writer gfx9() {
    Gfx9Writer out(kCu);
    testing::write_userdata2(out, testing::kEnable);
    out.compute_reg(testing::kProgramLow, kEntry >> 8);
    return out;
}

RdnaWriter rdna(uint32_t version, uint64_t switches = 0) {
    RdnaWriter out(version, kSimd, kCu, switches);
    testing::write_userdata2(out, testing::kEnable);
    out.reg(testing::kProgramLow, kEntry >> 8, true);
    return out;
}

template <class Fill>
Flood gfx9_flood(std::string name, Fill fill) {
    return {"gfx9 " + name, [=](size_t size) { return filled(gfx9(), size, fill); }};
}

// The same after one wave of the target has started.
template <class Fill>
Flood gfx9_wave_flood(std::string name, Fill fill, std::function<std::string(size_t)> listing = {}) {
    return {"gfx9 " + name,
            [=](size_t size) {
                Gfx9Writer out = gfx9();
                out.wave_start(kWave);
                return filled(out, size, fill);
            },
            listing};
}

template <class Fill>
void add_rdna(std::vector<Flood>& floods, const std::string& name, Fill fill) {
    for (uint32_t version = 2; version <= 5; ++version) {
        floods.push_back({testing::kFamilies[version].name + (" " + name),
                          [=](size_t size) { return filled(rdna(version), size, fill); }});
    }
}

template <class Fill>
void add_rdna_wave(std::vector<Flood>& floods, const std::string& name, Fill fill,
                   std::function<std::string(size_t)> listing = {}) {
    for (uint32_t version = 2; version <= 5; ++version) {
        floods.push_back({testing::kFamilies[version].name + (" " + name),
                          [=](size_t size) {
                              RdnaWriter out = rdna(version);
                              out.wave_start(kWave);
                              return filled(out, size, fill);
                          },
                          listing});
    }
}

Place any_place(uint32_t n) {
    return {.cu = n % 16, .simd = n / 16 % 4, .slot = n / 64 % 10};
}
Place any_rdna_place(uint32_t n) {
    return {.cu = n % 8, .simd = n / 8 % 4, .slot = n / 32 % 16};
}

void traced(Gfx9Writer& out, uint32_t type) {
    out.issue(kSimd, kWave.slot, Gfx9Writer::inst);
    out.instruction(kWave, type);
}

std::string lines(size_t count, const std::string& text) {
    std::string tsv;
    for (size_t i = 0; i < count; ++i) tsv += std::to_string(kEntry + 4 * i) + "\t4\t" + text + "\n";
    return tsv;
}

// As long as the stream: a run of lines that leave no token.
std::string long_silent_run(size_t size) {
    return lines(size / 16, "; nothing");
}
std::string long_skipped_run(size_t size) {
    return lines(size / 16, "s_delay_alu 0");
}
// A loop of 998 lines that match nothing, so that every token walks through all of them.
std::string unmatched_loop(size_t) {
    return lines(998, "s_mov_b32 s0, 0") + std::to_string(kEntry + 4 * 998) + "\t4\ts_branch " +
           std::to_string(65536 - 999) + "\n";
}
// One line that jumps to itself.
std::string own_successor(size_t) {
    return lines(1, "s_branch 65535");
}

void add_gfx9(std::vector<Flood>& floods) {
    floods.push_back(gfx9_flood("wave starts", [](auto& out, uint32_t n) { out.wave_start(any_place(n)); }));
    floods.push_back(gfx9_flood("wave ends", [](auto& out, uint32_t n) { out.wave_end(any_place(n)); }));
    floods.push_back(gfx9_flood("short waves", [](auto& out, uint32_t) {
        out.wave_start(kWave);
        out.wave_end(kWave);
    }));
    floods.push_back(gfx9_flood("time resets", [](auto& out, uint32_t) { out.misc(Gfx9Writer::time_reset, 255); }));
    floods.push_back(gfx9_flood("a reset without a time stamp", [](auto& out, uint32_t n) {
        out.misc(n == 0 ? Gfx9Writer::time_reset : Gfx9Writer::time, 1);
    }));
    floods.push_back(gfx9_flood("packet losses", [](auto& out, uint32_t) { out.misc(Gfx9Writer::packet_lost, 1); }));
    floods.push_back(gfx9_flood("counters and intervals", [](auto& out, uint32_t n) {
        out.misc(Gfx9Writer::time, 255);
        out.counters(n % 16, 0, n & 0xFFF);
        testing::write_userdata2(out, testing::agent_word(1, 1 + n % 100));
    }));
    floods.push_back(gfx9_wave_flood("issues", [](auto& out, uint32_t) { out.issue(kSimd, 0, Gfx9Writer::inst, 1); }));
    floods.push_back(gfx9_wave_flood("stalls", [](auto& out, uint32_t) { out.issue(kSimd, 0, Gfx9Writer::stall, 1); }));
    floods.push_back(gfx9_wave_flood("replays", [](auto& out, uint32_t n) {
        traced(out, n % 3 == 2 ? Gfx9Writer::smem_replay : Gfx9Writer::smem);
    }));
    floods.push_back(gfx9_wave_flood("deletions behind a long queue", [](auto& out, uint32_t n) {
        out.issue(kSimd, 0, Gfx9Writer::inst);
        if (n % 2) out.instruction(kWave, 25);
    }));
    floods.push_back(gfx9_wave_flood("jumps and new PCs", [](auto& out, uint32_t n) {
        if (n % 2) {
            traced(out, Gfx9Writer::pc);
        } else {
            out.new_pc(kWave, n * 4);
        }
    }));
    floods.push_back(gfx9_wave_flood("unset PCs, then new ones", [](auto& out, uint32_t n) {
        if (n < kUnsetPcs) {
            traced(out, Gfx9Writer::pc);
        } else {
            out.new_pc(kWave, n * 4);
        }
    }));
    floods.push_back(gfx9_wave_flood(
        "traps", [](auto& out, uint32_t n) { traced(out, n % 2 ? Gfx9Writer::pc : Gfx9Writer::trap); }));
    const auto one_valu = [](auto& out, uint32_t) {
        out.wave_start(kWave);
        traced(out, Gfx9Writer::valu);
        traced(out, Gfx9Writer::valu);
        out.wave_end(kWave);
    };
    floods.push_back(gfx9_wave_flood("waves at a long silent run", one_valu, long_silent_run));
    floods.push_back(gfx9_wave_flood("waves at a long skipped run", one_valu, long_skipped_run));
    floods.push_back(
        gfx9_wave_flood("unmatched loop", [](auto& out, uint32_t) { traced(out, Gfx9Writer::jump); }, unmatched_loop));
    floods.push_back(
        gfx9_wave_flood("self jumps", [](auto& out, uint32_t) { traced(out, Gfx9Writer::jump); }, own_successor));
}

void add_rdna_floods(std::vector<Flood>& floods) {
    add_rdna(floods, "wave starts", [](auto& out, uint32_t) { out.wave_start(kWave); });
    add_rdna(floods, "wave starts anywhere", [](auto& out, uint32_t n) { out.wave_start(any_rdna_place(n)); });
    add_rdna(floods, "wave ends", [](auto& out, uint32_t n) { out.wave_end(any_rdna_place(n)); });
    add_rdna(floods, "short waves", [](auto& out, uint32_t) {
        out.wave_start(kWave);
        out.wave_end(kWave);
    });
    add_rdna(floods, "stacked waves and context saves", [](auto& out, uint32_t n) {
        out.wave_start(kWave, 0, n % 2 ? 66 : 0);
        out.misc(3);
    });
    add_rdna(floods, "packet losses", [](auto& out, uint32_t) { out.advance(1, true); });
    add_rdna(floods, "realtime", [](auto& out, uint32_t n) { out.realtime(n + 1); });
    add_rdna_wave(floods, "one cycle", [](auto& out, uint32_t n) {
        if (n % 3) {
            out.ready(0xFFFF);
        } else {
            out.valu(kWave, 0);
        }
    });
    add_rdna_wave(floods, "immediates", [](auto& out, uint32_t) { out.immediate(0xFFFF, 1); });
    add_rdna_wave(floods, "jumps and new PCs", [](auto& out, uint32_t n) {
        if (n % 2) {
            out.instruction(kWave, 5);
        } else {
            out.new_pc(kWave, n * 4);
        }
    });
    add_rdna_wave(floods, "unset PCs, then new ones", [](auto& out, uint32_t n) {
        if (n < kUnsetPcs) {
            out.instruction(kWave, 5);
        } else {
            out.new_pc(kWave, n * 4);
        }
    });
    add_rdna_wave(floods, "replays", [](auto& out, uint32_t n) {
        if (n % 4 < 3) {
            out.ready(1, 1);
            out.instruction(kWave, 33, 1);
        } else {
            out.instruction(kWave, 79);
        }
    });
    add_rdna_wave(floods, "replays after a long wave", [](auto& out, uint32_t n) {
        if (n < kLongWave) {
            out.immediate_one(kWave, 1);
        } else {
            out.instruction(kWave, 79);
        }
    });
    const auto two_valu = [](auto& out, uint32_t) {
        out.wave_start(kWave);
        out.valu(kWave, 1);
        out.valu(kWave, 1);
        out.wave_end(kWave);
    };
    add_rdna_wave(floods, "waves at a long silent run", two_valu, long_silent_run);
    add_rdna_wave(floods, "waves at a long skipped run", two_valu, long_skipped_run);
    add_rdna_wave(floods, "unmatched loop", [](auto& out, uint32_t) { out.instruction(kWave, 3, 1); }, unmatched_loop);
    add_rdna_wave(floods, "self jumps", [](auto& out, uint32_t) { out.instruction(kWave, 3, 1); }, own_successor);
    // Excluded barrier waits look ahead over the rest of the wave.
    floods.push_back({"gfx12 barrier look-ahead",
                      [](size_t size) {
                          RdnaWriter out = rdna(4, uint64_t{1} << 59);
                          out.wave_start(kWave);
                          return filled(out, size, [](auto& w, uint32_t) { w.immediate_one(kWave, 1); });
                      },
                      [](size_t size) { return lines(size / 2, "s_barrier_wait 0xffff"); }});
}

template <class Writer>
void code_objects(std::vector<Flood>& floods, const std::string& family, std::function<Writer()> start) {
    const auto flood = [&](const char* name, auto fill) {
        floods.push_back({family + " " + name, [=](size_t size) { return filled(start(), size, fill); }});
    };
    flood("code object loads", [](auto& out, uint32_t n) {
        testing::write_code_object(out, CodeObject{n + 1, uint64_t{n} * 256, 256}, testing::kFromStart);
    });
    flood("overlapping code objects", [](auto& out, uint32_t n) {
        testing::write_code_object(out, CodeObject{n + 1, n % 7 ? uint64_t{n} * 256 : 0, n % 7 ? 256 : ~uint64_t{0}},
                                   0);
    });
    flood("loads and unloads",
          [](auto& out, uint32_t n) { testing::write_code_object(out, CodeObject{n / 2 % 5 + 1, 4096, 256}, n % 2); });
    flood("shader data without code", [](auto& out, uint32_t n) {
        if (n % 64 == 0) out.wave_start(kWave);
        out.shader_data(kWave, n);
    });
}

struct Cost {
    double seconds = 0;
    double peak_mb = 0;     // of the process
    double columns_mb = 0;  // of the records
    double listing_mb = 0;  // of the code's text
    bool good = false;
};

Cost decode_flood(const Flood& flood, size_t size) {
    const std::vector<uint8_t> stream = flood.stream(size);
    Program program;
    Cost cost;
    if (flood.listing) {
        const std::string listing = flood.listing(size);
        cost.listing_mb = static_cast<double>(listing.size()) / 1e6;
        program.add_listing(0, {}, listing);
    }
    program.link();
    const std::clock_t begin = std::clock();
    Records records = decode(stream, program);
    cost.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    cost.peak_mb = static_cast<double>(usage.ru_maxrss) / 1024;
    records.each_table([&](const char*, auto& table) {
        table.each_column([&](const char*, auto& c) { cost.columns_mb += static_cast<double>(c.size_bytes()) / 1e6; });
    });
    const std::string broken = testing::broken_invariant(records, program);
    if (!broken.empty()) std::printf("%s: invariant broken: %s\n", flood.name.c_str(), broken.c_str());
    cost.good = broken.empty();
    return cost;
}

// In a process of its own, so that peaks are its own and a crash is one bad flood.
Cost cost_of(const Flood& flood, size_t size) {
    int ends[2];
    if (pipe(ends) != 0) return {};
    const pid_t child = fork();
    if (child == 0) {
        const Cost cost = decode_flood(flood, size);
        std::fflush(stdout);
        _exit(write(ends[1], &cost, sizeof cost) == sizeof cost ? 0 : 1);
    }
    close(ends[1]);
    Cost cost;
    if (read(ends[0], &cost, sizeof cost) != sizeof cost) cost.good = false;
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return cost;
}

// A busy machine only ever adds to the processor time, by factors of 80 and more, so the shortest of some tries counts.
// Quadratic work is not linear in any of them.
bool stays_bounded(const Flood& flood) {
    const Cost small = cost_of(flood, kSmall);
    Cost large = cost_of(flood, kLarge);
    const auto is_linear = [&] {
        return large.seconds < kNoiseSeconds || large.seconds < kGrowth * std::max(small.seconds, 0.01);
    };
    for (int tries = 1; tries < kTries && large.good && !is_linear(); ++tries) {
        const Cost again = cost_of(flood, kLarge);
        large.seconds = std::min(large.seconds, again.seconds);
        large.good = again.good;
    }
    const bool linear = is_linear();
    const double allowed_mb =
        kMemoryFactor * (kLarge / 1e6 + large.columns_mb) + kListingFactor * large.listing_mb + kMemoryAlwaysMb;
    const bool small_enough = kSanitized || large.peak_mb < allowed_mb;
    const bool good = small.good && large.good && linear && large.seconds < kLimitSeconds && small_enough;
    std::printf("%-4s %-46s %4zu KB %7.3f s  %4zu KB %7.3f s  columns %6.1f MB, peak %6.1f MB\n", good ? "ok" : "BAD",
                flood.name.c_str(), kSmall >> 10, small.seconds, kLarge >> 10, large.seconds, large.columns_mb,
                large.peak_mb);
    std::fflush(stdout);
    return good;
}

int run(std::string_view wanted) {
    std::vector<Flood> floods;
    add_gfx9(floods);
    add_rdna_floods(floods);
    code_objects<Gfx9Writer>(floods, "gfx9", gfx9);
    for (uint32_t version = 2; version <= 5; ++version) {
        code_objects<RdnaWriter>(floods, testing::kFamilies[version].name, [=] { return rdna(version); });
    }
    int bad = 0;
    for (const Flood& flood : floods) {
        if (flood.name.find(wanted) != std::string::npos) bad += !stays_bounded(flood);
    }
    return bad != 0;
}

}  // namespace
}  // namespace wavewright::fuzz

// floods [WORDS]: all floods, or those whose name contains the words.
int main(int argc, char** argv) {
    return wavewright::fuzz::run(argc > 1 ? argv[1] : "");
}
