#include "gfx9/occupancy.hpp"

#include <algorithm>

namespace wavewright::gfx9 {

void Occupancy::flush() {
    const size_t unseen = unseen_starts_.size();
    if (unseen != 0) {
        for (size_t i = unseen; i-- > 0;) add(unseen_starts_[i], 0, true, {});
        table_.each_column([&](const char*, auto& column) {
            std::rotate(column.begin() + batch_begin_, column.end() - unseen, column.end());
        });
        unseen_starts_.clear();
    }
    name_late_objects(table_, batch_begin_, table_.cu.size(), from_start_);
    batch_begin_ = table_.cu.size();
}

}  // namespace wavewright::gfx9
