// The text of one instruction while it is written.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace wavewright::isa {

// Holds the longest instruction several times over; what would not fit is dropped.
class Text {
  public:
    void clear() { size_ = 0; }
    std::string_view view() const { return {data_, size_}; }

    Text& operator<<(std::string_view text) {
        if (text.size() <= sizeof data_ - size_) {
            size_ += text.copy(data_ + size_, text.size());
        }
        return *this;
    }
    Text& operator<<(char letter) {
        if (size_ < sizeof data_) data_[size_++] = letter;
        return *this;
    }
    Text& operator<<(int64_t number) {
        return number >= 0 && number < 1000 ? put_small(static_cast<unsigned>(number)) : put(number, 10);
    }
    Text& operator<<(unsigned number) { return number < 1000 ? put_small(number) : put(number, 10); }

    Text& hex(uint64_t number) {
        *this << std::string_view("0x");
        return put(number, 16);
    }
    Text& signed_hex(int64_t number) {
        if (number >= 0) return hex(static_cast<uint64_t>(number));
        *this << '-';
        return hex(uint64_t{0} - static_cast<uint64_t>(number));
    }

    // Takes back what was written behind `size`, or an end.
    size_t size() const { return size_; }
    void cut(size_t size) { size_ = size < size_ ? size : size_; }
    bool ends_with(std::string_view end) const { return view().ends_with(end); }
    std::string_view from(size_t begin) const { return view().substr(begin); }

    // Appends to `all`, words with one blank between them.
    void append_to(std::string& all) const {
        const size_t begin = all.size();
        const char* at = data_;
        for (const char* const end = data_ + size_; at != end;) {
            const void* blank = std::memchr(at, ' ', static_cast<size_t>(end - at));
            const char* word_end = blank == nullptr ? end : static_cast<const char*>(blank);
            if (word_end != at) {
                if (all.size() != begin) all += ' ';
                all.append(at, word_end);
            }
            at = word_end == end ? end : word_end + 1;
        }
    }

  private:
    // Register numbers, which most numbers are.
    Text& put_small(unsigned number) {
        if (sizeof data_ - size_ < 3) return *this;
        if (number >= 100) data_[size_++] = static_cast<char>('0' + number / 100);
        if (number >= 10) data_[size_++] = static_cast<char>('0' + number / 10 % 10);
        data_[size_++] = static_cast<char>('0' + number % 10);
        return *this;
    }

    template <class Number>
    Text& put(Number number, int base) {
        const auto [end, error] = std::to_chars(data_ + size_, data_ + sizeof data_, number, base);
        if (error == std::errc()) size_ = static_cast<size_t>(end - data_);
        return *this;
    }

    char data_[1024];
    size_t size_ = 0;
};

}  // namespace wavewright::isa
