// Finds the records of a target that an instruction's first dword can be.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tables.hpp"

namespace wavewright::isa {

struct Candidate {
    Pattern pattern;
    uint16_t record;
    uint8_t step;  // place of its table in the order of search
    uint8_t size;
    uint8_t literal_at;  // bytes: where a literal begins
    bool for_wave32, for_wave64;
};

// Bits 31 to 23 choose a bucket, and further bits, chosen per bucket so that they tell its records apart, a list.
class Index {
  public:
    explicit Index(const TargetColumn& column);

    // In the order in which they are to be tried.
    std::span<const Candidate> candidates(uint32_t first_dword) const {
        const Bucket& bucket = buckets_[first_dword >> kBucketShift];
        const size_t list = bucket.first_list + (first_dword >> bucket.shift & bucket.mask);
        return std::span(candidates_).subspan(list_begins_[list], list_begins_[list + 1] - list_begins_[list]);
    }

  private:
    struct Bucket {
        uint32_t first_list = 0;
        uint8_t shift = 0, mask = 0;  // bits of the first dword that choose a list; mask 0 = there is one list
    };

    void add_bucket(Bucket& bucket, std::span<const Candidate> all, std::span<const uint16_t> members);

    static constexpr unsigned kBucketShift = 23;
    static constexpr size_t kBucketCount = size_t{1} << (32 - kBucketShift);

    std::array<Bucket, kBucketCount> buckets_;
    std::vector<uint32_t> list_begins_{0};  // of each list in candidates_, and the end of the last one
    std::vector<Candidate> candidates_;     // list after list; a candidate is in many
};

// Made at first use, then shared.
const Index& index_of(size_t column);

}  // namespace wavewright::isa
