#include "waves/wave_json_file.hpp"

#include <limits>

#include "base/json_row.hpp"
#include "wavewright/timeline.hpp"

namespace wavewright {
namespace {

constexpr size_t kLeastRowBytes = std::string_view("[0,0,0,0,0],").size();
constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max(), kInt32Min = std::numeric_limits<int32_t>::min();

bool is_int32(int64_t value) {
    return value >= kInt32Min && value <= kInt32Max;
}

// Walks through the JSON of one file, in one pass and in any order of keys. Methods return whether the text can be read
// on; the reason of a `false` is in the cursor or in `problem_`.
class WaveParser {
  public:
    WaveParser(std::string_view text, const LineRows& lines, WaveRows& rows, WaveHead& head, RowProblems& problems)
        : size_(text.size()), cursor_(text.data()), lines_(lines), rows_(rows), head_(head), problems_(problems) {}

    bool run(FileFault& fault) {
        const bool parsed =
            cursor_.object([&](std::string_view key) { return key == "wave" ? wave() : cursor_.skip(); });
        if (parsed && cursor_.at_end(size_) && complete()) {
            count_impossible();
            return true;
        }
        fault = {problem(), cursor_.offset()};
        return false;
    }

  private:
    // Whether what was read is a wave.
    bool complete() {
        if (!has_wave_ || !has_begin_ || !has_end_)
            problem_ = WaveProblem::no_wave;
        else if (head_.end < head_.begin)
            problem_ = WaveProblem::backwards;
        else
            return true;
        return false;
    }

    WaveProblem problem() const {
        switch (cursor_.fault()) {
            case JsonFault::syntax: return WaveProblem::syntax;
            case JsonFault::too_deep: return WaveProblem::too_deep;
            case JsonFault::number: return WaveProblem::bad_number;
            case JsonFault::none: break;
        }
        return problem_;
    }

    bool wave() {
        forget();
        if (cursor_.take_null()) return true;
        has_wave_ = true;
        return cursor_.object([&](std::string_view key) { return member(key); });
    }

    // Of a key that occurs twice the last one counts, as in other JSON readers.
    void forget() {
        head_ = {.file = head_.file,
                 .se = head_.se,
                 .block = head_.block,
                 .first_instruction = head_.first_instruction,
                 .first_state = head_.first_state};
        problems_ = {};
        has_wave_ = has_begin_ = has_end_ = false;
        rows_.each_instruction_column([&](auto& column) { column.truncate(head_.first_instruction); });
        rows_.each_state_column([&](auto& column) { column.truncate(head_.first_state); });
    }

    bool member(std::string_view key) {
        if (key == "instructions") return instructions();
        if (key == "timeline") return timeline();
        if (key == "begin") return integer(head_.begin, has_begin_);
        if (key == "end") return integer(head_.end, has_end_);
        if (key == "id") return integer(head_.id, ignored_);
        if (key == "cu") return small(head_.cu);
        if (key == "simd") return small(head_.simd);
        if (key == "slot") return small(head_.slot);
        if (key == "me_id") return small(head_.me);
        if (key == "pipe_id") return small(head_.pipe);
        if (key == "workgroup_id") return small(head_.workgroup);
        if (key == "cluster_id") return small(head_.cluster);
        if (key == "dispatcher") return dispatcher();
        return cursor_.skip();
    }

    // A null means the same as a missing key.
    bool integer(int64_t& value, bool& has_it) {
        if (cursor_.take_null()) return true;
        bool fits = false;
        if (!cursor_.number(value, fits))
            return cursor_.fail(*cursor_.at() == '\0' ? JsonFault::syntax : JsonFault::number);
        if (!fits) return cursor_.fail(JsonFault::number);
        has_it = true;
        return true;
    }

    // -1 is how some writers say that they do not know.
    bool small(int32_t& value) {
        int64_t wide = value;
        if (!integer(wide, ignored_) || wide < -1 || wide > UINT8_MAX) return cursor_.fail(JsonFault::number);
        value = static_cast<int32_t>(wide);
        return true;
    }

    // ME in bits 4 to 6 and pipe in bits 0 to 3 (spec_ui_output 5.1); the keys of their own count more.
    bool dispatcher() {
        int64_t both = -1;
        if (!integer(both, ignored_)) return false;
        if (both < 0) return true;
        if (head_.me < 0) head_.me = static_cast<int32_t>(both >> 4 & 7);
        if (head_.pipe < 0) head_.pipe = static_cast<int32_t>(both & 15);
        return true;
    }

    // Room for as many instructions as the text can hold, so that adding one needs no test. Those of an earlier key of
    // the same name are forgotten.
    void begin_instructions() {
        const size_t most = size_ / kLeastRowBytes + 1;
        rows_.each_instruction_column([&](auto& column) {
            column.truncate(head_.first_instruction);
            column.extend(most);
        });
        head_.instruction_count = 0;
        problems_.no_pc = problems_.unknown_lines = 0;
    }

    void end_instructions() {
        const size_t end = head_.first_instruction + head_.instruction_count;
        rows_.each_instruction_column([&](auto& column) { column.truncate(end); });
    }

    // Counts a row that begins at `start` and cannot be used. The byte offset of the first one is told.
    void count_malformed(const char* start) {
        if (problems_.malformed++ != 0) return;
        const char* const here = cursor_.at();
        cursor_.go_to(start);
        problems_.malformed_at = cursor_.offset();
        cursor_.go_to(here);
    }

    // Rows of time, category, stall, duration and line of code. Nearly all are written without spaces: those are read
    // at once, others by the general reader.
    bool instructions() {
        begin_instructions();
        if (cursor_.take_null()) {
            end_instructions();
            return true;
        }
        const bool is_readable = cursor_.array([&] {
            std::array<int64_t, 5> numbers{};
            cursor_.skip_space();
            const char* const start = cursor_.at();
            if (const char* end = read_compact_row(start, numbers)) {
                cursor_.go_to(end);
                add_instruction(numbers, start);
                return true;
            }
            JsonRow row;
            if (!read_row(cursor_, numbers, row)) return false;
            if (row.is_good && row.width >= numbers.size()) {
                add_instruction(numbers, start);
            } else {
                count_malformed(start);
            }
            return true;
        });
        end_instructions();
        return is_readable;
    }

    void add_instruction(const std::array<int64_t, 5>& numbers, const char* start) {
        const auto [time, category, stall, duration, line] = numbers;
        const bool fits = is_int32(stall) && is_int32(duration) && category >= 0 && category <= UINT8_MAX;
        if (!fits || head_.instruction_count == UINT32_MAX) {
            count_malformed(start);
            return;
        }
        const int32_t row = lines_.row_of(line);
        if (row < 0) ++(line == 0 ? problems_.no_pc : problems_.unknown_lines);  // line 0: the writer knew no PC
        const size_t at = head_.first_instruction + head_.instruction_count++;
        rows_.time[at] = time;
        rows_.stall[at] = static_cast<int32_t>(stall);
        rows_.duration[at] = static_cast<int32_t>(duration);
        rows_.category[at] = static_cast<uint8_t>(category);
        rows_.row[at] = row;
    }

    // Rows of state and duration. They follow each other in time, so that after one that cannot be read the others have
    // no known time: they are left out.
    bool timeline() {
        rows_.each_state_column([&](auto& column) { column.truncate(head_.first_state); });
        head_.state_count = 0;
        if (cursor_.take_null()) return true;
        bool is_whole = true;
        return cursor_.array([&] {
            std::array<int64_t, 2> run{};
            cursor_.skip_space();
            const char* const start = cursor_.at();
            JsonRow row{.width = run.size()};
            if (const char* end = read_compact_row(start, run)) {
                cursor_.go_to(end);
            } else if (!read_row(cursor_, run, row)) {
                return false;
            }
            const auto [state, duration] = run;
            is_whole = is_whole && row.is_good && row.width >= run.size() && state >= 0 && state <= UINT8_MAX &&
                       duration >= 0 && duration <= kInt32Max && head_.state_count < UINT32_MAX;
            if (is_whole) {
                rows_.state.push_back(static_cast<uint8_t>(state));
                rows_.state_duration.push_back(static_cast<int32_t>(duration));
                ++head_.state_count;
            } else {
                count_malformed(start);
            }
            return true;
        });
    }

    // Counts instructions with impossible times, once all is read: `begin` may come after the instructions.
    void count_impossible() {
        const size_t first = head_.first_instruction, end = first + head_.instruction_count;
        const int64_t* const times = rows_.time.data();
        const int32_t* const stalls = rows_.stall.data();
        const int32_t* const durations = rows_.duration.data();
        int64_t before = head_.begin;
        uint64_t count = 0;
        for (size_t i = first; i < end; ++i) {
            count += (times[i] < before) | (stalls[i] < 0) | (stalls[i] > durations[i]) |
                     (times[i] < -kFarthestCycles) | (times[i] > kFarthestCycles);
            before = times[i];
        }
        problems_.impossible = count;
    }

    size_t size_;
    JsonCursor cursor_;
    const LineRows& lines_;
    WaveRows& rows_;
    WaveHead& head_;
    RowProblems& problems_;
    WaveProblem problem_ = WaveProblem::no_wave;
    bool has_wave_ = false, has_begin_ = false, has_end_ = false, ignored_ = false;
};

}  // namespace

bool parse_wave(std::string_view text, const LineRows& lines, WaveRows& rows, WaveHead& head, RowProblems& problems,
                FileFault& fault) {
    head.first_instruction = rows.time.size();
    head.first_state = rows.state.size();
    if (WaveParser(text, lines, rows, head, problems).run(fault)) return true;
    rows.each_instruction_column([&](auto& column) { column.truncate(head.first_instruction); });
    rows.each_state_column([&](auto& column) { column.truncate(head.first_state); });
    return false;
}

}  // namespace wavewright
