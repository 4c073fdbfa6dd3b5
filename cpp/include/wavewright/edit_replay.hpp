// When would the waves of a trace have ended if a block of its code had another order, fewer rows or other waits?
//
// Rows keep what was recorded of them; waits end when the operations that they wait for in the new order are done
// (docs/how-to/edit-a-kernel.md). Built on the replay of recorded waves (replay.hpp). The trace does not say everything
// that this takes: the replay is done once for each EditMode, one way to fill in the rest, and the results are the ends
// of an interval.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "wavewright/replay.hpp"

namespace wavewright {

inline constexpr size_t kEditCounters = 16;

// What every code row does beyond ReplayInput; one value per row. A row may occur in `wait_row` several times.
struct EditRules {
    std::span<const uint16_t> adds;    // bit per counter that the operation adds to
    std::span<const uint8_t> order;    // operations of one number complete in order of issue; 0 = in any order
    std::span<const uint8_t> is_wait;  // 1 = waits for counters
    std::span<const uint8_t> is_end;   // 1 = ends the program
    std::span<const int32_t> unit;     // 0 = memory, 1 = LDS, -1 = neither
    std::span<const uint8_t> dwords;   // per lane that it moves
    std::span<const uint8_t> is_store;
    std::span<const uint32_t> key;  // rows of one number are the same kind of operation: they have the same mnemonic
    // What rows wait for, ascending by row: until a counter has fallen to a value.
    std::span<const int32_t> wait_row;
    std::span<const uint8_t> wait_counter;
    std::span<const int32_t> wait_value;
};

// Waits until a counter has fallen to a value.
struct EditWait {
    uint8_t counter = 0;  // below kEditCounters
    int32_t value = 0;
};

// A result that a moved row needs before it can issue.
struct EditEdge {
    uint32_t from = 0;       // place of its producer in EditedBlock::rows
    bool is_around = false;  // the producer is that of the iteration before
    int32_t cycles = 0;      // from the issue of the producer to that of the row, at least
    bool adds_port = false;  // the time for which the producer takes its port comes to `cycles`
};

struct EditRow {
    int32_t row = -1;             // row of the code that it was; -1 = put in by the edit
    bool is_ahead = false;        // it belongs to the next iteration
    bool is_moved = false;        // another row stands before it than in the code
    bool is_wait = false;         // of rows that were put in: a wait, else padding (s_nop)
    int32_t padding_states = 0;   // of padding: issue slots that it takes
    std::vector<EditWait> waits;  // of rows that were put in and wait
    std::vector<EditEdge> edges;  // of moved rows
    uint8_t dwords = 0;           // per lane that it moves; 0 = those of the row
    std::vector<int32_t> joined;  // rows of the code that became one with it: it takes as long as the longest of them
};

struct EditedBlock {
    int32_t first = 0, last = -1;  // rows of the code, both included
    std::vector<EditRow> rows;
    std::vector<EditRow> prologue;  // before the first iteration of each time that the loop is entered
    std::vector<EditRow> epilogue;  // behind the last one
};

// One way to fill in what the trace does not say: how long operations take whose latency is only bounded, who gets a
// contended port first, and how long memory and LDS take in another order. The 5 %, 50 % and 95 % quantiles are those
// of the exact latencies of a row.
enum class EditMode : uint8_t {
    kept,               // bounded latencies as recorded, at most the 95 % quantile; ports in the recorded order
    middle,             // as `kept`, at most the 50 % quantile
    hidden,             // as `kept`, at most the 5 % quantile; moved operations issue without a stall of their own
    first_come,         // as `middle`; a port goes to the wave that wants it first
    server,             // as `middle`; memory and LDS are queues with FittedServer::fitted_cycles
    server_first_come,  // both
    server_most,        // as `server`, with FittedServer::most_cycles
};
inline constexpr size_t kEditModes = 7;

// Memory or LDS as a queue per CU that serves one operation after the other: a latency is the time in the queue and a
// rest.
struct FittedServer {
    double fitted_cycles =
        0;                   // of service per dword and wave instruction: the rests differ least; 0 = no queue is seen
    double most_cycles = 0;  // of service: more would contradict latencies that were seen
    double spread = 0;       // cycles between the 20 % and the 80 % quantile of the rests, with the fitted queue
    double spread_without = 0;  // without a queue
    uint64_t samples = 0;       // exact latencies
};

struct EditTimes {
    std::array<int64_t, kEditModes> cycles{};  // of all CUs, added up
    double traffic_share = 0;                  // dwords of memory that are moved more, as a share of those recorded
    // In most executions of the block a wait has fewer operations in flight than it ever had: shorter queues may answer
    // faster than anything that was recorded.
    bool is_extrapolated = false;
    uint64_t executions = 0;       // of the block
    uint64_t lacking_samples = 0;  // moved operations whose latency was never seen by itself
};

// One instruction of one wave, as recorded and with an edit.
struct EditedIssue {
    int32_t row = -1;   // of the code; -1 = put in
    int64_t issue = 0;  // since the start of its CU
};

class EditReplay {
  public:
    EditReplay(const ReplayInput& input, const EditRules& rules);

    int64_t recorded_cycles() const { return recorded_; }
    // Share of the time of waves in which they wait for a port that another wave has.
    double contention_share() const { return contention_share_; }
    const std::array<FittedServer, 2>& servers() const { return servers_; }
    EditTimes as_recorded() const;
    EditTimes edited(const EditedBlock& block) const;
    // Instructions of a wave in the order of an edit, with latencies that are typical of each row; without a block as
    // they were recorded.
    std::vector<EditedIssue> issues(size_t wave, const EditedBlock* block) const;
    // With room for `more` waves on every SIMD; `executions` are the waves that start earlier for it.
    EditTimes with_more_waves(uint32_t more) const;

  private:
    struct Sequence;      // instructions in their new order (edits/edit_sequence.hpp)
    class Builder;        // makes it
    struct Starts;        // when waves start
    class Run;            // one replay of a sequence in one mode
    class LatencyReader;  // latencies of operations, from the waits that they ended (edits/edit_latencies.cpp)
    class ServerFit;      // the queues of memory and LDS, from these latencies

    // What was recorded of one instruction, in cycles.
    struct Source {
        int64_t issue = 0;          // since the start of its CU
        int64_t latency = -1;       // of an operation, from its issue: at most, or exactly if is_tight; -1 = not known
        int64_t rest = 0;           // of an operation: from the end of service by fitted_cycles to its completion
        int64_t rest_most = 0;      // the same by most_cycles
        int32_t wait = 0;           // from the issue before it to its first attempt
        int32_t own = 0;            // of its stall, while its port was free
        int32_t post = 0;           // of the next instruction's `wait`, what this one takes to issue
        int32_t occupied = 0;       // for which it takes its port
        int32_t meeting = -1;       // number of the meeting of a barrier; -1 = it is no barrier
        int32_t cost = 0;           // of a barrier: from the last arrival at the meeting to its issue
        int32_t signalled = 0;      // of a barrier: from its own arrival to its first attempt
        uint8_t port = 0;           // Port of replay.cpp
        bool is_tight = false;      // an operation that ended a stalled wait alone
        bool is_pinned = false;     // an operation of several that may have ended a wait: probably this one did
        bool is_explained = false;  // a wait that stalled, or an end of the program that waited for stores
    };
    // Quantiles of the exact latencies of a row, or of all rows of its key where it has too few: 5, 50 and 95 %.
    struct Typical {
        bool is_known = false;
        int64_t low = 0, middle = 0, high = 0;
    };

    void read_sources();
    void read_meetings();
    void read_latencies();
    Starts recorded_starts() const;
    Starts earlier_starts(uint32_t more) const;
    EditTimes timed(const Sequence& sequence, const Starts& starts) const;

    ReplayInput input_;
    EditRules rules_;
    Replay replay_;
    std::vector<Source> sources_;
    std::vector<int64_t> wave_starts_;          // since the start of their CU
    std::vector<std::vector<EditWait>> waits_;  // by row
    std::vector<Typical> typical_;              // by row
    std::vector<uint32_t> least_in_flight_;     // by row of the last operation that a wait waits for; over its waits
    std::array<FittedServer, 2> servers_;       // by EditRules::unit
    uint64_t memory_dwords_ = 0;                // moved by all operations as recorded
    size_t meeting_count_ = 0;
    double contention_share_ = 0;
    int64_t recorded_ = 0;                        // cycles of all CUs, added up
    std::array<int64_t, kEditModes> identity_{};  // the same by the replay of the recorded order
};

}  // namespace wavewright
