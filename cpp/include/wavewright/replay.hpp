// When would the waves of a trace have ended if a stall, a gap or a code row had cost nothing?
//
// Waves issue in order, each instruction as long after the one before as it was recorded, less what is removed. Ports
// of a SIMD (or of its CU) are taken by one instruction at a time, workgroups meet at their barriers, and a wave that
// took the place of another starts as long after its end as it did. docs/explanation/replay.md has the rules.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wavewright/column.hpp"

namespace wavewright {

struct ReplayInput {
    // The table `instructions`; the rows of a wave follow each other.
    std::span<const int64_t> time;
    std::span<const int32_t> stall, duration, row;
    std::span<const uint8_t> category;
    std::span<const uint8_t> cause;      // of its stall: a number below 64
    std::span<const uint8_t> gap_cause;  // of the gap before it
    std::span<const uint32_t> producer;  // EachInstruction::producer

    std::span<const uint8_t> is_matrix;    // per code row
    std::span<const int32_t> port_cycles;  // per code row: how long it takes its port; 0 = as long as it issues

    // The waves: their instructions, when they lived and where; numbers of CUs and SIMDs count from 0 without holes.
    std::span<const uint64_t> first;
    std::span<const uint32_t> count;
    std::span<const int64_t> begin, end;
    std::span<const uint32_t> cu, simd;

    // Executions of barriers.
    std::span<const uint64_t> barrier;  // place in the instructions, ascending
    std::span<const uint32_t> meeting;  // number; waves of one meeting release each other
    std::span<const int64_t> arrival;   // time at which the wave signalled that it came

    int32_t issue_cycles = 4;  // what an instruction takes at least
};

// What a replay leaves out.
struct Removal {
    uint64_t causes = 0;                 // bit per cause of stalls and gaps that cost nothing
    uint64_t padding_causes = 0;         // of them those whose instructions would not be there at all
    bool removes_barriers = false;       // nobody waits for others at a barrier
    bool removes_ending = false;         // the last instruction of a wave takes one issue
    std::span<const uint8_t> rows = {};  // per code row: 1 = only there; empty = everywhere
    bool keeps_latency = false;  // waits end when their producer is done, memory takes operations as fast as recorded
};

class Replay {
  public:
    explicit Replay(const ReplayInput& input);

    // By CU: cycles from the first start to the last end of its waves.
    std::vector<int64_t> recorded() const;
    // The same in a replay with each of the removals; by removal, then by CU.
    std::vector<std::vector<int64_t>> without(std::span<const Removal> removals) const;

    // By cause, added up over SIMDs: cycles in which a SIMD issues nothing and no pipe of it is busy, while at least
    // one of its waves waits for the cause.
    std::vector<int64_t> without_issue() const;
    // Cycles from the first start to the last end of the waves of a SIMD, added up over SIMDs.
    int64_t simd_cycles() const;

    // Whether the port of an instruction was taken for at least half of its stall; one value per instruction. Asks for
    // the instructions and waves only.
    static Column<uint8_t> port_was_busy(const ReplayInput& input);

  private:
    class Run;
    class PortIssues;
    friend class EditReplay;  // replays the same steps in another order

    // What an instruction costs: from the issue before it to its first attempt, and from there to its issue.
    struct Step {
        int32_t wait;  // of it `gap` cycles in which nothing of the wave was under way
        int32_t gap;
        int32_t stall;  // of it `own` cycles in which its port was free
        int32_t own;
        uint16_t issue;     // and from its issue to its end
        uint16_t occupied;  // how long it takes its port
        uint8_t port;
    };

    void read_steps();
    void find_contention();
    void find_triggers();
    static std::vector<std::vector<size_t>> waves_of_simds(const ReplayInput& input);
    template <class Take>
    static int64_t read_wave(const ReplayInput& input, size_t wave, Take&& take);
    template <class StepsOf, class Settled>
    static void contend(const ReplayInput& input, std::vector<size_t> waves, StepsOf&& steps_of, Settled&& settled);

    ReplayInput input_;
    size_t cu_count_ = 0, simd_count_ = 0;
    Column<Step> steps_;             // by instruction: gigabytes of a large trace, which lie in a file
    std::vector<int64_t> rest_;      // by wave: from its last issue to its end
    std::vector<uint32_t> trigger_;  // by wave: the one whose end let it start; UINT32_MAX = none
    std::vector<std::vector<uint32_t>> triggered_;
};

}  // namespace wavewright
