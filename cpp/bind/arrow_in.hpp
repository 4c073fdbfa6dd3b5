// Columns of Python objects as spans, through the Arrow PyCapsule stream interface.
#pragma once

#include <nanobind/nanobind.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrow.hpp"

namespace wavewright::bind {

// One chunk of a column; gives it back to its producer.
class ArrowChunk {
  public:
    explicit ArrowChunk(const ArrowArray& array) : array_(array) {}
    ArrowChunk(ArrowChunk&& other) noexcept : array_(std::exchange(other.array_, ArrowArray{})) {}
    ArrowChunk& operator=(ArrowChunk&&) = delete;
    ~ArrowChunk() {
        if (array_.release != nullptr) array_.release(&array_);
    }

    const ArrowArray& operator*() const { return array_; }

    template <class T>
    std::span<const T> values() const {
        return {static_cast<const T*>(array_.buffers[1]) + array_.offset, static_cast<size_t>(array_.length)};
    }

  private:
    ArrowArray array_;
};

// The chunks of a column of fixed-width values of one Arrow format. Throws TypeError when the object is not such a
// column, ValueError when it has nulls and must not.
std::vector<ArrowChunk> chunks_of(nanobind::handle column, const char* format, bool may_have_nulls = false);

std::vector<uint8_t> known_rows(const std::vector<ArrowChunk>& chunks);

// One column as one span: a single chunk is used where it lies, several are copied together.
template <class T>
class ArrowInput {
  public:
    explicit ArrowInput(nanobind::handle column, bool may_have_nulls = false)
        : chunks_(chunks_of(column, arrow_format<T>(), may_have_nulls)) {
        if (chunks_.size() == 1) values_ = chunks_.front().template values<T>();
        if (chunks_.size() < 2) return;
        for (const ArrowChunk& chunk : chunks_) {
            const std::span<const T> part = chunk.template values<T>();
            joined_.insert(joined_.end(), part.begin(), part.end());
        }
        values_ = joined_;
    }
    ArrowInput(const ArrowInput&) = delete;
    ArrowInput& operator=(const ArrowInput&) = delete;

    std::span<const T> values() const { return values_; }

    // A byte per row: whether it has a value; empty = all have.
    std::vector<uint8_t> known() const { return known_rows(chunks_); }

  private:
    std::vector<ArrowChunk> chunks_;
    std::vector<T> joined_;
    std::span<const T> values_;
};

// A column of a dict of columns; ValueError when there is none of that name.
template <class T>
ArrowInput<T> column(const nanobind::dict& columns, const char* name) {
    if (!columns.contains(name)) throw nanobind::value_error((std::string("no column ") + name).c_str());
    return ArrowInput<T>(nanobind::borrow(columns[name]));
}

}  // namespace wavewright::bind
