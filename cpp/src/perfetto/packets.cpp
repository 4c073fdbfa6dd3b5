#include "perfetto/packets.hpp"

#include <algorithm>
#include <bit>

namespace wavewright::pftrace {
namespace {

// Fields of TracePacket.
enum : uint32_t {
    kClockSnapshot = 6,
    kTime = 8,
    kSequence = 10,
    kTrackEvent = 11,
    kInterned = 12,
    kFlags = 13,
    kStatistics = 35,
    kCleared = 41,
    kDropped = 42,
    kProcess = 43,
    kThread = 44,
    kCompressed = 50,
    kClock = 58,
    kDefaults = 59,
    kTrackDescriptor = 60,
    kFirst = 87,
    kZstandard = 133,
};

// Fields of TrackEvent.
enum : uint32_t {
    kEventTimeDelta = 1,
    kEventCategoryIids = 3,
    kEventAnnotation = 4,
    kEventLegacy = 6,
    kEventType = 9,
    kEventNameIid = 10,
    kEventTrack = 11,
    kEventExtraCounts = 12,
    kEventTime = 16,
    kEventCategory = 22,
    kEventName = 23,
    kEventCount = 30,
    kEventExtraCountTracks = 31,
    kEventOldFlows = 36,
    kEventOldEndingFlows = 42,
    kEventFraction = 44,
    kEventExtraFractionTracks = 45,
    kEventExtraFractions = 46,
    kEventFlows = 47,
    kEventEndingFlows = 48,
    kEventCorrelation = 52,
};

constexpr uint64_t kCounterEvent = 4;  // TrackEvent.Type; 1 to 3 are those of `Kind`

// Fields that say nothing about the program: settings, ids, markers of the recorder.
constexpr uint32_t kSilent[] = {3, 33, 36, 45, 46, 61, 69, 72, 78, 79, 89, 98, 109, 113, 124, 126, 138};

constexpr uint64_t kStateCleared = 1, kNeedsState = 2;  // TracePacket.SequenceFlags
constexpr uint64_t kThreadTracks = 0x9E3779B97F4A7C15;  // uuids of tracks that only a ThreadDescriptor names

int64_t microseconds(int64_t value) {
    return static_cast<int64_t>(static_cast<uint64_t>(value) * 1000);
}

int64_t plus(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

}  // namespace

struct Packets::Parts {
    uint64_t sequence = 0, flags = 0, clock = 0, time = 0;
    bool has_time = false, is_cleared = false, is_dropped = false, is_first = false;
    Text interned{}, defaults{}, event{}, thread{};
    bool has_event = false, has_thread = false;
    int64_t time_ns = 0;
};

Packets::Packets(Text file, PerfettoTrace& trace)
    : file_(file), trace_(trace), json_left_(8 * file.size() + (uint64_t{1} << 20)) {}

void Packets::read() {
    uint64_t packet_count = 0;
    Fields fields(file_);
    while (fields.next())
        if (fields.field.number == 1 && fields.field.is_bytes()) ++packet_count, packet(fields.field.bytes);
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
            case kTime: parts.time = field.value, parts.has_time = true; break;
            case kClock: parts.clock = field.value; break;
            case kSequence: parts.sequence = field.value; break;
            case kFlags: parts.flags = field.value; break;
            case kCleared: parts.is_cleared = field.value != 0; break;
            case kDropped: parts.is_dropped = field.value != 0; break;
            case kFirst: parts.is_first = field.value != 0; break;
            case kInterned: parts.interned = field.bytes; break;
            case kDefaults: parts.defaults = field.bytes; break;
            case kTrackEvent: parts.event = field.bytes, parts.has_event = field.is_bytes(); break;
            case kThread: parts.thread = field.bytes, parts.has_thread = field.is_bytes(); break;
            default: others.push_back(field);
        }
    }
    sound(fields);
    Sequence& sequence = sequences_[parts.sequence];
    state_of(sequence, parts);
    for (const Field& field : others) {
        if (!field.is_bytes()) continue;
        if (field.number == kClockSnapshot) {
            if (!clocks_.snapshot(parts.sequence, field.bytes)) ++trace_.counts["damaged_messages"];
        } else if (field.number == kTrackDescriptor) {
            descriptor(field.bytes);
        } else if (field.number == kStatistics) {
            statistics(field.bytes);
        } else if (field.number == kProcess) {
            process_of(track(kThreadTracks ^ parts.sequence << 1), field.bytes);
        } else if (field.number == kCompressed || field.number == kZstandard) {
            ++trace_.counts["compressed_packets"];
        } else if (std::find(std::begin(kSilent), std::end(kSilent), field.number) == std::end(kSilent)) {
            ++trace_.unread[field.number];
        }
    }
    if (parts.has_thread) {
        const uint64_t uuid = kThreadTracks ^ (parts.sequence << 1 | 1);
        thread_of(track(uuid), parts.thread, &sequence);
        sequence.thread_track = uuid;
    }
    if (!parts.has_event) return;
    if ((parts.flags & kNeedsState) != 0 && !sequence.is_valid) {
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
    if (parts.is_cleared || (parts.flags & kStateCleared) != 0) {
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
        if (fields.field.number == kClock) sequence.clock = fields.field.value;
        if (fields.field.number != 11 || !fields.field.is_bytes()) continue;
        Fields of_events(fields.field.bytes);
        while (of_events.next()) {
            const Field& field = of_events.field;
            if (field.number == 11) sequence.track = field.value;
            if (field.number == 31) each_number(field, [&](uint64_t uuid) { sequence.counter_tracks.push_back(uuid); });
            if (field.number == 45)
                each_number(field, [&](uint64_t uuid) { sequence.fraction_tracks.push_back(uuid); });
        }
        sound(of_events);
    }
    sound(fields);
}

void Packets::interned(Sequence& sequence, Text message) {
    Fields fields(message);
    while (fields.next()) {
        const Field& field = fields.field;
        Sequence::Names* names = field.number == 1    ? &sequence.categories
                                 : field.number == 2  ? &sequence.names
                                 : field.number == 3  ? &sequence.annotations
                                 : field.number == 29 ? &sequence.values
                                                      : nullptr;
        if (names == nullptr || !field.is_bytes()) continue;
        uint64_t number = 0;
        Text name;
        Fields entry(field.bytes);
        while (entry.next()) {
            if (entry.field.number == 1) number = entry.field.value;
            if (entry.field.number == 2) name = entry.field.bytes;
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
        case kEventTimeDelta:
            sequence.reference_us = plus(sequence.reference_us, field.integer());
            made.time_ns = microseconds(sequence.reference_us), parts.has_time = true;
            break;
        case kEventCategoryIids:
            each_number(field, [&](uint64_t number) {
                if (made.category == 0) made.category = looked_up(sequence.categories, number);
            });
            break;
        case kEventAnnotation:
            if (field.is_bytes() && !annotation(sequence, field.bytes)) ++trace_.counts["unread_annotations"];
            break;
        case kEventLegacy: parts.legacy = field.bytes; break;
        case kEventType: parts.type = field.value; break;
        case kEventNameIid: made.name = looked_up(sequence.names, field.value); break;
        case kEventTrack: parts.track = field.value, parts.has_track = true; break;
        case kEventExtraCounts:
            each_number(field, [&](uint64_t count) {
                parts.counts.push_back(static_cast<double>(static_cast<int64_t>(count)));
            });
            break;
        case kEventTime: made.time_ns = microseconds(field.integer()), parts.has_time = true; break;
        case kEventCategory:
            if (made.category == 0) made.category = text(field.bytes);
            break;
        case kEventName: made.name = text(field.bytes); break;
        case kEventCount: parts.value = static_cast<double>(field.integer()), parts.has_value = true; break;
        case kEventExtraCountTracks:
            each_number(field, [&](uint64_t uuid) { parts.count_tracks.push_back(uuid); });
            break;
        case kEventOldFlows:
        case kEventOldEndingFlows: each_number(field, add_flow); break;
        case kEventFraction: parts.value = field.fraction(), parts.has_value = true; break;
        case kEventExtraFractionTracks:
            each_number(field, [&](uint64_t uuid) { parts.fraction_tracks.push_back(uuid); });
            break;
        case kEventExtraFractions:
            if (!field.is_bytes()) parts.fractions.push_back(field.fraction());
            if (field.is_bytes())
                each_fixed(field, [&](uint64_t bits) { parts.fractions.push_back(std::bit_cast<double>(bits)); });
            break;
        case kEventFlows:
        case kEventEndingFlows: each_fixed(field, add_flow); break;
        case kEventCorrelation: made.correlation = field.value; break;
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
    if (parts.type == kCounterEvent) {
        if (parts.has_value) counts(sequence, made.track, parts.value, made.time_ns, made.category);
        return drop();
    }
    if (parts.type >= 1 && parts.type <= 3) {
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

// Events of Chrome's older kind; a duration below 0 = of a phase that is not read.
void Packets::legacy(Sequence& sequence, Text message, Event& made) {
    uint64_t phase = 0;
    int64_t duration_us = 0;
    Fields fields(message);
    while (fields.next()) {
        if (fields.field.number == 1) made.name = looked_up(sequence.names, fields.field.value);
        if (fields.field.number == 2) phase = fields.field.value;
        if (fields.field.number == 3) duration_us = fields.field.integer();
    }
    sound(fields);
    if (phase == 'B')
        made.kind = Kind::begin;
    else if (phase == 'E')
        made.kind = Kind::end;
    else if (phase == 'I' || phase == 'i' || phase == 'R')
        made.kind = Kind::instant;
    else if (phase == 'X')
        made.kind = Kind::complete, made.duration_ns = std::max<int64_t>(microseconds(duration_us), 0);
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
            case 1: made.name = interned_name(sequence, field); break;
            case 10: made.name = text(field.bytes); break;
            case 2: set(Type::boolean, field.value != 0); break;
            case 3:
            case 7: set(Type::natural, field.value); break;
            case 4: set(Type::integer, field.value); break;
            case 5: set(Type::fraction, std::bit_cast<uint64_t>(field.fraction())); break;
            case 6:
            case 9: set(Type::text, text(field.bytes)); break;
            case 17: set(Type::text, looked_up(sequence.values, field.value)); break;
            case 8:
            case 11:
            case 12: is_nested = true; break;
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
            case 1: uuid = field.value; break;
            case 2:
            case 10:
            case 13: name = text(field.bytes); break;
            case 3: process = field.bytes, is_process = true; break;
            case 4: thread = field.bytes, is_thread = true; break;
            case 5: parent = field.value; break;
            case 8: counter = field.bytes, is_counter = true; break;
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
    tracks.kind[row] = 1;
    std::string command;
    Fields fields(message);
    while (fields.next()) {
        const Field& field = fields.field;
        if (field.number == 1) tracks.pid[row] = static_cast<int32_t>(field.value);
        if (field.number == 2 && field.is_bytes() && command.size() + field.bytes.size() <= file_.size()) {
            if (!command.empty()) command += ' ';
            command += field.bytes;
        }
        if (field.number == 6) tracks.process_name[row] = text(field.bytes);
        if (field.number == 7) tracks.start_ns[row] = field.integer();
    }
    sound(fields);
    if (!command.empty()) tracks.command[row] = texts.keep(std::move(command));
}

uint32_t Packets::thread_of(uint32_t row, Text message, Sequence* sequence) {
    PerfettoTracks& tracks = trace_.tracks;
    tracks.kind[row] = 2;
    Fields fields(message);
    while (fields.next()) {
        const Field& field = fields.field;
        if (field.number == 1) tracks.pid[row] = static_cast<int32_t>(field.value);
        if (field.number == 2) tracks.tid[row] = field.integer();
        if (field.number == 5) tracks.name[row] = text(field.bytes);
        if (field.number == 6 && sequence != nullptr) sequence->reference_us = field.integer();
    }
    sound(fields);
    return row;
}

void Packets::counter_of(uint32_t row, Text message) {
    constexpr Text kUnits[] = {"", "ns", "", "bytes"};
    trace_.tracks.kind[row] = 3;
    CounterState state;
    Fields fields(message);
    while (fields.next()) {
        const Field& field = fields.field;
        if (field.number == 3 && field.value < std::size(kUnits)) trace_.tracks.unit[row] = text(kUnits[field.value]);
        if (field.number == 4 && field.value != 0) state.multiplier = static_cast<double>(field.integer());
        if (field.number == 5) state.is_incremental = field.value != 0;
        if (field.number == 6) trace_.tracks.unit[row] = text(field.bytes);
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
        if (fields.field.number != 1 || !fields.field.is_bytes()) continue;
        Fields buffer(fields.field.bytes);
        while (buffer.next()) {
            const Field& field = buffer.field;
            const bool is_loss = field.number == 3 || field.number == 18 || field.number == 19;
            if (is_loss && !field.is_bytes()) lost += std::min<uint64_t>(field.value, uint64_t{1} << 40);
        }
        sound(buffer);
    }
    sound(fields);
    uint64_t& most = trace_.counts["lost_chunks"];  // each of them repeats what was lost before
    most = std::max(most, lost);
}

}  // namespace wavewright::pftrace
