// replay TARGET FLIPS [FILE|FOLDER]...: runs a fuzz target over the named files, over its seeds, and over mutations of
// the seeds from a fixed generator: cut at every 512 bytes and at 5 * FLIPS random offsets, 500 at most, or at every
// offset of a seed that has fewer, and FLIPS times one to four bits flipped, each. An input that takes too long, or one
// that crashes, is written to replay-TARGET.failed.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

#include "processor_time.hpp"
#include "targets.hpp"

// Present under the sanitizers only.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace wavewright::fuzz {
namespace {

constexpr int kSecondsPerInput = 20;
constexpr size_t kMostRandomCuts = 500;

struct Current {
    const Target* target = nullptr;
    std::string name;
    Bytes bytes;
} current;

void keep_current() {
    const std::string path = "replay-" + std::string(current.target->name) + ".failed";
    std::fprintf(stderr, "%s: the input that failed is in %s\n", current.name.c_str(), path.c_str());
    if (std::FILE* file = std::fopen(path.c_str(), "wb")) {
        std::fwrite(current.bytes.data(), 1, current.bytes.size(), file);
        std::fclose(file);
    }
}

void on_signal(int signal) {
    if (signal == SIGPROF) std::fprintf(stderr, "took more than %d seconds\n", kSecondsPerInput);
    keep_current();
    std::_Exit(1);
}

void run(const std::string& name, Bytes bytes) {
    current.name = name;
    current.bytes = bytes;
    testing::limit_processor_time(kSecondsPerInput);
    current.target->run(bytes);
    testing::limit_processor_time(0);
}

size_t run_mutations(const Seed& seed, size_t flips) {
    std::mt19937_64 random(2026);
    const size_t size = seed.bytes.size();
    const auto run_cut = [&](size_t length) {
        const std::vector<uint8_t> cut(seed.bytes.begin(), seed.bytes.begin() + static_cast<ptrdiff_t>(length));
        run(seed.name + " cut at " + std::to_string(length), cut);
    };
    size_t count = 0;
    const size_t cuts = std::min(kMostRandomCuts, 5 * flips);
    const bool is_short = size < cuts;
    for (size_t length = 0; length <= size; length += is_short ? 1 : 512, ++count) run_cut(length);
    for (size_t i = 0; i < cuts && !is_short; ++i, ++count) run_cut(random() % (size + 1));
    std::vector<uint8_t> flipped;
    for (size_t i = 0; i < flips; ++i, ++count) {
        flipped = seed.bytes;
        for (uint64_t bits = 1 + random() % 4; bits > 0; --bits) {
            flipped[random() % size] ^= static_cast<uint8_t>(1U << random() % 8);
        }
        run(seed.name + " flip " + std::to_string(i), flipped);
    }
    return count;
}

size_t run_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    run(path.string(), {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    return 1;
}

size_t run_path(const std::filesystem::path& path) {
    if (!std::filesystem::is_directory(path)) return run_file(path);
    size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
        if (entry.is_regular_file()) count += run_file(entry.path());
    }
    return count;
}

int replay(std::span<char*> arguments) {
    const auto* target = std::find_if(std::begin(kTargets), std::end(kTargets),
                                      [&](const Target& t) { return !arguments.empty() && t.name == arguments[0]; });
    if (target == std::end(kTargets) || arguments.size() < 2) {
        std::cerr << "usage: replay TARGET FLIPS [FILE|FOLDER]...\n";
        return 2;
    }
    current.target = target;
    for (const int signal : {SIGPROF, SIGABRT, SIGSEGV}) std::signal(signal, on_signal);
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(keep_current);
    const size_t flips = std::strtoul(arguments[1], nullptr, 10);
    size_t count = 0;
    for (const char* path : arguments.subspan(2)) count += run_path(path);
    for (const Seed& seed : seeds_of(target->name)) {
        run(seed.name, seed.bytes);
        count += 1 + run_mutations(seed, flips);
    }
    std::cout << target->name << ": " << count << " inputs\n";
    return 0;
}

}  // namespace
}  // namespace wavewright::fuzz

int main(int argc, char** argv) {
    return wavewright::fuzz::replay({argv + 1, argv + argc});
}
