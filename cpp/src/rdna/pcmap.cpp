#include "rdna/pcmap.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace wavewright::rdna {
namespace {

constexpr size_t kCategories = 16, kClasses = 32;

// How an instruction's category and a line's class go together.
enum class Fit : uint8_t {
    none,
    silent,        // the line leaves no token
    same,          // the instruction is at this line
    taken_branch,  // so it is, and the walk goes on at the target
    lost_branch,   // a branch line without its token: the walk has lost its way
    wide_move,     // gfx12: v_mov_b64 takes two cycles
    idle_wait,     // an immediate token stands for any line that EXEC = 0 made idle
};

constexpr bool is_skippable(LineClass cls) {
    return cls <= LineClass::immed && cls != LineClass::salu;
}

constexpr bool fits_simply(Category category, LineClass cls) {
    return static_cast<uint8_t>(category) == static_cast<uint8_t>(cls) ||
           (cls == LineClass::branch && category == Category::next) ||
           (cls == LineClass::immed && category == Category::message) ||
           (cls == LineClass::vmem && category == Category::flat);
}

constexpr bool fits_loosely(Category category, LineClass cls) {
    return fits_simply(category, cls) || (cls == LineClass::branch && category == Category::jump) ||
           (category == Category::immed && is_skippable(cls));
}

constexpr Fit fit(Category category, LineClass cls) {
    if (cls == LineClass::skip || cls == LineClass::unknown) return Fit::silent;
    if (fits_simply(category, cls)) return Fit::same;
    if (cls == LineClass::branch) return category == Category::jump ? Fit::taken_branch : Fit::lost_branch;
    if (cls == LineClass::v_mov_b64 && category == Category::valu) return Fit::wide_move;
    if (category == Category::immed && is_skippable(cls)) return Fit::idle_wait;
    return Fit::none;
}

using FitTable = std::array<std::array<Fit, kClasses>, kCategories>;
constexpr FitTable make_fits() {
    FitTable table{};
    for (size_t category = 0; category < kCategories; ++category) {
        for (size_t cls = 0; cls < kClasses; ++cls) {
            table[category][cls] = fit(static_cast<Category>(category), static_cast<LineClass>(cls));
        }
    }
    return table;
}
constexpr FitTable kFits = make_fits();

bool is_silent(const Line& line, Dialect dialect) {
    return !(line.flags & Line::empty_text) && fit(Category::none, line.in(dialect)) == Fit::silent;
}
int32_t clamped32(int64_t value) {
    constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
    return static_cast<int32_t>(std::clamp(value, kLeast, kMost));
}
bool is_skipped(const Line& line, Dialect dialect) {
    return line.in(dialect) == LineClass::skip;
}

}  // namespace

void LineRuns::make_table() {
    const std::span<const Line> lines = program_.lines();
    lasts_.assign(lines.size(), -1);
    std::vector<int32_t> run;
    for (size_t from = 0; from < lines.size(); ++from) {
        auto row = static_cast<int32_t>(from);
        run.clear();
        while (lasts_[static_cast<size_t>(row)] < 0) {
            run.push_back(row);
            const int32_t next = lines[static_cast<size_t>(row)].next;
            if (next < 0 || !belongs_(program_.line(next), dialect_)) break;
            row = next;
        }
        const int32_t known = lasts_[static_cast<size_t>(row)];
        for (const int32_t member : run) lasts_[static_cast<size_t>(member)] = known >= 0 ? known : row;
    }
}

PcMap::PcMap(const Program& program, bool is_gfx12, size_t input_bytes)
    : program_(program),
      dialect_(is_gfx12 ? Dialect::gfx12 : Dialect::gfx10_11),
      is_gfx12_(is_gfx12),
      look_ahead_budget_(input_bytes * kLookAheadPerByte + kLookAheadMinimum),
      silent_(program, dialect_, is_silent),
      skipped_(program, dialect_, is_skipped) {}

PcMap::Result PcMap::map(Wave& wave) {
    rows_.assign(wave.instructions.size(), -1);
    gaps_.clear();
    const Result result = walk(wave);
    if (is_gfx12_ && !gaps_.empty()) insert_gaps(wave);
    return result;
}

// Where the walk is. Rows are lines, -1 is "no line".
struct PcMap::Walk {
    size_t index = 0;         // of the instruction
    int32_t next = -1;        // line that it is compared with
    size_t anchor = 0;        // the next one
    size_t anchor_index = 0;  // its instruction; beyond all instructions when there is none
    size_t known_end = 0;     // instructions before this one may have a row already
};

// The walk of spec_rdna 11.4.
PcMap::Result PcMap::walk(Wave& wave) {
    constexpr uint8_t kUnusual = Line::empty_text | Line::starts_s_barrier_wait;
    const size_t count = wave.instructions.size();
    Instruction* const instructions = wave.instructions.data();
    int32_t* const rows = rows_.data();
    const Line* const lines = program_.lines().data();
    const auto dialect = static_cast<size_t>(dialect_);
    uint32_t unmatched = 0;
    size_t credit = 0;
    bool target_missing = false;
    Walk at;
    while (at.index < count && unmatched < kMaxUnmatched) {
        if (at.index >= at.anchor_index) {
            find_anchors(wave, at);
            if (at.index >= count) break;
        }
        const Category category = instructions[at.index].category();
        if (category == Category::context) {
            ++at.index;
            continue;
        }
        if (at.index < at.known_end && rows[at.index] >= 0) {
            // An address after the listing, met again because a replay moved an anchor back: the walk ends.
            if (program_.listed_row(rows[at.index]) < 0) return {0, target_missing};
            at.next = follow_anchored(at.index++, category);
            continue;
        }
        const int32_t row = at.next;
        if (row < 0) break;
        const Line& line = lines[row];
        LineClass cls = line.classes[dialect];
        at.next = line.next;
        if (line.flags & kUnusual) {
            if (line.flags & Line::empty_text) break;
            cls = class_of(row);
            if (wave.excludes_barrier_waits && is_excluded_here(wave, at.index, row, cls, at.next)) {
                gaps_.push_back({at.index, row});
                continue;
            }
        }

        const Fit fit = kFits[static_cast<size_t>(category)][static_cast<size_t>(cls)];
        if (fit != Fit::same) {
            if (fit == Fit::silent) {
                at.next = lines[silent_.last(row)].next;
                continue;
            }
            if (fit == Fit::lost_branch) break;
            if (fit == Fit::taken_branch) {
                at.next = line.target;
                target_missing |= at.next < 0;
            } else if (fit == Fit::wide_move) {
                Instruction& move = instructions[at.index];
                move.duration = std::max(move.duration, move.stall() + 2);
            } else if (fit == Fit::idle_wait) {
                ++credit;
            } else if (line.flags & Line::starts_s_waitcnt && credit > 0) {
                --credit;
            } else if (line.flags & (Line::starts_s_waitcnt | Line::has_load) && !(line.flags & Line::has_scratch)) {
                break;  // waits and loads are synchronisation points: missing one ends the walk
            } else {
                ++unmatched;
                continue;
            }
        }
        rows[at.index++] = row;
        unmatched = 0;
        if (line.flags & Line::starts_s_barrier_wait && barrier_wait(row) == unseen) barrier_wait(row) = matched;
    }
    return {at.index, target_missing};
}

// Takes over the anchors of the instruction, which may move the walk to another one.
void PcMap::find_anchors(const Wave& wave, Walk& at) {
    const std::vector<Anchor>& anchors = wave.anchors;
    const size_t count = wave.instructions.size(), from = at.index;
    for (; at.anchor < anchors.size() && anchors[at.anchor].index <= at.index; ++at.anchor) {
        if (anchors[at.anchor].index != at.index) continue;
        const int32_t row = program_.find(anchors[at.anchor].pc);
        if (row >= 0) {
            rows_[at.index] = row;
            at.known_end = std::max(at.known_end, at.index + 1);
        } else if (at.anchor + 1 < anchors.size()) {
            at.index = anchors[at.anchor + 1].index;
            if (at.index >= count) return;
        }
    }
    at.anchor_index = at.anchor < anchors.size() ? anchors[at.anchor].index : count;
    at.known_end = std::max(at.known_end, from);
    // From gfx12 on the reference looks for the code of an unanchored first instruction at (0, 0), where there is none.
    const bool first = at.index == 0 && rows_[0] < 0 && wave.instructions[0].category() != Category::context;
    if (is_gfx12_ && first) at.next = -1;
}

// The line after an instruction whose place came from an anchor. Skipped lines in front of it are stepped over, and the
// instruction moves with them.
int32_t PcMap::follow_anchored(size_t index, Category category) {
    int32_t row = rows_[index];
    if (is_skipped(program_.line(row), dialect_)) {
        const int32_t last = skipped_.last(row);
        row = program_.line(last).next;
        rows_[index] = row >= 0 ? row : program_.end_row(last);
        if (row < 0) return -1;
    }
    const Line& line = program_.line(row);
    return line.in(dialect_) == LineClass::branch && category == Category::jump ? line.target : line.next;
}

LineClass PcMap::class_of(int32_t row) const {
    const bool is_excluded = !barrier_waits_.empty() && barrier_waits_[static_cast<size_t>(row)] == excluded;
    return is_excluded ? LineClass::barrier_excluded : program_.line(row).in(dialect_);
}

PcMap::BarrierWait& PcMap::barrier_wait(int32_t row) {
    if (barrier_waits_.empty()) barrier_waits_.assign(program_.row_count(), unseen);
    return barrier_waits_[static_cast<size_t>(row)];
}

// Spec_rdna 11.5: header bit 59 tells the hardware to leave out tokens of barrier waits, which it does not always do.
bool PcMap::is_excluded_here(const Wave& wave, size_t index, int32_t row, LineClass cls, int32_t next) {
    if (cls != LineClass::barrier_excluded) {
        const bool is_wait = cls == LineClass::immed && program_.line(row).flags & Line::starts_s_barrier_wait;
        if (!is_wait || barrier_wait(row) == matched) return false;
    }
    if (wave.instructions[index].category() == Category::immed && !fits_later(wave, index, next)) return false;
    barrier_wait(row) = excluded;
    return true;
}

// Does the rest of the wave fit if this immediate token belongs to a later line?
bool PcMap::fits_later(const Wave& wave, size_t index, int32_t next) {
    const size_t count = wave.instructions.size();
    LineClass kind = LineClass::skip;
    for (size_t i = index; i < count && next >= 0 && look_ahead_budget_ > 0; --look_ahead_budget_) {
        const LineClass cls = class_of(next);
        const Category category = wave.instructions[i].category();
        const Line& line = program_.line(next);
        next = cls == LineClass::branch && category == Category::jump ? line.target : line.next;
        if (next < 0) return true;
        if (fit(Category::none, cls) == Fit::silent) {
            i += 1;
            continue;
        }
        if (!fits_loosely(category, cls)) return false;
        if (category != Category::immed && cls != LineClass::valu) {
            if (kind != LineClass::skip && kind != cls) return true;
            kind = cls;
        }
        i += 2;  // as the reference does: every other instruction
    }
    return true;
}

// Puts an instruction where each excluded barrier wait was, and its time out of the state around it.
void PcMap::insert_gaps(Wave& wave) {
    Column<Instruction> instructions;
    Column<StateSpan> timeline;
    std::vector<int32_t> rows;
    size_t copied = 0, states = 0;
    int64_t now = wave.begin;
    for (const Gap& gap : gaps_) {
        if (gap.index <= copied) continue;
        instructions.append({wave.instructions.begin() + copied, wave.instructions.begin() + gap.index});
        rows.insert(rows.end(), rows_.data() + copied, rows_.data() + gap.index);
        copied = gap.index;
        Instruction& behind = wave.instructions[gap.index];
        const int64_t from = wave.instructions[gap.index - 1].end();
        if (behind.time == from && behind.duration > 1) {
            behind.time = wrap_add(behind.time, 1);
            behind.duration -= 1;
        }
        const int32_t waited = low32(wrap_sub(behind.time, from));
        for (; now <= from && states < wave.timeline.size(); ++states) {
            now = wrap_add(now, wave.timeline[states].duration);
            timeline.push_back(wave.timeline[states]);
        }
        const int64_t rest = wrap_sub(now, from);
        if (!timeline.empty() && timeline.back().duration >= rest && now >= behind.time) {
            StateSpan& around = timeline.back();
            const WaveState state = around.state;
            around.duration = low32(int64_t{around.duration} - clamped32(rest));
            timeline.push_back({WaveState::wait, waited});
            timeline.push_back({state, clamped32(wrap_sub(rest, waited))});
        }
        instructions.push_back({from, Category::immed, waited, 0});
        rows.push_back(gap.row);
    }
    instructions.append({wave.instructions.begin() + copied, wave.instructions.end()});
    rows.insert(rows.end(), rows_.begin() + static_cast<ptrdiff_t>(copied), rows_.end());
    timeline.append({wave.timeline.begin() + states, wave.timeline.end()});
    wave.instructions.swap(instructions);
    wave.timeline.swap(timeline);
    rows_.swap(rows);
}

}  // namespace wavewright::rdna
