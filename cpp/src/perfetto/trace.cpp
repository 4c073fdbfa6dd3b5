// Columns of a Perfetto trace: reads its packets, puts the events of each track in order, nests them, and fills the
// columns with slices, moments and what they are annotated with.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "base/json_escape.hpp"
#include "perfetto/fields.hpp"
#include "perfetto/nesting.hpp"
#include "perfetto/packets.hpp"

namespace wavewright {
namespace pftrace {
namespace {

// Events by track, each track in the order of time; those of one time stay as they came.
struct Order {
    std::vector<uint32_t> events;
    std::vector<size_t> begins;
};

Order by_track(const std::vector<Event>& events, size_t track_count) {
    Order order{std::vector<uint32_t>(events.size()), std::vector<size_t>(track_count + 1)};
    for (const Event& event : events) ++order.begins[event.track + 1];
    for (size_t i = 1; i < order.begins.size(); ++i) order.begins[i] += order.begins[i - 1];
    std::vector<size_t> next(order.begins.begin(), order.begins.end() - 1);
    for (uint32_t i = 0; i < events.size(); ++i) order.events[next[events[i].track]++] = i;
    const auto earlier = [&](uint32_t a, uint32_t b) { return events[a].time_ns < events[b].time_ns; };
    for (size_t track = 0; track < track_count; ++track) {
        const auto begin = order.events.begin() + static_cast<ptrdiff_t>(order.begins[track]);
        const auto end = order.events.begin() + static_cast<ptrdiff_t>(order.begins[track + 1]);
        if (!std::is_sorted(begin, end, earlier)) std::stable_sort(begin, end, earlier);
    }
    return order;
}

// Which wanted column an annotation fills, by the number of its name, and which categories are measured.
class WantedColumns {
  public:
    WantedColumns(const PerfettoWanted& wanted, const Texts& texts) : measured_{} {
        for (size_t i = 0; i < wanted.integers.size(); ++i)
            places_[texts.find(wanted.integers[i])] = {.is_text = false, .column = i};
        for (size_t i = 0; i < wanted.texts.size(); ++i)
            places_[texts.find(wanted.texts[i])] = {.is_text = true, .column = i};
        for (const std::string& category : wanted.measured) measured_.insert(texts.find(category));
    }

    struct Place {
        bool is_text;   // of PerfettoTrace::texts, else of PerfettoTrace::integers
        size_t column;  // number of it
    };
    // Null = no column: the annotation becomes JSON.
    const Place* of(uint32_t name) const {
        const auto found = places_.find(name);
        return found == places_.end() ? nullptr : &found->second;
    }
    bool is_measured(uint32_t category) const { return measured_.contains(category); }

  private:
    std::unordered_map<uint32_t, Place> places_{};
    std::unordered_set<uint32_t> measured_;
};

class Columns {
  public:
    Columns(Packets& packets, PerfettoTrace& trace, const PerfettoWanted& wanted, size_t file_bytes)
        : packets_(packets), trace_(trace), places_(wanted, packets.texts), json_most_(most_json_bytes(file_bytes)) {
        trace_.integers.resize(wanted.integers.size());
        trace_.texts.resize(wanted.texts.size());
        trace_.json_ends.push_back(0);
    }

    void add(const Slice& slice, uint32_t track) {
        const Event& event = packets_.events[slice.begin_event];
        PerfettoRows& rows = trace_.rows;
        row_ = static_cast<uint32_t>(rows.track.size());
        rows.track.push_back(track);
        rows.start_ns.push_back(event.time_ns);
        rows.end_ns.push_back(slice.end_ns);
        rows.name.push_back(event.name);
        rows.category.push_back(event.category);
        rows.correlation.push_back(event.correlation);
        rows.is_instant.push_back(event.kind == Kind::instant);
        for (auto& column : trace_.integers) column.push_back(kNoNumber);
        for (auto& column : trace_.texts) column.push_back(0);
        json_.clear();
        is_measured_ = places_.is_measured(event.category);
        annotate(event);
        if (slice.end_event != kNoEndEvent) annotate(packets_.events[slice.end_event]);
        if (!json_.empty()) json_ += '}';
        if (trace_.json.size() + json_.size() > json_most_) {
            ++trace_.counts["unread_annotations"];
            json_.clear();
        }
        trace_.json.append({json_.data(), json_.size()});
        trace_.json_ends.push_back(static_cast<int64_t>(trace_.json.size()));
    }

  private:
    using Type = Annotation::Type;

    void annotate(const Event& event) {
        for (uint32_t i = 0; i < event.annotation_count; ++i) take(packets_.annotations[event.first_annotation + i]);
    }

    // Into the column that wants it, if it fits there, else to the values of measured categories, else to the JSON.
    void take(const Annotation& annotation) {
        const WantedColumns::Place* place = places_.of(annotation.name);
        const bool is_number = annotation.type == Type::integer || annotation.type == Type::natural;
        if (place != nullptr && place->is_text && (annotation.type == Type::text || is_number)) {
            trace_.texts[place->column][row_] =
                is_number ? packets_.texts.keep(std::to_string(static_cast<int64_t>(annotation.value)))
                          : static_cast<uint32_t>(annotation.value);
            return;
        }
        if (place != nullptr && !place->is_text && set_integer(annotation, trace_.integers[place->column][row_]))
            return;
        if (annotation.type == Type::fraction && is_measured_) {
            trace_.values.row.push_back(row_);
            trace_.values.name.push_back(annotation.name);
            trace_.values.value.push_back(std::bit_cast<double>(annotation.value));
        } else {
            add_json(annotation);
        }
    }

    // False when the value is no whole number.
    bool set_integer(const Annotation& annotation, int64_t& value) const {
        if (annotation.type == Type::fraction) {
            const auto number = std::bit_cast<double>(annotation.value);
            if (!(std::abs(number) < 0x1p62) || number != std::trunc(number)) return false;
            value = static_cast<int64_t>(number);
        } else if (annotation.type == Type::text) {
            const Text text = packets_.texts[static_cast<uint32_t>(annotation.value)];
            int64_t number = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
            if (error != std::errc{} || end != text.data() + text.size()) return false;
            value = number;
        } else if (annotation.type == Type::json) {
            return false;
        } else {
            value = static_cast<int64_t>(annotation.value);
        }
        return true;
    }

    void add_json(const Annotation& annotation) {
        const Text name = packets_.texts[annotation.name];
        const bool is_text = annotation.type == Type::text || annotation.type == Type::json;
        const Text text = is_text ? packets_.texts[static_cast<uint32_t>(annotation.value)] : Text{};
        if (trace_.json.size() + json_.size() + name.size() + text.size() > json_most_) {
            ++trace_.counts["unread_annotations"];
            return;
        }
        json_ += json_.empty() ? "{\"" : ",\"";
        escape_json(json_, name);
        json_ += "\":";
        if (annotation.type == Type::json) {
            json_ += text;
        } else if (annotation.type == Type::text) {
            json_ += '"';
            escape_json(json_, text);
            json_ += '"';
        } else {
            add_number(annotation);
        }
    }

    void add_number(const Annotation& annotation) {
        char digits[40];
        char* const last = digits + sizeof digits;
        std::to_chars_result made{digits, {}};
        if (annotation.type == Type::boolean) {
            json_ += annotation.value != 0 ? "true" : "false";
            return;
        }
        if (annotation.type == Type::fraction) {
            const auto number = std::bit_cast<double>(annotation.value);
            if (!std::isfinite(number)) {
                json_ += "null";
                return;
            }
            made = std::to_chars(digits, last, number);
        } else if (annotation.type == Type::natural) {
            made = std::to_chars(digits, last, annotation.value);
        } else {
            made = std::to_chars(digits, last, static_cast<int64_t>(annotation.value));
        }
        json_.append(digits, made.ptr);
    }

    Packets& packets_;
    PerfettoTrace& trace_;
    WantedColumns places_;
    size_t json_most_;
    uint32_t row_ = 0;
    bool is_measured_ = false;
    std::string json_{};
};

constexpr uint32_t kNoRow = UINT32_MAX;  // of an event that became no row: an end that belongs to nothing

// Texts as UTF-8.
void put_texts(const Texts& texts, PerfettoTrace& trace) {
    trace.text_ends.push_back(0);
    for (const Text text : texts.all()) {
        for (size_t i = 0; i < text.size();) {
            const int length = character_length(text.substr(i));
            const auto taken = static_cast<size_t>(length < 0 ? -length : length);
            const Text part = length < 0 ? kReplacement : text.substr(i, taken);
            trace.text_bytes.append({part.data(), part.size()});
            i += taken;
        }
        trace.text_ends.push_back(static_cast<int64_t>(trace.text_bytes.size()));
    }
}

}  // namespace
}  // namespace pftrace

PerfettoTrace read_perfetto(std::span<const uint8_t> bytes, const PerfettoWanted& wanted) {
    using namespace pftrace;
    PerfettoTrace trace;
    const Text file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    Packets packets(file, trace);
    packets.read();
    const size_t track_count = trace.tracks.uuid.size();
    const Order order = by_track(packets.events, track_count);
    std::vector<uint32_t> row_of(packets.events.size(), kNoRow);
    Columns columns(packets, trace, wanted, bytes.size());
    uint64_t lone_ends = 0;
    std::vector<Slice> slices;
    for (uint32_t track = 0; track < track_count; ++track) {
        slices.clear();
        const std::span<const uint32_t> of_track(order.events.data() + order.begins[track],
                                                 order.begins[track + 1] - order.begins[track]);
        nest(packets.events, of_track, slices, lone_ends);
        for (const Slice& slice : slices) {
            row_of[slice.begin_event] = static_cast<uint32_t>(trace.rows.track.size());
            if (slice.end_event != kNoEndEvent) row_of[slice.end_event] = row_of[slice.begin_event];
            columns.add(slice, track);
        }
    }
    if (lone_ends != 0) trace.counts["lone_ends"] = lone_ends;
    for (const Flow& flow : packets.flows) {
        if (row_of[flow.event] == kNoRow) continue;
        trace.flows.row.push_back(row_of[flow.event]);
        trace.flows.flow.push_back(flow.id);
    }
    put_texts(packets.texts, trace);
    return trace;
}

std::vector<std::array<uint64_t, 3>> compressed_perfetto(std::span<const uint8_t> bytes) {
    using namespace pftrace;
    std::vector<std::array<uint64_t, 3>> parts;
    const Text file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto offset = [&](const char* at) { return static_cast<uint64_t>(at - file.data()); };
    Fields fields(file);
    uint64_t begin = 0;
    while (fields.next()) {
        const Field& field = fields.field;
        const uint64_t end = bytes.size() - fields.rest();
        // Such a packet has nothing else, or so little that its first field tells: the key of compressed_packets is
        // 50 << 3 | 2 (bytes) as a varint of two bytes.
        constexpr uint32_t kKey = trace_packet::compressed_packets << 3 | static_cast<uint32_t>(Wire::bytes);
        constexpr char kKeyBytes[] = {static_cast<char>(kKey | 0x80), static_cast<char>(kKey >> 7)};
        const bool is_packet = field.number == trace_file::packet && field.bytes.size() > sizeof kKeyBytes;
        if (is_packet && field.bytes.starts_with(Text(kKeyBytes, sizeof kKeyBytes))) {
            Fields inside(field.bytes);
            if (inside.next()) parts.push_back({begin, end, offset(inside.field.bytes.data())});
        }
        begin = end;
    }
    return parts;
}

}  // namespace wavewright
