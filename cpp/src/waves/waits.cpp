// AMD's matching of waits with memory operations: a table of texts per generation says what each instruction does to
// the lists of operations in flight. The order of lists and entries is that of AMD's writer. stalls.cpp resolves waits
// by rules of its own (docs/explanation/waits.md).
#include "wavewright/waits.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

namespace wavewright {
namespace {

using enum WaitCounter;
constexpr size_t kCounters = kWaitCounterNames.size();

// FLAT operations are in lists of their own, because LDS or memory may answer them: no counter tells when they
// complete.
enum FlatList : int8_t { no_flat = -1, flat_loads = 0, flat_stores = 1 };
constexpr size_t kFlatLists = 2;

// What an instruction does to the operations in flight.
struct Effect {
    enum Kind : uint8_t {
        nothing,
        issue,            // an operation that completes in order
        issue_twice,      // counts by two
        issue_unordered,  // an operation that may overtake others of its counter
        flat,
        wait,
        drain,  // waits for everything
        unknown,
    };
    Kind kind = nothing;
    WaitCounter counter = idle;  // issue*: counter that goes up; flat: the memory counter beside LDS
    FlatList list = no_flat;     // flat
    WaitCounter lds = idle;      // flat: the LDS counter
    uint32_t first_wait = 0;     // wait: part of the compiled pool
    uint8_t wait_count = 0;
};

constexpr Effect kNothing{};
constexpr Effect kWaits{.kind = Effect::wait};
constexpr Effect kDrains{.kind = Effect::drain};
constexpr Effect counts(WaitCounter counter) {
    return {.kind = Effect::issue, .counter = counter};
}
constexpr Effect counts_twice(WaitCounter counter) {
    return {.kind = Effect::issue_twice, .counter = counter};
}
constexpr Effect unordered(WaitCounter counter) {
    return {.kind = Effect::issue_unordered, .counter = counter};
}
constexpr Effect flat(FlatList list, WaitCounter memory, WaitCounter lds) {
    return {.kind = Effect::flat, .counter = memory, .list = list, .lds = lds};
}

// One line of a family's table: what texts with this word do. The first line that fits decides, so that special words
// stand before the general ones they begin with. `also` is a second word, anywhere in the text.
struct Rule {
    enum Where : uint8_t { start, near_start, anywhere };  // near_start: at most one character in front
    Where where;
    std::string_view word;
    Effect effect;
    std::string_view also = {};
};

// A counter that waits of a family can name: `word` in the text selects it, the number follows its name. FLAT
// operations that have not completed are producers too: those of the list `before` stand in front of its own, `behind`
// after them.
struct Awaited {
    WaitCounter counter;
    std::string_view word;
    FlatList before = no_flat;
    FlatList behind = no_flat;
};

// The rules of a generation (Dialect), as AMD's writer has them.
struct Family {
    std::span<const Rule> rules;
    std::span<const Awaited> awaited;          // in the order of entries within one wait
    std::span<const WaitCounter> drain_order;  // of s_wait_idle
};

constexpr Rule kGfx9Rules[] = {
    {Rule::start, "s_waitcnt", kWaits},       {Rule::start, "v_", kNothing},
    {Rule::start, "s_load", unordered(lgkm)}, {Rule::start, "s_store", unordered(lgkm)},
    {Rule::start, "s_sendmsg", counts(lgkm)}, {Rule::start, "s_", kNothing},
    {Rule::start, "global_", counts(vm)},     {Rule::near_start, "buffer_", counts(vm)},
    {Rule::start, "scratch_", counts(vm)},    {Rule::start, "flat_", flat(flat_loads, vm, lgkm)},
    {Rule::start, "ds_", counts(lgkm)},
};
constexpr Awaited kGfx9Awaited[] = {
    {lgkm, "lgk", flat_loads},
    {vm, "vmcnt", flat_loads},
};

constexpr Rule kGfx10Rules[] = {
    {Rule::start, "s_wait_alu", kNothing},
    {Rule::start, "s_wait", kWaits},
    {Rule::start, "v_", kNothing},
    {Rule::start, "s_load", unordered(lgkm)},
    {Rule::start, "s_store", unordered(lgkm)},
    {Rule::start, "s_sendmsg_rtn", counts_twice(lgkm)},
    {Rule::start, "s_sendmsg", counts(lgkm)},
    {Rule::start, "s_", kNothing},
    {Rule::start, "global_", counts(vs), "store"},
    {Rule::near_start, "buffer_", counts(vs), "store"},
    {Rule::start, "scratch_", counts(vs), "store"},
    {Rule::start, "global_", counts(vm)},
    {Rule::near_start, "buffer_", counts(vm)},
    {Rule::start, "scratch_", counts(vm)},
    {Rule::start, "flat_", flat(flat_stores, vs, lgkm), "store"},
    {Rule::start, "flat_", flat(flat_loads, vm, lgkm)},
    {Rule::start, "ds_", counts(lgkm)},
};
constexpr Awaited kGfx10Awaited[] = {
    {vs, "vscnt", flat_stores},
    {vm, "vmcnt", flat_loads},
    {lgkm, "lgkm", flat_loads, flat_stores},
};

constexpr Rule kGfx12Rules[] = {
    {Rule::start, "s_wait_alu", kNothing},
    {Rule::start, "s_wait", kDrains, "s_wait_idle"},
    {Rule::start, "s_wait", kWaits},
    {Rule::start, "v_", kNothing},
    {Rule::start, "s_load", unordered(km)},
    {Rule::start, "s_store", unordered(km)},
    {Rule::start, "s_sendmsg_rtn", counts_twice(km)},
    {Rule::start, "s_sendmsg", counts(km)},
    {Rule::start, "s_", kNothing},
    {Rule::anywhere, "_bvh", counts(bvh)},
    {Rule::near_start, "ds_", counts(exp), "param_load"},
    {Rule::near_start, "ds_", counts(exp), "ds_direct"},
    {Rule::near_start, "ds_", counts(ds)},
    {Rule::near_start, "tensor_", counts(tensor)},
    {Rule::start, "global_load_async_", counts(async)},
    {Rule::start, "global_store_async_", counts(async)},
    {Rule::anywhere, "_prefetch_", kNothing},
    {Rule::start, "global_wb", counts(store)},
    {Rule::start, "global_", counts(store), "store"},
    {Rule::near_start, "buffer_", counts(store), "store"},
    {Rule::start, "scratch_", counts(store), "store"},
    {Rule::start, "global_", counts(load)},
    {Rule::near_start, "buffer_", counts(load)},
    {Rule::start, "scratch_", counts(load)},
    {Rule::start, "flat_", flat(flat_stores, store, ds), "store"},
    {Rule::start, "flat_", flat(flat_loads, load, ds)},
};
constexpr Awaited kGfx12Awaited[] = {
    {bvh, "bvhcnt"},
    {exp, "expcnt"},
    {sample, "samplecnt"},
    {km, "kmcnt"},
    {store, "storecnt", flat_stores},
    {load, "loadcnt", flat_loads},
    {tensor, "tensorcnt"},
    {async, "asynccnt"},
    {ds, "dscnt", flat_loads, flat_stores},
};
constexpr WaitCounter kGfx12Drain[] = {load, store, sample, ds, km, exp, bvh, tensor, async};

constexpr Family kFamilies[] = {
    {kGfx9Rules, kGfx9Awaited, {}},
    {kGfx10Rules, kGfx10Awaited, {}},
    {kGfx12Rules, kGfx12Awaited, kGfx12Drain},
};

bool contains(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
}

bool fits(const Rule& rule, std::string_view text) {
    const bool placed = rule.where == Rule::start        ? text.starts_with(rule.word)
                        : rule.where == Rule::near_start ? text.substr(0, rule.word.size() + 1).find(rule.word) <= 1
                                                         : contains(text, rule.word);
    return placed && (rule.also.empty() || contains(text, rule.also));
}

// The number after the counter's name and one separator; missing and unreadable = 0. Decimal, or hexadecimal with
// 0x. One value per name: packed immediates (s_wait_loadcnt_dscnt) are not taken apart.
int32_t wait_value(std::string_view text, std::string_view name) {
    const size_t at = text.find(name);
    if (at == std::string_view::npos || at + name.size() + 1 >= text.size()) return 0;
    std::string_view number = text.substr(at + name.size() + 1);
    number.remove_prefix(std::min(number.find_first_not_of(' '), number.size()));
    const bool hexadecimal = number.starts_with("0x");
    if (hexadecimal) number.remove_prefix(2);
    if (number.starts_with('+')) number.remove_prefix(1);
    int32_t value = 0;
    const auto [stop, error] =
        std::from_chars(number.data(), number.data() + number.size(), value, hexadecimal ? 16 : 10);
    if (error == std::errc::result_out_of_range)
        return number.starts_with('-') ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int32_t>::max();
    return value;
}

struct RowWait {
    const Awaited* awaited;
    int32_t value;
};

// What every row does, read from its text once.
struct Compiled {
    std::vector<Effect> effects;
    std::vector<RowWait> waits;
};

Compiled compile(std::span<const std::string_view> texts, const Family& family) {
    Compiled compiled;
    compiled.effects.reserve(texts.size());
    for (const std::string_view text : texts) {
        Effect effect{.kind = text.empty() ? Effect::unknown : Effect::nothing};
        const auto rule = std::find_if(family.rules.begin(), family.rules.end(),
                                       [&](const Rule& candidate) { return fits(candidate, text); });
        if (rule != family.rules.end()) effect = rule->effect;
        if (effect.kind == Effect::wait) {
            effect.first_wait = static_cast<uint32_t>(compiled.waits.size());
            for (const Awaited& awaited : family.awaited) {
                if (!contains(text, awaited.word)) continue;
                const std::string_view name = kWaitCounterNames[static_cast<size_t>(awaited.counter)];
                compiled.waits.push_back({&awaited, wait_value(text, name)});
                ++effect.wait_count;
            }
        }
        compiled.effects.push_back(effect);
    }
    return compiled;
}

// The operations of one wave that are still in flight.
class InFlight {
  public:
    InFlight(const Family& family, Waits& found) : family_(family), found_(found) {}

    void clear() {
        for (Fifo& fifo : fifos_) fifo.clear();
        for (auto& list : flats_) list.clear();
    }

    void issue(WaitCounter counter, uint64_t instruction) { fifo(counter).items.push_back(instruction); }
    void lose_order(WaitCounter counter) { fifo(counter).unordered = true; }
    void issue_flat(FlatList list, uint64_t instruction) { flats_[static_cast<size_t>(list)].push_back(instruction); }

    void wait(const RowWait& row, uint64_t instruction) {
        Fifo& counted = fifo(row.awaited->counter);
        if (row.value == 0) counted.unordered = false;
        if (counted.unordered) return;
        const size_t before = found_.producer.size();
        drain_flat(row.awaited->before);
        const auto length = static_cast<int64_t>(counted.items.size() - counted.first);
        const int64_t taken = std::clamp<int64_t>(length - row.value, 0, length);
        found_.producer.append({counted.items.data() + counted.first, static_cast<size_t>(taken)});
        counted.take(static_cast<size_t>(taken));
        if (found_.producer.size() != before) drain_flat(row.awaited->behind);
        label(instruction, row.awaited->counter);
    }

    void drain_all(uint64_t instruction) {
        for (const WaitCounter counter : family_.drain_order) {
            Fifo& counted = fifo(counter);
            found_.producer.append(std::span(counted.items).subspan(counted.first));
            counted.take(counted.items.size() - counted.first);
        }
        label(instruction, idle);
    }

  private:
    struct Fifo {
        std::vector<uint64_t> items;
        size_t first = 0;  // items in front of it are done
        bool unordered = false;

        void clear() {
            items.clear();
            first = 0;
            unordered = false;
        }
        void take(size_t count) {
            first += count;
            if (first < items.size()) return;
            items.clear();
            first = 0;
        }
    };

    Fifo& fifo(WaitCounter counter) { return fifos_[static_cast<size_t>(counter)]; }

    void drain_flat(FlatList list) {
        if (list == no_flat) return;
        auto& operations = flats_[static_cast<size_t>(list)];
        found_.producer.append(operations);
        operations.clear();
    }

    // Gives the producers just appended their wait.
    void label(uint64_t instruction, WaitCounter counter) {
        const size_t count = found_.producer.size() - found_.instruction.size();
        std::fill_n(found_.instruction.extend(count), count, instruction);
        std::fill_n(found_.counter.extend(count), count, static_cast<uint8_t>(counter));
    }

    const Family& family_;
    Waits& found_;
    std::array<Fifo, kCounters> fifos_;
    std::array<std::vector<uint64_t>, kFlatLists> flats_;
};

}  // namespace

Waits match_waits(std::span<const std::string_view> texts, Dialect dialect, std::span<const uint32_t> waves,
                  std::span<const int32_t> rows) {
    const Family& family = kFamilies[static_cast<size_t>(dialect)];
    const Compiled compiled = compile(texts, family);
    Waits found;
    InFlight in_flight(family, found);
    bool lost = false;
    const size_t count = std::min(waves.size(), rows.size());
    for (size_t i = 0; i < count; ++i) {
        if (i != 0 && waves[i] != waves[i - 1]) {
            in_flight.clear();
            lost = false;
        }
        if (lost || rows[i] < 0) continue;
        const auto row = static_cast<size_t>(rows[i]);
        const Effect effect = row < compiled.effects.size() ? compiled.effects[row] : Effect{.kind = Effect::unknown};
        switch (effect.kind) {
            case Effect::nothing: break;
            case Effect::issue_twice: in_flight.issue(effect.counter, i); [[fallthrough]];
            case Effect::issue: in_flight.issue(effect.counter, i); break;
            case Effect::issue_unordered:
                in_flight.lose_order(effect.counter);
                in_flight.issue(effect.counter, i);
                break;
            case Effect::flat:
                in_flight.lose_order(effect.counter);
                in_flight.lose_order(effect.lds);
                in_flight.issue_flat(effect.list, i);
                break;
            case Effect::wait:
                for (uint8_t w = 0; w < effect.wait_count; ++w)
                    in_flight.wait(compiled.waits[effect.first_wait + w], i);
                break;
            case Effect::drain: in_flight.drain_all(i); break;
            case Effect::unknown: lost = true; break;
        }
    }
    return found;
}

}  // namespace wavewright
