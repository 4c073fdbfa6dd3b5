// Decodes the values that instrumented kernels write: a header word with an id, then payload words. Values wait until
// the code object of their wave is known, because only its function map has the names.
#include "decode/markers.hpp"

#include <limits>
#include <utility>

namespace wavewright {
namespace {

constexpr size_t kMaxWaiting = size_t{1} << 20;
constexpr uint8_t kPrivileged = 2;  // shader-data flag: written by the trap handler
constexpr uint8_t kHeader = 0, kPayload = 1;

// Marker flags. Leave and enter are also the low bits of a value; the id stands above them.
constexpr uint8_t kLeave = 1, kEnter = 2, kFirst = 4;
constexpr uint32_t kIdShift = 2, kIdBits = 30;

bool is_scope(const MarkerName& marker) {
    return marker.kind == MarkerKind::function || marker.kind == MarkerKind::user_scope;
}

}  // namespace

bool MarkerTracker::Word::bare_exit() const {
    return id == 0 && flags == kLeave;
}

// With a packed clock the top bits are not part of the id; values whose short id means nothing are plain ones.
MarkerTracker::Word MarkerTracker::read(uint64_t value, const FuncMap& names) {
    const auto word = static_cast<uint32_t>(value);
    const auto flags = static_cast<uint8_t>(word & (kLeave | kEnter));
    const Word plain{word >> kIdShift, flags};
    if (names.clock_bits == 0) return plain;
    const Word packed{plain.id & ((uint32_t{1} << (kIdBits - names.clock_bits)) - 1), flags};
    return names.find(packed.id) != nullptr || packed.bare_exit() ? packed : plain;
}

void MarkerTracker::start(Place place, Pc entry) {
    Generation& generation = waves_[place];
    if (!generation.waiting.empty()) set_aside_.push_back({generation.entry, std::move(generation.waiting)});
    generation = {};
    generation.entry = entry;
}

void MarkerTracker::end(Place place, Pc entry) {
    const auto at = waves_.find(place);
    if (at != waves_.end()) resolve(at->second, entry);
}

void MarkerTracker::take(const Value& value, uint8_t shader_data_flags) {
    if (shader_data_flags & kPrivileged) return;
    const auto at = waves_.find(value.place);
    if (at == waves_.end()) return;
    Generation& generation = at->second;
    if (generation.overflowed) {
        drop(1, value.time);
    } else if (generation.entry.object == 0) {
        queue(generation, value);
    } else {
        decode(generation, value);
    }
}

void MarkerTracker::queue(Generation& generation, const Value& value) {
    if (waiting_ < kMaxWaiting) {
        generation.waiting.push_back(value);
        ++waiting_;
        return;
    }
    drop(generation.waiting.size() + 1, value.time);
    waiting_ -= generation.waiting.size();
    generation.waiting = {};
    generation.overflowed = true;
}

void MarkerTracker::drop(size_t count, int64_t time) {
    if (dropped_ == 0) first_dropped_time_ = time;
    dropped_ += count;
}

// Scopes may have been entered or left unseen: no value counts until its wave slot starts again.
void MarkerTracker::lose() {
    waves_.clear();
    set_aside_.clear();
    waiting_ = 0;
}

void MarkerTracker::resolve(Generation& generation, Pc entry) {
    if (entry.object == 0) return;
    generation.entry = entry;
    const std::vector<Value> values = std::exchange(generation.waiting, {});
    waiting_ -= values.size();
    for (const Value& value : values) decode(generation, value);
}

void MarkerTracker::resolve_all(const AddressRanges& from_start) {
    auto resolve_late = [&](Generation& generation) {
        if (generation.entry.object == 0 && generation.entry.address != 0)
            resolve(generation, from_start.translate(generation.entry.address));
        if (!generation.waiting.empty()) drop(generation.waiting.size(), generation.waiting.front().time);
    };
    for (auto& [place, generation] : waves_) resolve_late(generation);
    for (SetAside& wave : set_aside_) {
        Generation generation;
        generation.entry = wave.entry;
        generation.waiting = std::move(wave.waiting);
        resolve_late(generation);
    }
    if (dropped_ == 0) return;
    records_.losses.add(static_cast<uint8_t>(Loss::marker_queue_full), first_dropped_time_, 0, dropped_, 0);
}

void MarkerTracker::decode(Generation& generation, const Value& value) {
    const FuncMap* names = program_.funcmap(generation.entry.object);
    if (names == nullptr) return;
    if (generation.payload != nullptr) {
        add_payload(generation, value);
        return;
    }
    const Word word = read(value.value, *names);
    const MarkerName* marker = names->find(word.id);
    const MarkerName* left = nullptr;
    if ((word.flags & kLeave) && (marker != nullptr || word.bare_exit()) && !generation.scopes.empty()) {
        left = generation.scopes.back();
        generation.scopes.pop_back();
    }
    if (marker == nullptr) {
        if (left != nullptr) add_marker(generation, value, *left, word.flags);
        return;
    }
    add_marker(generation, value, *marker, word.flags);
    if ((word.flags & kEnter) && is_scope(*marker)) generation.scopes.push_back(marker);
    if (marker->payload_count != 0) {
        generation.payload = marker;
        generation.payload_flags = word.flags;
        generation.payload_index = 0;
    }
}

void MarkerTracker::add_marker(Generation& generation, const Value& value, const MarkerName& marker, uint8_t flags) {
    if (!std::exchange(generation.has_marker, true)) flags |= kFirst;
    constexpr uint32_t kNoPayload = std::numeric_limits<uint32_t>::max();
    const auto [cu, simd, slot] = value.place;
    records_.markers.add(value.time, value.value, cu, simd, slot, kHeader, static_cast<uint8_t>(marker.kind), flags,
                         marker.id, kNoPayload, marker.payload_count, generation.entry.object, generation.entry.object,
                         generation.entry.address);
}

void MarkerTracker::add_payload(Generation& generation, const Value& value) {
    const MarkerName& marker = *generation.payload;
    const auto [cu, simd, slot] = value.place;
    records_.markers.add(value.time, value.value, cu, simd, slot, kPayload, static_cast<uint8_t>(marker.kind),
                         generation.payload_flags, marker.id, generation.payload_index, marker.payload_count,
                         generation.entry.object, generation.entry.object, generation.entry.address);
    if (++generation.payload_index == marker.payload_count) generation.payload = nullptr;
}

}  // namespace wavewright
