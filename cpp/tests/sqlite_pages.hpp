// SQLite database files made page by page, sound ones and others.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace wavewright::testing {

using Bytes = std::vector<uint8_t>;

void put_varint(Bytes& bytes, uint64_t value);

struct Blob {
    std::string bytes;
};
using StoredValue = std::variant<std::nullptr_t, int64_t, double, std::string, Blob>;

Bytes record(std::initializer_list<StoredValue> fields);

struct Row {
    int64_t id;
    Bytes record;
};

class SqlitePages {
  public:
    // The header, and a schema without tables on page 1.
    explicit SqlitePages(uint32_t page_size = 512, uint8_t reserved = 0);

    // Each adds a page at the end, and what its rows need behind it, and says its number.
    uint32_t leaf(const std::vector<Row>& rows);
    uint32_t interior(const std::vector<uint32_t>& children);

    uint8_t* page(uint32_t number) { return bytes_.data() + size_t{number - 1} * page_size_; }
    const Bytes& bytes() const { return bytes_; }
    Bytes& bytes() { return bytes_; }

  private:
    uint32_t add_page();
    Bytes cell(const Row& row);

    uint32_t page_size_, usable_;
    Bytes bytes_;
};

}  // namespace wavewright::testing
