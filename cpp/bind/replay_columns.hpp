// Columns of waves and of what they executed, as the replays take them.
#pragma once

#include <nanobind/nanobind.h>

#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/replay.hpp"

namespace wavewright::bind {

struct InstructionColumns {
    ArrowInput<int64_t> time;
    ArrowInput<int32_t> stall, duration, row;
    ArrowInput<uint8_t> category, cause, gap_cause;
    ArrowInput<uint32_t> producer;

    explicit InstructionColumns(const nanobind::dict& from)
        : time(column<int64_t>(from, "time_cycles")),
          stall(column<int32_t>(from, "stall_cycles")),
          duration(column<int32_t>(from, "duration_cycles")),
          row(column<int32_t>(from, "row")),
          category(column<uint8_t>(from, "category")),
          cause(column<uint8_t>(from, "cause")),
          gap_cause(column<uint8_t>(from, "gap_cause")),
          producer(column<uint32_t>(from, "producer")) {
        require_same_length(time, stall, duration, row, category, cause, gap_cause, producer);
    }

    void put_into(ReplayInput& input) const {
        input.time = time.values();
        input.stall = stall.values();
        input.duration = duration.values();
        input.row = row.values();
        input.category = category.values();
        input.cause = cause.values();
        input.gap_cause = gap_cause.values();
        input.producer = producer.values();
    }
};

struct WaveColumns {
    ArrowInput<uint64_t> first;
    ArrowInput<uint32_t> count, cu, simd;
    ArrowInput<int64_t> begin, end;

    explicit WaveColumns(const nanobind::dict& from)
        : first(column<uint64_t>(from, "first_instruction")),
          count(column<uint32_t>(from, "instruction_count")),
          cu(column<uint32_t>(from, "cu")),
          simd(column<uint32_t>(from, "simd")),
          begin(column<int64_t>(from, "start_cycles")),
          end(column<int64_t>(from, "end_cycles")) {
        require_same_length(first, count, cu, simd, begin, end);
    }

    ReplayInput input() const {
        ReplayInput input;
        input.first = first.values();
        input.count = count.values();
        input.begin = begin.values();
        input.end = end.values();
        input.cu = cu.values();
        input.simd = simd.values();
        return input;
    }

    // Waves must lie inside the instructions; CUs and SIMDs are numbered without holes.
    void check(size_t instructions) const {
        for (size_t wave = 0; wave < first.values().size(); ++wave) {
            const uint64_t from = first.values()[wave];
            if (from > instructions || count.values()[wave] > instructions - from)
                throw nanobind::value_error("a wave lies outside the instructions");
            if (cu.values()[wave] > first.values().size() || simd.values()[wave] > first.values().size())
                throw nanobind::value_error("CUs and SIMDs must be numbered without holes");
        }
    }
};

struct BarrierColumns {
    ArrowInput<uint64_t> place;
    ArrowInput<uint32_t> meeting;
    ArrowInput<int64_t> arrival;

    explicit BarrierColumns(const nanobind::dict& from)
        : place(column<uint64_t>(from, "position")),
          meeting(column<uint32_t>(from, "meeting")),
          arrival(column<int64_t>(from, "arrival")) {
        require_same_length(place, meeting, arrival);
        for (const uint32_t number : meeting.values())
            if (number > meeting.values().size())
                throw nanobind::value_error("meetings must be numbered without holes");
    }

    void put_into(ReplayInput& input) const {
        input.barrier = place.values();
        input.meeting = meeting.values();
        input.arrival = arrival.values();
    }
};

}  // namespace wavewright::bind
