#include <string>

#include "checks.hpp"
#include "trace_decoder.hpp"
#include "wavewright.h"

namespace wavewright::fuzz {
namespace {

using namespace decoder_calls;

struct Caller {
    Bytes stream;
    bool is_read = false;
    uint64_t records = 0;
};

uint64_t next_buffer(uint8_t** buffer, uint64_t* size, void* user) {
    Caller& caller = *static_cast<Caller*>(user);
    if (caller.is_read) return 0;
    caller.is_read = true;
    *buffer = const_cast<uint8_t*>(caller.stream.data());
    *size = caller.stream.size();
    return *size;
}

Status count_records(RecordType type, void* records, uint64_t count, void* user) {
    static_cast<Caller*>(user)->records += count;
    require(type == gfxip || (records && count != 0), "an empty record");
    if (type == wave) {
        const WaveRecord& one = *static_cast<const WaveRecord*>(records);
        for (uint64_t i = 0; i < one.state_count; ++i) require(one.states[i].state <= 4, "a state that is none");
        for (uint64_t i = 0; i < one.instruction_count; ++i) {
            require((one.instructions[i].category_and_stall & 0xFF) <= 14, "a category that is none");
        }
    }
    return success;
}

// Pieces of code at many addresses: loops, calls, ends, long texts and texts with odd characters.
Status line_of(char* text, uint64_t* size_bytes, uint64_t* text_size, Pc pc, void*) {
    static const std::string texts[] = {"v_add_f32 v0, v1, v2",
                                        "s_cbranch_scc0 -12",
                                        "s_waitcnt vmcnt(0)",
                                        "s_setpc_b64 s[2:3]",
                                        "global_load_dword v1",
                                        "s_branch 70000",
                                        "s_endpgm",
                                        std::string(100, 'x'),
                                        "a\tb\n\xFF"};
    constexpr uint64_t kPieceBytes = 512;
    if (pc.address % 65536 >= kPieceBytes) return invalid_argument;
    const std::string& line = texts[pc.address / 4 % std::size(texts)];
    const bool has_room = *text_size >= line.size();
    *text_size = line.size();
    if (!has_room) return out_of_resources;
    std::memcpy(text, line.data(), line.size());
    *size_bytes = pc.address % 3 * 4;
    return success;
}

}  // namespace

void fuzz_library(Bytes input) {
    wavewright_trace* trace = nullptr;
    const wavewright_result result = wavewright_decode(input.data(), input.size(), nullptr, 0, &trace);
    require((result == WAVEWRIGHT_OK) == (trace != nullptr), "a result without its trace");
    for (size_t i = 0; i < wavewright_trace_table_count(trace); ++i) {
        const wavewright_table& table = *wavewright_trace_table_at(trace, i);
        for (size_t c = 0; c < table.column_count; ++c) {
            require(table.row_count == 0 || table.columns[c].values, "a column without values");
        }
    }
    wavewright_trace_free(trace);
    Caller caller{input};
    const int status = rocprof_trace_decoder_parse_data(next_buffer, count_records, line_of, &caller);
    require(status == success || status == invalid_shader_data, "a status that bytes cannot give");
}

}  // namespace wavewright::fuzz
