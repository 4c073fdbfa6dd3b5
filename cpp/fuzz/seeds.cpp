// Where fuzzing starts: valid inputs of every family, made here so that none is a stranger's file.
#include <algorithm>
#include <random>

#include "sample.hpp"
#include "targets.hpp"

namespace wavescope::fuzz {
namespace {

void append(std::vector<uint8_t>& bytes, std::string_view text) {
    bytes.insert(bytes.end(), text.begin(), text.end());
}

// Starts four waves, lets them run random instructions, ends them.
std::vector<uint8_t> recipe(const testing::Family& family, std::mt19937& random) {
    std::vector<uint8_t> bytes;
    const auto step = [&](uint32_t kind, uint32_t a, uint32_t b) {
        for (const uint32_t part : {kind, a, b}) bytes.push_back(static_cast<uint8_t>(part));
    };
    const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
    const bool gfx9 = family.version == 0;
    for (uint32_t slot = 0; slot < 4; ++slot) step(0, slot, gfx9 ? 64 : 0);
    for (int i = 0; i < 120; ++i) {
        const uint32_t slot = below(4), issuing = gfx9 ? 12 : 2 + below(5);
        step(i % 3 ? issuing : below(gfx9 ? 14 : 16), slot, below(256));
    }
    for (uint32_t slot = 0; slot < 4; ++slot) step(1, slot, 3);
    return bytes;
}

}  // namespace

std::vector<Seed> seeds_of(std::string_view target) {
    std::vector<Seed> seeds;
    std::mt19937 random(7);
    for (uint8_t i = 0; i < std::size(testing::kFamilies); ++i) {
        const testing::Family& family = testing::kFamilies[i];
        const testing::Sample sample = testing::sample(family, {.waves = 4, .iterations = 2});
        Seed seed{family.name, {}};
        if (target == "fuzz_tokens") seed.bytes = sample.stream;
        if (target == "fuzz_waves" || target == "fuzz_pcmap") seed.bytes.push_back(i);
        if (target == "fuzz_pcmap" || target == "fuzz_program") {
            append(seed.bytes, sample.listing);
            seed.bytes.push_back(0);
        }
        if (target == "fuzz_waves" || target == "fuzz_pcmap") {
            const std::vector<uint8_t> steps = recipe(family, random);
            seed.bytes.insert(seed.bytes.end(), steps.begin(), steps.end());
        }
        if (target == "fuzz_program") append(seed.bytes, sample.funcmap);
        seeds.push_back(std::move(seed));
    }
    return seeds;
}

}  // namespace wavescope::fuzz
