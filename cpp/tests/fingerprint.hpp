// What came out of a stream, apart from its losses, for comparison with another decode.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "wavewright/records.hpp"

namespace wavewright::testing {

enum class Difference { none, values, rows };

// Rows and a checksum of every column.
class Fingerprint {
  public:
    explicit Fingerprint(Records& records) {
        records.each_table([this](const char* name, auto& table) {
            if (std::string_view(name) == "losses") return;
            table.each_column([this](const char*, auto& column) {
                uint64_t sum = 14695981039346656037U;  // FNV-1a
                for (const auto value : column) sum = (sum ^ static_cast<uint64_t>(value)) * 1099511628211U;
                columns_.push_back({column.size(), sum});
            });
        });
    }

    Difference from(const Fingerprint& other) const {
        Difference found = Difference::none;
        for (size_t i = 0; i < columns_.size(); ++i) {
            if (columns_[i].rows != other.columns_[i].rows) return Difference::rows;
            if (columns_[i].sum != other.columns_[i].sum) found = Difference::values;
        }
        return found;
    }

  private:
    struct Column {
        size_t rows;
        uint64_t sum;
    };
    std::vector<Column> columns_;
};

}  // namespace wavewright::testing
