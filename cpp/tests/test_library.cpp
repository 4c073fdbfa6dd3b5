// The functions of the C library, and those of AMD's decoder, against the core that they hand out.
#include <cstring>
#include <map>

#include "check.hpp"
#include "sample.hpp"
#include "trace_decoder.hpp"
#include "wavewright.h"
#include "wavewright/decode.hpp"

namespace wavewright {
namespace {

using testing::Family;
using testing::kFamilies;
using testing::Sample;

struct Told {
    const Sample* sample;
    std::map<uint64_t, std::pair<uint64_t, std::string>> lines;  // by address: size in bytes, text
    std::vector<decoder_calls::InstructionRecord> instructions;
    uint64_t generation = 0;
    size_t buffers_left = 2;
    size_t waves = 0;
    size_t generations = 0;
};

Told told_of(const Sample& sample) {
    Told told{&sample, {}, {}};
    std::istringstream listing(sample.listing);
    for (std::string row; std::getline(listing, row);) {
        const size_t first = row.find('\t'), second = row.find('\t', first + 1);
        told.lines[std::stoull(row, nullptr, 0)] = {std::stoull(row.substr(first + 1), nullptr, 0),
                                                    row.substr(second + 1)};
    }
    return told;
}

uint64_t next_buffer(uint8_t** buffer, uint64_t* size, void* user) {
    Told& told = *static_cast<Told*>(user);
    if (told.buffers_left-- == 0) return 0;
    *buffer = const_cast<uint8_t*>(told.sample->stream.data());
    return *size = told.sample->stream.size();
}

decoder_calls::Status keep(decoder_calls::RecordType type, void* records, uint64_t count, void* user) {
    Told& told = *static_cast<Told*>(user);
    if (type == decoder_calls::gfxip) {
        told.generation = reinterpret_cast<uintptr_t>(records);
        ++told.generations;
    }
    if (type == decoder_calls::wave) {
        const auto& wave = *static_cast<const decoder_calls::WaveRecord*>(records);
        told.waves += count;
        told.instructions.insert(told.instructions.end(), wave.instructions,
                                 wave.instructions + wave.instruction_count);
    }
    return decoder_calls::error;  // what a caller returns is not looked at
}

decoder_calls::Status line_of(char* text, uint64_t* size_bytes, uint64_t* text_size, Pc pc, void* user) {
    const Told& told = *static_cast<Told*>(user);
    const auto at = pc.object == 1 ? told.lines.find(pc.address) : told.lines.end();
    if (at == told.lines.end()) return decoder_calls::invalid_argument;
    const std::string& line = at->second.second;
    const bool has_room = *text_size >= line.size();
    *text_size = line.size();
    if (!has_room) return decoder_calls::out_of_resources;
    std::memcpy(text, line.data(), line.size());
    *size_bytes = at->second.first;
    return decoder_calls::success;
}

TEST(decoder_calls, code_is_asked_for_until_nothing_is_missing) {
    for (const Family& family : kFamilies) {
        const Sample sample = testing::sample(family, {});
        Told told = told_of(sample);
        CHECK_EQUAL(rocprof_trace_decoder_parse_data(next_buffer, keep, line_of, &told), 0);
        Program program;
        program.add_listing(1, {}, sample.listing);
        program.link();
        const Records records = decode(sample.stream, program);
        const size_t count = records.instructions.wave.size();
        CHECK_EQUAL(told.generations, size_t{1});
        CHECK_EQUAL(told.generation, uint64_t{records.gfxip});
        CHECK_EQUAL(told.waves, 2 * records.waves.cu.size());
        REQUIRE(told.instructions.size() == 2 * count);
        for (size_t i = 0; i < told.instructions.size(); ++i) {
            const auto& ours = told.instructions[i];
            const auto& from = records.instructions;
            CHECK_EQUAL(ours.time, from.time_cycles[i % count]);
            CHECK_EQUAL(ours.duration, from.duration_cycles[i % count]);
            CHECK_EQUAL(ours.category_and_stall & 0xFF, uint32_t{from.category[i % count]});
            CHECK_EQUAL(ours.category_and_stall >> 8, static_cast<uint32_t>(from.stall_cycles[i % count]));
            const int32_t row = from.row[i % count];
            CHECK((row < 0 ? Pc{} : program.pc(row)) == ours.pc);
        }
    }
}

TEST(decoder_calls, what_is_no_trace_is_refused) {
    const Sample sample{"", "", std::vector<uint8_t>(64), 0};
    Told told = told_of(sample);
    CHECK_EQUAL(rocprof_trace_decoder_parse_data(next_buffer, keep, line_of, &told), 4);
    CHECK_EQUAL(rocprof_trace_decoder_parse_data(nullptr, keep, line_of, &told), 3);
    for (int status = -1; status < 9; ++status) {
        CHECK(std::strlen(rocprof_trace_decoder_get_status_string(status)) > 0);
        CHECK(std::strlen(rocprof_trace_decoder_get_info_string(status)) > 0);
    }
}

TEST(c_functions, tables_are_those_of_the_core) {
    for (const Family& family : kFamilies) {
        const Sample sample = testing::sample(family, {});
        wavewright_program* code = nullptr;
        size_t unreadable = 1;
        CHECK_EQUAL(wavewright_program_create(&code), WAVEWRIGHT_OK);
        CHECK_EQUAL(
            wavewright_program_add_listing(code, 1, nullptr, sample.listing.data(), sample.listing.size(), &unreadable),
            WAVEWRIGHT_OK);
        CHECK_EQUAL(unreadable, size_t{0});
        wavewright_trace* trace = nullptr;
        const void* bytes = sample.stream.data();
        CHECK_EQUAL(wavewright_decode(bytes, sample.stream.size(), code, 0, &trace), WAVEWRIGHT_INVALID_ARGUMENT);
        CHECK_EQUAL(wavewright_program_link(code), WAVEWRIGHT_OK);
        CHECK_EQUAL(wavewright_program_link(code), WAVEWRIGHT_INVALID_ARGUMENT);
        CHECK_EQUAL(wavewright_decode(bytes, sample.stream.size(), code, 0, &trace), WAVEWRIGHT_OK);
        REQUIRE(trace);

        Program program;
        program.add_listing(1, {}, sample.listing);
        program.link();
        Records records = decode(sample.stream, program);
        size_t tables = 0;
        records.each_table([&](const char* name, auto& table) {
            ++tables;
            const wavewright_table* ours = wavewright_trace_table(trace, name);
            REQUIRE(ours);
            table.each_column([&](const char* column_name, auto& column) {
                const wavewright_column* values = wavewright_table_column(ours, column_name);
                REQUIRE(values);
                CHECK_EQUAL(ours->row_count, column.size());
                CHECK(column.empty() || std::memcmp(values->values, column.data(), column.size_bytes()) == 0);
            });
        });
        CHECK_EQUAL(wavewright_trace_table_count(trace), tables);
        wavewright_facts facts{};
        CHECK_EQUAL(wavewright_trace_facts(trace, &facts), WAVEWRIGHT_OK);
        CHECK_EQUAL(facts.gfxip, records.gfxip);
        CHECK_EQUAL(facts.token_count, records.token_count);
        wavewright_line line{};
        CHECK_EQUAL(wavewright_program_line(code, 0, &line), WAVEWRIGHT_OK);
        CHECK_EQUAL(std::string(line.text, line.text_size), std::string(program.text(0)));
        CHECK_EQUAL(line.address, program.pc(0).address);
        wavewright_trace_free(trace);
        wavewright_program_free(code);
    }
}

TEST(c_functions, wrong_arguments_are_refused) {
    wavewright_trace* trace = nullptr;
    const std::vector<uint8_t> zeros(64);
    CHECK_EQUAL(wavewright_decode(zeros.data(), zeros.size(), nullptr, 0, &trace), WAVEWRIGHT_NOT_A_TRACE);
    CHECK_EQUAL(wavewright_decode(nullptr, 64, nullptr, 0, &trace), WAVEWRIGHT_INVALID_ARGUMENT);
    CHECK_EQUAL(wavewright_decode(nullptr, 0, nullptr, 0, &trace), WAVEWRIGHT_NOT_A_TRACE);
    CHECK_EQUAL(wavewright_decode(zeros.data(), zeros.size(), nullptr, 8, &trace), WAVEWRIGHT_INVALID_ARGUMENT);
    CHECK_EQUAL(wavewright_decode(zeros.data(), zeros.size(), nullptr, 0, nullptr), WAVEWRIGHT_INVALID_ARGUMENT);
    CHECK(!trace);
    CHECK_EQUAL(wavewright_program_create(nullptr), WAVEWRIGHT_INVALID_ARGUMENT);
    CHECK_EQUAL(wavewright_program_add_listing(nullptr, 1, nullptr, "", 0, nullptr), WAVEWRIGHT_INVALID_ARGUMENT);
    CHECK_EQUAL(wavewright_program_link(nullptr), WAVEWRIGHT_INVALID_ARGUMENT);
    CHECK_EQUAL(wavewright_trace_table_count(nullptr), size_t{0});
    CHECK(!wavewright_trace_table_at(nullptr, 0) && !wavewright_trace_table(nullptr, "waves"));
    CHECK(!wavewright_table_column(nullptr, "cu"));
    CHECK_EQUAL(wavewright_api_version(), uint32_t{WAVEWRIGHT_API_VERSION});
    CHECK(std::strlen(wavewright_result_text(static_cast<wavewright_result>(99))) > 0);
    wavewright_trace_free(nullptr);
    wavewright_program_free(nullptr);
}

}  // namespace
}  // namespace wavewright
