// flips COUNT [FAMILY]: flips COUNT times one bit of a stream of every family and compares what comes out with what
// came out before: nothing changed, a loss says that something did, only values differ, or rows differ in silence.
// A flipped value can look as good as the one before, so silence is counted and not forbidden; a crash and a broken
// invariant are.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fingerprint.hpp"
#include "invariants.hpp"
#include "processor_time.hpp"
#include "sample.hpp"
#include "wavewright/decode.hpp"

// Present under the sanitizers only.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace wavewright::fuzz {
namespace {

struct Flip {
    const char* family = "";
    size_t bit = 0;
} current;

constexpr int kSecondsPerFlip = 20;

void say_current() {
    std::fprintf(stderr, "%s: bit %zu flipped\n", current.family, current.bit);
}

void on_limit(int) {
    std::fprintf(stderr, "took more than %d seconds\n", kSecondsPerFlip);
    say_current();
    std::_Exit(1);
}

std::vector<std::pair<uint8_t, uint64_t>> losses_of(const Records& records) {
    std::vector<std::pair<uint8_t, uint64_t>> losses;
    for (size_t i = 0; i < records.losses.kind.size(); ++i)
        losses.emplace_back(records.losses.kind[i], records.losses.count[i]);
    return losses;
}

struct Outcome {
    size_t none = 0, reported = 0, values = 0, rows = 0, broken = 0;
};

Outcome flip(const testing::Family& family, size_t count) {
    const testing::Sample sample = testing::sample(family, {.waves = 8, .iterations = 4});
    Program program;
    program.add_listing(1, {}, sample.listing);
    program.add_funcmap(1, sample.funcmap);
    program.link();
    Records whole = decode(sample.stream, program);
    const testing::Fingerprint expected(whole);
    const auto losses = losses_of(whole);

    Outcome outcome;
    std::mt19937_64 random(2026);
    std::vector<uint8_t> stream = sample.stream;
    for (size_t i = 0; i < count; ++i) {
        const size_t bit = random() % (8 * stream.size());
        current = {family.name, bit};
        stream[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
        testing::limit_processor_time(kSecondsPerFlip);
        Records records = decode(stream, program);
        testing::limit_processor_time(0);
        stream[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
        const std::string broken = testing::broken_invariant(records, program);
        if (!broken.empty()) {
            std::fprintf(stderr, "invariant broken: %s\n", broken.c_str());
            say_current();
            ++outcome.broken;
        }
        const testing::Difference difference = testing::Fingerprint(records).from(expected);
        if (losses_of(records) != losses || records.status != whole.status) {
            ++outcome.reported;
        } else if (difference == testing::Difference::none) {
            ++outcome.none;
        } else {
            ++(difference == testing::Difference::values ? outcome.values : outcome.rows);
        }
    }
    return outcome;
}

int run(size_t count, std::string_view wanted) {
    std::printf("%-8s %8s %10s %10s %12s %15s %8s\n", "family", "flips", "no effect", "reported", "values only",
                "rows in silence", "broken");
    size_t broken = 0;
    for (const testing::Family& family : testing::kFamilies) {
        if (std::string_view(family.name).find(wanted) == std::string_view::npos) continue;
        const Outcome outcome = flip(family, count);
        std::printf("%-8s %8zu %10zu %10zu %12zu %15zu %8zu\n", family.name, count, outcome.none, outcome.reported,
                    outcome.values, outcome.rows, outcome.broken);
        std::fflush(stdout);
        broken += outcome.broken;
    }
    return broken != 0;
}

}  // namespace
}  // namespace wavewright::fuzz

int main(int argc, char** argv) {
    std::signal(SIGPROF, wavewright::fuzz::on_limit);
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(wavewright::fuzz::say_current);
    const size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0;
    if (count == 0) {
        std::fputs("usage: flips COUNT [FAMILY]\n", stderr);
        return 2;
    }
    return wavewright::fuzz::run(count, argc > 2 ? argv[2] : "");
}
