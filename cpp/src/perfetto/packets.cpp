#include "perfetto/packets.hpp"

#include <algorithm>
#include <bit>

#include "perfetto/fields.hpp"

namespace wavewright::pftrace {
namespace {

// Fields of TracePacket that say nothing about the program: settings, ids, markers of the recorder.
constexpr uint32_t kSilent[] = {3, 33, 36, 45, 46, 61, 69, 72, 78, 79, 89, 98, 109, 113, 124, 126, 138};

// Mixed into the uuids of tracks that no TrackDescriptor declares, only a packet's own process or thread
// descriptor. The upper bits keep them apart from uuids that writers count up from a small number.
constexpr uint64_t kUndeclaredTracks = 0x9E3779B97F4A7C15;

uint64_t process_track_of(uint64_t sequence) {
    return kUndeclaredTracks ^ sequence << 1;
}

uint64_t thread_track_of(uint64_t sequence) {
    return kUndeclaredTracks ^ (sequence << 1 | 1);
}

constexpr uint8_t kProcessTrack = 1, kThreadTrack = 2, kCounterTrack = 3;  // PerfettoTracks::kind
constexpr uint64_t kMostLost = uint64_t{1} << 40;                          // of one number of lost chunks

// Times and sums of times are untrusted input: they wrap instead of overflowing.
int64_t nanoseconds_of(int64_t microseconds) {
    return static_cast<int64_t>(static_cast<uint64_t>(microseconds) * 1000);
}

int64_t plus(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

}  // namespace

struct Packets::Parts {
    uint64_t sequence = 0, flags = 0, clock = 0, time = 0;  // clock 0 = the default of the sequence
    bool has_time = false, is_cleared = false, is_dropped = false, is_first = false;
    Text interned{}, defaults{}, event{}, thread{};
    bool has_event = false, has_thread = false;
    int64_t time_ns = 0;  // on the clock of the trace
};

Packets::Packets(Text file, PerfettoTrace& trace)
    : file_(file), trace_(trace), json_left_(most_json_bytes(file.size())) {}

void Packets::read() {
    uint64_t packet_count = 0;
    Fields fields(file_);
    while (fields.next())
        if (fields.field.number == trace_file::packet && fields.field.is_bytes())
            ++packet_count, packet(fields.field.bytes);
    trace_.packet_count = packet_count;
    if (fields.is_damaged()) trace_.counts["cut_bytes"] = fields.left();
}

void Packets::packet(Text message) {
    Parts parts;
    Fields fields(message);
    std::vector<Field> others;
    while (fields.next()) {
        const Field& field = fields.field;
        switch (field.number) {
            case trace_packet::timestamp: parts.time = field.value, parts.has_time = true; break;
            case trace_packet::timestamp_clock_id: parts.clock = field.value; break;
            case trace_packet::trusted_packet_sequence_id: parts.sequence = field.value; break;
            case trace_packet::sequence_flags: parts.flags = field.value; break;
            case trace_packet::incremental_state_cleared: parts.is_cleared = field.value != 0; break;
            case trace_packet::previous_packet_dropped: parts.is_dropped = field.value != 0; break;
            case trace_packet::first_packet_on_sequence: parts.is_first = field.value != 0; break;
            case trace_packet::interned_data: parts.interned = field.bytes; break;
            case trace_packet::trace_packet_defaults: parts.defaults = field.bytes; break;
            case trace_packet::track_event: parts.event = field.bytes, parts.has_event = field.is_bytes(); break;
            case trace_packet::thread_descriptor:
                parts.thread = field.bytes, parts.has_thread = field.is_bytes();
                break;
            default: others.push_back(field);
        }
    }
    sound(fields);
    // Fields come in any order: names and defaults of the packet must be known before its event is read.
    Sequence& sequence = sequences_[parts.sequence];
    state_of(sequence, parts);
    for (const Field& field : others) {
        if (!field.is_bytes()) continue;
        if (field.number == trace_packet::clock_snapshot) {
            if (!clocks_.snapshot(parts.sequence, field.bytes)) ++trace_.counts["damaged_messages"];
        } else if (field.number == trace_packet::track_descriptor) {
            descriptor(field.bytes);
        } else if (field.number == trace_packet::trace_stats) {
            statistics(field.bytes);
        } else if (field.number == trace_packet::process_descriptor) {
            process_of(track(process_track_of(parts.sequence)), field.bytes);
        } else if (field.number == trace_packet::compressed_packets ||
                   field.number == trace_packet::zstd_compressed_packets) {
            ++trace_.counts["compressed_packets"];
        } else if (std::find(std::begin(kSilent), std::end(kSilent), field.number) == std::end(kSilent)) {
            ++trace_.unread[field.number];
        }
    }
    if (parts.has_thread) {
        const uint64_t uuid = thread_track_of(parts.sequence);
        thread_of(track(uuid), parts.thread, &sequence);
        sequence.thread_track = uuid;
    }
    if (!parts.has_event) return;
    if ((parts.flags & trace_packet::kNeedsState) != 0 && !sequence.is_valid) {
        ++trace_.counts["skipped_packets"];
        return;
    }
    if (parts.has_time) {
        const uint64_t clock = parts.clock != 0 ? parts.clock : sequence.clock;
        const auto time_ns = clocks_.trace_time(parts.sequence, clock, parts.time);
        if (!time_ns) {
            ++trace_.counts["unknown_clocks"];
            return;
        }
        parts.time_ns = *time_ns;
    }
    event(sequence, parts);
}

void Packets::state_of(Sequence& sequence, const Parts& parts) {
    if (parts.is_dropped && !parts.is_first && sequence.is_valid) ++trace_.counts["lost_before"];
    if (parts.is_cleared || (parts.flags & trace_packet::kStateCleared) != 0) {
        sequence = Sequence{};
        sequence.is_valid = true;
    } else if (parts.is_dropped) {
        sequence.is_valid = false;
    }
    if (!parts.defaults.empty() && sequence.is_valid) defaults(sequence, parts.defaults);
    if (!parts.interned.empty() && sequence.is_valid) interned(sequence, parts.interned);
}

void Packets::defaults(Sequence& sequence, Text message) {
    sequence.clock = sequence.track = 0;
    sequence.counter_tracks.clear();
    sequence.fraction_tracks.clear();
    Fields fields(message);
    while (fields.next()) {
        if (fields.field.number == trace_packet_defaults::timestamp_clock_id) sequence.clock = fields.field.value;
        if (fields.field.number != trace_packet_defaults::track_event_defaults || !fields.field.is_bytes()) continue;
        Fields of_events(fields.field.bytes);
        while (of_events.next()) {
            const Field& field = of_events.field;
            if (field.number == track_event_defaults::track_uuid) sequence.track = field.value;
            if (field.number == track_event_defaults::extra_counter_track_uuids)
                each_number(field, [&](uint64_t uuid) { sequence.counter_tracks.push_back(uuid); });
            if (field.number == track_event_defaults::extra_double_counter_track_uuids)
                each_number(field, [&](uint64_t uuid) { sequence.fraction_tracks.push_back(uuid); });
        }
        sound(of_events);
    }
    sound(fields);
}

namespace {

// The names of a sequence that a field of InternedData adds to; null = entries that are not read.
Sequence::Names* names_of(Sequence& sequence, uint32_t field_number) {
    switch (field_number) {
        case interned_data::event_categories: return &sequence.categories;
        case interned_data::event_names: return &sequence.names;
        case interned_data::debug_annotation_names: return &sequence.annotations;
        case interned_data::debug_annotation_string_values: return &sequence.values;
        default: return nullptr;
    }
}

}  // namespace

void Packets::interned(Sequence& sequence, Text message) {
    Fields fields(message);
    while (fields.next()) {
        const Field& field = fields.field;
        Sequence::Names* const names = names_of(sequence, field.number);
        if (names == nullptr || !field.is_bytes()) continue;
        uint64_t number = 0;
        Text name;
        Fields entry(field.bytes);
        while (entry.next()) {
            if (entry.field.number == interned_entry::iid) number = entry.field.value;
            if (entry.field.number == interned_entry::name) name = entry.field.bytes;
        }
        if (sound(entry)) (*names)[number] = text(name);
    }
    sound(fields);
}

namespace {

uint32_t looked_up(const Sequence::Names& names, uint64_t number) {
    const auto found = names.find(number);
    return found == names.end() ? 0 : found->second;
}

}  // namespace

// What a TrackEvent says besides its `Event`.
struct Packets::EventParts {
    uint64_t type = 0, track = 0;
    bool has_track = false, has_time = false, has_value = false;
    double value = 0;
    Text legacy{};
    // Values of further counters at the same time, and their tracks where they differ from the defaults.
    std::vector<uint64_t> count_tracks{}, fraction_tracks{};
    std::vector<double> counts{}, fractions{};
};

namespace {

// Visits the 64-bit values of a field that is repeated, packed or not.
template <class Take>
void each_fixed(const Field& field, Take&& take) {
    if (!field.is_bytes()) return take(field.value);
    for (size_t at = 0; at + sizeof(uint64_t) <= field.bytes.size(); at += sizeof(uint64_t)) {
        uint64_t bits = 0;
        std::memcpy(&bits, field.bytes.data() + at, sizeof bits);
        take(bits);
    }
}

}  // namespace

void Packets::event_field(Sequence& sequence, const Field& field, Event& made, EventParts& parts) {
    const auto add_flow = [&](uint64_t id) { flows.push_back({static_cast<uint32_t>(events.size()), id}); };
    switch (field.number) {
        case track_event::timestamp_delta_us:
            sequence.reference_us = plus(sequence.reference_us, field.integer());
            made.time_ns = nanoseconds_of(sequence.reference_us), parts.has_time = true;
            break;
        case track_event::category_iids:
            each_number(field, [&](uint64_t number) {
                if (made.category == 0) made.category = looked_up(sequence.categories, number);
            });
            break;
        case track_event::debug_annotations:
            if (field.is_bytes() && !annotation(sequence, field.bytes)) ++trace_.counts["unread_annotations"];
            break;
        case track_event::legacy_event: parts.legacy = field.bytes; break;
        case track_event::type: parts.type = field.value; break;
        case track_event::name_iid: made.name = looked_up(sequence.names, field.value); break;
        case track_event::track_uuid: parts.track = field.value, parts.has_track = true; break;
        case track_event::extra_counter_values:
            each_number(field, [&](uint64_t count) {
                parts.counts.push_back(static_cast<double>(static_cast<int64_t>(count)));
            });
            break;
        case track_event::timestamp_absolute_us:
            made.time_ns = nanoseconds_of(field.integer()), parts.has_time = true;
            break;
        case track_event::categories:
            if (made.category == 0) made.category = text(field.bytes);
            break;
        case track_event::name: made.name = text(field.bytes); break;
        case track_event::counter_value:
            parts.value = static_cast<double>(field.integer()), parts.has_value = true;
            break;
        case track_event::extra_counter_track_uuids:
            each_number(field, [&](uint64_t uuid) { parts.count_tracks.push_back(uuid); });
            break;
        case track_event::flow_ids_old:
        case track_event::terminating_flow_ids_old: each_number(field, add_flow); break;
        case track_event::double_counter_value: parts.value = field.fraction(), parts.has_value = true; break;
        case track_event::extra_double_counter_track_uuids:
            each_number(field, [&](uint64_t uuid) { parts.fraction_tracks.push_back(uuid); });
            break;
        case track_event::extra_double_counter_values:
            if (!field.is_bytes()) parts.fractions.push_back(field.fraction());
            if (field.is_bytes())
                each_fixed(field, [&](uint64_t bits) { parts.fractions.push_back(std::bit_cast<double>(bits)); });
            break;
        case track_event::flow_ids:
        case track_event::terminating_flow_ids: each_fixed(field, add_flow); break;
        case track_event::correlation_id: made.correlation = field.value; break;
        default: break;
    }
}

// Adds the values of further counters that an event has.
void Packets::extra_counts(Sequence& sequence, const Event& made, const EventParts& parts) {
    const auto add = [&](const std::vector<uint64_t>& tracks, const std::vector<double>& values) {
        for (size_t i = 0; i < std::min(tracks.size(), values.size()); ++i)
            counts(sequence, track(tracks[i]), values[i], made.time_ns, made.category);
    };
    add(parts.count_tracks.empty() ? sequence.counter_tracks : parts.count_tracks, parts.counts);
    add(parts.fraction_tracks.empty() ? sequence.fraction_tracks : parts.fraction_tracks, parts.fractions);
}

void Packets::event(Sequence& sequence, const Parts& packet) {
    Event made{.time_ns = packet.time_ns,
               .duration_ns = 0,
               .correlation = 0,
               .first_annotation = annotations.size(),
               .annotation_count = 0,
               .track = 0,
               .name = 0,
               .category = 0,
               .kind = Kind::instant};
    const size_t flow_count = flows.size();
    EventParts parts{.track = sequence.track, .has_track = sequence.track != 0, .has_time = packet.has_time};
    Fields fields(packet.event);
    while (fields.next()) event_field(sequence, fields.field, made, parts);
    sound(fields);
    if (!parts.has_track && sequence.thread_track != 0) parts.track = sequence.thread_track;
    made.track = track(parts.track);
    made.annotation_count = static_cast<uint32_t>(annotations.size() - made.first_annotation);
    const auto drop = [&] {
        annotations.resize(made.first_annotation);
        flows.resize(flow_count);
    };
    if (!parts.has_time) {
        ++trace_.counts["timeless_events"];
        return drop();
    }
    extra_counts(sequence, made, parts);
    if (parts.type == track_event::counter) {
        if (parts.has_value) counts(sequence, made.track, parts.value, made.time_ns, made.category);
        return drop();
    }
    if (parts.type >= track_event::slice_begin && parts.type <= track_event::instant) {
        made.kind = static_cast<Kind>(parts.type);
    } else if (!parts.legacy.empty()) {
        legacy(sequence, parts.legacy, made);
        if (made.duration_ns < 0) return drop();
    } else {
        ++trace_.counts["unknown_events"];
        return drop();
    }
    if (events.size() == UINT32_MAX - 1) {
        ++trace_.counts["too_many_events"];
        return drop();
    }
    events.push_back(made);
}

// Events of Chrome's older kind: phases B and E begin and end a slice, X is a slice with a duration, I, i and R are
// moments. A duration below 0 = of a phase that is not read.
void Packets::legacy(Sequence& sequence, Text message, Event& made) {
    uint64_t phase = 0;
    int64_t duration_us = 0;
    Fields fields(message);
    while (fields.next()) {
        const Field& field = fields.field;
        if (field.number == legacy_event::name_iid) made.name = looked_up(sequence.names, field.value);
        if (field.number == legacy_event::phase) phase = field.value;
        if (field.number == legacy_event::duration_us) duration_us = field.integer();
    }
    sound(fields);
    if (phase == 'B')
        made.kind = Kind::begin;
    else if (phase == 'E')
        made.kind = Kind::end;
    else if (phase == 'I' || phase == 'i' || phase == 'R')
        made.kind = Kind::instant;
    else if (phase == 'X')
        made.kind = Kind::complete, made.duration_ns = std::max<int64_t>(nanoseconds_of(duration_us), 0);
    else
        made.duration_ns = -1, ++trace_.counts["unknown_events"];
}

uint32_t Packets::interned_name(const Sequence& sequence, const Field& field) const {
    return looked_up(sequence.annotations, field.value);
}

// A DebugAnnotation of an event. False when it has no value that can be kept.
bool Packets::annotation(const Sequence& sequence, Text message) {
    Annotation made{0, Annotation::Type::text, 0};
    bool has_value = false;
    Fields fields(message);
    using Type = Annotation::Type;
    const auto set = [&](Type type, uint64_t value) { made.type = type, made.value = value, has_value = true; };
    bool is_nested = false;
    while (fields.next()) {
        const Field& field = fields.field;
        switch (field.number) {
            case debug_annotation::name_iid: made.name = interned_name(sequence, field); break;
            case debug_annotation::name: made.name = text(field.bytes); break;
            case debug_annotation::bool_value: set(Type::boolean, field.value != 0); break;
            case debug_annotation::uint_value:
            case debug_annotation::pointer_value: set(Type::natural, field.value); break;
            case debug_annotation::int_value: set(Type::integer, field.value); break;
            case debug_annotation::double_value: set(Type::fraction, std::bit_cast<uint64_t>(field.fraction())); break;
            case debug_annotation::string_value:
            case debug_annotation::legacy_json_value: set(Type::text, text(field.bytes)); break;
            case debug_annotation::string_value_iid: set(Type::text, looked_up(sequence.values, field.value)); break;
            case debug_annotation::nested_value:
            case debug_annotation::dict_entries:
            case debug_annotation::array_values: is_nested = true; break;
            default: break;
        }
    }
    if (!sound(fields)) return false;
    if (is_nested) {
        std::string json;
        const bool is_whole = json_of(sequence, message, json, 0);
        json_left_ -= std::min<uint64_t>(json.size(), json_left_);
        if (!is_whole || json_left_ == 0) return false;
        set(Type::json, texts.keep(std::move(json)));
    }
    if (has_value) annotations.push_back(made);
    return has_value;
}

uint32_t Packets::track(uint64_t uuid) {
    const auto [at, is_new] = tracks_.try_emplace(uuid, static_cast<uint32_t>(tracks_.size()));
    if (is_new) {
        PerfettoTracks& tracks = trace_.tracks;
        tracks.uuid.push_back(uuid);
        tracks.parent.push_back(0);
        tracks.kind.push_back(0);
        for (Column<int64_t>* column : {&tracks.pid, &tracks.tid, &tracks.start_ns}) column->push_back(kNoNumber);
        for (Column<uint32_t>* column :
             {&tracks.name, &tracks.process_name, &tracks.command, &tracks.unit, &tracks.category})
            column->push_back(0);
    }
    return at->second;
}

void Packets::descriptor(Text message) {
    uint64_t uuid = 0, parent = 0;
    uint32_t name = 0;
    Text process, thread, counter;
    bool is_process = false, is_thread = false, is_counter = false;
    Fields fields(message);
    while (fields.next()) {
        const Field& field = fields.field;
        switch (field.number) {
            case track_descriptor::uuid: uuid = field.value; break;
            case track_descriptor::name:
            case track_descriptor::static_name:
            case track_descriptor::atrace_name: name = text(field.bytes); break;
            case track_descriptor::process: process = field.bytes, is_process = true; break;
            case track_descriptor::thread: thread = field.bytes, is_thread = true; break;
            case track_descriptor::parent_uuid: parent = field.value; break;
            case track_descriptor::counter: counter = field.bytes, is_counter = true; break;
            default: break;
        }
    }
    sound(fields);
    const uint32_t row = track(uuid);
    if (name != 0) trace_.tracks.name[row] = name;
    if (parent != 0 && parent != uuid) trace_.tracks.parent[row] = parent;
    if (parent != 0) track(parent);
    if (is_process) process_of(row, process);
    if (is_thread) thread_of(row, thread, nullptr);
    if (is_counter) counter_of(row, counter);
}

void Packets::process_of(uint32_t row, Text message) {
    PerfettoTracks& tracks = trace_.tracks;
    tracks.kind[row] = kProcessTrack;
    std::string command;
    Fields fields(message);
    while (fields.next()) {
        const Field& field = fields.field;
        if (field.number == process_descriptor::pid) tracks.pid[row] = static_cast<int32_t>(field.value);
        const bool is_word = field.number == process_descriptor::cmdline && field.is_bytes();
        if (is_word && command.size() + field.bytes.size() <= file_.size()) {
            if (!command.empty()) command += ' ';
            command += field.bytes;
        }
        if (field.number == process_descriptor::process_name) tracks.process_name[row] = text(field.bytes);
        if (field.number == process_descriptor::start_timestamp_ns) tracks.start_ns[row] = field.integer();
    }
    sound(fields);
    if (!command.empty()) tracks.command[row] = texts.keep(std::move(command));
}

uint32_t Packets::thread_of(uint32_t row, Text message, Sequence* sequence) {
    PerfettoTracks& tracks = trace_.tracks;
    tracks.kind[row] = kThreadTrack;
    Fields fields(message);
    while (fields.next()) {
        const Field& field = fields.field;
        if (field.number == thread_descriptor::pid) tracks.pid[row] = static_cast<int32_t>(field.value);
        if (field.number == thread_descriptor::tid) tracks.tid[row] = field.integer();
        if (field.number == thread_descriptor::thread_name) tracks.name[row] = text(field.bytes);
        if (field.number == thread_descriptor::reference_timestamp_us && sequence != nullptr)
            sequence->reference_us = field.integer();
    }
    sound(fields);
    return row;
}

void Packets::counter_of(uint32_t row, Text message) {
    constexpr Text kUnits[] = {"", "ns", "", "bytes"};  // unspecified, TIME_NS, COUNT, SIZE_BYTES
    trace_.tracks.kind[row] = kCounterTrack;
    CounterState state;
    Fields fields(message);
    while (fields.next()) {
        const Field& field = fields.field;
        if (field.number == counter_descriptor::unit && field.value < std::size(kUnits))
            trace_.tracks.unit[row] = text(kUnits[field.value]);
        if (field.number == counter_descriptor::unit_multiplier && field.value != 0)
            state.multiplier = static_cast<double>(field.integer());
        if (field.number == counter_descriptor::is_incremental) state.is_incremental = field.value != 0;
        if (field.number == counter_descriptor::unit_name) trace_.tracks.unit[row] = text(field.bytes);
    }
    sound(fields);
    counters_[row] = state;
}

void Packets::counts(Sequence& sequence, uint32_t row, double value, int64_t time, uint32_t category) {
    if (const auto found = counters_.find(row); found != counters_.end()) {
        const CounterState& state = found->second;
        value *= state.multiplier;
        if (state.is_incremental) value = sequence.sums[row] += value;
    }
    if (trace_.tracks.category[row] == 0) trace_.tracks.category[row] = category;
    trace_.points.track.push_back(row);
    trace_.points.time_ns.push_back(time);
    trace_.points.value.push_back(value);
}

// TraceStats: what the buffers of the recorder lost, of which the packets themselves show nothing.
void Packets::statistics(Text message) {
    uint64_t lost = 0;
    Fields fields(message);
    while (fields.next()) {
        if (fields.field.number != trace_stats::buffer_stats || !fields.field.is_bytes()) continue;
        Fields buffer(fields.field.bytes);
        while (buffer.next()) {
            const Field& field = buffer.field;
            const bool is_loss = field.number == buffer_stats::chunks_overwritten ||
                                 field.number == buffer_stats::chunks_discarded ||
                                 field.number == buffer_stats::trace_writer_packet_loss;
            // Bounded, so that sums of what hostile files say do not overflow.
            if (is_loss && !field.is_bytes()) lost += std::min(field.value, kMostLost);
        }
        sound(buffer);
    }
    sound(fields);
    uint64_t& most = trace_.counts["lost_chunks"];  // each of them repeats what was lost before
    most = std::max(most, lost);
}

}  // namespace wavewright::pftrace
