// Work that nobody waits for any more ends: who starts a long question says how to stop it.
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

// That of the question which this thread works on; null: it cannot be stopped. in_parallel() hands it on.
inline thread_local StopFlag current_stop;

// Looked at every so many steps of a loop.
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
