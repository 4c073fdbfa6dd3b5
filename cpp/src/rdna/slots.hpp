// The 32 wave slots of the target SIMD. A slot is a stack: after a loss an unfinished wave can stay below a newer one,
// and tokens go to the top.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "rdna/wave.hpp"

namespace wavewright::rdna {

class WaveSlots {
  public:
    static constexpr size_t kSlots = 32;

    Wave* top(size_t slot) const { return tops_[slot]; }

    // A new wave on top; its memory comes from an emitted one where possible.
    Wave& push(size_t slot) {
        if (free_.empty()) free_.push_back(std::make_unique<Wave>());
        stacks_[slot].push_back(std::move(free_.back()));
        free_.pop_back();
        return *(tops_[slot] = stacks_[slot].back().get());
    }

    void pop(size_t slot) {
        free_.push_back(std::move(stacks_[slot].back()));
        stacks_[slot].pop_back();
        tops_[slot] = stacks_[slot].empty() ? nullptr : stacks_[slot].back().get();
    }

    // Calls visit(wave) for slot 0..31, bottom of the stack first, and frees each wave's memory after the call.
    template <class Visitor>
    void drain(Visitor&& visit) {
        free_.clear();
        for (size_t slot = 0; slot < kSlots; ++slot) {
            tops_[slot] = nullptr;
            for (std::unique_ptr<Wave>& wave : stacks_[slot]) {
                visit(*wave);
                wave.reset();
            }
            stacks_[slot].clear();
        }
    }

  private:
    std::array<Wave*, kSlots> tops_{};
    std::array<std::vector<std::unique_ptr<Wave>>, kSlots> stacks_;
    std::vector<std::unique_ptr<Wave>> free_;
};

}  // namespace wavewright::rdna
