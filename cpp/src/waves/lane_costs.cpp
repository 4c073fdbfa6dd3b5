// Counts what the lane addresses of one memory instruction cost, by the rules of a GPU: dwords in the fullest LDS bank,
// and aligned segments of memory. It is called for every execution, so that common patterns take a fast way.
#include "wavewright/lane_costs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace wavewright {
namespace {

constexpr unsigned kBanksMax = 128;  // LdsRule::banks has 8 bits
// Room for the dwords of a phase. A lane has at most one dword per bank; where banks are fewer than the dwords of an
// access it has more of them in each, and the total is the same or smaller.
constexpr size_t kSlots = size_t{kBanksMax} * kLanesMax;

uint64_t first_lanes(size_t count) {
    return count >= kLanesMax ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

// Calls visit(lane) for the bits of a mask, the lowest first.
template <class Visitor>
void each_lane(uint64_t lanes, Visitor&& visit) {
    for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(std::countr_zero(lanes)));
}

// Calls visit(lanes) with the active lanes of each group of consecutive lanes that has some.
template <class Visitor>
void each_group(uint64_t active, unsigned group_lanes, Visitor&& visit) {
    if (group_lanes == 0) return;
    for (unsigned first = 0; first < kLanesMax && active >> first != 0; first += std::min(group_lanes, kLanesMax)) {
        const uint64_t lanes = active & (first_lanes(group_lanes) << first);
        if (lanes != 0) visit(lanes);
    }
}

// The distinct dwords of one phase, by bank.
class Banks {
  public:
    // `count` banks, a power of two, for accesses of `width` dwords.
    Banks(unsigned count, unsigned width)
        : mask_(count - 1), room_(size_t{kLanesMax} * ((width + count - 1) / count)), count_(count) {}

    void clear() {
        std::fill_n(sizes_.begin(), count_, uint16_t{0});
        fullest_ = 0;
        highest_ = -1;
    }

    void add(uint32_t dword) {
        const uint32_t bank = dword & mask_;
        uint32_t* const of_bank = &dwords_[bank * room_];
        const uint32_t size = sizes_[bank];
        // A dword above all others is new. Addresses that rise with the lanes, the most common, so need no search.
        if (dword <= highest_)
            for (uint32_t at = 0; at < size; ++at)
                if (of_bank[at] == dword) return;
        highest_ = std::max<int64_t>(highest_, dword);
        of_bank[size] = dword;
        sizes_[bank] = static_cast<uint16_t>(size + 1);
        fullest_ = std::max(fullest_, size + 1);
    }

    uint32_t fullest() const { return fullest_; }

  private:
    uint32_t mask_;
    size_t room_;  // for dwords of one bank
    unsigned count_;
    uint32_t fullest_ = 0;                   // dwords in the fullest bank
    int64_t highest_ = -1;                   // the highest dword so far
    std::array<uint16_t, kBanksMax> sizes_;  // dwords in each bank
    std::array<uint32_t, kSlots> dwords_;    // not filled: only what `sizes_` says was written is read
};

}  // namespace

LdsCost lds_cost(std::span<const uint32_t> dwords, uint64_t active, unsigned width_dwords, const LdsRule& rule) {
    if (!std::has_single_bit(rule.banks) || width_dwords == 0 || width_dwords > kLdsWidthMax) return {};
    active &= first_lanes(dwords.size());
    // Where all addresses, the width and the banks are multiples of 2^shift dwords, neighbours within such a unit are
    // in neighbouring banks that hold the same accesses: it is enough to count units instead of dwords.
    uint32_t all_bits = width_dwords | rule.banks;
    each_lane(active, [&](unsigned lane) { all_bits |= dwords[lane]; });
    const int shift = std::countr_zero(all_bits);
    const unsigned width = width_dwords >> shift;
    Banks banks(static_cast<unsigned>(rule.banks) >> shift, width);
    LdsCost cost;
    for (const uint64_t phase : rule.phases) {
        const uint64_t lanes = active & phase;
        if (lanes == 0) continue;
        banks.clear();
        each_lane(lanes, [&](unsigned lane) {
            const uint32_t first = dwords[lane] >> shift;
            for (unsigned offset = 0; offset < width; ++offset) banks.add(first + offset);
        });
        ++cost.ideal_cycles;
        cost.extra_cycles += banks.fullest() - 1;
    }
    return cost;
}

uint32_t segment_count(std::span<const uint64_t> addresses, uint64_t active, unsigned width_bytes, unsigned group_lanes,
                       unsigned segment_bytes) {
    if (width_bytes == 0 || !std::has_single_bit(segment_bytes)) return 0;
    struct Touched {
        uint64_t first, last;  // numbers of segments
    };
    const int shift = std::countr_zero(segment_bytes);
    uint64_t total = 0;
    each_group(active & first_lanes(addresses.size()), group_lanes, [&](uint64_t lanes) {
        std::array<Touched, kLanesMax> touched;  // of the lanes so far, by first segment
        size_t count = 0;
        each_lane(lanes, [&](unsigned lane) {
            const uint64_t address = addresses[lane];
            const uint64_t bytes_above = std::numeric_limits<uint64_t>::max() - address;
            const uint64_t last_byte = address + std::min<uint64_t>(width_bytes - 1, bytes_above);
            const Touched now{address >> shift, last_byte >> shift};
            // Insertion sort: addresses mostly rise with the lanes, then nothing moves.
            size_t at = count++;
            for (; at > 0 && touched[at - 1].first > now.first; --at) touched[at] = touched[at - 1];
            touched[at] = now;
        });
        uint64_t counted_to = touched[0].last;  // the last segment that was counted
        total += counted_to - touched[0].first + 1;
        for (size_t at = 1; at < count; ++at) {
            if (touched[at].last <= counted_to) continue;
            total += touched[at].last - std::max(counted_to + 1, touched[at].first) + 1;
            counted_to = touched[at].last;
        }
    });
    return static_cast<uint32_t>(std::min<uint64_t>(total, std::numeric_limits<uint32_t>::max()));
}

uint32_t least_segment_count(uint64_t active, unsigned width_bytes, unsigned group_lanes, unsigned segment_bytes) {
    if (segment_bytes == 0) return 0;
    uint64_t total = 0;
    each_group(active, group_lanes, [&](uint64_t lanes) {
        const uint64_t bytes = static_cast<uint64_t>(std::popcount(lanes)) * width_bytes;
        total += (bytes + segment_bytes - 1) / segment_bytes;
    });
    return static_cast<uint32_t>(std::min<uint64_t>(total, std::numeric_limits<uint32_t>::max()));
}

}  // namespace wavewright
