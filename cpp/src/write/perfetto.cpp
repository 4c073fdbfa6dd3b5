#include "wavewright/perfetto.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <utility>

namespace wavewright {
namespace {

constexpr uint64_t kSequence = 1;            // all packets are of one sequence, which owns the interned names
constexpr uint64_t kNeedsInternedState = 2;  // TracePacket.SequenceFlags
enum EventType : uint64_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };
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

    // A message whose length is not known before it is written has room for one of three bytes, as Perfetto's own
    // writer leaves four.
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
        varint(4 << 3 | kBytes);
        char* length = at_++;  // never more than 127
        number(1, annotation.name);
        if (is_fraction)
            fixed64(5, std::bit_cast<uint64_t>(annotation.fractions[row]));
        else
            number(annotation.kind == PerfettoAnnotation::Kind::Text ? 17 : 4,
                   static_cast<uint64_t>(annotation.integers[row]));
        *length = static_cast<char>(at_ - length - 1);
    }

  private:
    char* at_;
};

// The packets that were made, and room for the next one.
class Packets {
  public:
    explicit Packets(size_t expected) { bytes_.resize(expected + kPacketBytes); }

    // Trace.packet { timestamp, trusted_packet_sequence_id, sequence_flags, track_event { type, track_uuid, ... } }
    template <class Fill>
    void event(int64_t time, bool uses_interned, EventType type, uint64_t track, size_t annotations, Fill&& fill) {
        const size_t room = kPacketBytes + annotations * kAnnotationBytes;
        if (bytes_.size() - used_ < room) bytes_.resize(2 * bytes_.size() + room);
        Cursor cursor(bytes_.data() + used_);
        char* packet = cursor.open(1);
        cursor.number(8, static_cast<uint64_t>(time));
        cursor.number(10, kSequence);
        if (uses_interned) cursor.number(13, kNeedsInternedState);
        char* event = cursor.open(11);
        cursor.number(9, type);
        cursor.number(11, track);
        fill(cursor);
        cursor.close(event);
        cursor.close(packet);
        used_ = static_cast<size_t>(cursor.at() - bytes_.data());
    }

    void end(uint64_t track, int64_t time) {
        event(time, false, kEnd, track, 0, [](Cursor&) {});
    }

    void row(EventType type, uint64_t track, const PerfettoEvents& events, size_t row) {
        event(events.begin[row], true, type, track, events.annotations.size(), [&](Cursor& cursor) {
            cursor.number(10, events.name[row]);
            cursor.number(3, events.category[row]);
            if (events.flow[row] != 0) cursor.fixed64(47, events.flow[row]);
            for (const PerfettoAnnotation& annotation : events.annotations) cursor.annotation(annotation, row);
        });
    }

    // Trace.packet { trusted_packet_sequence_id, track_descriptor { uuid, name, parent_uuid } }
    void child_track(uint64_t uuid, uint64_t parent, uint32_t number) {
        const std::string name = "overlap " + std::to_string(number);
        if (bytes_.size() - used_ < kPacketBytes) bytes_.resize(2 * bytes_.size() + kPacketBytes);
        Cursor cursor(bytes_.data() + used_);
        char* packet = cursor.open(1);
        cursor.number(10, kSequence);
        char* descriptor = cursor.open(60);
        cursor.number(1, uuid);
        cursor.text(2, name);
        cursor.number(5, parent);
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
    Packets packets(events.track.size() * (kPacketBytes + 8 * events.annotations.size()));
    const auto on_end = [&](const Track& track, const Track::Open& open) { packets.end(track.id, open.end); };
    const auto on_track = [&](uint64_t track, uint32_t number) {
        if (number == 0) return track;
        packets.child_track(next_child_, track, number);
        ++child_count_;
        return next_child_++;
    };
    for (uint32_t row = 0; row < events.track.size(); ++row) {
        const Track& track = tracks_.put(events.track[row], events.begin[row], events.end[row], row, on_end, on_track);
        packets.row(kBegin, track.id, events, row);
    }
    return packets.take();
}

std::string PerfettoSlices::finish() {
    Packets packets(0);
    tracks_.finish([&](const Track& track, const Track::Open& open) { packets.end(track.id, open.end); });
    return packets.take();
}

std::string perfetto_instants(const PerfettoEvents& events) {
    Packets packets(events.track.size() * kPacketBytes);
    for (size_t row = 0; row < events.track.size(); ++row) packets.row(kInstant, events.track[row], events, row);
    return packets.take();
}

std::string perfetto_points(std::span<const uint64_t> track, std::span<const int64_t> time,
                            std::span<const double> value) {
    Packets packets(track.size() * kPacketBytes / 2);
    for (size_t row = 0; row < track.size(); ++row) {
        packets.event(time[row], false, kCounter, track[row], 0, [&](Cursor& cursor) {
            const double whole = std::trunc(value[row]);
            if (whole == value[row] && std::abs(whole) < 0x1p53)
                cursor.number(30, static_cast<uint64_t>(static_cast<int64_t>(whole)));
            else
                cursor.fixed64(44, std::bit_cast<uint64_t>(value[row]));
        });
    }
    return packets.take();
}

}  // namespace wavewright
