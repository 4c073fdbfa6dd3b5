// Packets of Perfetto traces (https://perfetto.dev, trace_packet.proto): slices, instants and counter points of tracks.
// Descriptors of tracks and interned names are few and come from the caller; only their numbers are used here.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "wavewright/tracks.hpp"

namespace wavewright {

inline constexpr int64_t kNoValue = std::numeric_limits<int64_t>::min();

// A debug annotation: one column of values, `name` interned. Integers and interned texts that are kNoValue, and
// fractions that are NaN, are left out.
struct PerfettoAnnotation {
    enum class Kind : uint8_t { Integer, Text, Fraction };
    uint64_t name = 0;
    Kind kind = Kind::Integer;
    std::span<const int64_t> integers{};
    std::span<const double> fractions{};
};

struct PerfettoEvents {
    std::span<const uint64_t> track{};  // uuid
    std::span<const int64_t> begin{}, end{};
    std::span<const uint64_t> name{}, category{};  // interned
    std::span<const uint64_t> flow{};              // 0 = none
    std::vector<PerfettoAnnotation> annotations{};
};

// Slices on tracks. Those that overlap go to child tracks, so that no time has to be changed.
class PerfettoSlices {
  public:
    // Child tracks get the uuids from `first_child` on.
    explicit PerfettoSlices(uint64_t first_child, bool may_nest) : tracks_(may_nest), next_child_(first_child) {}

    // Rows sorted by track, begin and (longest first) end. Later calls may go on with the same tracks.
    std::string add(const PerfettoEvents& events);
    // The ends of all that is still open.
    std::string finish();

    uint64_t child_count() const { return child_count_; }
    uint64_t next_child() const { return next_child_; }

  private:
    Tracks tracks_;
    uint64_t next_child_, child_count_ = 0;
};

std::string perfetto_instants(const PerfettoEvents& events);

std::string perfetto_points(std::span<const uint64_t> track, std::span<const int64_t> time,
                            std::span<const double> value);

}  // namespace wavewright
