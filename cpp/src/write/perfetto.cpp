#include "wavewright/perfetto.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <utility>

#include "perfetto/fields.hpp"

namespace wavewright {
namespace {

namespace debug_annotation = pftrace::debug_annotation;
namespace track_descriptor = pftrace::track_descriptor;
namespace track_event = pftrace::track_event;
namespace trace_file = pftrace::trace_file;
namespace trace_packet = pftrace::trace_packet;

constexpr uint64_t kSequence = 1;  // all packets are of one sequence, which owns the interned names
enum WireType : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2 };

// Bytes of one packet at most: its own fields, and those of each annotation.
constexpr size_t kPacketBytes = 128, kAnnotationBytes = 32;

// Writes into memory that was made large enough before.
class Cursor {
  public:
    explicit Cursor(char* at) : at_(at) {}

    char* at() const { return at_; }

    void varint(uint64_t value) {
        while (value >= 0x80) {
            *at_++ = static_cast<char>(value | 0x80);
            value >>= 7;
        }
        *at_++ = static_cast<char>(value);
    }

    void number(uint64_t field, uint64_t value) {
        varint(field << 3 | kVarint);
        varint(value);
    }

    void fixed64(uint64_t field, uint64_t value) {
        varint(field << 3 | kFixed64);
        for (int shift = 0; shift < 64; shift += 8) *at_++ = static_cast<char>(value >> shift);
    }

    void text(uint64_t field, std::string_view content) {
        varint(field << 3 | kBytes);
        varint(content.size());
        at_ = std::copy(content.begin(), content.end(), at_);
    }

    // Begins a message whose length is not known yet; close() takes what this returns. The length gets room for a
    // varint of three bytes, however small it is: Perfetto's own writer leaves four.
    char* open(uint64_t field) {
        varint(field << 3 | kBytes);
        at_ += 3;
        return at_;
    }

    void close(char* begin) const {
        const auto length = static_cast<uint64_t>(at_ - begin);
        begin[-3] = static_cast<char>(length | 0x80);
        begin[-2] = static_cast<char>(length >> 7 | 0x80);
        begin[-1] = static_cast<char>(length >> 14);
    }

    void annotation(const PerfettoAnnotation& annotation, size_t row) {
        const bool is_fraction = annotation.kind == PerfettoAnnotation::Kind::Fraction;
        if (is_fraction ? std::isnan(annotation.fractions[row]) : annotation.integers[row] == kNoValue) return;
        varint(track_event::debug_annotations << 3 | kBytes);
        char* length = at_++;  // never more than 127
        number(debug_annotation::name_iid, annotation.name);
        if (is_fraction)
            fixed64(debug_annotation::double_value, std::bit_cast<uint64_t>(annotation.fractions[row]));
        else
            number(annotation.kind == PerfettoAnnotation::Kind::Text ? debug_annotation::string_value_iid
                                                                     : debug_annotation::int_value,
                   static_cast<uint64_t>(annotation.integers[row]));
        *length = static_cast<char>(at_ - length - 1);
    }

  private:
    char* at_;
};

// The packets that were made, and room for the next one.
class PacketWriter {
  public:
    explicit PacketWriter(size_t expected) { bytes_.resize(expected + kPacketBytes); }

    // Trace.packet { timestamp, trusted_packet_sequence_id, sequence_flags, track_event { type, track_uuid, ... } }
    template <class Fill>
    void event(int64_t time, bool uses_interned, track_event::Type type, uint64_t track, size_t annotations,
               Fill&& fill) {
        const size_t room = kPacketBytes + annotations * kAnnotationBytes;
        if (bytes_.size() - used_ < room) bytes_.resize(2 * bytes_.size() + room);
        Cursor cursor(bytes_.data() + used_);
        char* packet = cursor.open(trace_file::packet);
        cursor.number(trace_packet::timestamp, static_cast<uint64_t>(time));
        cursor.number(trace_packet::trusted_packet_sequence_id, kSequence);
        if (uses_interned) cursor.number(trace_packet::sequence_flags, trace_packet::kNeedsState);
        char* event = cursor.open(trace_packet::track_event);
        cursor.number(track_event::type, type);
        cursor.number(track_event::track_uuid, track);
        fill(cursor);
        cursor.close(event);
        cursor.close(packet);
        used_ = static_cast<size_t>(cursor.at() - bytes_.data());
    }

    void end(uint64_t track, int64_t time) {
        event(time, false, track_event::slice_end, track, 0, [](Cursor&) {});
    }

    void row(track_event::Type type, uint64_t track, const PerfettoEvents& events, size_t row) {
        event(events.begin[row], true, type, track, events.annotations.size(), [&](Cursor& cursor) {
            cursor.number(track_event::name_iid, events.name[row]);
            cursor.number(track_event::category_iids, events.category[row]);
            if (events.flow[row] != 0) cursor.fixed64(track_event::flow_ids, events.flow[row]);
            for (const PerfettoAnnotation& annotation : events.annotations) cursor.annotation(annotation, row);
        });
    }

    // Trace.packet { trusted_packet_sequence_id, track_descriptor { uuid, name, parent_uuid } }
    void child_track(uint64_t uuid, uint64_t parent, uint32_t number) {
        const std::string name = "overlap " + std::to_string(number);
        if (bytes_.size() - used_ < kPacketBytes) bytes_.resize(2 * bytes_.size() + kPacketBytes);
        Cursor cursor(bytes_.data() + used_);
        char* packet = cursor.open(trace_file::packet);
        cursor.number(trace_packet::trusted_packet_sequence_id, kSequence);
        char* descriptor = cursor.open(trace_packet::track_descriptor);
        cursor.number(track_descriptor::uuid, uuid);
        cursor.text(track_descriptor::name, name);
        cursor.number(track_descriptor::parent_uuid, parent);
        cursor.close(descriptor);
        cursor.close(packet);
        used_ = static_cast<size_t>(cursor.at() - bytes_.data());
    }

    std::string take() {
        bytes_.resize(used_);
        return std::move(bytes_);
    }

  private:
    std::string bytes_;
    size_t used_ = 0;
};

}  // namespace

std::string PerfettoSlices::add(const PerfettoEvents& events) {
    PacketWriter packets(events.track.size() * (kPacketBytes + 8 * events.annotations.size()));
    const auto on_end = [&](const Track& track, const Track::Open& open) { packets.end(track.id, open.end); };
    const auto on_track = [&](uint64_t track, uint32_t number) {
        if (number == 0) return track;
        packets.child_track(next_child_, track, number);
        ++child_count_;
        return next_child_++;
    };
    for (uint32_t row = 0; row < events.track.size(); ++row) {
        const Track& track = tracks_.put(events.track[row], events.begin[row], events.end[row], row, on_end, on_track);
        packets.row(track_event::slice_begin, track.id, events, row);
    }
    return packets.take();
}

std::string PerfettoSlices::finish() {
    PacketWriter packets(0);
    tracks_.finish([&](const Track& track, const Track::Open& open) { packets.end(track.id, open.end); });
    return packets.take();
}

std::string perfetto_instants(const PerfettoEvents& events) {
    PacketWriter packets(events.track.size() * kPacketBytes);
    for (size_t row = 0; row < events.track.size(); ++row)
        packets.row(track_event::instant, events.track[row], events, row);
    return packets.take();
}

std::string perfetto_points(std::span<const uint64_t> track, std::span<const int64_t> time,
                            std::span<const double> value) {
    PacketWriter packets(track.size() * kPacketBytes / 2);
    for (size_t row = 0; row < track.size(); ++row) {
        packets.event(time[row], false, track_event::counter, track[row], 0, [&](Cursor& cursor) {
            const double whole = std::trunc(value[row]);
            if (whole == value[row] && std::abs(whole) < 0x1p53)  // doubles are exact up to there
                cursor.number(track_event::counter_value, static_cast<uint64_t>(static_cast<int64_t>(whole)));
            else
                cursor.fixed64(track_event::double_counter_value, std::bit_cast<uint64_t>(value[row]));
        });
    }
    return packets.take();
}

}  // namespace wavewright
