#include "wavescope/perfetto.hpp"

#include <bit>
#include <cmath>
#include <string_view>

namespace wavescope {
namespace {

constexpr uint64_t kSequence = 1;            // all packets are of one sequence, which owns the interned names
constexpr uint64_t kNeedsInternedState = 2;  // TracePacket.SequenceFlags
enum EventType : uint64_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };
enum WireType : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2 };

void put_varint(std::string& out, uint64_t value) {
    while (value >= 0x80) {
        out.push_back(static_cast<char>(value | 0x80));
        value >>= 7;
    }
    out.push_back(static_cast<char>(value));
}

void put_key(std::string& out, uint64_t field, WireType type) {
    put_varint(out, field << 3 | type);
}

void put_number(std::string& out, uint64_t field, uint64_t value) {
    put_key(out, field, kVarint);
    put_varint(out, value);
}

void put_fixed64(std::string& out, uint64_t field, uint64_t value) {
    put_key(out, field, kFixed64);
    for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(value >> shift));
}

void put_message(std::string& out, uint64_t field, std::string_view message) {
    put_key(out, field, kBytes);
    put_varint(out, message.size());
    out.append(message);
}

// Trace.packet { timestamp, trusted_packet_sequence_id, sequence_flags, track_event }
void put_packet(std::string& out, int64_t time, std::string_view event, bool uses_interned) {
    thread_local std::string packet;
    packet.clear();
    put_number(packet, 8, static_cast<uint64_t>(time));
    put_number(packet, 10, kSequence);
    if (uses_interned) put_number(packet, 13, kNeedsInternedState);
    put_message(packet, 11, event);
    put_message(out, 1, packet);
}

void put_annotation(std::string& event, const PerfettoAnnotation& annotation, size_t row) {
    thread_local std::string message;
    message.clear();
    put_number(message, 1, annotation.name);
    if (annotation.kind == PerfettoAnnotation::Kind::Fraction) {
        const double value = annotation.fractions[row];
        if (std::isnan(value)) return;
        put_fixed64(message, 5, std::bit_cast<uint64_t>(value));
    } else {
        const int64_t value = annotation.integers[row];
        if (value == kNoValue) return;
        const uint64_t field = annotation.kind == PerfettoAnnotation::Kind::Text ? 17 : 4;
        put_number(message, field, static_cast<uint64_t>(value));
    }
    put_message(event, 4, message);
}

// TrackEvent { type, track_uuid, name_iid, category_iids, flow_ids, debug_annotations }
void put_event(std::string& out, EventType type, uint64_t track, const PerfettoEvents& events, size_t row) {
    thread_local std::string event;
    event.clear();
    put_number(event, 9, type);
    put_number(event, 11, track);
    put_number(event, 10, events.name[row]);
    put_number(event, 3, events.category[row]);
    if (events.flow[row] != 0) put_fixed64(event, 47, events.flow[row]);
    for (const PerfettoAnnotation& annotation : events.annotations) put_annotation(event, annotation, row);
    put_packet(out, events.begin[row], event, true);
}

void put_end(std::string& out, uint64_t track, int64_t time) {
    thread_local std::string event;
    event.clear();
    put_number(event, 9, kEnd);
    put_number(event, 11, track);
    put_packet(out, time, event, false);
}

// Trace.packet { trusted_packet_sequence_id, track_descriptor { uuid, name, parent_uuid } }
void put_child_track(std::string& out, uint64_t uuid, uint64_t parent, uint32_t number) {
    std::string descriptor, packet;
    put_number(descriptor, 1, uuid);
    put_message(descriptor, 2, "overlap " + std::to_string(number));
    put_number(descriptor, 5, parent);
    put_number(packet, 10, kSequence);
    put_message(packet, 60, descriptor);
    put_message(out, 1, packet);
}

}  // namespace

std::string PerfettoSlices::add(const PerfettoEvents& events) {
    std::string packets;
    packets.reserve(events.track.size() * 96);
    const auto on_end = [&](const Lane& lane, const Lane::Open& open) { put_end(packets, lane.id, open.end); };
    const auto on_lane = [&](uint64_t track, uint32_t number) {
        if (number == 0) return track;
        put_child_track(packets, next_child_, track, number);
        ++child_count_;
        return next_child_++;
    };
    for (uint32_t row = 0; row < events.track.size(); ++row) {
        const Lane& lane = lanes_.put(events.track[row], events.begin[row], events.end[row], row, on_end, on_lane);
        put_event(packets, kBegin, lane.id, events, row);
    }
    return packets;
}

std::string PerfettoSlices::finish() {
    std::string packets;
    lanes_.finish([&](const Lane& lane, const Lane::Open& open) { put_end(packets, lane.id, open.end); });
    return packets;
}

std::string perfetto_instants(const PerfettoEvents& events) {
    std::string packets;
    for (size_t row = 0; row < events.track.size(); ++row) put_event(packets, kInstant, events.track[row], events, row);
    return packets;
}

std::string perfetto_points(std::span<const uint64_t> track, std::span<const int64_t> time,
                            std::span<const double> value) {
    std::string packets, event;
    for (size_t row = 0; row < track.size(); ++row) {
        event.clear();
        put_number(event, 9, kCounter);
        put_number(event, 11, track[row]);
        const double whole = std::trunc(value[row]);
        if (whole == value[row] && std::abs(whole) < 0x1p53)
            put_number(event, 30, static_cast<uint64_t>(static_cast<int64_t>(whole)));
        else
            put_fixed64(event, 44, std::bit_cast<uint64_t>(value[row]));
        put_packet(packets, time[row], event, false);
    }
    return packets;
}

}  // namespace wavescope
