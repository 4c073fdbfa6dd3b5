#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "wavewright/waits.hpp"

namespace wavewright {
namespace {

// Matches the waits of instructions that execute `rows` of `texts`: "wait<-producer,producer(counter)" for every entry,
// by place in `rows`, in the order of the table. `waves` are those of the instructions; empty = all of one wave.
std::string matched(std::vector<std::string_view> texts, Dialect dialect, std::vector<int32_t> rows,
                    std::vector<uint32_t> waves = {}) {
    waves.resize(rows.size());
    const Waits waits = match_waits(texts, dialect, waves, rows);
    auto same_entry = [&](size_t a, size_t b) {
        return waits.instruction[a] == waits.instruction[b] && waits.counter[a] == waits.counter[b];
    };
    std::ostringstream text;
    for (size_t i = 0; i < waits.producer.size(); ++i) {
        const bool goes_on = i != 0 && same_entry(i, i - 1);
        if (!goes_on) text << (i == 0 ? "" : " ") << waits.instruction[i] << "<-";
        text << (goes_on ? "," : "") << waits.producer[i];
        const bool last = i + 1 == waits.producer.size() || !same_entry(i, i + 1);
        if (last) text << "(" << kWaitCounterNames[waits.counter[i]] << ")";
    }
    return text.str();
}

TEST(waits, oldest_first) {
    const std::vector<std::string_view> texts = {"global_load_dword v0", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)"};
    CHECK_EQUAL(matched(texts, Dialect::gfx9, {0, 0, 0, 1, 2}), "3<-0,1(vmcnt) 4<-2(vmcnt)");
}

TEST(waits, counters_of_one_wait_in_the_order_of_the_family) {
    CHECK_EQUAL(
        matched({"global_load_dword v0", "ds_read_b32 v1", "s_waitcnt vmcnt(0) lgkmcnt(0)"}, Dialect::gfx9, {0, 1, 2}),
        "2<-1(lgkmcnt) 2<-0(vmcnt)");
    CHECK_EQUAL(matched({"global_load_dword v0", "ds_read_b32 v1", "s_waitcnt vmcnt(0) lgkmcnt(0)"}, Dialect::gfx10_11,
                        {0, 1, 2}),
                "2<-0(vmcnt) 2<-1(lgkmcnt)");
}

TEST(waits, scalar_loads_lose_the_order) {
    const std::vector<std::string_view> texts = {"s_load_b32 s0", "ds_load_b32 v0", "s_wait_kmcnt 0x1",
                                                 "s_wait_kmcnt 0x0"};
    CHECK_EQUAL(matched(texts, Dialect::gfx12, {0, 0, 1, 2, 3}), "4<-0,1(kmcnt)");
}

TEST(waits, flat_stores_come_behind_lds) {
    const std::vector<std::string_view> texts = {"flat_store_b32 v[0:1], v2", "flat_load_b32 v0, v[0:1]",
                                                 "ds_load_b32 v0", "s_wait_dscnt 0x0"};
    CHECK_EQUAL(matched(texts, Dialect::gfx12, {0, 1, 2, 3}), "3<-1,2,0(dscnt)");
}

TEST(waits, idle_drains_everything_once) {
    const std::vector<std::string_view> texts = {"tensor_load_to_lds s[0:3]", "global_store_b32 v0", "s_wait_idle"};
    CHECK_EQUAL(matched(texts, Dialect::gfx12, {0, 1, 2, 2}), "2<-1,0(idle)");
}

TEST(waits, packed_immediates_are_read_as_one_number) {
    const std::vector<std::string_view> texts = {"global_load_b32 v0", "ds_load_b32 v1", "s_wait_loadcnt_dscnt 0x101"};
    CHECK_EQUAL(matched(texts, Dialect::gfx12, {0, 1, 2}), "2<-0(loadcnt)");
}

TEST(waits, waves_are_apart_and_unknown_rows_end_them) {
    const std::vector<std::string_view> texts = {"global_load_dword v0", "s_waitcnt vmcnt(0)", ""};
    CHECK_EQUAL(matched(texts, Dialect::gfx9, {0, 1, 0, 1}, {0, 1, 1, 1}), "3<-2(vmcnt)");
    CHECK_EQUAL(matched(texts, Dialect::gfx9, {0, -1, 1, 2, 0, 1}), "2<-0(vmcnt)");
    CHECK_EQUAL(matched(texts, Dialect::gfx9, {0, 99, 1}), "");
    CHECK_EQUAL(matched({}, Dialect::gfx9, {}), "");
}

}  // namespace
}  // namespace wavewright
