// Two passes over the instructions of waves: taken_jumps() counts jumps and tells which of them close loops, by
// OpenRows; loop_iterations() follows waves through loops that are known, by LoopWalk.
#include "wavewright/jumps.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace wavewright {
namespace {

bool flag_of(std::span<const uint8_t> flags, int32_t row) {
    const auto at = static_cast<size_t>(row);
    return row >= 0 && at < flags.size() && flags[at] != 0;
}

// Which rows a wave has executed without having executed an earlier row since. Jumping back to one of them closes a
// loop; a block that was moved out of line jumps back too, but to a row that has not been executed yet or before which
// the wave has been since.
class OpenRows {
  public:
    void clear() {
        rows_.clear();
        calls_.clear();
    }

    // Executes `row`; returns whether it was open.
    bool execute(int32_t row) {
        if (!calls_.empty() && row == calls_.back().return_row) {
            rows_.resize(calls_.back().base);
            calls_.pop_back();
        }
        const size_t base = calls_.empty() ? 0 : calls_.back().base;
        while (rows_.size() > base && rows_.back() > row) rows_.pop_back();
        if (rows_.size() > base && rows_.back() == row) return true;
        rows_.push_back(row);
        return false;
    }

    // Rows of a called function are apart from those of its caller.
    void call(int32_t row) {
        if (calls_.size() < kDeepestCall) calls_.push_back({rows_.size(), row + 1});
    }

  private:
    static constexpr size_t kDeepestCall = 64;
    struct Call {
        size_t base;
        int32_t return_row;
    };
    std::vector<int32_t> rows_;  // of all functions; those of a call lie above its base and increase
    std::vector<Call> calls_;
};

struct JumpCounts {
    int64_t taken = 0, looped = 0;
};

constexpr size_t kDeepest = 64;  // loops inside of each other; bounds what an instruction costs
constexpr uint32_t kNoLoop = UINT32_MAX;

// A loop that a wave is in.
struct Active {
    uint32_t loop;
    int64_t since;  // when the iteration began
    int64_t stall = 0;
    uint32_t iteration = 0;
};

// Follows waves through their loops, one after the other. Rows of functions that are called from a loop belong to it,
// wherever they lie.
class LoopWalk {
  public:
    LoopWalk(std::span<const LoopSpan> loops, std::span<const uint8_t> is_call, LoopIterations& found)
        : loops_(loops), is_call_(is_call), found_(found), loop_at_(is_call.size(), kNoLoop), next_(loops.size()) {
        for (size_t i = loops.size(); i-- > 0;) {
            const auto row = static_cast<size_t>(loops[i].begin);
            if (loops[i].begin < loops[i].first || loops[i].begin > loops[i].last || row >= loop_at_.size()) continue;
            next_[i] = std::exchange(loop_at_[row], static_cast<uint32_t>(i));
        }
    }

    // Ends the iterations of the wave before.
    void begin(uint32_t wave) {
        while (!active_.empty()) end_visit(active_.size() - 1, end_);
        wave_ = wave;
        in_call_ = false;
        end_ = INT64_MIN;
        narrow();
    }

    void step(int32_t row, int64_t time, int32_t stall, int32_t duration) {
        if (row < 0) return;
        if (in_call_) in_call_ = row != return_row_;
        if (!in_call_) follow(row, time);
        for (Active& active : active_) active.stall += stall;
        end_ = std::max(end_, add(time, duration));
    }

  private:
    void follow(int32_t row, int64_t time) {
        if (row < low_ || row > high_) leave(row, time);
        const auto at = static_cast<size_t>(row);
        if (at >= loop_at_.size()) return;
        for (uint32_t loop = loop_at_[at]; loop != kNoLoop; loop = next_[loop]) begin_iteration(loop, time);
        in_call_ = is_call_[at] != 0 && !active_.empty();
        return_row_ = row + 1;
    }

    void begin_iteration(uint32_t loop, int64_t time) {
        for (Active& active : active_) {
            if (active.loop != loop) continue;
            emit(active, time, false);
            active = {.loop = loop, .since = time, .iteration = active.iteration + 1};
            return;
        }
        if (active_.size() == kDeepest) return;
        active_.push_back({.loop = loop, .since = time});
        narrow();
    }

    void leave(int32_t row, int64_t time) {
        for (size_t i = active_.size(); i-- > 0;) {
            const LoopSpan& span = loops_[active_[i].loop];
            if (row < span.first || row > span.last) end_visit(i, time);
        }
        narrow();
    }

    void end_visit(size_t i, int64_t time) {
        emit(active_[i], time, true);
        active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
    }

    void emit(const Active& active, int64_t time, bool is_last) {
        found_.loop.push_back(active.loop);
        found_.wave.push_back(wave_);
        found_.iteration.push_back(active.iteration);
        found_.is_last.push_back(is_last ? 1 : 0);
        found_.cycles.push_back(subtract(time, active.since));
        found_.stall.push_back(active.stall);
    }

    // The rows that are in all active loops.
    void narrow() {
        low_ = INT32_MIN;
        high_ = INT32_MAX;
        for (const Active& active : active_) {
            low_ = std::max(low_, loops_[active.loop].first);
            high_ = std::min(high_, loops_[active.loop].last);
        }
    }

    std::span<const LoopSpan> loops_;
    std::span<const uint8_t> is_call_;
    LoopIterations& found_;
    std::vector<uint32_t> loop_at_;  // by row: a loop that begins there
    std::vector<uint32_t> next_;     // by loop: another one with the same begin
    std::vector<Active> active_;
    int32_t low_ = INT32_MIN, high_ = INT32_MAX;  // the rows that are in all active loops: none is left within
    bool in_call_ = false;                        // in a function that was called from an active loop
    int32_t return_row_ = 0;                      // where the call goes on; only while in_call_
    int64_t end_ = INT64_MIN;                     // latest end of the wave's instructions
    uint32_t wave_ = 0;
};

}  // namespace

Jumps taken_jumps(std::span<const uint32_t> waves, std::span<const int32_t> rows, std::span<const uint8_t> may_jump,
                  std::span<const uint8_t> is_call) {
    std::map<std::pair<int32_t, int32_t>, JumpCounts> counts;
    OpenRows open;
    for (size_t i = 0; i < rows.size(); ++i) {
        const bool goes_on = i != 0 && waves[i] == waves[i - 1];
        if (!goes_on) open.clear();
        const int32_t row = rows[i], previous = goes_on ? rows[i - 1] : -1;  // -1 = not known, or there is none
        if (row < 0) continue;
        const bool was_open = open.execute(row);
        if (row - 1 != previous && flag_of(may_jump, previous)) {
            JumpCounts& jump = counts[{previous, row}];
            jump.taken += 1;
            jump.looped += was_open ? 1 : 0;
        }
        if (flag_of(is_call, row)) open.call(row);
    }
    Jumps jumps;
    for (const auto& [rows_of, jump] : counts) {
        jumps.from_row.push_back(rows_of.first);
        jumps.to_row.push_back(rows_of.second);
        jumps.taken.push_back(jump.taken);
        jumps.looped.push_back(jump.looped);
    }
    return jumps;
}

LoopIterations loop_iterations(const Executed& executed, std::span<const LoopSpan> loops,
                               std::span<const uint8_t> is_call) {
    LoopIterations found;
    LoopWalk walk(loops, is_call, found);
    for (size_t i = 0; i < executed.row.size(); ++i) {
        if (i == 0 || executed.wave[i] != executed.wave[i - 1]) walk.begin(executed.wave[i]);
        walk.step(executed.row[i], executed.time[i], executed.stall[i], executed.duration[i]);
    }
    walk.begin(0);
    return found;
}

}  // namespace wavewright
