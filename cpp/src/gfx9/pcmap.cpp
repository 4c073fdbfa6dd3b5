// Stitching (spec_gfx9 section 6): the trace tells the category of each instruction, and PCs only now and then. The
// walk goes along the lines of code from each known PC and compares the class of a line with the category; jumps tell
// where it goes on.
#include "gfx9/pcmap.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace wavewright::gfx9 {
namespace {

constexpr unsigned kMaxFails = 1000;  // lines in a row without a match
constexpr size_t kNever = std::numeric_limits<size_t>::max();

constexpr uint32_t bit(LineClass cls) {
    return uint32_t{1} << static_cast<unsigned>(cls);
}

// Line classes that an instruction of each category fits without further ado (6.3).
constexpr std::array<uint32_t, 16> kFits = [] {
    std::array<uint32_t, 16> fits{};
    const auto set = [&fits](Category category, uint32_t classes) { fits[static_cast<size_t>(category)] = classes; };
    set(Category::smem, bit(LineClass::smem));
    set(Category::salu, bit(LineClass::salu));
    set(Category::vmem, bit(LineClass::vmem));
    set(Category::flat, bit(LineClass::flat) | bit(LineClass::vmem));
    set(Category::lds, bit(LineClass::lds));
    set(Category::valu, bit(LineClass::valu));
    set(Category::next, bit(LineClass::branch));
    set(Category::immed, bit(LineClass::immed) | bit(LineClass::barrier));
    set(Category::message, bit(LineClass::immed));
    set(Category::bvh, bit(LineClass::bvh));
    return fits;
}();

bool fits(const Instruction& instruction, LineClass cls) {
    return (kFits[instruction.category & 15] >> static_cast<unsigned>(cls) & 1) != 0;
}

// Category and LineClass have the same numbers where they have the same names.
bool same_number(const Instruction& instruction, LineClass cls) {
    return instruction.category == static_cast<uint8_t>(cls);
}

// The hardware issues the scale load of a v_mfma_scale as a step of its own, which no token covers (6.6).
void widen_scaled_mfma(std::span<Instruction> instructions, size_t i, int64_t wave_begin, int64_t wave_end) {
    constexpr int32_t kStep = kCyclesPerDelta;
    Instruction& mfma = instructions[i];
    const int64_t earliest = i > 0 ? instructions[i - 1].end() : wave_begin;
    const int64_t latest = i + 1 < instructions.size() ? instructions[i + 1].time : wave_end;
    const auto lengthen = [&mfma](int32_t cycles) {
        mfma.duration = static_cast<int32_t>(int64_t{mfma.duration} + cycles);
    };
    lengthen(kStep);
    if (mfma.time > earliest) {
        mfma.time -= kStep;
        if (mfma.end() < latest) lengthen(kStep);
    } else if (mfma.end() > latest) {
        lengthen(-kStep);
    }
}

}  // namespace

// Where the walk through one wave is.
struct PcMap::Walk {
    const Wave& wave;
    std::span<Instruction> instructions;
    int32_t* rows;  // by instruction; -1 = not known
    std::span<const PcEntry> pcs;
    size_t i = 0;        // instruction at hand
    size_t next_pc = 0;  // entry of `pcs`
    int32_t next = -1;   // row of the line expected now; -1 = none
    unsigned fails = 0;  // lines in a row without a match
    bool target_missing = false;

    // The instruction at which the next PC entry is to be taken.
    size_t due() const { return next_pc < pcs.size() ? pcs[next_pc].index : kNever; }
};

PcMap::Result PcMap::walk(Wave& wave, std::span<Instruction> instructions, int32_t* rows) {
    budget_ += kBudgetPerInstruction * (instructions.size() + wave.pcs().size());
    Walk walk{wave, instructions, rows, wave.pcs()};
    const size_t count = instructions.size();
    while (walk.i < count && walk.fails < kMaxFails) {
        // Straight on: nearly all instructions pass here.
        size_t i = walk.i;
        int32_t row = walk.next;
        const size_t end = std::min(count, walk.due());
        while (i < end && row >= 0 && rows[i] < 0) {
            const Line& line = program_.line(row);
            if (!fits(instructions[i], line.in(Dialect::gfx9))) break;
            rows[i++] = row;
            row = line.next;
        }
        if (i != walk.i) {
            walk.i = i;
            walk.next = row;
            walk.fails = 0;
            if (i == count) break;
        }

        if (walk.due() <= walk.i && take_due_pcs(walk) == Step::stop) break;
        if (instructions[walk.i].is(Category::context)) {
            ++walk.i;
        } else if ((rows[walk.i] >= 0 ? follow_known_pc(walk) : match_line(walk)) == Step::stop) {
            break;
        }
    }
    return {walk.i, walk.target_missing};
}

// Puts the PCs that are due into `rows`.
PcMap::Step PcMap::take_due_pcs(Walk& walk) {
    for (; walk.due() <= walk.i; ++walk.next_pc) {
        const PcEntry& entry = walk.pcs[walk.next_pc];
        if (entry.index != walk.i) continue;
        const int32_t row = program_.find(entry.pc);
        if (row >= 0) {
            walk.rows[walk.i] = row;
        } else if (walk.next_pc + 1 < walk.pcs.size()) {
            // Nothing is known up to the next entry, which can lie before this one.
            const size_t resume = walk.pcs[walk.next_pc + 1].index;
            if (resume < walk.i && !pay(walk.i - resume)) return Step::stop;
            walk.i = resume;
            if (walk.i >= walk.instructions.size()) return Step::stop;
        }
    }
    return Step::go_on;
}

// An instruction that has its PC is not compared with the line.
PcMap::Step PcMap::follow_known_pc(Walk& walk) {
    const size_t own = walk.i;
    int32_t row = walk.rows[own];
    if (program_.listed_row(row) < 0) {  // a place without a line (below), met again
        walk.i = 0;
        return Step::stop;
    }
    ++walk.i;
    walk.next = -1;
    while (class_of(row) == LineClass::skip) {
        const int32_t behind = program_.line(row).next;
        if (behind < 0) {
            walk.rows[own] = program_.end_row(row);
            return Step::go_on;
        }
        if (!pay(1)) return Step::stop;
        walk.rows[own] = row = behind;
    }
    const Line& line = program_.line(row);
    if (line.in(Dialect::gfx9) == LineClass::barrier && walk.i < walk.instructions.size()) {
        walk.rows[walk.i++] = walk.rows[own];
    }
    const bool taken = line.in(Dialect::gfx9) == LineClass::branch && walk.instructions[own].is(Category::jump);
    walk.next = taken ? line.target : line.next;
    return Step::go_on;
}

// Compares the instruction at hand with the line that is expected.
PcMap::Step PcMap::match_line(Walk& walk) {
    const int32_t row = std::exchange(walk.next, -1);
    const size_t own = walk.i;
    Instruction& instruction = walk.instructions[own];
    if (row < 0) return Step::stop;
    const Line& line = program_.line(row);
    if ((line.flags & Line::empty_text) != 0 || instruction.is(Category::unfinished)) return Step::stop;
    walk.next = line.next;
    const LineClass cls = line.in(Dialect::gfx9);
    if (cls == LineClass::unknown || cls == LineClass::skip) return pay(1) ? Step::go_on : Step::stop;

    if (fits(instruction, cls)) {
        // nothing to repair
    } else if (cls == LineClass::branch) {
        if (!instruction.is(Category::jump)) return Step::stop;
        walk.next = line.target;
        walk.target_missing |= line.target < 0;
    } else if (cls == LineClass::mfma_scale && instruction.is(Category::valu)) {
        widen_scaled_mfma(walk.instructions, own, walk.wave.info.time, walk.wave.end_time);
    } else if (cls == LineClass::barrier && instruction.is(Category::message)) {
        // Arrival and release. Quirk: the second one is passed over whatever it is.
        ++walk.i;
        if (walk.i < walk.instructions.size() && walk.instructions[walk.i].is(Category::immed)) {
            walk.rows[walk.i] = row;
        }
    } else {
        return cls == LineClass::barrier ? fail(walk) : repair_order(walk, line, row);
    }
    walk.rows[own] = row;
    ++walk.i;
    walk.fails = 0;
    return Step::go_on;
}

// The instruction does not fit the line. Either two instructions were reported in the wrong order: then they change
// places and the line is tried again. Or the line left no token: then the next line is tried with the same instruction.
PcMap::Step PcMap::repair_order(Walk& walk, const Line& line, int32_t row) {
    const size_t i = walk.i;
    const bool swapped = i + 1 < walk.instructions.size() && line.next >= 0 &&
                         same_number(walk.instructions[i + 1], line.in(Dialect::gfx9)) &&
                         same_number(walk.instructions[i], class_of(line.next));
    if (swapped) {
        std::swap(walk.instructions[i], walk.instructions[i + 1]);
        std::swap(walk.rows[i], walk.rows[i + 1]);
        walk.next = row;
    } else if ((line.flags & (Line::starts_s_waitcnt | Line::has_load)) != 0 && (line.flags & Line::has_scratch) == 0) {
        return Step::stop;
    }
    return fail(walk);
}

PcMap::Step PcMap::fail(Walk& walk) {
    ++walk.fails;
    return pay(1) ? Step::go_on : Step::stop;
}

}  // namespace wavewright::gfx9
