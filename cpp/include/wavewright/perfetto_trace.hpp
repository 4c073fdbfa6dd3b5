// Perfetto traces (https://perfetto.dev, trace_packet.proto) as columns: tracks, slices with what they are annotated
// with, flows and points of counters. The slices of a track are nested as Perfetto nests them.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wavewright/column.hpp"

namespace wavewright {

inline constexpr int64_t kNoNumber = std::numeric_limits<int64_t>::min();  // not recorded

struct PerfettoTracks {
    Column<uint64_t> uuid, parent;       // parent 0 = none
    Column<uint8_t> kind;                // 0 = any, 1 = of a process, 2 = of a thread, 3 = of a counter
    Column<int64_t> pid, tid, start_ns;  // kNoNumber = not recorded
    Column<uint32_t> name, process_name, command, unit, category;  // numbers of texts; category: of the points
    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("uuid", uuid), visit("parent", parent), visit("kind", kind), visit("pid", pid), visit("tid", tid);
        visit("start_ns", start_ns), visit("name", name), visit("process_name", process_name);
        visit("command", command), visit("unit", unit), visit("category", category);
    }
};

// Sorted by track and begin; moments have is_instant set and end where they begin.
struct PerfettoRows {
    Column<uint32_t> track;
    Column<int64_t> start_ns, end_ns;  // end kNoNumber = it never ended
    Column<uint32_t> name, category;   // numbers of texts
    Column<uint64_t> correlation;      // TrackEvent.correlation_id; 0 = none
    Column<uint8_t> is_instant;
    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("track", track), visit("start_ns", start_ns), visit("end_ns", end_ns), visit("name", name);
        visit("category", category), visit("correlation", correlation), visit("is_instant", is_instant);
    }
};

struct PerfettoPoints {
    Column<uint32_t> track;
    Column<int64_t> time_ns;
    Column<double> value;
    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("track", track), visit("time_ns", time_ns), visit("value", value);
    }
};

struct PerfettoFlows {
    Column<uint32_t> row;
    Column<uint64_t> flow;
    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row), visit("flow", flow);
    }
};

// Annotations with fractions of rows of `measured` categories: values of counters.
struct PerfettoValues {
    Column<uint32_t> row, name;
    Column<double> value;
    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row), visit("name", name), visit("value", value);
    }
};

// Which annotations become columns of their own; all others become JSON.
struct PerfettoWanted {
    std::vector<std::string> integers, texts, measured;  // names of annotations; categories
};

struct PerfettoTrace {
    PerfettoTracks tracks;
    PerfettoRows rows;
    PerfettoPoints points;
    PerfettoFlows flows;
    PerfettoValues values;
    std::vector<Column<int64_t>> integers;  // one for each wanted name, a value per row
    std::vector<Column<uint32_t>> texts;    // numbers of texts; 0 = none
    Column<int64_t> json_ends{};            // where the JSON of each row begins in `json`, and the end; {} is left out
    Column<char> json{};
    Column<int64_t> text_ends{};  // the same of texts; text 0 is empty
    Column<char> text_bytes{};
    std::map<std::string, uint64_t> counts;  // of what was lost, by its kind; see src/perfetto/
    std::map<uint32_t, uint64_t> unread;     // packets with data of other kinds, by the number of their field
    uint64_t packet_count = 0;
};

// Reads a trace whatever it contains: what cannot be read is counted. Memory is in proportion to the bytes.
PerfettoTrace read_perfetto(std::span<const uint8_t> bytes, const PerfettoWanted& wanted);

// The compressed parts of a trace (TracePacket.compressed_packets): {where the packet begins, where it ends, where the
// content begins}, for a caller that puts what is in them in the place of the packet.
std::vector<std::array<uint64_t, 3>> compressed_perfetto(std::span<const uint8_t> bytes);

}  // namespace wavewright
