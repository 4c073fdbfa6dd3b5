// What decoding one buffer gives: one table per kind of record, each declared once as a list of columns.
// Times are shader-clock cycles of the buffer's shader engine. Lists are in the reference's order of delivery.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wavewright/table.hpp"

namespace wavewright {

// Values of instructions.category and other_simd.category.
enum class Category : uint8_t {
    none = 0,
    smem = 1,
    salu = 2,
    vmem = 3,
    flat = 4,
    lds = 5,
    valu = 6,
    jump = 7,
    next = 8,
    immed = 9,
    context = 10,
    message = 11,
    bvh = 12,
    unfinished = 14,  // issued, but its type was never reported
};

// Values of states.state.
enum class WaveState : uint8_t { empty = 0, idle = 1, exec = 2, wait = 3, stall = 4 };

// Values of events.type; numbers as in ui_output's occupancy.json.
enum class EventType : uint8_t {
    cs_partial_flush = 1,
    bottom_of_pipe = 2,
    save_context = 3,
    cache_flush = 5,
    packet_loss = 6,
    code_object_load = 7,
    code_object_unload = 8,
    trace_stall_begin = 9,
    trace_stall_end = 10,
    trace_flush = 11,
    didt_stall_begin = 12,
    didt_stall_end = 13,
    gc_rinse = 16,
    spm_sample = 17,
};

// Values of info.code, in the order in which the reference reports them.
enum class Info : uint8_t { data_lost = 1, stitch_incomplete = 2, wave_incomplete = 3 };

// Values of losses.kind; the sentences shown to people live in wavewright.model.losses.
enum class Loss : uint8_t {
    packet_loss = 1,            // the hardware dropped packets; one row per report
    truncated_token = 2,        // the last token does not fit into the buffer
    wave_incomplete = 3,        // a wave without an end; `value` = wave
    stitch_incomplete = 4,      // a wave whose PCs stop early; `value` = wave, `count` = instructions without PC
    bad_slot = 5,               // a wave slot that the hardware does not have; decoding stopped here
    stale_instruction = 6,      // an instruction report without its issue (gfx9 replay); decoding stopped here
    branch_target_missing = 7,  // no code at the target of a taken branch; `value` = wave
    unknown_tokens = 8,         // tokens outside the alphabet; `count` of them, first one at byte_offset
    marker_queue_full = 9,      // shader data of a wave dropped because its code object stayed unknown
    counter_gaps = 10,          // counter samples whose gaps were not filled, `count` times: absurdly many
    unread_tail = 11,           // RDNA: the reference does not read the last tokens; `count` bytes from byte_offset on
    missing_end = 12,           // the stream does not end as that of a finished trace
    unended_waves = 13,         // `count` waves of the shader engine without an end
};

enum class Status : uint8_t {
    ok = 0,
    empty = 1,           // zero bytes: nothing, successfully
    too_short = 2,       // 1..7 bytes
    no_payload = 3,      // a gfx9 header without payload
    unknown_header = 4,  // not a thread trace, or a generation we do not know
    stopped = 5,         // the reference gives up here; what was decoded before it is kept
};

// The waves of the target CU. `contexts` counts the context saves that were seen, `complete` is 1 where the end of the
// wave was. first_... and ..._count say which rows of instructions and states are its own.
#define WAVEWRIGHT_WAVE_COLUMNS(X) \
    X(uint8_t, cu)                 \
    X(uint8_t, simd)               \
    X(uint8_t, slot)               \
    X(uint8_t, contexts)           \
    X(uint8_t, me)                 \
    X(uint8_t, pipe)               \
    X(uint8_t, workgroup)          \
    X(uint8_t, cluster)            \
    X(uint8_t, complete)           \
    X(int64_t, start_cycles)       \
    X(int64_t, end_cycles)         \
    X(uint64_t, entry_code_object) \
    X(uint64_t, entry_address)     \
    X(uint64_t, first_instruction) \
    X(uint32_t, instruction_count) \
    X(uint64_t, first_state)       \
    X(uint32_t, state_count)

// `row` indexes Program rows; -1 = PC unknown. stall_cycles has 24 bits, duration_cycles is signed (both wrap
// exactly as the reference's record does).
#define WAVEWRIGHT_INSTRUCTION_COLUMNS(X) \
    X(uint32_t, wave)                     \
    X(int64_t, time_cycles)               \
    X(int32_t, stall_cycles)              \
    X(int32_t, duration_cycles)           \
    X(uint8_t, category)                  \
    X(int32_t, row)

// What a wave did (WaveState), from its start on: states follow each other.
#define WAVEWRIGHT_STATE_COLUMNS(X) \
    X(uint32_t, wave)               \
    X(uint8_t, state)               \
    X(int32_t, duration_cycles)

// Starts (`start` = 1) and ends of the waves of all CUs, with the kernel entry: an offset in a code object, or an
// address with object 0.
#define WAVEWRIGHT_OCCUPANCY_COLUMNS(X) \
    X(int64_t, time_cycles)             \
    X(uint8_t, cu)                      \
    X(uint8_t, simd)                    \
    X(uint8_t, slot)                    \
    X(uint8_t, start)                   \
    X(uint8_t, me)                      \
    X(uint8_t, pipe)                    \
    X(uint8_t, is_ext)                  \
    X(uint8_t, workgroup)               \
    X(uint8_t, cluster)                 \
    X(uint64_t, code_object)            \
    X(uint64_t, address)

// Samples of performance counters: the increments of one bank of four since its last report.
#define WAVEWRIGHT_COUNTER_COLUMNS(X) \
    X(int64_t, time_cycles)           \
    X(uint8_t, cu)                    \
    X(uint8_t, bank)                  \
    X(uint16_t, value0)               \
    X(uint16_t, value1)               \
    X(uint16_t, value2)               \
    X(uint16_t, value3)

#define WAVEWRIGHT_EVENT_COLUMNS(X) \
    X(int64_t, time_cycles)         \
    X(uint8_t, type)                \
    X(uint8_t, me)                  \
    X(uint8_t, pipe)                \
    X(uint16_t, flags)              \
    X(uint64_t, payload)

// Starts of dispatches, with the compute registers at that time.
#define WAVEWRIGHT_DISPATCH_COLUMNS(X) \
    X(int64_t, time_cycles)            \
    X(uint8_t, me)                     \
    X(uint8_t, pipe)                   \
    X(uint16_t, user_sgprs)            \
    X(uint32_t, flags)                 \
    X(uint32_t, vgprs)                 \
    X(uint32_t, sgprs)                 \
    X(uint32_t, lds_bytes)             \
    X(uint32_t, workgroup_size_x)      \
    X(uint32_t, workgroup_size_y)      \
    X(uint32_t, workgroup_size_z)      \
    X(uint64_t, code_object)           \
    X(uint64_t, address)

// Values that waves wrote with s_ttracedata.
#define WAVEWRIGHT_SHADER_DATA_COLUMNS(X) \
    X(int64_t, time_cycles)               \
    X(uint64_t, value)                    \
    X(uint8_t, cu)                        \
    X(uint8_t, simd)                      \
    X(uint8_t, slot)                      \
    X(uint8_t, flags)

// One row per decoded marker word: its shader-data record, what it means, and the wave's kernel entry.
#define WAVEWRIGHT_MARKER_COLUMNS(X) \
    X(int64_t, time_cycles)          \
    X(uint64_t, value)               \
    X(uint8_t, cu)                   \
    X(uint8_t, simd)                 \
    X(uint8_t, slot)                 \
    X(uint8_t, record_kind)          \
    X(uint8_t, marker_kind)          \
    X(uint8_t, flags)                \
    X(uint32_t, marker_id)           \
    X(uint32_t, payload_index)       \
    X(uint32_t, payload_count)       \
    X(uint64_t, code_object)         \
    X(uint64_t, entry_code_object)   \
    X(uint64_t, entry_address)

// The shader clock and the wall clock, read at the same moment.
#define WAVEWRIGHT_REALTIME_COLUMNS(X) \
    X(int64_t, shader_clock_cycles)    \
    X(uint64_t, realtime_ticks)

// Memory instructions of a SIMD that is not traced itself (gfx11 and later).
#define WAVEWRIGHT_OTHER_SIMD_COLUMNS(X) \
    X(int64_t, time_cycles)              \
    X(uint16_t, duration_cycles)         \
    X(uint8_t, cu)                       \
    X(uint8_t, category)

// What the reference reports once per buffer (Info).
#define WAVEWRIGHT_INFO_COLUMNS(X) X(uint8_t, code)

// What was dropped, cut or guessed (Loss). Where `value` is not named there, it is 0.
#define WAVEWRIGHT_LOSS_COLUMNS(X) \
    X(uint8_t, kind)               \
    X(int64_t, time_cycles)        \
    X(uint64_t, byte_offset)       \
    X(uint64_t, count)             \
    X(uint64_t, value)

// Every table of Records: X(type, member, columns).
#define WAVEWRIGHT_TABLES(X)                                          \
    X(WaveTable, waves, WAVEWRIGHT_WAVE_COLUMNS)                      \
    X(InstructionTable, instructions, WAVEWRIGHT_INSTRUCTION_COLUMNS) \
    X(StateTable, states, WAVEWRIGHT_STATE_COLUMNS)                   \
    X(OccupancyTable, occupancy, WAVEWRIGHT_OCCUPANCY_COLUMNS)        \
    X(CounterTable, counters, WAVEWRIGHT_COUNTER_COLUMNS)             \
    X(EventTable, events, WAVEWRIGHT_EVENT_COLUMNS)                   \
    X(DispatchTable, dispatches, WAVEWRIGHT_DISPATCH_COLUMNS)         \
    X(ShaderDataTable, shader_data, WAVEWRIGHT_SHADER_DATA_COLUMNS)   \
    X(MarkerTable, markers, WAVEWRIGHT_MARKER_COLUMNS)                \
    X(RealtimeTable, realtime, WAVEWRIGHT_REALTIME_COLUMNS)           \
    X(OtherSimdTable, other_simd, WAVEWRIGHT_OTHER_SIMD_COLUMNS)      \
    X(InfoTable, info, WAVEWRIGHT_INFO_COLUMNS)                       \
    X(LossTable, losses, WAVEWRIGHT_LOSS_COLUMNS)

WAVEWRIGHT_TABLES(WAVEWRIGHT_DECLARE_TABLE)

// What finished waves did, whether or not the rows of their instructions and states are kept (Options::rows).
struct Tally {
    static constexpr size_t kStates = 5;  // values of WaveState
    static constexpr size_t kCategories = 16;

    uint64_t instructions = 0;
    uint64_t unresolved = 0;    // of them those without a PC
    uint64_t releases = 0;      // of them those that are no execution of their own (ExecutionCounter)
    uint32_t categories = 0;    // a bit for each Category that occurs
    std::vector<uint8_t> rows;  // by Program row: whether it was executed
    uint64_t states = 0;
    std::array<uint64_t, kStates> spans{};  // rows of each state
    std::array<int64_t, kStates> cycles{};  // and their total duration
};

struct Records {
#define WAVEWRIGHT_MEMBER(Type, member, COLUMNS) Type member;
    WAVEWRIGHT_TABLES(WAVEWRIGHT_MEMBER)
#undef WAVEWRIGHT_MEMBER

    Tally tally;
    Status status = Status::ok;
    uint64_t stopped_at_byte = 0;  // with Status::stopped: where in the buffer
    uint32_t gfxip = 0;            // 9, 10, 11, 12; 0 = not decoded
    uint32_t stream_version = 0;   // gfx9: header field gfx9_version2; RDNA: header version
    uint8_t target_cu = 0;         // CU byte whose waves carry instructions
    uint8_t target_simd = 0;       // RDNA only
    bool double_buffer = false;    // chunked capture
    uint64_t realtime_hz = 0;      // 0 = not recorded
    uint64_t counter_interval_cycles = 0;
    uint64_t byte_count = 0;
    uint64_t token_count = 0;  // tokens read, padding included

    // Where the next instruction and the next state stand among all of this buffer, kept or not.
    uint64_t next_instruction() const { return tally.instructions; }
    uint64_t next_state() const { return tally.states; }

    // Adds the last rows of instructions and states, those of one wave, to the tally; forgets all rows unless `kept`.
    void count_rows(size_t instruction_count, size_t state_count, bool kept);

    template <class Visitor>
    void each_table(Visitor&& visit) {
#define WAVEWRIGHT_VISIT_TABLE(Type, member, COLUMNS) visit(#member, member);
        WAVEWRIGHT_TABLES(WAVEWRIGHT_VISIT_TABLE)
#undef WAVEWRIGHT_VISIT_TABLE
    }
};

// The rows that are most of a trace, of all buffers.
struct JoinedRows {
    InstructionTable instructions;
    StateTable states;
};

// Takes them out of the records, column by column on all cores: no more columns than cores are there twice.
JoinedRows joined_rows(std::span<Records* const> records);

}  // namespace wavewright
