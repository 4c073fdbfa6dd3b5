// Which line of code each instruction of a wave was: walks the program beside the instructions ("stitching",
// spec_gfx9 section 6).
#pragma once

#include <cstdint>
#include <span>

#include "gfx9/wave.hpp"
#include "wavewright/program.hpp"

namespace wavewright::gfx9 {

class PcMap {
  public:
    explicit PcMap(const Program& program)
        : program_(program), budget_(kBudgetPerRow * program.row_count() + kBudgetToStart) {}

    struct Result {
        size_t reached = 0;           // instructions passed; their number when the walk went through
        bool target_missing = false;  // a taken branch leads to no line; the reference gives up there
    };

    // Fills `rows` (one per instruction, all -1 before). Scaled MFMAs get their times corrected, and instructions that
    // were reported out of order change places.
    Result walk(Wave& wave, std::span<Instruction> instructions, int32_t* rows);

  private:
    // A hostile stream can make the walk go back to the same instructions, or over the same lines, again and again.
    // Every such step is paid from a budget that real streams do not come near; without it the walk ends.
    static constexpr uint64_t kBudgetPerInstruction = 256;
    static constexpr uint64_t kBudgetPerRow = 16;
    static constexpr uint64_t kBudgetToStart = 1 << 16;

    struct Walk;

    bool pay(uint64_t steps) {
        if (budget_ < steps) return false;
        budget_ -= steps;
        return true;
    }
    LineClass class_of(int32_t row) const { return program_.line(row).in(Dialect::gfx9); }

    // What a step of the walk decides; `stop` ends it.
    enum class Step : uint8_t { go_on, stop };
    Step take_due_pcs(Walk& walk);
    Step follow_known_pc(Walk& walk);
    Step match_line(Walk& walk);
    Step repair_order(Walk& walk, const Line& line, int32_t row);
    Step fail(Walk& walk);

    const Program& program_;
    uint64_t budget_;
};

}  // namespace wavewright::gfx9
