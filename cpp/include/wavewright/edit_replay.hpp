// When would the waves of a trace have ended if a block of its code had another order, fewer rows or other waits?
//
// Rows keep what was recorded of them; waits end when the operations that they wait for in the new order are done
// (docs/how-to/edit-a-kernel.md). Built on the replay of recorded waves (replay.hpp).
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
    std::span<const uint8_t> order;    // operations of one number complete in order; 0 = in any order
    std::span<const uint8_t> is_wait;  // 1 = waits for counters
    std::span<const uint8_t> is_end;   // 1 = ends the program
    std::span<const int32_t> unit;     // 0 = memory, 1 = LDS, -1 = neither
    std::span<const uint8_t> dwords;   // per lane that it moves
    std::span<const uint8_t> is_store;
    std::span<const uint32_t> key;      // rows of one number are the same kind of operation
    std::span<const int32_t> wait_row;  // ascending
    std::span<const uint8_t> wait_counter;
    std::span<const int32_t> wait_value;
};

struct EditWait {
    uint8_t counter = 0;
    int32_t value = 0;
};

// A result that a moved row needs before it can issue.
struct EditEdge {
    uint32_t from = 0;       // place in EditedBlock::rows
    bool is_around = false;  // of the iteration before
    int32_t cycles = 0;      // from issue to issue
    bool adds_port = false;  // and as long as the producer takes its port
};

struct EditRow {
    int32_t row = -1;   // row of the code that it was; -1 = put in
    uint8_t ahead = 0;  // 1 = of the next iteration
    bool is_moved = false;
    bool is_wait = false;  // of rows that were put in: a wait, else padding
    int32_t padding_states = 0;
    std::vector<EditWait> waits;
    std::vector<EditEdge> edges;
    uint8_t dwords = 0;           // 0 = those of the row
    std::vector<int32_t> joined;  // rows of the code that are one with it: it may take as long as the longest of them
};

struct EditedBlock {
    int32_t first = 0, last = -1;  // rows of the code
    std::vector<EditRow> rows;
    std::vector<EditRow> prologue;  // before the first iteration of each time that the loop is entered
    std::vector<EditRow> epilogue;  // behind the last one
};

// One way to fill in what the trace does not say.
enum class EditMode : uint8_t { kept, middle, hidden, first_come, server, server_first_come, server_most };
inline constexpr size_t kEditModes = 7;

// The service of memory or LDS as a queue per CU.
struct FittedServer {
    double fitted_cycles = 0;               // per dword and wave instruction; 0 = it is not seen
    double most_cycles = 0;                 // more would contradict latencies that were seen
    double spread = 0, spread_without = 0;  // of what is left of latencies, with and without the queue
    uint64_t samples = 0;
};

struct EditTimes {
    std::array<int64_t, kEditModes> cycles{};  // of all CUs, added up
    double traffic_share = 0;                  // dwords of memory that are moved more, as a share
    bool is_extrapolated = false;              // fewer operations are in flight at a wait than in any execution of it
    uint64_t executions = 0;                   // of the block
    uint64_t lacking_samples = 0;              // moved operations whose latency was never seen by itself
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
    // With room for more waves on every SIMD; `executions` are the waves that start earlier for it.
    EditTimes with_more_waves(uint32_t more) const;

  private:
    struct Sequence;
    struct Starts;
    class Builder;
    class Run;

    struct Source {                       // of each recorded instruction
        int64_t issue = 0;                // since the start of its CU
        int64_t latency = -1;             // of an operation: how long it took at most; -1 = not known
        int64_t rest = 0, rest_most = 0;  // behind the queue, by fitted_cycles and by most_cycles
        int32_t wait = 0, own = 0, post = 0, occupied = 0;
        int32_t meeting = -1, cost = 0, signalled = 0;
        uint8_t port = 0;
        bool is_tight = false;      // it ended a wait alone: the latency is exact
        bool is_pinned = false;     // one of several that may have ended a wait
        bool is_explained = false;  // a wait that stalled for operations
    };
    struct Typical {
        bool is_known = false;
        int64_t low = 0, middle = 0, high = 0;
    };

    void read_sources();
    void read_meetings();
    void read_latencies();
    void pin(std::span<const uint32_t> operations);
    void fit(size_t unit);
    std::vector<double> served(size_t unit, double cycles) const;
    Starts recorded_starts() const;
    Starts earlier_starts(uint32_t more) const;
    EditTimes timed(const Sequence& sequence, const Starts& starts) const;

    ReplayInput input_;
    EditRules rules_;
    Replay replay_;
    std::vector<Source> sources_;
    std::vector<int64_t> begins_;               // of waves, since the start of their CU
    std::vector<std::vector<EditWait>> waits_;  // by row
    std::vector<Typical> typical_;              // by row
    std::vector<uint32_t> least_in_flight_;     // by row of the operation that a wait waits for
    std::array<FittedServer, 2> servers_;
    std::array<std::vector<std::vector<uint32_t>>, 2>
        served_;  // by unit and CU: operations in the order of their issue
    uint64_t memory_dwords_ = 0;
    size_t meeting_count_ = 0;
    double contention_share_ = 0;
    int64_t recorded_ = 0;
    std::array<int64_t, kEditModes> identity_{};
};

}  // namespace wavewright
