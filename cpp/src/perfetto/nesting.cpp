#include "perfetto/nesting.hpp"

namespace wavewright::pftrace {
namespace {

// The slices of one track that can still hold or end others. Of those with an end some may have passed; those that
// never got one are open.
class Stack {
  public:
    Stack(const std::vector<Event>& events, std::vector<Slice>& slices) : events_(events), slices_(slices) {}

    void put(uint32_t event) {
        const Event& first = events_[event];
        close_before(first.time_ns);
        const bool is_open = first.kind == Kind::begin;
        const int64_t end = is_open ? kNoNumber : wrapping_sum(first.time_ns, first.duration_ns);
        if (first.kind != Kind::instant) stack_.push_back(static_cast<uint32_t>(slices_.size()));
        if (is_open) ++open_count_;
        slices_.push_back({event, kNoEndEvent, end});
    }

    // False when nothing that is open has its name and category.
    bool end(uint32_t event) {
        const Event& last = events_[event];
        close_before(last.time_ns);
        if (open_count_ == 0) return false;
        size_t looked_at = 0;
        for (size_t at = stack_.size(); at-- > 0 && looked_at < kDeepest; ++looked_at) {
            Slice& slice = slices_[stack_[at]];
            const Event& begin = events_[slice.begin_event];
            if (slice.end_ns != kNoNumber || differ(last.category, begin.category) || differ(last.name, begin.name))
                continue;
            slice.end_ns = last.time_ns;
            slice.end_event = event;
            --open_count_;
            if (at + 1 == stack_.size()) stack_.pop_back();
            return true;
        }
        return false;
    }

  private:
    static constexpr size_t kDeepest = 4096;  // looked at for an end; deeper stacks are damage

    // Of names or categories; one that an event does not have (0) fits any.
    static bool differ(uint32_t a, uint32_t b) { return a != 0 && b != 0 && a != b; }

    // Times are untrusted input: they wrap instead of overflowing.
    static int64_t wrapping_sum(int64_t a, int64_t b) {
        return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    }

    void pop() {
        if (slices_[stack_.back()].end_ns == kNoNumber) --open_count_;
        stack_.pop_back();
    }

    // Takes away what ended before; what is open inside such a slice ends with it.
    void close_before(int64_t time) {
        size_t looked_at = 0;
        bool has_open = false;
        for (size_t at = stack_.size(); at-- > 0 && looked_at < kDeepest; ++looked_at) {
            const int64_t end = slices_[stack_[at]].end_ns;
            if (end == kNoNumber) {
                has_open = true;
                if (open_count_ == stack_.size()) return;  // nothing that ended is below
            } else if (has_open) {
                if (time <= end) continue;
                for (; stack_.size() > at + 1; pop()) slices_[stack_.back()].end_ns = ended(stack_.back(), end);
                pop();
                has_open = false;
            } else if (end <= time) {
                pop();
            }
        }
    }

    // What is still open gets the end; what ended keeps its own.
    int64_t ended(uint32_t slice, int64_t end) {
        if (slices_[slice].end_ns != kNoNumber) return slices_[slice].end_ns;
        --open_count_;
        return end;
    }

    const std::vector<Event>& events_;
    std::vector<Slice>& slices_;
    std::vector<uint32_t> stack_{};  // numbers of slices, the innermost last
    size_t open_count_ = 0;          // slices on the stack without an end
};

}  // namespace

void nest(const std::vector<Event>& events, std::span<const uint32_t> of_track, std::vector<Slice>& slices,
          uint64_t& lone_ends) {
    Stack stack(events, slices);
    for (const uint32_t event : of_track) {
        if (events[event].kind != Kind::end)
            stack.put(event);
        else if (!stack.end(event))
            ++lone_ends;
    }
}

}  // namespace wavewright::pftrace
