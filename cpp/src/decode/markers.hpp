// Shader data as markers: scopes and points that instrumented kernels write, named by their code object
// (spec_gfx9 8.9, spec_rdna 12.2 and 12.3).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "decode/registers.hpp"
#include "wavewright/program.hpp"
#include "wavewright/records.hpp"

namespace wavewright {

// Fed by the decoders in the order of the stream; writes records.markers. Does nothing when the program has no
// marker names.
class MarkerTracker {
  public:
    MarkerTracker(const Program& program, Records& records)
        : program_(program), records_(records), active_(!program.funcmaps().empty()) {}

    // A wave starts on any CU; context restores are not starts.
    void wave_start(uint8_t cu, uint8_t simd, uint8_t slot, Pc entry) {
        if (active_) start({cu, simd, slot}, entry);
    }

    // A wave ends; `entry` is the entry that its end record names.
    void wave_end(uint8_t cu, uint8_t simd, uint8_t slot, Pc entry) {
        if (active_) end({cu, simd, slot}, entry);
    }

    // One value of shader data; `flags` as in the shader-data record.
    void value(int64_t time, uint64_t value, uint8_t cu, uint8_t simd, uint8_t slot, uint8_t flags) {
        if (active_) take({time, value, {cu, simd, slot}}, flags);
    }

    void packet_loss() {
        if (active_) lose();
    }

    // End of the buffer: entries still unknown are looked up among the objects loaded before the trace.
    void finish(const AddressRanges& from_start) {
        if (active_) resolve_all(from_start);
    }

  private:
    struct Place {
        uint8_t cu, simd, slot;
        auto operator<=>(const Place&) const = default;
    };
    struct Value {
        int64_t time;
        uint64_t value;
        Place place;
    };
    // A value taken apart: the id of a marker, and whether it enters or leaves a scope.
    struct Word {
        uint32_t id;
        uint8_t flags;
        bool bare_exit() const;
    };
    // One wave's life in a slot.
    struct Generation {
        Pc entry;
        bool overflowed = false;  // its values did not fit the queue
        bool has_marker = false;
        uint8_t payload_flags = 0;
        uint32_t payload_index = 0;
        const MarkerName* payload = nullptr;  // marker whose payload is being collected
        std::vector<const MarkerName*> scopes;
        std::vector<Value> waiting;  // until the entry's code object is known
    };

    // A wave that was replaced in its slot while its values were waiting.
    struct SetAside {
        Pc entry;
        std::vector<Value> waiting;
    };

    void start(Place place, Pc entry);
    void end(Place place, Pc entry);
    void take(const Value& value, uint8_t shader_data_flags);
    void lose();
    void resolve_all(const AddressRanges& from_start);

    void resolve(Generation& generation, Pc entry);
    void queue(Generation& generation, const Value& value);
    void drop(size_t count, int64_t time);
    void decode(Generation& generation, const Value& value);
    void add_marker(Generation& generation, const Value& value, const MarkerName& marker, uint8_t flags);
    void add_payload(Generation& generation, const Value& value);
    static Word read(uint64_t value, const FuncMap& names);

    const Program& program_;
    Records& records_;
    const bool active_;
    std::map<Place, Generation> waves_;
    std::vector<SetAside> set_aside_;
    size_t waiting_ = 0;  // values over all generations
    size_t dropped_ = 0;
    int64_t first_dropped_time_ = 0;
};

}  // namespace wavewright
