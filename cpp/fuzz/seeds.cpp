// Where fuzzing starts: valid inputs of every family, made here so that none is a stranger's file.
#include <algorithm>
#include <array>
#include <random>

#include "sample.hpp"
#include "sqlite_pages.hpp"
#include "targets.hpp"
#include "wavewright/isa.hpp"
#include "wavewright/perfetto.hpp"

namespace wavewright::fuzz {
namespace {

void append(std::vector<uint8_t>& bytes, std::string_view text) {
    bytes.insert(bytes.end(), text.begin(), text.end());
}

// Starts four waves, lets them run random instructions, ends them.
std::vector<uint8_t> recipe(const testing::Family& family, std::mt19937& random) {
    std::vector<uint8_t> bytes;
    const auto step = [&](uint32_t kind, uint32_t a, uint32_t b) {
        for (const uint32_t part : {kind, a, b}) bytes.push_back(static_cast<uint8_t>(part));
    };
    const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
    const bool gfx9 = family.version == 0;
    for (uint32_t slot = 0; slot < 4; ++slot) step(0, slot, gfx9 ? 64 : 0);
    for (int i = 0; i < 120; ++i) {
        const uint32_t slot = below(4), issuing = gfx9 ? 12 : 2 + below(5);
        step(i % 3 ? issuing : below(gfx9 ? 14 : 16), slot, below(256));
    }
    for (uint32_t slot = 0; slot < 4; ++slot) step(1, slot, 3);
    return bytes;
}

constexpr std::string_view kWaitTexts[] = {
    "global_load_dword v0, v[1:2], off\ns_load_dword s0, s[2:3], 0x0\nds_read_b32 v1, v2\n"
    "global_store_dword v[1:2], v0, off\ns_waitcnt vmcnt(1) lgkmcnt(0)\nflat_load_dword v3, v[4:5]\ns_waitcnt 0\n",
    "global_load_b32 v0, v[1:2], off\nimage_sample v0, v[0:1], s[0:7], s[8:11]\nds_load_b32 v1, v2\n"
    "global_store_b32 v[1:2], v0, off\ns_waitcnt vmcnt(0)\ns_waitcnt_vscnt null, 0x0\ns_waitcnt lgkmcnt(1)\n",
    "global_load_b32 v0, v[1:2], off\nds_load_b32 v1, v2\ns_load_b64 s[0:1], s[2:3], 0x0\nglobal_store_b32 v[1:2], v0, "
    "off\n"
    "s_wait_loadcnt 0x1\ns_wait_loadcnt_dscnt 0x0\ns_wait_kmcnt 0x0\ns_wait_storecnt 0x0\ns_wait_idle\n",
};

std::vector<Seed> wait_seeds() {
    std::vector<Seed> seeds;
    for (uint8_t dialect = 0; dialect < std::size(kWaitTexts); ++dialect) {
        Seed seed{"dialect" + std::to_string(dialect), {dialect}};
        append(seed.bytes, kWaitTexts[dialect]);
        seed.bytes.push_back(0);
        for (uint8_t i = 0; i < 60; ++i) seed.bytes.push_back(static_cast<uint8_t>(i % 20 ? i % 9 : 0x80));
        seeds.push_back(std::move(seed));
    }
    return seeds;
}

// Two loads, a scalar load, an LDS read, a FLAT load and three waits; then waves that execute them in turn.
std::vector<Seed> stall_seeds() {
    Seed seed{"rules", {8, 1, 5, 1, 5, 2, 8, 2, 14, 3, 16, 0x81, 1, 0x82, 1, 0x83, 0}};
    for (uint8_t i = 0; i < 120; ++i) {
        const auto new_wave = static_cast<uint8_t>(i % 40 ? 0 : 0x80);
        for (const int byte : {new_wave | i * 5 % 9, 3, i % 7 * 4, i % 11 * 8})
            seed.bytes.push_back(static_cast<uint8_t>(byte));
    }
    return {seed};
}

// A loop of eight rows with its loads first, then moved ones, and waves that go around it.
std::vector<Seed> edit_seeds() {
    std::vector<Seed> seeds;
    for (const int moved : {0x00, 0x80, 0xA4}) {
        Seed seed{"edit" + std::to_string(moved),
                  {7, 1, 0x25, 1, 0x2D, 2, 0x45, 0x81, 0, 0, 0, 8, 1, 0x82, 1, 0x78, 0}};
        for (const int byte : {6, 8, 0, 2, 1, 3, 0x43, 4, 5, 6})
            seed.bytes.push_back(static_cast<uint8_t>(byte | moved));
        seed.bytes.insert(seed.bytes.end(), {1, 0, 1, 0x43});
        for (uint8_t i = 0; i < 160; ++i) {
            const auto new_wave = static_cast<uint8_t>(i % 40 ? 0 : 0x80);
            for (const int byte : {new_wave | i % 8, i % 40 == 20 ? 0x39 : 6, i % 7 * 4, i % 11 * 8})
                seed.bytes.push_back(static_cast<uint8_t>(byte));
        }
        seeds.push_back(std::move(seed));
    }
    return seeds;
}

std::vector<Seed> wave_json_seeds() {
    constexpr std::string_view kTexts[] = {
        R"({"name":"SE0","duration":148,"num_insts":4,"num_stitched":4,"wave":{"begin":1000,"end":1148,"cu":1,"simd":2,)"
        R"("slot":5,"id":0,"instructions":[[1032,1,0,4,1],[1036,9,100,100,2],[1136,6,4,8,3],[1144,11,0,4,0]],)"
        R"("timeline":[[1,32],[2,4],[3,100],[4,4],[2,8]],"waitcnt":[[2,[[1,0]]]]}})",
        R"({"wave" : { "info": {"a":[{"b":"]}\"x"}], "c":null}, "instructions": [ [1e3, 1.0, 0, 4, 1099511627776, 7],)"
        R"( [-5,1,-1,4,1], 3, "x", [1,2] ], "timeline":null, "end":9223372036854775807, "begin":-9223372036854775808}})",
        R"([[1000,1,2,5,1,1],[1004,3,0,0,true,1],[1148,1,2,5,false,1],[18446744073709551615,0,0]])",
        R"({"version":"3.0.0","dispatches":{"0":"0 / 0x0","1":"demo_kernel"},"0":[[1000,1,2,5,1,1]],"events":{"0":[]}})",
    };
    std::vector<Seed> seeds;
    Seed all{"all", {}};
    for (const std::string_view text : kTexts) {
        Seed seed{"text" + std::to_string(seeds.size()), {}};
        append(seed.bytes, text);
        append(all.bytes, text);
        all.bytes.push_back(0);
        seeds.push_back(std::move(seed));
    }
    seeds.push_back(std::move(all));
    return seeds;
}

// A tree of two levels with values of every kind, among them one on overflow pages.
std::vector<Seed> sqlite_seeds() {
    using testing::record;
    std::vector<Seed> seeds;
    for (const uint32_t page_size : {512U, 1024U}) {
        testing::SqlitePages pages(page_size);
        const uint32_t first = pages.leaf({{1, record({int64_t{-5}, 2.5, "a name", nullptr})},
                                           {2, record({int64_t{1} << 40, "7", "gr\xC3\xBC\xC3\x9F", "a name"})}});
        const uint32_t second = pages.leaf(
            {{3, record({std::string(1500, 'x'), int64_t{0}, "\xFF", "b"})}, {9, record({testing::Blob{"bytes"}})}});
        const uint32_t root = pages.interior({first, second});
        Seed seed{"pages" + std::to_string(page_size), {static_cast<uint8_t>(root), 0b11100100}};
        seed.bytes.insert(seed.bytes.end(), pages.bytes().begin(), pages.bytes().end());
        seeds.push_back(std::move(seed));
    }
    return seeds;
}

// Runs of spans on four tracks, some far away, some overlapping.
std::vector<Seed> span_seeds() {
    std::vector<Seed> seeds;
    for (const int control : {0x03, 0x4B, 0x97}) {
        Seed seed{"spans" + std::to_string(control), {static_cast<uint8_t>(control)}};
        for (int i = 0; i < 60; ++i) {
            const bool is_wild = i % 20 == 19;
            seed.bytes.push_back(static_cast<uint8_t>((is_wild ? 0x80 : 0x40) | i % 64));
            for (int byte = 0; byte < (is_wild ? 16 : 2); ++byte)
                seed.bytes.push_back(static_cast<uint8_t>(i * 37 + byte * 11));
        }
        seeds.push_back(std::move(seed));
    }
    return seeds;
}

// Rows of columns behind `head`: tame ones, and some of which every value is any.
std::vector<Seed> column_seeds(const std::vector<uint8_t>& head) {
    std::vector<Seed> seeds;
    std::mt19937 random(11);
    for (const uint32_t wild : {0U, 8U, 2U}) {
        Seed seed{"wild" + std::to_string(wild), head};
        for (int i = 0; i < 120; ++i) {
            const auto byte = static_cast<uint8_t>(random());
            seed.bytes.push_back(wild != 0 && random() % wild == 0 ? byte | 0xC0 : byte & 0x3F);
            seed.bytes.push_back(static_cast<uint8_t>(random()));
        }
        seeds.push_back(std::move(seed));
    }
    return seeds;
}

// Machine code with every value of the bits that tell encodings apart, for every column; and texts.
// Address arithmetic of all kinds, for every GPU of fuzz_evaluate and both wave sizes.
std::vector<Seed> evaluate_seeds() {
    constexpr std::string_view kTexts =
        "s_load_dwordx4 s[8:11], s[4:5], 0x0\nv_and_b32_e32 v1, 0x3ff, v0\nv_lshlrev_b32_e32 v2, 2, v1\n"
        "v_add_co_u32_e32 v4, vcc, s8, v2\nv_addc_co_u32_e32 v5, vcc, v3, v6, vcc\nglobal_load_dword v7, v[4:5], off\n"
        "v_mad_u64_u32 v[8:9], s[12:13], s6, v1, 0\nv_lshl_add_u64 v[10:11], v[8:9], 2, s[8:9]\n"
        "ds_read2_b32 v[12:13], v2 offset0:1 offset1:9\nv_cmp_gt_u32_e32 vcc, 7, v1\ns_and_saveexec_b64 s[14:15], vcc\n"
        "s_cbranch_execz 4\nds_write_b128 v2, v[12:15] offset:64\ns_or_b64 exec, exec, s[14:15]\n"
        "v_mov_b32_dpp v20, v1 row_shr:3 row_mask:0xf bank_mask:0x5 bound_ctrl:0\nv_readfirstlane_b32 s20, v20\n"
        "v_cvt_f32_u32_e32 v21, s20\nv_rcp_iflag_f32_e32 v21, v21\nv_cvt_u32_f32_e32 v21, v21\n"
        "v_lshlrev_b32_sdwa v22, v2, sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_1\n"
        "v_bitop3_b32 v23, v1, v22, s20 bitop3:0x6c\nds_bpermute_b32 v24, v2, v23\nds_swizzle_b32 v25, v24 "
        "offset:swizzle(SWAP,1)\n"
        "buffer_load_dwordx2 v[26:27], v2, s[8:11], 0 offen offset:16\nv_pk_mad_u16 v28, v1, v2, -2 op_sel:[0,0,1] "
        "op_sel_hi:[1,1,0]\n"
        "v_dual_mov_b32 v29, v1 :: v_dual_add_nc_u32 v30, v2, v1\nv_mul_lo_u16 v31.l, v1.h, 5 op_sel:[1,0,0]\n"
        "v_alignbit_b32 v32, s20, v1, 16\nv_perm_b32 v33, v1, v2, 0x5040c0d\ns_cmp_lt_u32 s20, 17\ns_cbranch_scc1 2\n"
        "v_ashrrev_i32_e32 v35, 31, v1\nv_lshlrev_b64 v[36:37], 3, v[34:35]\ns_subb_u32 s21, s22, s23\ns_bfe_u32 s24, "
        "s20, 0x50003\n";
    std::vector<Seed> seeds;
    for (uint8_t which = 0; which < 10; ++which) {
        Seed seed{"evaluate" + std::to_string(which), {which, static_cast<uint8_t>(which * 37)}};
        append(seed.bytes, kTexts);
        seeds.push_back(std::move(seed));
    }
    return seeds;
}

std::vector<Seed> isa_seeds() {
    std::vector<Seed> seeds;
    std::mt19937 random(17);
    const auto columns = static_cast<uint8_t>(isa::targets().size());
    for (uint8_t column = 0; column < columns; ++column) {
        Seed code{"code" + std::to_string(column), {column, static_cast<uint8_t>(4 | column % 2)}};
        for (uint32_t top = 0; top < 512; top += 2 + static_cast<uint32_t>(random() % 4)) {
            const std::array<uint32_t, 3> words{top << 23 | (static_cast<uint32_t>(random()) & 0x7FFFFF),
                                                static_cast<uint32_t>(random()), static_cast<uint32_t>(random())};
            for (size_t word = 0; word < 1 + top % 3; ++word)
                for (uint32_t shift = 0; shift < 32; shift += 8)
                    code.bytes.push_back(static_cast<uint8_t>(words[word] >> shift));
        }
        seeds.push_back(std::move(code));
        Seed texts{"texts" + std::to_string(column), {column, static_cast<uint8_t>(2 | column % 2)}};
        for (const std::string_view text : kWaitTexts) append(texts.bytes, text);
        append(texts.bytes,
               "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]\nv_cmp_gt_f32_e64 s[4:5], |v1|, -v2\n"
               "v_dual_mul_f32 v196, v12, v98 :: v_dual_add_nc_u32 v9, v4, v74\nv_log_f16_dpp v50.h, v28.l\n"
               "v_add_f32_e32 v1, v2 /*v258*/, v3\ns_and_saveexec_b64 s[2:3], vcc\n.long 0xffffffff\n");
        seeds.push_back(std::move(texts));
    }
    return seeds;
}

// Bytes of messages, put together by hand.
struct Message {
    std::vector<uint8_t> bytes{};

    Message& varint(uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<uint8_t>(value | 0x80));
        bytes.push_back(static_cast<uint8_t>(value));
        return *this;
    }
    Message& number(uint64_t field, uint64_t value) { return varint(field << 3).varint(value); }
    Message& text(uint64_t field, std::string_view content) {
        varint(field << 3 | 2).varint(content.size());
        append(bytes, content);
        return *this;
    }
    Message& message(uint64_t field, const Message& inner) {
        return text(field, {reinterpret_cast<const char*>(inner.bytes.data()), inner.bytes.size()});
    }
    Message& fixed(uint64_t field, uint64_t value) {
        varint(field << 3 | 1);
        for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<uint8_t>(value >> shift));
        return *this;
    }
};

// What our own writer makes, and what others do besides: clocks of sequences, interned names, nested annotations.
std::vector<Seed> perfetto_seeds() {
    const std::vector<uint64_t> track{2, 2}, name{1, 1}, flow{0, 5};
    const std::vector<int64_t> begin{5, 7}, end{300, 90};
    const PerfettoEvents events{track, begin, end, name, name, flow};
    PerfettoSlices slices(100, true);
    const std::string ours = slices.add(events) + slices.finish() + perfetto_instants(events) +
                             perfetto_points(track, begin, std::vector<double>{1, 0.5});
    const auto packet = [](const Message& fields) { return Message().message(1, fields); };
    Message clocks, names, counter, made;
    clocks.message(1, Message().number(1, 6).number(2, 1000));
    clocks.message(1, Message().number(1, 64).number(2, 7).number(3, 1).number(4, 1000));
    for (const uint64_t kind : {1, 2, 3, 29}) names.message(kind, Message().number(1, 1).text(2, "kernel_dispatch"));
    counter.number(3, 3).number(4, 1024).number(5, 1);
    const Message nested = Message().text(10, "d").message(
        11, Message().text(10, "k").message(12, Message().number(4, 3)).message(12, Message().fixed(5, 1)));
    const Message first = Message().number(10, 3).number(13, 1).message(6, clocks).message(12, names).message(
        59, Message().number(58, 64).message(11, Message().number(11, 2).number(31, 9)));
    const Message slice = Message()
                              .number(9, 1)
                              .number(10, 1)
                              .number(3, 1)
                              .number(12, 4)
                              .fixed(47, 5)
                              .message(4, Message().number(1, 1).number(17, 1))
                              .message(4, nested)
                              .message(4, Message().text(10, "c").fixed(5, 9));
    for (const Message& each :
         {packet(first), packet(Message().message(60, Message().number(1, 9).number(5, 2).message(8, counter))),
          packet(Message().message(60, Message().number(1, 2).message(4, Message().number(1, 7).number(2, 8)))),
          packet(Message().number(10, 3).number(8, 2).number(13, 2).message(11, slice)),
          packet(Message().number(10, 3).number(8, 2).message(11, Message().number(9, 2))),
          packet(Message().number(8, 9).number(42, 1).message(35, Message().message(1, Message().number(18, 4)))),
          packet(Message().text(50, "x"))})
        made.bytes.insert(made.bytes.end(), each.bytes.begin(), each.bytes.end());
    return {{"ours", {ours.begin(), ours.end()}}, {"others", made.bytes}};
}

}  // namespace

std::vector<Seed> seeds_of(std::string_view target) {
    if (target == "fuzz_waits") return wait_seeds();
    if (target == "fuzz_wave_json") return wave_json_seeds();
    if (target == "fuzz_stalls") return stall_seeds();
    if (target == "fuzz_edits") return edit_seeds();
    if (target == "fuzz_sqlite") return sqlite_seeds();
    if (target == "fuzz_spans") return span_seeds();
    if (target == "fuzz_executed" || target == "fuzz_groups" || target == "fuzz_live") return column_seeds({});
    if (target == "fuzz_writers") return column_seeds({3, 'k', 0, '"', 0xFF, 0, 'a', '\n', 0, 'b', 0});
    if (target == "fuzz_isa") return isa_seeds();
    if (target == "fuzz_perfetto") return perfetto_seeds();
    if (target == "fuzz_evaluate") return evaluate_seeds();
    std::vector<Seed> seeds;
    std::mt19937 random(7);
    for (uint8_t i = 0; i < std::size(testing::kFamilies); ++i) {
        const testing::Family& family = testing::kFamilies[i];
        const testing::Sample sample = testing::sample(family, {.waves = 4, .iterations = 2});
        Seed seed{family.name, {}};
        if (target == "fuzz_tokens" || target == "fuzz_library") seed.bytes = sample.stream;
        if (target == "fuzz_waves" || target == "fuzz_pcmap") seed.bytes.push_back(i);
        if (target == "fuzz_pcmap" || target == "fuzz_program") {
            append(seed.bytes, sample.listing);
            seed.bytes.push_back(0);
        }
        if (target == "fuzz_waves" || target == "fuzz_pcmap") {
            const std::vector<uint8_t> steps = recipe(family, random);
            seed.bytes.insert(seed.bytes.end(), steps.begin(), steps.end());
        }
        if (target == "fuzz_program") append(seed.bytes, sample.funcmap);
        seeds.push_back(std::move(seed));
    }
    return seeds;
}

}  // namespace wavewright::fuzz
