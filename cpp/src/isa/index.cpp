#include "index.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <numeric>

namespace wavewright::isa {
namespace {

constexpr unsigned kListBits = 8;     // of the first dword, to choose a list in a bucket
constexpr size_t kFewCandidates = 3;  // a bucket that needs no lists

int fixed_bit_count(const Candidate& candidate) {
    return std::popcount(candidate.pattern.mask.low) + std::popcount(candidate.pattern.mask.high);
}

// Calls `visit` with every value that the bits from `shift` on can have in a record.
template <class Visit>
void each_match(const Pattern& pattern, unsigned shift, uint32_t bits, Visit&& visit) {
    const uint32_t free_bits = ~static_cast<uint32_t>(pattern.mask.low >> shift) & bits;
    const uint32_t fixed = static_cast<uint32_t>(pattern.value.low >> shift) & bits;
    uint32_t chosen = 0;
    do {
        visit(fixed | chosen);
        chosen = (chosen - free_bits) & free_bits;  // the next number with bits of free_bits only
    } while (chosen != 0);
}

std::vector<Candidate> all_candidates(const TargetColumn& column) {
    const auto column_bit = static_cast<uint16_t>(1U << (&column - tables.columns.data()));
    std::vector<std::vector<uint16_t>> by_table(tables.table_sizes.size());
    for (size_t number = 0; number < tables.records.size(); ++number) {
        const Record& record = tables.records[number];
        if (record.columns & column_bit) by_table[record.table].push_back(static_cast<uint16_t>(number));
    }
    std::vector<Candidate> all;
    uint8_t step_number = 0;
    for (const SearchStep& step : tables.search_order) {
        if (step.family != column.family) continue;
        const size_t first = all.size();
        for (const uint16_t number : by_table[step.table]) {
            const Record& record = tables.records[number];
            const uint64_t flags = traits_of(record).flags;
            all.push_back({pattern_of(record), number, step_number, size_of(record), step.literal_at,
                           (flags & flag::wave64_only) == 0, (flags & flag::wave32_only) == 0});
        }
        ++step_number;
        std::ranges::stable_sort(all.begin() + static_cast<ptrdiff_t>(first), all.end(), std::greater<>(),
                                 fixed_bit_count);
    }
    return all;
}

// The place of the bits that leave the fewest records per list: most have them fixed.
unsigned best_shift(std::span<const Candidate> all, std::span<const uint16_t> members) {
    constexpr unsigned kBits = 24;
    std::array<unsigned, kBits> fixed_counts{};
    for (const uint16_t member : members)
        for (unsigned bit = 0; bit < kBits; ++bit) fixed_counts[bit] += (all[member].pattern.mask.low >> bit & 1) != 0;
    unsigned best = 0, best_count = 0;
    for (unsigned shift = 0; shift + kListBits <= kBits; ++shift) {
        const auto first = fixed_counts.begin() + shift;
        const unsigned count = std::accumulate(first, first + kListBits, 0U);
        if (count > best_count) {
            best_count = count;
            best = shift;
        }
    }
    return best;
}

}  // namespace

Index::Index(const TargetColumn& column) {
    const std::vector<Candidate> all = all_candidates(column);
    std::vector<std::vector<uint16_t>> members(buckets_.size());
    for (size_t number = 0; number < all.size(); ++number) {
        each_match(all[number].pattern, kBucketShift, kBucketCount - 1,
                   [&](uint32_t top) { members[top].push_back(static_cast<uint16_t>(number)); });
    }
    for (size_t top = 0; top < buckets_.size(); ++top) add_bucket(buckets_[top], all, members[top]);
}

void Index::add_bucket(Bucket& bucket, std::span<const Candidate> all, std::span<const uint16_t> members) {
    bucket.first_list = static_cast<uint32_t>(list_begins_.size() - 1);
    if (members.size() > kFewCandidates) {
        bucket.shift = static_cast<uint8_t>(best_shift(all, members));
        bucket.mask = (1U << kListBits) - 1;
    }
    std::vector<std::vector<uint16_t>> lists(bucket.mask + 1U);
    for (const uint16_t member : members)
        each_match(all[member].pattern, bucket.shift, bucket.mask,
                   [&](uint32_t value) { lists[value].push_back(member); });
    for (const std::vector<uint16_t>& list : lists) {
        for (const uint16_t member : list) candidates_.push_back(all[member]);
        list_begins_.push_back(static_cast<uint32_t>(candidates_.size()));
    }
}

const Index& index_of(size_t column) {
    constexpr size_t kMaxColumns = 8 * sizeof Record::columns;
    static std::array<std::once_flag, kMaxColumns> flags;
    static std::array<std::unique_ptr<const Index>, kMaxColumns> indexes;
    std::call_once(flags[column], [column] { indexes[column] = std::make_unique<Index>(tables.columns[column]); });
    return *indexes[column];
}

}  // namespace wavewright::isa
