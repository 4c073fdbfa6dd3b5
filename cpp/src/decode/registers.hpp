// The register writes that both stream families share: which code objects are loaded where, and which kernel each
// queue pipe is about to run (spec_gfx9 section 3, spec_rdna section 7).
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "decode/bit_field.hpp"
#include "wavewright/program.hpp"
#include "wavewright/records.hpp"

namespace wavewright {

// Half-open address ranges of code objects. A later range evicts those it overlaps. Quirk of the reference, which
// compares wrapped ends: a range whose end does not fit into 64 bits covers its first address alone, and gives way to
// one that covers that address already unless its wrapped end lies after that one's start.
class AddressRanges {
  public:
    void insert(uint64_t begin, uint64_t size, uint64_t object) {
        if (size == 0) return;
        const uint64_t end = begin + size;
        const bool wraps = end < begin;
        const uint64_t last = wraps ? begin : end - 1;
        auto at = ranges_.upper_bound(begin);
        if (at != ranges_.begin() && std::prev(at)->second.last >= begin) --at;
        const bool is_taken = at != ranges_.end() && at->first <= begin;
        if (wraps && is_taken && at->first >= end) return;
        while (at != ranges_.end() && at->first <= last) at = ranges_.erase(at);
        ranges_.emplace(begin, Range{last, object});
    }

    // Removes the range that contains `address`, whichever object it belongs to by now.
    void remove(uint64_t address) {
        const auto at = containing(address);
        if (at != ranges_.end()) ranges_.erase(at);
    }

    // The offset in the object whose range contains the address; the address itself with object 0 where there is none.
    Pc translate(uint64_t address) const {
        const auto at = containing(address);
        if (at == ranges_.end()) return {address, 0};
        return {address - at->first, at->second.object};
    }

    bool contains(uint64_t address) const { return containing(address) != ranges_.end(); }

  private:
    struct Range {
        uint64_t last;
        uint64_t object;
    };
    std::map<uint64_t, Range>::const_iterator containing(uint64_t address) const {
        auto at = ranges_.upper_bound(address);
        if (at == ranges_.begin()) return ranges_.end();
        --at;
        return address <= at->second.last ? at : ranges_.end();
    }

    std::map<uint64_t, Range> ranges_;  // by first address
};

// Names the code objects of rows [first, end) whose object was reported after their wave.
inline void name_late_objects(OccupancyTable& table, size_t first, size_t end, const AddressRanges& from_start) {
    for (size_t row = first; row < end; ++row) {
        if (table.code_object[row] != 0) continue;
        const Pc entry = from_start.translate(table.address[row]);
        if (entry.object == 0) continue;
        table.code_object[row] = entry.object;
        table.address[row] = entry.address;
    }
}

class Registers {
  public:
    // Compute register numbers as they are in the tokens.
    enum Compute : uint32_t {
        dispatch_initiator = 0x00,
        num_thread_x = 0x07,
        num_thread_y = 0x08,
        num_thread_z = 0x09,
        pgm_lo = 0x0C,
        pgm_hi = 0x0D,
        pgm_rsrc1 = 0x12,
        pgm_rsrc2 = 0x13,
    };
    static constexpr uint32_t userdata2 = 0xC342;
    static constexpr uint32_t userdata3 = 0xC343;

    // What a word changed beside the code objects.
    struct AgentInfo {
        bool counter_interval_written = false;
    };

    void write_compute(uint32_t address, uint32_t data, uint32_t me, uint32_t pipe) {
        switch (address) {
            case num_thread_x: threads[0] = data; break;
            case num_thread_y: threads[1] = data; break;
            case num_thread_z: threads[2] = data; break;
            case pgm_lo: set_low(queue(me, pipe).program, data); break;
            case pgm_hi: set_high(queue(me, pipe).program, data); break;
            case pgm_rsrc1: rsrc1 = data; break;
            case pgm_rsrc2: rsrc2 = data; break;
            default: break;
        }
    }

    // One word of the instrumentation stream: an enabling word, then headers (opcode, type, data), some of which
    // announce one payload word. Code-object events go to `records`.
    AgentInfo write_userdata2(uint32_t word, uint32_t me, uint32_t pipe, int64_t time, Records& records) {
        if (!enabled_) {
            enabled_ = word == kEnableWord;
            expected_ = kHeader;
            return {};
        }
        if (expected_ != kHeader) {
            const uint32_t field = expected_;
            expected_ = kHeader;
            write_payload(field, word, me, pipe, time, records);
            return {};
        }
        const uint32_t opcode = word & 0xFF, type = (word >> 8) & 0xF, data = word >> 12;
        if (opcode == kAgentInfo && type == kRealtimeKhz) records.realtime_hz = uint64_t{data} * 1000;
        if (opcode == kAgentInfo && type == kCounterInterval) {
            records.counter_interval_cycles = data;
            return {.counter_interval_written = true};
        }
        if (opcode == kCodeObject && data == 0) expected_ = type;
        return {};
    }

    bool instrumented() const { return enabled_; }

    Pc kernel_entry(uint32_t me, uint32_t pipe) const {
        constexpr uint64_t kMask48 = (uint64_t{1} << 48) - 1;
        return live.translate((queues_[me & 1][pipe & 3].program << 8) & kMask48);
    }

    // What COMPUTE_PGM_RSRC1 and RSRC2 say (spec_gfx9 8.7), as gfx9 counts it.
    uint32_t vgprs() const { return bits(0, 5).word(rsrc1) * 8 + 8; }
    uint32_t sgprs() const { return bits(7, 9).word(rsrc1) * 16 + 16; }
    uint32_t lds_granules() const { return bits(15, 23).word(rsrc2); }

    // What a dispatch uses; how the registers count it differs between GPUs.
    struct Resources {
        uint32_t vgprs, sgprs, lds_bytes;
    };

    void add_dispatch(int64_t time, uint32_t me, uint32_t pipe, const Resources& uses, DispatchTable& table) const {
        const uint32_t flags =
            bit(10).word(rsrc1) | bit(11).word(rsrc1) << 1 | bit(14).word(rsrc1) << 2 | bit(0).word(rsrc2) << 3;
        const auto user_sgprs = static_cast<uint16_t>(bits(1, 5).of(rsrc2));
        const Pc entry = kernel_entry(me, pipe);
        table.add(time, static_cast<uint8_t>(me), static_cast<uint8_t>(pipe), user_sgprs, flags, uses.vgprs, uses.sgprs,
                  uses.lds_bytes, threads[0], threads[1], threads[2], entry.object, entry.address);
    }

    AddressRanges live;        // objects loaded now
    AddressRanges from_start;  // objects that were loaded before the trace began; never shrinks
    std::array<uint32_t, 3> threads{};
    uint32_t rsrc1 = 0;
    uint32_t rsrc2 = 0;
    uint16_t code_object_event_flags = 1;  // per pipe; RDNA leaves it out

  private:
    static constexpr uint32_t kEnableWord = 0x434F5200;                // "\0ROC"
    static constexpr uint32_t kAgentInfo = 6, kCodeObject = 4;         // opcodes
    static constexpr uint32_t kRealtimeKhz = 0, kCounterInterval = 1;  // types of agent info
    // What the next word is: a header, or the field of a code object that the last header's `type` announced.
    static constexpr uint32_t kTail = 0, kSizeLow = 1, kAddressLow = 2, kAddressHigh = 3, kSizeHigh = 4, kIdLow = 5,
                              kIdHigh = 6, kHeader = 7;

    struct Queue {
        uint64_t program = 0;                    // kernel address >> 8
        uint64_t address = 0, size = 0, id = 0;  // of the code object that is being described
    };

    static void set_low(uint64_t& value, uint32_t word) { value = (value & ~uint64_t{0xFFFFFFFF}) | word; }
    static void set_high(uint64_t& value, uint32_t word) { value = (value & 0xFFFFFFFF) | (uint64_t{word} << 32); }
    Queue& queue(uint32_t me, uint32_t pipe) { return queues_[me & 1][pipe & 3]; }

    void write_payload(uint32_t field, uint32_t word, uint32_t me, uint32_t pipe, int64_t time, Records& records) {
        Queue& q = queue(me, pipe);
        switch (field) {
            case kTail: commit(word, q, me, pipe, time, records); break;
            case kSizeLow: set_low(q.size, word); break;
            case kSizeHigh: set_high(q.size, word); break;
            case kAddressLow: set_low(q.address, word); break;
            case kAddressHigh: set_high(q.address, word); break;
            case kIdLow: set_low(q.id, word); break;
            case kIdHigh: set_high(q.id, word); break;
            default: break;  // types 8..15 swallow their payload
        }
    }

    // The tail: the code object described so far was loaded or unloaded. Bit 0 = unloaded, bit 1 = it was loaded before
    // the trace began; the rest is its id, or 0 where the id was described before.
    void commit(uint32_t word, const Queue& q, uint32_t me, uint32_t pipe, int64_t time, Records& records) {
        const bool unload = word & 1, was_loaded_before = word & 2;
        const uint64_t id = (word >> 2) != 0 ? word >> 2 : q.id;
        const auto active = active_.find(id);
        const bool is_active = active != active_.end();
        if (unload != is_active) return;  // loaded twice, or unloaded without having been loaded
        if (unload) {
            const uint64_t address = active->second;
            active_.erase(active);
            live.remove(address);
        } else {
            active_.emplace(id, q.address);
            live.insert(q.address, q.size, id);
            if (was_loaded_before) from_start.insert(q.address, q.size, id);
        }
        const EventType type = unload ? EventType::code_object_unload : EventType::code_object_load;
        records.events.add(time, static_cast<uint8_t>(type), static_cast<uint8_t>(me & 1), static_cast<uint8_t>(pipe),
                           code_object_event_flags, id & 0xFFFFFFFF);
    }

    bool enabled_ = false;
    uint32_t expected_ = kHeader;
    std::array<std::array<Queue, 4>, 2> queues_{};  // by ME, then by pipe
    std::map<uint64_t, uint64_t> active_;  // object id -> address it was loaded at; ids are untrusted input, so no hash
};

}  // namespace wavewright
