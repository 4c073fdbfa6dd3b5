#include "rdna_pcmap.hpp"

#include <algorithm>
#include <array>

namespace wavescope::rdna {
namespace {

constexpr size_t kCategories = 16, kClasses = 32;

// How an instruction's category and a line's class go together.
enum class Fit : uint8_t {
    none,
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

constexpr bool is_silent(LineClass cls) {
    return cls == LineClass::skip || cls == LineClass::unknown;
}

}  // namespace

PcMap::Result PcMap::map(Wave& wave) {
    rows_.assign(wave.instructions.size(), -1);
    gaps_.clear();
    const Result result = wave.excludes_barrier_waits ? walk<true>(wave) : walk<false>(wave);
    if (is_gfx12_ && !gaps_.empty()) insert_gaps(wave);
    return result;
}

// The walk of spec_rdna 11.4. Rows are lines, -1 is "no line".
template <bool kExcludes>
PcMap::Result PcMap::walk(Wave& wave) {
    const size_t count = wave.instructions.size();
    const std::vector<Anchor>& anchors = wave.anchors;
    size_t i = 0, anchor = 0;
    uint32_t unmatched = 0, silent = 0;
    size_t credit = 0;
    int32_t next = -1;
    bool target_missing = false;

    while (i < count && unmatched < kMaxUnmatched) {
        for (; anchor < anchors.size() && anchors[anchor].index <= i; ++anchor) {
            if (anchors[anchor].index != i) continue;
            const int32_t row = program_.find(anchors[anchor].pc);
            if (row >= 0) {
                rows_[i] = row;
            } else if (anchor + 1 < anchors.size()) {
                i = anchors[anchor + 1].index;
                if (i >= count) return {i, target_missing};
            }
        }
        Instruction& instruction = wave.instructions[i];
        const Category category = instruction.category();
        if (category == Category::context) {
            ++i;
            continue;
        }
        if (rows_[i] >= 0) {
            next = follow_anchored(i++, category);
            continue;
        }
        if (is_gfx12_ && i == 0) return {0, target_missing};  // the reference looks for code at (0, 0)

        const int32_t row = next;
        if (row < 0) break;
        const Line& line = program_.line(row);
        if (line.flags & Line::empty_text) break;
        next = line.next;
        LineClass cls = line.in(dialect_);
        if (is_silent(cls)) {
            if (++silent == kMaxSilent) break;
            continue;
        }
        if (line.flags & Line::starts_s_barrier_wait) {
            cls = class_of(row);
            if (kExcludes && is_excluded_here(wave, i, row, cls, next)) {
                gaps_.push_back({i, row});
                continue;
            }
        }

        bool matches = true;
        switch (kFits[static_cast<size_t>(category)][static_cast<size_t>(cls)]) {
            case Fit::same: break;
            case Fit::taken_branch:
                next = line.target;
                target_missing |= next < 0;
                break;
            case Fit::lost_branch: return {i, target_missing};
            case Fit::wide_move: instruction.duration = std::max(instruction.duration, instruction.stall() + 2); break;
            case Fit::idle_wait: ++credit; break;
            case Fit::none:
                // Waits and loads are synchronisation points: missing one ends the walk.
                if (line.flags & Line::starts_s_waitcnt && credit > 0) {
                    --credit;
                } else if (line.flags & (Line::starts_s_waitcnt | Line::has_load) &&
                           !(line.flags & Line::has_scratch)) {
                    return {i, target_missing};
                } else {
                    matches = false;
                }
        }
        if (!matches) {
            ++unmatched;
            continue;
        }
        rows_[i++] = row;
        unmatched = silent = 0;
        if (line.flags & Line::starts_s_barrier_wait) note_match(row);
    }
    return {i, target_missing};
}

// The line after an instruction whose place came from an anchor. Skipped lines in front of it are stepped over, and the
// instruction moves with them.
int32_t PcMap::follow_anchored(size_t index, Category category) {
    int32_t row = program_.find(program_.pc(rows_[index]));
    for (uint32_t steps = 0; row >= 0 && program_.line(row).in(dialect_) == LineClass::skip; ++steps) {
        if (steps == kMaxSilent) return -1;
        const int32_t behind = program_.line(row).next;
        rows_[index] = behind >= 0 ? behind : program_.end_row(row);
        row = behind;
    }
    if (row < 0) return -1;
    const Line& line = program_.line(row);
    return line.in(dialect_) == LineClass::branch && category == Category::jump ? line.target : line.next;
}

LineClass PcMap::class_of(int32_t row) const {
    const Line& line = program_.line(row);
    if (line.flags & Line::starts_s_barrier_wait && !barrier_waits_.empty()) {
        const auto at = barrier_waits_.find(row);
        if (at != barrier_waits_.end() && at->second == excluded) return LineClass::barrier_excluded;
    }
    return line.in(dialect_);
}

void PcMap::note_match(int32_t row) {
    BarrierWait& wait = barrier_waits_[row];
    if (wait == unseen) wait = matched;
}

// Spec_rdna 11.5: header bit 59 tells the hardware to leave out tokens of barrier waits, which it does not always do.
bool PcMap::is_excluded_here(const Wave& wave, size_t index, int32_t row, LineClass cls, int32_t next) {
    if (cls != LineClass::barrier_excluded) {
        const bool is_wait = cls == LineClass::immed && program_.line(row).flags & Line::starts_s_barrier_wait;
        if (!is_wait || barrier_waits_.contains(row)) return false;
    }
    if (wave.instructions[index].category() == Category::immed && !fits_later(wave, index, next)) return false;
    barrier_waits_[row] = excluded;
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
        if (is_silent(cls)) {
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
        const int64_t waited = wrap_sub(behind.time, from);
        for (; now <= from && states < wave.timeline.size(); ++states) {
            now = wrap_add(now, wave.timeline[states].duration);
            timeline.push_back(wave.timeline[states]);
        }
        const int64_t rest = wrap_sub(now, from);
        if (!timeline.empty() && timeline.back().duration >= rest && now >= behind.time) {
            StateSpan& around = timeline.back();
            const WaveState state = around.state;
            around.duration = low32(wrap_sub(around.duration, rest));
            timeline.push_back({WaveState::wait, low32(waited)});
            timeline.push_back({state, low32(wrap_sub(rest, waited))});
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

}  // namespace wavescope::rdna
