// Well-formed streams of every family: a few waves that run one small loop and leave all their tokens, with registers,
// code objects, counters, shader data and events in between. Deterministic, of any size.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace wavewright::testing {

struct Family {
    const char* name;
    uint32_t version;  // of the RDNA header; 0 = gfx9
};
constexpr Family kFamilies[] = {{"gfx9", 0},  {"gfx10.1", 1}, {"gfx10.3", 2},
                                {"gfx11", 3}, {"gfx12", 4},   {"gfx1250", 5}};

struct Shape {
    uint32_t waves = 8;
    uint32_t iterations = 6;  // of the loop, in every wave
};

struct Sample {
    std::string listing;  // of code object 1
    std::string funcmap;  // of code object 1
    std::vector<uint8_t> stream;
    uint64_t instructions_per_wave = 0;
};

Sample sample(const Family& family, const Shape& shape);

}  // namespace wavewright::testing
