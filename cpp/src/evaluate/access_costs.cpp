// What memory instructions of a wave do: their lane addresses, and what these cost by the rules of the GPU.
#include <algorithm>
#include <bit>

#include "pass.hpp"

namespace wavewright::evaluate {
namespace {

// What the accesses to one place of an instruction cost, or why that is not known.
struct PlaceCost {
    Reason reason, base_reason;
    uint8_t assumptions = 0;
    LdsCost lds{};
    uint64_t segments = 0, least_segments = 0;
};

// How little is certain about a base: addresses relative to it are off by some multiple of 2^zero_bits.
struct BaseStep {
    unsigned zero_bits;
    uint8_t assumptions = 0;
    uint64_t bytes() const { return uint64_t{1} << zero_bits; }
};

BaseStep base_step(const Wide& addresses, const Base& base, uint8_t pointer_zero_bits) {
    constexpr unsigned kMostBits = 62;  // more than any segment or bank has: such addresses are as good as absolute
    if (addresses.base == 0) return {kMostBits};
    if (base.pointers == 0) return {std::min<unsigned>(base.zero_bits, kMostBits)};
    if (base.pointers > 1) return {0};  // sums of pointers are no pointers
    return {std::min<unsigned>({base.zero_bits, pointer_zero_bits, kMostBits}), pointer_aligned};
}

// The alignment that the rules know costs for. Three dwords: LDS wants them at multiples of four, memory at any dword.
unsigned required_alignment(const RowAccess& access) {
    constexpr unsigned kMostBytes = 16;
    const unsigned width_bytes = access.width_bytes;
    if (access.space == Space::lds) return std::bit_ceil(width_bytes);
    return width_bytes % 3 == 0 ? width_bytes / 3 : std::min(std::bit_floor(width_bytes), kMostBytes);
}

bool are_aligned(const Wide& addresses, Lanes active, unsigned alignment) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if ((active >> lane & 1) != 0 && static_cast<uint64_t>(addresses.lane[lane]) % alignment != 0) return false;
    return true;
}

// Segments that are touched wherever the base lies in a segment; nothing where that matters.
std::optional<uint32_t> segments_at_any_base(const EvaluatedCode& code, unsigned width_bytes, const Wide& addresses,
                                             Lanes active, uint64_t base_step_bytes) {
    std::array<uint64_t, kLanes> bytes{};
    std::optional<uint32_t> count;
    for (uint64_t shift = 0; shift < code.segment_bytes; shift += base_step_bytes) {
        for (unsigned lane = 0; lane < kLanes; ++lane)
            bytes[lane] = static_cast<uint64_t>(addresses.lane[lane]) + shift;
        const uint32_t at_shift = segment_count(bytes, active, width_bytes, code.group_lanes, code.segment_bytes);
        if (count && *count != at_shift) return std::nullopt;
        count = at_shift;
    }
    return count.value_or(0);
}

// What lane addresses relative to a base cost. It is not known where the base may shift lanes to other banks or
// segments.
PlaceCost cost_of(const EvaluatedCode& code, const RowAccess& access, const Wide& addresses, const Base& base,
                  Lanes active) {
    PlaceCost cost;
    const PlaceCost unknown_base{.reason = {ReasonKind::base_alignment, 0}, .base_reason = base.reason};
    const BaseStep step = base_step(addresses, base, code.pointer_zero_bits);
    const unsigned alignment = required_alignment(access);
    if (step.bytes() < alignment) return unknown_base;
    cost.assumptions = step.assumptions;
    if (!are_aligned(addresses, active, alignment)) {
        cost.reason = {ReasonKind::unaligned, 0};
        return cost;
    }
    if (access.space == Space::lds) {
        std::array<uint32_t, kLanes> dwords{};
        for (unsigned lane = 0; lane < kLanes; ++lane) dwords[lane] = static_cast<uint32_t>(addresses.lane[lane] >> 2);
        const unsigned width_dwords = (access.width_bytes + 3U) / 4U;
        cost.lds = lds_cost(dwords, active, width_dwords, code.lds_rules[static_cast<size_t>(access.lds_rule)]);
        return cost;
    }
    const auto segments = segments_at_any_base(code, access.width_bytes, addresses, active, step.bytes());
    if (!segments) {
        cost.reason = unknown_base.reason;
        cost.base_reason = unknown_base.base_reason;
        return cost;
    }
    cost.segments = *segments;
    // Lanes that share bytes touch fewer than lanes side by side.
    const uint32_t side_by_side = least_segment_count(active, access.width_bytes, code.group_lanes, code.segment_bytes);
    cost.least_segments = std::min(side_by_side, *segments);
    return cost;
}

}  // namespace

// Runs a memory instruction: adds its lane addresses and their cost, and writes what it loads.
void Pass::access_memory(const Instruction& instruction, size_t position) {
    const int32_t row = machine_.row();
    const Active active = machine_.active();
    const Addresses addresses = addresses_of(machine_, instruction, access_of(row));
    if (addresses.places.empty()) {
        tally_.add_unknown(position, row, addresses.reason);
    } else if (!active.is_certain()) {
        tally_.add_unknown(position, row, {ReasonKind::mask, row});
    } else {
        const Lanes lanes = active.surely & ~addresses.outside;
        tally_.add_known(position, lanes, addresses, machine_.domain());
        record(lanes, addresses);
    }
    load_results(machine_, instruction, access_of(row), addresses);
}

// Adds an execution whose lane addresses are certain to the sums of its row.
void Pass::record(Lanes active, const Addresses& addresses) {
    const int32_t number = machine_.row();
    const auto row = static_cast<size_t>(number);
    const EvaluatedCode& code = code_.given;
    const RowAccess& access = access_of(number);
    RowSums& sums = result_.rows;
    ++sums.known_count[row];
    sums.requested_byte_total[row] +=
        static_cast<uint64_t>(std::popcount(active)) * access.width_bytes * addresses.places.size();
    sums.assumptions[row] |= addresses.assumptions;
    if (machine_.start().workgroup[0] == 0) sums.assumptions[row] |= flat_workgroup;
    const bool has_rule =
        access.space == Space::lds ? access.lds_rule >= 0 : access.has_segments && code.segment_bytes != 0;
    PlaceCost total;
    if (!has_rule) total.reason = {ReasonKind::no_rule, 0};
    for (size_t place = 0; place < addresses.places.size(); ++place) {
        const Wide& of_place = addresses.places[place];
        tally_.add_pattern(number, of_place, active, access.width_bytes, static_cast<uint8_t>(place));
        if (total.reason.kind != ReasonKind::none) continue;
        const PlaceCost cost = cost_of(code, access, of_place, machine_.domain().base(of_place.base), active);
        sums.assumptions[row] |= cost.assumptions;
        total.reason = cost.reason;
        total.base_reason = cost.base_reason;
        total.lds.ideal_cycles += cost.lds.ideal_cycles;
        total.lds.extra_cycles += cost.lds.extra_cycles;
        total.segments += cost.segments;
        total.least_segments += cost.least_segments;
    }
    if (total.reason.kind != ReasonKind::none) return tally_.add_unknown_cost(number, total.reason, total.base_reason);
    ++sums.cost_known_count[row];
    sums.ideal_cycle_total[row] += total.lds.ideal_cycles;
    sums.extra_cycle_total[row] += total.lds.extra_cycles;
    sums.segment_total[row] += total.segments;
    sums.least_segment_total[row] += total.least_segments;
}

void Tally::add_unknown(size_t position, int32_t row, Reason reason) {
    ++causes_[{.row = row, .reason = reason, .base_reason = {}, .is_cost = false}];
    if (!details_.has_executions) return;
    executions_.position.push_back(position);
    executions_.place.push_back(0);
    executions_.is_known.push_back(0);
    executions_.kind.push_back(static_cast<uint8_t>(reason.kind));
    executions_.detail.push_back(reason.detail);
    executions_.active.push_back(0);
    executions_.has_base.push_back(0);
    executions_.base_pointer.push_back(-1);
    for (unsigned lane = 0; lane < kLanes; ++lane) executions_.address.push_back(0);
}

void Tally::add_known(size_t position, Lanes active, const Addresses& addresses, const Domain& domain) {
    if (!details_.has_executions) return;
    for (size_t place = 0; place < addresses.places.size(); ++place) {
        const Wide& of_place = addresses.places[place];
        const Base& base = domain.base(of_place.base);
        const bool is_one_argument = base.pointers == 1 && base.reason.kind == ReasonKind::argument;
        executions_.position.push_back(position);
        executions_.place.push_back(static_cast<uint8_t>(place));
        executions_.is_known.push_back(1);
        executions_.kind.push_back(static_cast<uint8_t>(ReasonKind::none));
        executions_.detail.push_back(0);
        executions_.active.push_back(active);
        executions_.has_base.push_back(of_place.base != 0 ? 1 : 0);
        executions_.base_pointer.push_back(is_one_argument ? base.reason.detail : -1);
        for (const int64_t address : of_place.lane) executions_.address.push_back(address);
    }
}

void Tally::add_unknown_cost(int32_t row, Reason reason, Reason base_reason) {
    ++causes_[{.row = row, .reason = reason, .base_reason = base_reason, .is_cost = true}];
}

void Tally::add_pattern(int32_t row, const Wide& addresses, Lanes active, uint8_t width_bytes, uint8_t place) {
    if (active == 0 || details_.most_patterns == 0) return;
    const int64_t first = addresses.lane[static_cast<unsigned>(std::countr_zero(active))];
    const int64_t offset = (first % kPatternBytes + kPatternBytes) % kPatternBytes;  // also of negative addresses
    const int64_t origin = first - offset;
    std::array<int64_t, kLanes> relative{};
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if ((active >> lane & 1) != 0) relative[lane] = addresses.lane[lane] - origin;
    std::vector<Pattern>& patterns = patterns_[row];
    for (Pattern& known : patterns)
        if (known.active == active && known.place == place && known.address == relative) {
            ++known.count;
            return;
        }
    if (patterns.size() < details_.most_patterns) patterns.push_back({1, active, width_bytes, place, relative});
}

void Tally::write(Evaluation& result) {
    result.executions = std::move(executions_);
    for (const auto& [cause, count] : causes_) {
        result.reasons.row.push_back(cause.row);
        result.reasons.kind.push_back(static_cast<uint8_t>(cause.reason.kind));
        result.reasons.detail.push_back(cause.reason.detail);
        result.reasons.base_kind.push_back(static_cast<uint8_t>(cause.base_reason.kind));
        result.reasons.base_detail.push_back(cause.base_reason.detail);
        result.reasons.count.push_back(count);
        result.reasons.is_cost.push_back(cause.is_cost ? 1 : 0);
    }
    for (const auto& [row, patterns] : patterns_)
        for (const Pattern& pattern : patterns) {
            result.patterns.row.push_back(row);
            result.patterns.count.push_back(pattern.count);
            result.patterns.active.push_back(pattern.active);
            result.patterns.width_bytes.push_back(pattern.width_bytes);
            result.patterns.place.push_back(pattern.place);
            for (const int64_t address : pattern.address) result.patterns.address.push_back(address);
        }
}

}  // namespace wavewright::evaluate
