// Which waves run where on the whole shader engine, and the list of their starts and ends (spec_rdna 8 and 14.2).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "decode/registers.hpp"
#include "wavewright/records.hpp"

namespace wavewright::rdna {

// Where a wave sits: CU byte (bit 7 = shader array, bits 0..6 = WGP), SIMD and slot.
struct Location {
    uint8_t cu, simd, slot;
    uint32_t in_cu() const { return uint32_t{simd} << 5 | slot; }
    uint32_t key() const { return uint32_t{cu} << 7 | in_cu(); }
    static Location of(uint32_t key) {
        return {static_cast<uint8_t>(key >> 7), static_cast<uint8_t>(key >> 5 & 3), static_cast<uint8_t>(key & 31)};
    }
};

// Kernel entries of running waves by location; a CU costs memory once it is seen. Many waves share an entry, so they
// hold its number.
class RunningWaves {
  public:
    void set(Location at, Pc entry) {
        if (entries_.empty() || entries_.back() != entry) entries_.push_back(entry);
        std::unique_ptr<Cu>& cu = cus_[at.cu];
        if (!cu) cu = std::make_unique<Cu>();
        (*cu)[at.in_cu()] = static_cast<uint32_t>(entries_.size());
    }
    std::optional<Pc> find(Location at) const {
        const uint32_t number = cus_[at.cu] ? (*cus_[at.cu])[at.in_cu()] : 0;
        return number != 0 ? std::optional<Pc>(entries_[number - 1]) : std::nullopt;
    }
    size_t count() const {
        size_t found = 0;
        for (const std::unique_ptr<Cu>& cu : cus_) {
            if (cu) found += cu->size() - static_cast<size_t>(std::count(cu->begin(), cu->end(), 0U));
        }
        return found;
    }
    std::optional<Pc> take(Location at) {
        const std::optional<Pc> entry = find(at);
        if (entry) (*cus_[at.cu])[at.in_cu()] = 0;
        return entry;
    }

  private:
    using Cu = std::array<uint32_t, 4 * 32>;  // number of the entry from 1 on; 0 = nothing runs here
    std::array<std::unique_ptr<Cu>, 256> cus_;
    std::vector<Pc> entries_;
};

// Fields of an occupancy row that only starts and context saves have.
struct Launch {
    uint8_t me = 0, pipe = 0, is_ext = 0, workgroup = 0, cluster = 0;
};

class OccupancyLog {
  public:
    static constexpr size_t kBatch = 65536;  // with a double-buffered capture the list leaves in batches of this size

    explicit OccupancyLog(OccupancyTable& table) : table_(table) {}

    [[gnu::always_inline]] void add(int64_t time, Location at, bool start, const Launch& launch, Pc pc) {
        if (used_ == room_) begin_block();
        const size_t row = used_++;
        block_.time_cycles[row] = time;
        block_.cu[row] = at.cu;
        block_.simd[row] = at.simd;
        block_.slot[row] = at.slot;
        block_.start[row] = start;
        block_.me[row] = launch.me;
        block_.pipe[row] = launch.pipe;
        block_.is_ext[row] = launch.is_ext;
        block_.workgroup[row] = launch.workgroup;
        block_.cluster[row] = launch.cluster;
        block_.code_object[row] = pc.object;
        block_.address[row] = pc.address;
    }
    // The start of a wave that began before the trace: at time 0 and in front of everything pending.
    void add_missing_start(Location at) { missing_.push_back(at); }

    size_t pending() const { return stored_ + used_ - flushed_ + missing_.size(); }

    // Finishes the pending rows: missing starts go to the front, the newest first, and code objects that were
    // reported after their first wave are filled in.
    void flush(const AddressRanges& from_start) {
        end_block();
        if (!missing_.empty()) insert_missing();
        name_late_objects(table_, flushed_, stored_, from_start);
        flushed_ = stored_;
    }

  private:
    // Room for some rows in every column, so that one row costs a store per column and no more.
    static constexpr size_t kBlock = 64;
#define WAVEWRIGHT_POINTER(type, name) type* name;
    struct Block {
        WAVEWRIGHT_OCCUPANCY_COLUMNS(WAVEWRIGHT_POINTER)
    };
#undef WAVEWRIGHT_POINTER

    void begin_block() {
        end_block();
#define WAVEWRIGHT_EXTEND(type, name) block_.name = table_.name.extend(kBlock);
        WAVEWRIGHT_OCCUPANCY_COLUMNS(WAVEWRIGHT_EXTEND)
#undef WAVEWRIGHT_EXTEND
        room_ = kBlock;
    }

    void end_block() {
        stored_ += used_;
        table_.each_column([this](const char*, auto& column) { column.truncate(stored_); });
        used_ = room_ = 0;
    }

    void insert_missing() {
        const size_t added = missing_.size(), moved = stored_ - flushed_;
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
        stored_ += added;
        missing_.clear();
    }

    OccupancyTable& table_;
    Block block_{};
    size_t used_ = 0, room_ = 0;  // rows in the block
    size_t stored_ = 0;           // rows in front of it
    size_t flushed_ = 0;
    std::vector<Location> missing_;
};

}  // namespace wavewright::rdna
