// The waiting room of the v1..v3 readers (spec_rdna 3.1). Their WAVE_READY is reported one cycle late, so tokens of the
// newest cycle wait until a later cycle begins: a WAVE_READY of the cycle before may still come, and goes first.
#pragma once

#include <cstdint>

#include "rdna/tokens.hpp"
#include "wavewright/column.hpp"

namespace wavewright::rdna {

enum class Step : uint8_t {
    quiet,      // nothing reached the sink
    delivered,  // something did
    stopped,    // and it said stop
};

// The reference keeps a double-ended queue. Its front insertions are handed out at once and everything else in it has
// the same time, so a list with one time does the same. Tokens of which only the time counts are not stored: what
// matters is whether one of them is first in line, because the first token handed out reports a packet loss.
template <class Sink>
class WaitingTokens {
  public:
    explicit WaitingTokens(Sink& sink) : sink_(sink) {}

    // `must_wait` is false when the token after this one is of a later cycle, which would end the wait at once.
    [[gnu::always_inline]] Step add(Token token, int64_t time, uint64_t contents, int64_t position, bool must_wait) {
        Step step = Step::quiet;
        if (waiting_ && time != time_) {
            if (time < time_) return sink_.deliver(token, time, contents, position) ? Step::delivered : Step::stopped;
            step = release();
            if (step == Step::stopped) return step;
        }
        if (!waiting_ && !must_wait) {
            return sink_.deliver(token, time, contents, position) ? Step::delivered : Step::stopped;
        }
        waiting_ = true;
        time_ = time;
        Waiting* last = tokens_.extend(1);
        last->contents = contents;
        last->position = position;
        last->token = token;
        return step;
    }

    // The same for a token that leaves no record and that WAVE_READY has nothing to do with: unless others wait in
    // front of it, it is handed out now, and only its place in the line is kept.
    [[gnu::always_inline]] Step add_silent(Token token, int64_t time, uint64_t contents, int64_t position,
                                           bool must_wait) {
        if (!tokens_.empty() || sink_.has_pending()) return add(token, time, contents, position, must_wait);
        const Step step = add_passing(time, must_wait);
        sink_.deliver(token, time, contents, position);
        return step;
    }

    // A token without a handler.
    [[gnu::always_inline]] Step add_passing(int64_t time, bool must_wait) {
        Step step = Step::quiet;
        if (waiting_ && time != time_) {
            if (time < time_) {
                sink_.pass(time);
                return Step::delivered;
            }
            step = release();
            if (step == Step::stopped) return step;
        }
        if (!waiting_ && !must_wait) {
            sink_.pass(time);
            return Step::delivered;
        }
        if (!waiting_) first_passes_ = true;
        waiting_ = passing_ = true;
        time_ = time;
        return step;
    }

    // Hands out everything that waits.
    [[gnu::noinline]] Step release() {
        if (!waiting_) return Step::quiet;
        if (first_passes_) sink_.pass(time_);
        bool goes_on = true;
        for (size_t i = 0; i < tokens_.size() && goes_on; ++i) {
            const Waiting& waiting = tokens_[i];
            goes_on = sink_.deliver(waiting.token, time_, waiting.contents, waiting.position);
        }
        if (passing_) sink_.pass(time_);
        tokens_.clear();
        waiting_ = passing_ = first_passes_ = false;
        return goes_on ? Step::delivered : Step::stopped;
    }

  private:
    struct Waiting {
        uint64_t contents;
        int64_t position;
        Token token;
    };

    Sink& sink_;
    Column<Waiting> tokens_;
    int64_t time_ = 0;           // of everything that waits
    bool waiting_ = false;       // there is something
    bool passing_ = false;       // a token without a handler is among it
    bool first_passes_ = false;  // and it came first
};

}  // namespace wavewright::rdna
