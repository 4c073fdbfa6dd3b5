// Sets of cycles as sorted disjoint intervals that answer "how many cycles of [a, b) are in the set?" fast.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wavewright {

class Coverage {
  public:
    // Adds the cycles [begin, end). Begins must not decrease.
    void add(int64_t begin, int64_t end) {
        if (end <= begin) return;
        if (opens(begin)) {
            open(begin, end);
        } else {
            end_ = std::max(end_, end);
        }
    }

    // As add(), but where the interval touches the last one its whole length is appended to it. This is how AMD's
    // viewer merges busy times.
    void add_length(int64_t begin, int64_t length) {
        if (length <= 0) return;
        if (opens(begin)) {
            open(begin, begin + length);
        } else {
            end_ += length;
        }
    }

    void clear() { pieces_.clear(); }

    size_t size() const { return pieces_.size(); }
    int64_t begin(size_t i) const { return pieces_[i].begin; }
    int64_t end(size_t i) const {
        return i + 1 == pieces_.size() ? end_ : pieces_[i].begin + (pieces_[i + 1].before - pieces_[i].before);
    }

    // How many cycles before `time` are in the set. `near` is where the last question was answered, at first 0: a
    // question about a time close to the last one costs little, any other a binary search.
    int64_t before(int64_t time, size_t& near) const {
        near = behind(time, near);
        if (near == 0) return 0;
        const size_t i = near - 1;
        return pieces_[i].before + (std::min(time, end(i)) - pieces_[i].begin);  // times may be near the largest
    }

  private:
    // An interval, and the cycles of the set before it. Ends follow from the next piece.
    struct Piece {
        int64_t begin;
        int64_t before;
    };

    bool opens(int64_t begin) const { return pieces_.empty() || begin > end_; }
    void open(int64_t begin, int64_t end) {
        const int64_t before = pieces_.empty() ? 0 : pieces_.back().before + (end_ - pieces_.back().begin);
        pieces_.push_back({begin, before});
        end_ = end;
    }

    // Number of intervals that begin before `time`, searched outward from `near`.
    size_t behind(int64_t time, size_t near) const {
        const bool is_behind_last = near == 0 || pieces_[near - 1].begin < time;
        if (is_behind_last && (near == pieces_.size() || pieces_[near].begin >= time)) return near;  // as mostly
        size_t low = near, high = near, step = 1;
        if (near < pieces_.size() && pieces_[near].begin < time) {
            while (high < pieces_.size() && pieces_[high].begin < time) {
                low = high + 1;
                high += step;
                step *= 2;
            }
            high = std::min(high, pieces_.size());
        } else {
            while (low > 0 && pieces_[low - 1].begin >= time) {
                high = low - 1;
                low = low > step ? low - step : 0;
                step *= 2;
            }
        }
        const auto first = pieces_.begin() + static_cast<std::ptrdiff_t>(low);
        const auto last = pieces_.begin() + static_cast<std::ptrdiff_t>(high);
        const auto found = std::partition_point(first, last, [&](const Piece& piece) { return piece.begin < time; });
        return static_cast<size_t>(found - pieces_.begin());
    }

    std::vector<Piece> pieces_;
    int64_t end_ = 0;  // of the last interval
};

// Makes `all` the union of two other sets.
inline void unite(const Coverage& a, const Coverage& b, Coverage& all) {
    all.clear();
    for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
        const bool from_a = j == b.size() || (i < a.size() && a.begin(i) <= b.begin(j));
        const Coverage& source = from_a ? a : b;
        size_t& at = from_a ? i : j;
        all.add(source.begin(at), source.end(at));
        ++at;
    }
}

}  // namespace wavewright
