#include "gfx9_occupancy.hpp"

#include <algorithm>

namespace wavescope::gfx9 {

void Occupancy::flush() {
    const size_t unseen = unseen_starts_.size();
    if (unseen != 0) {
        for (size_t i = unseen; i-- > 0;) add(unseen_starts_[i], 0, true, {});
        table_.each_column([&](const char*, auto& column) {
            std::rotate(column.begin() + batch_begin_, column.end() - unseen, column.end());
        });
        unseen_starts_.clear();
    }
    for (size_t i = batch_begin_; i < table_.cu.size(); ++i) {
        if (table_.code_object[i] != 0) continue;
        const Pc entry = from_start_.translate(table_.address[i]);
        if (entry.object == 0) continue;
        table_.code_object[i] = entry.object;
        table_.address[i] = entry.address;
    }
    batch_begin_ = table_.cu.size();
}

}  // namespace wavescope::gfx9
