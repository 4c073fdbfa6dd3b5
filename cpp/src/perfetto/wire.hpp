// Fields of messages in the wire format of Protocol Buffers, read in place. Damage ends a message and is counted by
// whoever reads it; nothing is trusted, nothing is copied.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace wavewright::pftrace {

using Text = std::string_view;  // bytes of the file, of a message or of a text

enum class Wire : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
    uint32_t number = 0;
    Wire wire = Wire::varint;
    uint64_t value = 0;  // of numbers; of bytes their count
    Text bytes{};

    int64_t integer() const { return static_cast<int64_t>(value); }
    double fraction() const {
        return wire == Wire::fixed64   ? std::bit_cast<double>(value)
               : wire == Wire::fixed32 ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(value)))
                                       : static_cast<double>(integer());
    }
    bool is_bytes() const { return wire == Wire::bytes; }
};

// Goes through the fields of a message: `while (fields.next())`.
class Fields {
  public:
    explicit Fields(Text message) : at_(message.data()), end_(message.data() + message.size()) {}

    bool next() {
        if (at_ == end_ || is_damaged_) return false;
        begin_ = at_;
        uint64_t key = 0;
        if (!varint(key) || (key >> 3) == 0 || key >> 3 > 0x1FFFFFFF) return damaged();
        field.number = static_cast<uint32_t>(key >> 3);
        field.wire = static_cast<Wire>(key & 7);
        field.bytes = {};
        switch (field.wire) {
            case Wire::varint: return varint(field.value) || damaged();
            case Wire::fixed64: return fixed(8) || damaged();
            case Wire::fixed32: return fixed(4) || damaged();
            case Wire::bytes:
                if (!varint(field.value) || field.value > static_cast<uint64_t>(end_ - at_)) return damaged();
                field.bytes = {at_, static_cast<size_t>(field.value)};
                at_ += field.value;
                return true;
        }
        return damaged();
    }

    bool is_damaged() const { return is_damaged_; }
    // What is left from the beginning of the field that could not be read.
    size_t left() const { return static_cast<size_t>(end_ - begin_); }

    size_t rest() const { return static_cast<size_t>(end_ - at_); }

    Field field;

  private:
    bool damaged() {
        is_damaged_ = true;
        return false;
    }

    bool varint(uint64_t& value) {
        value = 0;
        for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
            const auto byte = static_cast<uint8_t>(*at_++);
            value |= static_cast<uint64_t>(byte & 0x7F) << shift;
            if (byte < 0x80) return true;
        }
        return false;
    }

    bool fixed(size_t size) {
        if (static_cast<size_t>(end_ - at_) < size) return false;
        field.value = 0;
        for (size_t i = 0; i < size; ++i) field.value |= static_cast<uint64_t>(static_cast<uint8_t>(at_[i])) << 8 * i;
        at_ += size;
        return true;
    }

    const char* at_;
    const char* end_;
    const char* begin_ = at_;
    bool is_damaged_ = false;
};

// The numbers of a repeated field: one, or many that are packed. False when packed ones are damaged.
template <class Take>
bool each_number(const Field& field, Take&& take) {
    if (!field.is_bytes()) {
        take(field.value);
        return true;
    }
    uint64_t value = 0;
    unsigned shift = 0;
    for (const char byte : field.bytes) {
        if (shift > 63) return false;
        value |= static_cast<uint64_t>(static_cast<uint8_t>(byte) & 0x7F) << shift;
        shift += 7;
        if (static_cast<uint8_t>(byte) < 0x80) {
            take(value);
            value = 0;
            shift = 0;
        }
    }
    return shift == 0;
}

}  // namespace wavewright::pftrace
