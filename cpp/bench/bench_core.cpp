// bench_core TRACE... [LISTING.tsv[@LOAD_ADDRESS][:ID]]... [--threads N] [--repeat K] [--copies C]
//
// Decodes the traces (each C times, as if C shader engines had written it) from bytes in memory to finished columns
// with program rows, K times, and prints the best run. Needs neither Python nor anything but this repository.
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "wavewright/decode.hpp"

namespace wavewright::bench {
namespace {

struct Listing {
    std::string path;
    std::optional<uint64_t> load_address;
    uint64_t object = 0;
};

struct Arguments {
    std::vector<std::string> traces;
    std::vector<Listing> listings;
    unsigned threads = 1;
    unsigned repeat = 5;
    unsigned copies = 1;
};

uint64_t number(std::string_view text) {
    const bool hex = text.starts_with("0x");
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
    if (error != std::errc{} || stop != end) throw std::invalid_argument("not a number: " + std::string(text));
    return value;
}

Listing listing_of(std::string_view argument) {
    Listing listing;
    const size_t suffix = argument.rfind(".tsv") + 4;
    listing.path = argument.substr(0, suffix);
    std::string_view rest = argument.substr(suffix);
    const size_t colon = rest.rfind(':');
    if (colon != std::string_view::npos) {
        listing.object = number(rest.substr(colon + 1));
        rest = rest.substr(0, colon);
    }
    if (rest.starts_with('@')) {
        listing.load_address = number(rest.substr(1));
    } else if (!rest.empty()) {
        throw std::invalid_argument("not LISTING.tsv[@LOAD_ADDRESS][:ID]: " + std::string(argument));
    }
    return listing;
}

Arguments arguments_of(int argc, char** argv) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        const auto option = [&](std::string_view name, unsigned& value) {
            if (argument != name) return false;
            if (++i == argc) throw std::invalid_argument(std::string(name) + " needs a number");
            value = static_cast<unsigned>(number(argv[i]));
            return true;
        };
        if (option("--threads", arguments.threads) || option("--repeat", arguments.repeat) ||
            option("--copies", arguments.copies)) {
            continue;
        }
        if (argument.starts_with("--")) throw std::invalid_argument("unknown option " + std::string(argument));
        if (argument.find(".tsv") != std::string_view::npos) {
            arguments.listings.push_back(listing_of(argument));
        } else {
            arguments.traces.emplace_back(argument);
        }
    }
    if (arguments.traces.empty() || arguments.repeat == 0 || arguments.copies == 0) {
        throw std::invalid_argument(
            "usage: bench_core TRACE... [LISTING.tsv[@LOAD_ADDRESS][:ID]]... [--threads N] [--repeat K] [--copies C]");
    }
    return arguments;
}

std::vector<uint8_t> bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) throw std::invalid_argument("cannot read " + path);
    std::vector<uint8_t> bytes(static_cast<size_t>(file.tellg()));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

Program program_of(const std::vector<Listing>& listings) {
    Program program;
    for (const Listing& listing : listings) {
        const std::vector<uint8_t> tsv = bytes_of(listing.path);
        program.add_listing(listing.object, listing.load_address,
                            {reinterpret_cast<const char*>(tsv.data()), tsv.size()});
    }
    program.link();
    return program;
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// How fast this machine walks a table-driven stream of variable-length tokens, in MB/s: compare results of two machines
// divided by it.
double yardstick() {
    std::vector<uint8_t> stream(8 << 20);
    uint64_t state = 0x9E3779B97F4A7C15;
    for (uint8_t& byte : stream) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        byte = static_cast<uint8_t>(state >> 32);
    }
    constexpr uint8_t kLengths[16] = {2, 8, 8, 4, 2, 6, 2, 2, 2, 2, 2, 8, 6, 4, 8, 6};
    double best = 1e9;
    uint64_t sums[16] = {};
    for (int turn = 0; turn < 5; ++turn) {
        const double begin = now();
        for (size_t at = 0; at + 8 <= stream.size();) {
            const uint8_t kind = stream[at] & 15;
            sums[kind] += stream[at + 1];
            at += kLengths[kind];
        }
        best = std::min(best, now() - begin);
    }
    const volatile uint64_t keep = sums[state & 15];
    (void)keep;
    return static_cast<double>(stream.size()) / best / 1e6;
}

uint64_t peak_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
    return static_cast<uint64_t>(usage.ru_maxrss);
#else
    return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
#endif
}

struct Totals {
    uint64_t input_bytes = 0, column_bytes = 0, waves = 0, instructions = 0, without_row = 0, tokens = 0, losses = 0;
};

Totals totals_of(std::vector<Records>& decoded) {
    Totals totals;
    for (Records& records : decoded) {
        totals.input_bytes += records.byte_count;
        totals.waves += records.waves.cu.size();
        totals.instructions += records.instructions.row.size();
        totals.tokens += records.token_count;
        totals.losses += records.losses.kind.size();
        totals.without_row +=
            static_cast<uint64_t>(std::count(records.instructions.row.begin(), records.instructions.row.end(), -1));
        records.each_table([&](const char*, auto& table) {
            table.each_column([&](const char*, auto& column) { totals.column_bytes += column.size_bytes(); });
        });
    }
    return totals;
}

int run(const Arguments& arguments) {
    const double yardstick_mb = yardstick();
    std::vector<std::vector<uint8_t>> files;
    for (const std::string& path : arguments.traces) files.push_back(bytes_of(path));
    std::vector<std::span<const uint8_t>> buffers;
    for (const auto& file : files) buffers.insert(buffers.end(), arguments.copies, std::span<const uint8_t>(file));
    const Program program = program_of(arguments.listings);

    const uint64_t peak_before = peak_bytes();
    double best = 1e9;
    Totals totals;
    for (unsigned turn = 0; turn < arguments.repeat; ++turn) {
        const double begin = now();
        std::vector<Records> decoded = decode_all(buffers, program, {}, arguments.threads);
        rebase(decoded);
        best = std::min(best, now() - begin);
        totals = totals_of(decoded);
    }
    const double input_mb = static_cast<double>(totals.input_bytes) / 1e6;
    const double grown_mb = static_cast<double>(peak_bytes() - peak_before) / 1e6;
    const double columns_mb = static_cast<double>(totals.column_bytes) / 1e6;
    std::printf("buffers        %zu, threads %u, best of %u\n", buffers.size(), arguments.threads, arguments.repeat);
    std::printf("input          %.3f MB, %llu tokens\n", input_mb, static_cast<unsigned long long>(totals.tokens));
    std::printf("records        %llu waves, %llu instructions (%llu without a row), %llu losses\n",
                static_cast<unsigned long long>(totals.waves), static_cast<unsigned long long>(totals.instructions),
                static_cast<unsigned long long>(totals.without_row), static_cast<unsigned long long>(totals.losses));
    std::printf("time           %.6f s\n", best);
    std::printf("speed          %.1f MB/s, %.2f M instructions/s\n", input_mb / best,
                static_cast<double>(totals.instructions) / best / 1e6);
    std::printf("output columns %.3f MB\n", columns_mb);
    std::printf("peak memory    %.3f MB, %.3f MB of it grown by decoding (%.2f times input plus columns)\n",
                static_cast<double>(peak_bytes()) / 1e6, grown_mb, grown_mb / (input_mb + columns_mb));
    std::printf("yardstick      %.0f MB/s\n", yardstick_mb);
    return 0;
}

}  // namespace
}  // namespace wavewright::bench

int main(int argc, char** argv) {
    try {
        return wavewright::bench::run(wavewright::bench::arguments_of(argc, argv));
    } catch (const std::invalid_argument& problem) {
        std::cerr << problem.what() << "\n";
        return 2;
    }
}
