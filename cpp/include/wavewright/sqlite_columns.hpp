// Columns that are read from an SQLite table: every value becomes one of the column's type, or null.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "wavewright/column.hpp"

namespace wavewright {

enum class SqliteType : uint8_t { integer = 0, real = 1, text = 2, dictionary = 3 };

// What a value can be in an SQLite file besides a blob; a blob fits no column.
using SqliteValue = std::variant<std::monostate, int64_t, double, std::string>;

// Texts, each once and numbered in the order in which they came.
class TextDictionary {
  public:
    uint32_t find_or_add(std::string_view text);
    std::string_view text(uint32_t number) const {
        const auto begin = static_cast<size_t>(ends_[number]);
        return {texts_.data() + begin, static_cast<size_t>(ends_[number + 1]) - begin};
    }
    size_t size() const { return ends_.empty() ? 0 : ends_.size() - 1; }
    const Column<int64_t>& ends() const { return ends_; }
    const Column<char>& texts() const { return texts_; }

  private:
    struct Slot {
        uint32_t hash = 0;
        uint32_t number = 0;  // from 1; 0 = free
    };
    void grow();

    Column<int64_t> ends_;  // a 0, then the end of every text
    Column<char> texts_;
    std::vector<Slot> slots_;
};

// Numbers become text and text becomes numbers where nothing is lost, as SQLite's affinities do; what does not fit is
// null and counted in `mixed_count`. Texts that are not UTF-8 get U+FFFD where they are not.
class SqliteColumn {
  public:
    // `stores_reals`: the column is declared as REAL, so that its integers stand for reals.
    SqliteColumn(SqliteType type, bool stores_reals) : type_(type), stores_reals_(stores_reals) {
        if (type == SqliteType::text) ends_.push_back(0);
    }

    void add(uint64_t serial, const uint8_t* at);
    void add(const SqliteValue& value);
    void add_integer(int64_t value);

    SqliteType type() const { return type_; }
    size_t size() const;
    // Bit per row, least significant first, of at least one byte: set where there is a value. Empty = no nulls.
    Column<uint8_t> validity() const;
    size_t null_count() const { return null_rows_.size(); }
    uint64_t mixed_count() const { return mixed_count_; }

    const Column<int64_t>& integers() const { return integers_; }
    const Column<double>& reals() const { return reals_; }
    const Column<uint32_t>& codes() const { return codes_; }
    const TextDictionary& dictionary() const { return dictionary_; }
    const Column<int64_t>& ends() const { return ends_; }
    const Column<char>& texts() const { return texts_; }

  private:
    void add_null();
    void add_misfit();
    void add_real(double value);
    void add_text(std::string_view bytes);
    void add_number_of(std::string_view text);
    void add_sound_text(std::string_view text);

    SqliteType type_;
    bool stores_reals_;
    uint64_t mixed_count_ = 0;
    Column<uint32_t> null_rows_;
    Column<int64_t> integers_;
    Column<double> reals_;
    Column<uint32_t> codes_;
    TextDictionary dictionary_;
    Column<int64_t> ends_;
    Column<char> texts_;
};

}  // namespace wavewright
