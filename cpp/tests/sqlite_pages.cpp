#include "sqlite_pages.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace wavewright::testing {
namespace {

void put_big_endian(uint8_t* at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) at[i] = static_cast<uint8_t>(value >> 8 * (bytes - 1 - i));
}

void put_big_endian(Bytes& bytes, uint64_t value, int count) {
    bytes.resize(bytes.size() + static_cast<size_t>(count));
    put_big_endian(bytes.data() + bytes.size() - count, value, count);
}

void put_field(const StoredValue& field, Bytes& header, Bytes& body) {
    if (const auto* integer = std::get_if<int64_t>(&field)) {
        if (*integer == 0 || *integer == 1) return put_varint(header, static_cast<uint64_t>(8 + *integer));
        constexpr int kSizes[] = {1, 2, 3, 4, 6, 8};
        int type = 0;
        while (type < 5 && (*integer << (64 - 8 * kSizes[type]) >> (64 - 8 * kSizes[type])) != *integer) ++type;
        put_varint(header, static_cast<uint64_t>(type + 1));
        put_big_endian(body, static_cast<uint64_t>(*integer), kSizes[type]);
    } else if (const auto* real = std::get_if<double>(&field)) {
        put_varint(header, 7);
        put_big_endian(body, std::bit_cast<uint64_t>(*real), 8);
    } else if (std::holds_alternative<std::nullptr_t>(field)) {
        put_varint(header, 0);
    } else {
        const auto* text = std::get_if<std::string>(&field);
        const std::string& bytes = text != nullptr ? *text : std::get<Blob>(field).bytes;
        put_varint(header, 12 + 2 * bytes.size() + (text != nullptr ? 1 : 0));
        body.insert(body.end(), bytes.begin(), bytes.end());
    }
}

}  // namespace

void put_varint(Bytes& bytes, uint64_t value) {
    if (value >> 56 != 0) {
        for (int i = 7; i >= 0; --i) bytes.push_back(static_cast<uint8_t>(0x80 | value >> (8 + 7 * i)));
        bytes.push_back(static_cast<uint8_t>(value));
        return;
    }
    int groups = 1;
    while (value >> 7 * groups != 0) ++groups;
    for (int i = groups - 1; i >= 0; --i)
        bytes.push_back(static_cast<uint8_t>((value >> 7 * i & 0x7F) | (i > 0 ? 0x80 : 0)));
}

Bytes record(std::initializer_list<StoredValue> fields) {
    Bytes header, body, made;
    for (const StoredValue& field : fields) put_field(field, header, body);
    put_varint(made, header.size() + (header.size() + 1 < 0x80 ? 1 : 2));
    made.insert(made.end(), header.begin(), header.end());
    made.insert(made.end(), body.begin(), body.end());
    return made;
}

SqlitePages::SqlitePages(uint32_t page_size, uint8_t reserved) : page_size_(page_size), usable_(page_size - reserved) {
    uint8_t* header = page(add_page());
    std::memcpy(header, "SQLite format 3", 16);
    put_big_endian(header + 16, page_size == 65536 ? 1 : page_size, 2);
    header[18] = header[19] = 1;
    header[20] = reserved;
    header[21] = 64;
    header[22] = header[23] = 32;
    header[47] = 4;
    header[59] = 1;
    header[100] = 13;
    put_big_endian(header + 105, usable_ == 65536 ? 0 : usable_, 2);
}

uint32_t SqlitePages::add_page() {
    bytes_.resize(bytes_.size() + page_size_);
    return static_cast<uint32_t>(bytes_.size() / page_size_);
}

Bytes SqlitePages::cell(const Row& row) {
    Bytes made;
    put_varint(made, row.record.size());
    put_varint(made, static_cast<uint64_t>(row.id));
    size_t local = row.record.size();
    const size_t most = usable_ - 35, least = (usable_ - 12) * 32 / 255 - 23;
    if (local > most) {
        local = least + (row.record.size() - least) % (usable_ - 4);
        if (local > most) local = least;
    }
    made.insert(made.end(), row.record.begin(), row.record.begin() + static_cast<ptrdiff_t>(local));
    if (local == row.record.size()) return made;
    put_big_endian(made, bytes_.size() / page_size_ + 1, 4);
    for (size_t at = local; at < row.record.size();) {
        const size_t taken = std::min<size_t>(usable_ - 4, row.record.size() - at);
        const uint32_t number = add_page();
        std::memcpy(page(number) + 4, row.record.data() + at, taken);
        at += taken;
        put_big_endian(page(number), at < row.record.size() ? number + 1 : 0, 4);
    }
    return made;
}

uint32_t SqlitePages::leaf(const std::vector<Row>& rows) {
    const uint32_t number = add_page();
    uint32_t end = usable_, index = 0;
    for (const Row& row : rows) {
        const Bytes made = cell(row);
        end -= static_cast<uint32_t>(made.size());
        std::memcpy(page(number) + end, made.data(), made.size());
        put_big_endian(page(number) + 8 + 2 * index++, end, 2);
    }
    page(number)[0] = 13;
    put_big_endian(page(number) + 3, rows.size(), 2);
    put_big_endian(page(number) + 5, end == 65536 ? 0 : end, 2);
    return number;
}

uint32_t SqlitePages::interior(const std::vector<uint32_t>& children) {
    const uint32_t number = add_page();
    uint8_t* made = page(number);
    uint32_t end = usable_;
    for (size_t i = 0; i + 1 < children.size(); ++i) {
        end -= 5;
        put_big_endian(made + end, children[i], 4);
        made[end + 4] = static_cast<uint8_t>(i & 0x7F);
        put_big_endian(made + 12 + 2 * i, end, 2);
    }
    made[0] = 5;
    put_big_endian(made + 3, children.size() - 1, 2);
    put_big_endian(made + 5, end, 2);
    put_big_endian(made + 8, children.back(), 4);
    return number;
}

}  // namespace wavewright::testing
