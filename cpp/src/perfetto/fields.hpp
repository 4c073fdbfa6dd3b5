// Numbers of the fields that are read and written of Perfetto's messages, under the names that they have in
// https://perfetto.dev/docs/reference/trace-packet-proto: one namespace per message.
#pragma once

#include <cstdint>

namespace wavewright::pftrace {

namespace trace_file {  // the message Trace
enum : uint32_t { packet = 1 };
}

namespace trace_packet {
enum : uint32_t {
    clock_snapshot = 6,
    timestamp = 8,
    trusted_packet_sequence_id = 10,
    track_event = 11,
    interned_data = 12,
    sequence_flags = 13,
    trace_stats = 35,
    incremental_state_cleared = 41,
    previous_packet_dropped = 42,
    process_descriptor = 43,
    thread_descriptor = 44,
    compressed_packets = 50,
    timestamp_clock_id = 58,
    trace_packet_defaults = 59,
    track_descriptor = 60,
    first_packet_on_sequence = 87,
    zstd_compressed_packets = 133,
};
// Bits of sequence_flags.
constexpr uint64_t kStateCleared = 1, kNeedsState = 2;
}  // namespace trace_packet

namespace trace_packet_defaults {
enum : uint32_t { track_event_defaults = 11, timestamp_clock_id = 58 };
}
namespace track_event_defaults {
enum : uint32_t { track_uuid = 11, extra_counter_track_uuids = 31, extra_double_counter_track_uuids = 45 };
}

namespace track_event {
enum : uint32_t {
    timestamp_delta_us = 1,
    category_iids = 3,
    debug_annotations = 4,
    legacy_event = 6,
    type = 9,
    name_iid = 10,
    track_uuid = 11,
    extra_counter_values = 12,
    timestamp_absolute_us = 16,
    categories = 22,
    name = 23,
    counter_value = 30,
    extra_counter_track_uuids = 31,
    flow_ids_old = 36,
    terminating_flow_ids_old = 42,
    double_counter_value = 44,
    extra_double_counter_track_uuids = 45,
    extra_double_counter_values = 46,
    flow_ids = 47,
    terminating_flow_ids = 48,
    correlation_id = 52,
};
// Values of `type`.
enum Type : uint64_t { slice_begin = 1, slice_end = 2, instant = 3, counter = 4 };
}  // namespace track_event
namespace legacy_event {
enum : uint32_t { name_iid = 1, phase = 2, duration_us = 3 };
}

namespace debug_annotation {
enum : uint32_t {
    name_iid = 1,
    bool_value = 2,
    uint_value = 3,
    int_value = 4,
    double_value = 5,
    string_value = 6,
    pointer_value = 7,
    nested_value = 8,
    legacy_json_value = 9,
    name = 10,
    dict_entries = 11,
    array_values = 12,
    string_value_iid = 17,
};
}

namespace interned_data {
enum : uint32_t {
    event_categories = 1,
    event_names = 2,
    debug_annotation_names = 3,
    debug_annotation_string_values = 29,
};
}
namespace interned_entry {  // the messages of all four have these fields: EventCategory, EventName, ...
enum : uint32_t { iid = 1, name = 2 };
}

namespace clock_snapshot {
enum : uint32_t { clocks = 1, primary_trace_clock = 2 };
}
namespace clock_reading {  // the message ClockSnapshot.Clock
enum : uint32_t { clock_id = 1, timestamp = 2, is_incremental = 3, unit_multiplier_ns = 4 };
}

namespace track_descriptor {
enum : uint32_t {
    uuid = 1,
    name = 2,
    process = 3,
    thread = 4,
    parent_uuid = 5,
    counter = 8,
    static_name = 10,
    atrace_name = 13,
};
}
namespace process_descriptor {
enum : uint32_t { pid = 1, cmdline = 2, process_name = 6, start_timestamp_ns = 7 };
}
namespace thread_descriptor {
enum : uint32_t { pid = 1, tid = 2, thread_name = 5, reference_timestamp_us = 6 };
}
namespace counter_descriptor {
enum : uint32_t { unit = 3, unit_multiplier = 4, is_incremental = 5, unit_name = 6 };
}

namespace trace_stats {
enum : uint32_t { buffer_stats = 1 };
}
namespace buffer_stats {
enum : uint32_t { chunks_overwritten = 3, chunks_discarded = 18, trace_writer_packet_loss = 19 };
}

}  // namespace wavewright::pftrace
