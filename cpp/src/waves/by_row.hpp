// Sums per code row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace wavewright {

// Something for every code row: an array for the rows of the code table, a tree for those beyond it, which only
// foreign files have.
template <class Sums>
class ByRow {
  public:
    explicit ByRow(size_t row_count) : listed_(row_count) {}

    // `row` is not negative.
    Sums& of(int32_t row) {
        const auto at = static_cast<size_t>(row);
        return at < listed_.size() ? listed_[at] : beyond_[row];
    }

    // visit(row, sums) in the order of rows, also for rows never asked for.
    template <class Visitor>
    void each(Visitor&& visit) const {
        for (size_t row = 0; row < listed_.size(); ++row) visit(static_cast<int32_t>(row), listed_[row]);
        for (const auto& [row, sums] : beyond_) visit(row, sums);
    }

  private:
    std::vector<Sums> listed_;
    std::map<int32_t, Sums> beyond_;
};

}  // namespace wavewright
