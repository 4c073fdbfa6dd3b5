// Reads the packets of a Perfetto trace one after the other. Packets of one sequence share interned names and defaults;
// events are collected in the order of the file, with times on the clock of the trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "perfetto/clocks.hpp"
#include "perfetto/texts.hpp"
#include "perfetto/wire.hpp"
#include "wavewright/perfetto_trace.hpp"

namespace wavewright::pftrace {

// JSON that may be written for the annotations of a file: many of them can refer to one long interned text, and memory
// must stay in proportion to the file.
constexpr size_t most_json_bytes(size_t file_bytes) {
    return 8 * file_bytes + (size_t{1} << 20);
}

// begin, end and instant are values of TrackEvent.type.
enum class Kind : uint8_t { begin = 1, end = 2, instant = 3, complete = 4 };

struct Annotation {
    enum class Type : uint8_t { integer, natural, boolean, fraction, text, json };
    uint32_t name;
    Type type;
    uint64_t value;  // the bits of a number, or the number of a text
};

struct Event {
    int64_t time_ns;
    int64_t duration_ns;  // of complete ones; below 0 = drop the event
    uint64_t correlation;
    uint64_t first_annotation;
    uint32_t annotation_count;
    uint32_t track;           // row of PerfettoTracks
    uint32_t name, category;  // numbers of texts; 0 = none
    Kind kind;
};

struct Flow {
    uint32_t event;
    uint64_t id;
};

// The state of one sequence of packets: names and defaults that its earlier packets declared.
struct Sequence {
    using Names = std::unordered_map<uint64_t, uint32_t>;  // from an interning id (iid) to the number of a text
    Names categories, names, annotations, values;
    uint64_t clock = 0, track = 0;                              // defaults; 0 = none
    std::vector<uint64_t> counter_tracks{}, fraction_tracks{};  // uuids of the further counters of an event
    bool is_valid = false;                                      // whether what it said since it was cleared is whole
    std::unordered_map<uint32_t, double> sums{};                // of incremental counters, by the row of their track
    uint64_t thread_track = 0;                                  // of a ThreadDescriptor in its packets; 0 = none
    int64_t reference_us = 0;                                   // what timestamp_delta_us of its events counts from
};

class Packets {
  public:
    Packets(Text file, PerfettoTrace& trace);

    void read();

    Texts texts;
    std::vector<Event> events;
    std::vector<Annotation> annotations;
    std::vector<Flow> flows;

  private:
    struct Parts;  // the fields of one packet, which come in any order
    struct EventParts;

    void packet(Text message);
    void state_of(Sequence& sequence, const Parts& parts);
    void interned(Sequence& sequence, Text message);
    void defaults(Sequence& sequence, Text message);
    void event(Sequence& sequence, const Parts& packet);
    void event_field(Sequence& sequence, const Field& field, Event& made, EventParts& parts);
    void extra_counts(Sequence& sequence, const Event& made, const EventParts& parts);
    void legacy(Sequence& sequence, Text message, Event& event);
    bool annotation(const Sequence& sequence, Text message);
    bool json_value(const Sequence& sequence, const Field& field, std::string& out);
    bool json_of(const Sequence& sequence, Text message, std::string& out, int depth);
    uint32_t interned_name(const Sequence& sequence, const Field& field) const;
    void counts(Sequence& sequence, uint32_t track, double value, int64_t time, uint32_t category);
    void descriptor(Text message);
    void process_of(uint32_t track, Text message);
    uint32_t thread_of(uint32_t track, Text message, Sequence* sequence);
    void counter_of(uint32_t track, Text message);
    void statistics(Text message);
    uint32_t track(uint64_t uuid);
    uint32_t text(Text bytes) { return texts.number(bytes); }
    bool sound(const Fields& fields) {
        if (fields.is_damaged()) ++trace_.counts["damaged_messages"];
        return !fields.is_damaged();
    }

    Text file_;
    PerfettoTrace& trace_;
    Clocks clocks_;
    std::unordered_map<uint64_t, Sequence> sequences_;
    std::unordered_map<uint64_t, uint32_t> tracks_;  // rows by uuid
    struct CounterState {
        double multiplier = 1;
        bool is_incremental = false;
    };
    std::unordered_map<uint32_t, CounterState> counters_;  // by the row of their track
    uint64_t json_left_;                                   // bytes of nested values that may still be written out
};

}  // namespace wavewright::pftrace
