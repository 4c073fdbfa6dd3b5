// Which waves run where on the whole shader engine, and the list of their starts and ends (spec_rdna 8 and 14.2).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "registers.hpp"
#include "wavescope/records.hpp"

namespace wavescope::rdna {

// Where a wave sits: CU byte (bit 7 = shader array, bits 0..6 = WGP), SIMD and slot.
struct Location {
    uint8_t cu, simd, slot;
    uint32_t in_cu() const { return uint32_t{simd} << 5 | slot; }
    uint32_t key() const { return uint32_t{cu} << 7 | in_cu(); }
};

// Kernel entries of running waves by location; a CU costs memory once it is seen.
class RunningWaves {
  public:
    void set(Location at, Pc entry) {
        std::unique_ptr<Cu>& cu = cus_[at.cu];
        if (!cu) cu = std::make_unique<Cu>();
        (*cu)[at.in_cu()] = entry;
    }
    const Pc* find(Location at) const {
        const std::unique_ptr<Cu>& cu = cus_[at.cu];
        return cu && (*cu)[at.in_cu()] ? &*(*cu)[at.in_cu()] : nullptr;
    }
    std::optional<Pc> take(Location at) {
        if (!cus_[at.cu]) return std::nullopt;
        return std::exchange((*cus_[at.cu])[at.in_cu()], std::nullopt);
    }

  private:
    using Cu = std::array<std::optional<Pc>, 4 * 32>;
    std::array<std::unique_ptr<Cu>, 256> cus_;
};

// Fields of an occupancy row that only starts and context saves have.
struct Launch {
    uint8_t me = 0, pipe = 0, is_ext = 0, workgroup = 0, cluster = 0;
};

class OccupancyLog {
  public:
    static constexpr size_t kBatch = 65536;  // with a double-buffered capture the list leaves in batches of this size

    explicit OccupancyLog(OccupancyTable& table) : table_(table) {}

    void add(int64_t time, Location at, bool start, const Launch& launch, Pc pc) {
        table_.add(time, at.cu, at.simd, at.slot, start, launch.me, launch.pipe, launch.is_ext, launch.workgroup,
                   launch.cluster, pc.object, pc.address);
    }
    // The start of a wave that began before the trace: at time 0 and in front of everything pending.
    void add_missing_start(Location at) { missing_.push_back(at); }

    size_t pending() const { return table_.time_cycles.size() - flushed_ + missing_.size(); }

    // Finishes the pending rows: missing starts go to the front, the newest first, and code objects that were
    // reported after their first wave are filled in.
    void flush(const AddressRanges& from_start) {
        if (!missing_.empty()) insert_missing();
        const size_t rows = table_.time_cycles.size();
        for (size_t row = flushed_; row < rows; ++row) {
            if (table_.code_object[row] != 0) continue;
            const Pc pc = from_start.translate(table_.address[row]);
            if (pc.object == 0) continue;
            table_.code_object[row] = pc.object;
            table_.address[row] = pc.address;
        }
        flushed_ = rows;
    }

  private:
    void insert_missing() {
        const size_t added = missing_.size(), moved = table_.time_cycles.size() - flushed_;
        table_.each_column([&](const char*, auto& column) {
            column.extend(added);
            auto* front = column.data() + flushed_;
            std::memmove(front + added, front, moved * sizeof(*front));
            std::memset(front, 0, added * sizeof(*front));
        });
        for (size_t i = 0; i < added; ++i) {
            const Location& at = missing_[added - 1 - i];
            table_.cu[flushed_ + i] = at.cu;
            table_.simd[flushed_ + i] = at.simd;
            table_.slot[flushed_ + i] = at.slot;
            table_.start[flushed_ + i] = 1;
        }
        missing_.clear();
    }

    OccupancyTable& table_;
    size_t flushed_ = 0;
    std::vector<Location> missing_;
};

}  // namespace wavescope::rdna
