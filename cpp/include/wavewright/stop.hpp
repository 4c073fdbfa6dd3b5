// Stops long computations that nobody waits for any more: a flag per question, which loops look at.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>

namespace wavewright {

class Stopped : public std::exception {
  public:
    const char* what() const noexcept override { return "stopped: nobody waits for the answer"; }
};

using StopFlag = std::shared_ptr<std::atomic<bool>>;

// The flag of the question that this thread works on; null = it cannot be stopped. in_parallel() passes it to its
// threads.
inline thread_local StopFlag current_stop;

// Throws Stopped out of a loop; looks at the flag every 65,536 steps.
class StopCheck {
  public:
    void step() {
        if ((++steps_ & 0xFFFF) == 0 && flag_ != nullptr && flag_->load(std::memory_order_relaxed)) throw Stopped();
    }

  private:
    uint32_t steps_ = 0;
    StopFlag flag_ = current_stop;
};

}  // namespace wavewright
