// The functions of AMD's trace decoder 0.1 that trace_decoder.cpp has; programs declare them by AMD's own header.
#pragma once

#include <cstdint>

#include "wavewright/program.hpp"

namespace wavewright::decoder_calls {

enum Status : int { success, error, out_of_resources, invalid_argument, invalid_shader_data };
enum RecordType : int {
    gfxip = 0,  // the value is in the pointer, and the count 0
    occupancy = 1,
    counters = 2,
    wave = 3,
    info = 4,
    shader_data = 6,
    realtime = 7,
    realtime_frequency = 8,
    other_simd = 9,
};

struct StateRecord {
    int32_t state, duration;
};
struct InstructionRecord {
    uint32_t category_and_stall;  // 8 and 24 bits
    int32_t duration;
    int64_t time;
    Pc pc;
};
struct WaveRecord {
    uint8_t cu, simd, slot, contexts;
    uint8_t dispatcher;  // pipe 4 bits, me 3
    uint8_t workgroup, cluster, reserved;
    uint64_t size_bytes;
    int64_t begin, end;
    uint64_t state_count, instruction_count;
    const StateRecord* states;
    const InstructionRecord* instructions;
};
static_assert(sizeof(Pc) == 16 && sizeof(StateRecord) == 8 && sizeof(InstructionRecord) == 32);
static_assert(sizeof(WaveRecord) == 64);

using BufferCall = uint64_t (*)(uint8_t** buffer, uint64_t* size, void* user);
using RecordCall = Status (*)(RecordType type, void* records, uint64_t count, void* user);
using LineCall = Status (*)(char* text, uint64_t* size_bytes, uint64_t* text_size, Pc pc, void* user);

}  // namespace wavewright::decoder_calls

#define WAVEWRIGHT_PUBLIC_CALL extern "C" __attribute__((visibility("default")))

WAVEWRIGHT_PUBLIC_CALL int rocprof_trace_decoder_parse_data(wavewright::decoder_calls::BufferCall next_buffer,
                                                            wavewright::decoder_calls::RecordCall record,
                                                            wavewright::decoder_calls::LineCall line, void* user);
WAVEWRIGHT_PUBLIC_CALL const char* rocprof_trace_decoder_get_info_string(int code);
WAVEWRIGHT_PUBLIC_CALL const char* rocprof_trace_decoder_get_status_string(int status);
