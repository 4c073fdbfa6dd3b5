#include "targets.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "invariants.hpp"
#include "recipe.hpp"
#include "sample.hpp"
#include "wavewright/decode.hpp"
#include "wavewright/integer_rows.hpp"
#include "wavewright/waits.hpp"
#include "wavewright/wave_json.hpp"

namespace wavewright::fuzz {
namespace {

void require(const std::string& broken) {
    if (broken.empty()) return;
    std::fprintf(stderr, "invariant broken: %s\n", broken.c_str());
    std::abort();
}

std::string_view text_of(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Takes the bytes in front of the first NUL, and the NUL.
Bytes take_text(Bytes& rest) {
    const auto end = std::find(rest.begin(), rest.end(), uint8_t{0});
    const Bytes head(rest.begin(), end);
    rest = end == rest.end() ? Bytes() : Bytes(end + 1, rest.end());
    return head;
}

Program program_of(const Control& control, std::string_view listing, std::string_view funcmap) {
    Program program;
    if (control.loaded) {
        program.add_listing(kCodeObject, {}, listing);
    } else {
        program.add_listing(kCodeObject, kCodeAddress, listing);
    }
    program.add_funcmap(kCodeObject, funcmap);
    program.link();
    return program;
}

void decode_checked(Bytes stream, const Program& program, const Control& control) {
    Records records = decode(stream, program, {.corrected = control.corrected});
    require(testing::broken_invariant(records, program));
}

// Every row once as executed, and once more backwards.
void match_waits_checked(const Program& program) {
    std::vector<std::string_view> texts;
    std::vector<int32_t> rows;
    for (size_t row = 0; row < program.listed_rows(); ++row) {
        texts.push_back(program.text(static_cast<int32_t>(row)));
        rows.push_back(static_cast<int32_t>(row));
    }
    const std::vector<int32_t> forwards = rows;
    rows.insert(rows.end(), forwards.rbegin(), forwards.rend());
    const std::vector<uint32_t> waves(rows.size());
    for (const Dialect dialect : {Dialect::gfx9, Dialect::gfx10_11, Dialect::gfx12}) {
        const Waits waits = match_waits(texts, dialect, waves, rows);
        for (size_t i = 0; i < waits.producer.size(); ++i) {
            if (waits.producer[i] >= waits.instruction[i]) require("a wait for something later");
        }
        if (waits.producer.size() > 2 * rows.size()) require("more producers than operations");
    }
}

const testing::Sample& sample_of(const Control& control) {
    static const std::vector<testing::Sample> samples = [] {
        std::vector<testing::Sample> all;
        for (const testing::Family& family : testing::kFamilies) all.push_back(testing::sample(family, {1, 1}));
        return all;
    }();
    return samples[control.family];
}

// Waves, instructions and states belong together, and are no more than the texts can hold.
void check_waves(WaveFiles& read, const std::vector<WaveFile>& files, size_t bytes) {
    read.each_table([&](const char* name, auto& table) {
        size_t rows = SIZE_MAX;
        table.each_column([&](const char*, auto& column) {
            if (rows != SIZE_MAX && column.size() != rows) require(std::string("uneven columns of ") + name);
            rows = column.size();
        });
        if (rows > bytes + 4 * files.size()) require(std::string("more rows than bytes in ") + name);
    });
    uint64_t instructions = 0, states = 0;
    for (size_t i = 0; i < read.waves.file.size(); ++i) {
        if (read.waves.file[i] >= files.size()) require("a wave of no file");
        if (read.waves.end_cycles[i] < read.waves.start_cycles[i]) require("a wave that ends before it begins");
        if (read.waves.first_instruction[i] != instructions || read.waves.first_state[i] != states)
            require("a gap between waves");
        instructions += read.waves.instruction_count[i];
        states += read.waves.state_count[i];
    }
    if (instructions != read.instructions.wave.size() || states != read.states.wave.size()) require("rows of no wave");
    for (const int32_t row : read.instructions.row) {
        if (row < -1 || row > 2) require("a row that the code does not have");
    }
    for (const uint32_t wave : read.instructions.wave) {
        if (wave >= read.waves.file.size()) require("an instruction of no wave");
    }
}

}  // namespace

void fuzz_tokens(Bytes input) {
    const Program none;
    Records records = decode(input, none);
    require(testing::broken_invariant(records, none));
}

void fuzz_waves(Bytes input) {
    if (input.empty()) return;
    const Control control(input[0]);
    const testing::Sample& sample = sample_of(control);
    decode_checked(stream_of(control, input.subspan(1)), program_of(control, sample.listing, sample.funcmap), control);
}

void fuzz_pcmap(Bytes input) {
    if (input.empty()) return;
    const Control control(input[0]);
    Bytes rest = input.subspan(1);
    const Bytes listing = take_text(rest);
    const auto stream = control.raw_stream ? raw_stream_of(control, rest) : stream_of(control, rest);
    decode_checked(stream, program_of(control, text_of(listing), {}), control);
}

void fuzz_program(Bytes input) {
    const std::string_view listing = text_of(take_text(input));
    Program program;
    const size_t lines = static_cast<size_t>(std::count(listing.begin(), listing.end(), '\n')) + 1;
    size_t unreadable = program.add_listing(1, 0x1000, listing);
    unreadable += program.add_listing(0, {}, listing);
    program.add_funcmap(1, text_of(input));
    program.link();
    require(testing::broken_invariant(program));
    if (program.listed_rows() + unreadable > 2 * lines) require("more rows than lines");
    match_waits_checked(program);
}

void fuzz_waits(Bytes input) {
    if (input.empty()) return;
    const auto dialect = static_cast<Dialect>(input[0] % 3);
    Bytes rest = input.subspan(1);
    std::vector<std::string_view> texts;
    for (std::string_view all = text_of(take_text(rest)); !all.empty();) {
        const size_t end = std::min(all.find('\n'), all.size());
        texts.push_back(all.substr(0, end));
        all.remove_prefix(std::min(end + 1, all.size()));
    }
    constexpr uint8_t kNewWave = 0x80, kNoRow = 0x7F;
    std::vector<uint32_t> waves;
    std::vector<int32_t> rows;
    for (const uint8_t byte : rest) {
        waves.push_back((waves.empty() ? 0 : waves.back()) + (byte & kNewWave ? 1 : 0));
        rows.push_back((byte & kNoRow) == kNoRow ? -1 : byte & kNoRow);
    }
    const Waits waits = match_waits(texts, dialect, waves, rows);
    if (waits.producer.size() != waits.instruction.size() || waits.counter.size() != waits.instruction.size()) {
        require("columns of different lengths");
    }
    for (size_t i = 0; i < waits.instruction.size(); ++i) {
        if (waits.instruction[i] >= rows.size() || waits.producer[i] >= waits.instruction[i])
            require("a producer in the future");
        if (waves[waits.instruction[i]] != waves[waits.producer[i]]) require("a producer of another wave");
        if (waits.counter[i] >= kWaitCounterNames.size()) require("an unknown counter");
    }
}

void fuzz_wave_json(Bytes input) {
    std::vector<std::string> texts;
    for (Bytes rest = input; !rest.empty() && texts.size() < 64;) texts.emplace_back(text_of(take_text(rest)));
    std::vector<WaveFile> files;
    for (const std::string& text : texts) files.push_back({.path = {}, .content = text, .se = 0});
    const LineRows lines({{1, 0}, {2, 1}, {int64_t{1} << 40, 2}});
    WaveFiles read = read_waves(files, lines, 1);
    check_waves(read, files, input.size());
    for (const std::string& text : texts) {
        const IntegerRows rows = read_integer_rows(text, 1, 3);
        if (2 * rows.width.size() > text.size() || rows.byte_offset > text.size()) require("more rows than text");
        for (const auto& [key, begin, end] : split_object(text).members) {
            if (begin > end || end > text.size()) require("a member outside of the text");
        }
    }
}

}  // namespace wavewright::fuzz
