// Records as rows that tests can spell out.
#pragma once

#include <array>
#include <ostream>
#include <vector>

#include "wavewright/records.hpp"

namespace wavewright::testing {

struct Instruction {
    int64_t time;
    Category category;
    int32_t duration;
    int32_t stall;
    int32_t row;
    bool operator==(const Instruction&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const Instruction& i) {
        return out << "(" << i.time << ", " << +static_cast<uint8_t>(i.category) << ", " << i.duration << ", "
                   << i.stall << ", " << i.row << ")";
    }
};

struct State {
    WaveState state;
    int32_t duration;
    bool operator==(const State&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const State& s) {
        return out << "(" << +static_cast<uint8_t>(s.state) << ", " << s.duration << ")";
    }
};

struct Occupancy {
    int64_t time;
    int cu, simd, slot;
    bool start;
    uint64_t address;
    bool operator==(const Occupancy&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const Occupancy& o) {
        return out << "(" << o.time << ", " << o.cu << ", " << o.simd << ", " << o.slot << ", " << o.start << ", "
                   << o.address << ")";
    }
};

struct Event {
    int64_t time;
    EventType type;
    bool operator==(const Event&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const Event& e) {
        return out << "(" << e.time << ", " << +static_cast<uint8_t>(e.type) << ")";
    }
};

inline std::vector<Instruction> instructions_of(const Records& records) {
    std::vector<Instruction> rows;
    const auto& from = records.instructions;
    for (size_t i = 0; i < from.wave.size(); ++i) {
        rows.push_back({from.time_cycles[i], static_cast<Category>(from.category[i]), from.duration_cycles[i],
                        from.stall_cycles[i], from.row[i]});
    }
    return rows;
}

inline std::vector<State> states_of(const Records& records) {
    std::vector<State> rows;
    for (size_t i = 0; i < records.states.state.size(); ++i) {
        rows.push_back({static_cast<WaveState>(records.states.state[i]), records.states.duration_cycles[i]});
    }
    return rows;
}

inline std::vector<Occupancy> occupancy_of(const Records& records) {
    std::vector<Occupancy> rows;
    const auto& from = records.occupancy;
    for (size_t i = 0; i < from.cu.size(); ++i) {
        rows.push_back(
            {from.time_cycles[i], from.cu[i], from.simd[i], from.slot[i], from.start[i] != 0, from.address[i]});
    }
    return rows;
}

inline std::vector<Event> events_of(const Records& records) {
    std::vector<Event> rows;
    for (size_t i = 0; i < records.events.type.size(); ++i) {
        rows.push_back({records.events.time_cycles[i], static_cast<EventType>(records.events.type[i])});
    }
    return rows;
}

inline bool has_loss(const Records& records, Loss kind) {
    for (const uint8_t found : records.losses.kind) {
        if (found == static_cast<uint8_t>(kind)) return true;
    }
    return false;
}

}  // namespace wavewright::testing
