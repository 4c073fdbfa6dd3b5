// What passes over all executed instructions have in common: the columns they read, and sums that cannot overflow.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>

namespace wavewright {

// Columns of the instructions table, all of the same length. The instructions of a wave are in the order of execution;
// those of different waves may be mixed.
struct Executed {
    std::span<const uint32_t> wave;
    std::span<const int64_t> time;
    std::span<const int32_t> stall;
    std::span<const int32_t> duration;
    std::span<const int32_t> row;
    std::span<const uint8_t> category = {};  // empty = nobody asks for it
};

// Of an s_barrier of gfx9 a trace has two records: the arrival, a message, and the release (spec_gfx9 6.5). They are
// one execution. Feed the records of one wave in order.
class ExecutionCounter {
  public:
    // Whether the record is an execution of its own.
    bool counts(int32_t row, uint8_t category) {
        const bool is_release = row >= 0 && row == arrival_ && category != kMessage;
        arrival_ = category == kMessage ? row : -1;
        return !is_release;
    }

  private:
    static constexpr uint8_t kMessage = 11;  // Category::message
    int32_t arrival_ = -1;
};

// Times of foreign files can be anything: sums stop at the ends of the type instead of wrapping around.
inline int64_t add(int64_t a, int64_t b) {
    int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

inline int64_t subtract(int64_t a, int64_t b) {
    int64_t difference = 0;
    if (!__builtin_sub_overflow(a, b, &difference)) return difference;
    return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

// Something for every wave by its number; asking for the same wave again costs a comparison.
template <class State>
class PerWave {
  public:
    // The state of a wave; a default one when it was never asked for.
    State& of(uint32_t wave) {
        if (last_ == nullptr || wave != last_wave_) {
            last_ = &states_[wave];
            last_wave_ = wave;
        }
        return *last_;
    }

  private:
    std::unordered_map<uint32_t, State> states_;  // its values stay where they are
    uint32_t last_wave_ = 0;
    State* last_ = nullptr;
};

}  // namespace wavewright
