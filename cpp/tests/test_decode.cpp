// What holds for every family: detection, statuses, well-formed samples, many buffers at once.
#include <algorithm>

#include "check.hpp"
#include "invariants.hpp"
#include "sample.hpp"
#include "wavewright/decode.hpp"

namespace wavewright {
namespace {

using testing::Family;
using testing::kFamilies;
using testing::Sample;

std::vector<uint8_t> word(uint64_t value, size_t size = 8) {
    std::vector<uint8_t> bytes(size);
    for (size_t i = 0; i < std::min<size_t>(8, size); ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
    return bytes;
}

TEST(detect, generations) {
    struct Case {
        uint64_t header;
        Generation expected;
    };
    const Case cases[] = {
        {0x11 | 4 << 13, Generation::gfx9},
        {0x11 | 5 << 13, Generation::gfx9},
        {0x11 | 6 << 13, Generation::gfx9},
        {0x00 | 4 << 13, Generation::gfx9},
        {0x11 | 3 << 13, Generation::unknown},
        {0x00 | 7 << 13, Generation::unknown},
        {0x11 | 1 << 7, Generation::gfx10},
        {0x11 | 2 << 7, Generation::gfx10},
        {0x11 | 3 << 7, Generation::gfx11},
        {0x11 | 4 << 7, Generation::gfx12},
        {0x11 | 5 << 7, Generation::gfx1250},
        {0x11 | 6 << 7, Generation::unknown},
        {0x3F << 7, Generation::unknown},
        {3 << 7, Generation::gfx11},  // the prefix is not looked at
        {0, Generation::unknown},
        {~uint64_t{0}, Generation::unknown},
        {0x12 | 4 << 13, Generation::unknown},
    };
    for (const Case& c : cases) CHECK_EQUAL(detect(word(c.header)), c.expected);
    CHECK_EQUAL(detect(word(0x11 | 5 << 13, 7)), Generation::unknown);
    CHECK_EQUAL(detect({}), Generation::unknown);
}

TEST(decode, statuses) {
    const Program none;
    CHECK_EQUAL(decode({}, none).status, Status::empty);
    CHECK_EQUAL(decode(word(0x11 | 5 << 13, 7), none).status, Status::too_short);
    CHECK_EQUAL(decode(word(0x11 | 5 << 13, 8), none).status, Status::no_payload);
    CHECK_EQUAL(decode(word(0x11 | 5 << 13, 8), none).gfxip, 9U);
    CHECK_EQUAL(decode(word(0, 64), none).status, Status::unknown_header);
    CHECK_EQUAL(decode(word(0, 64), none).gfxip, 0U);
    for (uint64_t version = 1; version <= 5; ++version) {
        const Records records = decode(word(0x11 | version << 7), none);
        CHECK_EQUAL(records.status, Status::ok);
        CHECK_EQUAL(records.stream_version, version);
        CHECK_EQUAL(records.byte_count, 8U);
    }
}

Program program_of(const Sample& sample) {
    Program program;
    program.add_listing(1, {}, sample.listing);
    program.add_funcmap(1, sample.funcmap);
    program.link();
    return program;
}

TEST(decode, samples_decode_completely) {
    constexpr testing::Shape kShape{.waves = 8, .iterations = 6};
    for (const Family& family : kFamilies) {
        const int before = testing::failure_count();
        const Sample sample = testing::sample(family, kShape);
        const Program program = program_of(sample);
        Records records = decode(sample.stream, program);
        CHECK_EQUAL(testing::broken_invariant(records, program), std::string());
        CHECK_EQUAL(records.status, Status::ok);
        CHECK_EQUAL(records.waves.cu.size(), size_t{kShape.waves});
        CHECK_EQUAL(records.instructions.wave.size(), kShape.waves * sample.instructions_per_wave);
        size_t without_row = 0;
        for (const int32_t row : records.instructions.row) without_row += row < 0;
        CHECK_EQUAL(without_row, 0U);
        CHECK_EQUAL(records.occupancy.cu.size(), 4U * kShape.waves);
        CHECK_EQUAL(records.realtime_hz, 100'000'000U);
        CHECK(records.events.type.size() >= 3);
        CHECK(!records.shader_data.value.empty());
        CHECK(!records.realtime.realtime_ticks.empty());
        CHECK(records.losses.kind.empty());
        CHECK(records.info.code.empty());
        if (testing::failure_count() != before) std::cerr << "(" << family.name << ")\n";
    }
}

TEST(decode, states_cover_every_complete_wave) {
    for (const Family& family : kFamilies) {
        const Sample sample = testing::sample(family, {});
        Records records = decode(sample.stream, program_of(sample));
        for (size_t wave = 0; wave < records.waves.cu.size(); ++wave) {
            int64_t covered = 0;
            for (size_t i = 0; i < records.waves.state_count[wave]; ++i) {
                covered += records.states.duration_cycles[records.waves.first_state[wave] + i];
            }
            CHECK_EQUAL(covered, records.waves.end_cycles[wave] - records.waves.start_cycles[wave]);
        }
    }
}

template <class T>
bool same(const Column<T>& a, const Column<T>& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

bool same(Records& a, Records& b) {
    bool equal = true;
#define SAME_COLUMN(type, name) equal = equal && same(left.name, right.name);
#define SAME_TABLE(Type, member, COLUMNS)               \
    {                                                   \
        const auto &left = a.member, &right = b.member; \
        COLUMNS(SAME_COLUMN)                            \
    }
    WAVEWRIGHT_TABLES(SAME_TABLE)
#undef SAME_TABLE
#undef SAME_COLUMN
    return equal && a.status == b.status && a.token_count == b.token_count;
}

TEST(decode_all, buffers_are_independent_and_in_order) {
    std::vector<Sample> samples;
    for (const Family& family : kFamilies) samples.push_back(testing::sample(family, {.waves = 4, .iterations = 3}));
    const Program program = program_of(samples[0]);
    std::vector<std::span<const uint8_t>> buffers;
    for (const Sample& sample : samples) buffers.emplace_back(sample.stream);
    buffers.emplace_back();
    for (const unsigned threads : {0U, 1U, 2U, 16U}) {
        std::vector<Records> decoded = decode_all(buffers, program, {}, threads);
        CHECK_EQUAL(decoded.size(), buffers.size());
        for (size_t i = 0; i < buffers.size(); ++i) {
            Records alone = decode(buffers[i], program);
            CHECK(same(decoded[i], alone));
        }
        CHECK_EQUAL(decoded.back().status, Status::empty);
    }
    CHECK(decode_all({}, program, {}, 2).empty());
}

TEST(decode_all, rebase_makes_numbers_run_through) {
    std::vector<Records> decoded(3);
    for (size_t i = 0; i < decoded.size(); ++i) {
        Records& records = decoded[i];
        for (uint32_t wave = 0; wave < 2; ++wave) {
            records.waves.add(0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, wave * 3, 3, wave, 1);
            for (int n = 0; n < 3; ++n) records.instructions.add(wave, 0, 0, 0, 0, -1);
            records.states.add(wave, 1, 4);
            records.count_rows(3, 1, true);
        }
        records.losses.add(static_cast<uint8_t>(Loss::wave_incomplete), 0, 0, 1, 1);
        records.losses.add(static_cast<uint8_t>(Loss::packet_loss), 0, 0, 1, 1);
    }
    rebase(decoded);
    CHECK_EQUAL(decoded[2].waves.first_instruction[1], 15U);
    CHECK_EQUAL(decoded[2].waves.first_state[0], 4U);
    CHECK_EQUAL(decoded[1].instructions.wave[5], 3U);
    CHECK_EQUAL(decoded[1].states.wave[0], 2U);
    CHECK_EQUAL(decoded[2].losses.value[0], 5U);
    CHECK_EQUAL(decoded[2].losses.value[1], 1U);  // does not name a wave
    CHECK_EQUAL(decoded[0].waves.first_instruction[1], 3U);
    rebase({decoded.data(), 1}, 10);
    CHECK_EQUAL(decoded[0].instructions.wave[0], 10U);
    CHECK_EQUAL(decoded[0].waves.first_instruction[1], 3U);
}

TEST(decode_all, without_rows_everything_else_is_the_same) {
    for (const Family& family : kFamilies) {
        const Sample sample = testing::sample(family, {.waves = 5, .iterations = 4});
        const Program program = program_of(sample);
        Records whole = decode(sample.stream, program);
        Records counted = decode(sample.stream, program, {.rows = false});
        CHECK(counted.instructions.wave.empty() && counted.states.wave.empty());
        CHECK_EQUAL(counted.next_instruction(), whole.next_instruction());
        CHECK_EQUAL(counted.next_state(), whole.next_state());
        CHECK(whole.next_instruction() != 0 && whole.next_instruction() == whole.instructions.wave.size());
        CHECK_EQUAL(whole.next_state(), whole.states.wave.size());
        uint32_t categories = 0;
        for (const uint8_t category : whole.instructions.category) categories |= uint32_t{1} << category;
        CHECK_EQUAL(counted.tally.categories, categories);
        std::vector<uint8_t> executed;
        for (const int32_t row : whole.instructions.row) {
            if (row >= static_cast<int32_t>(executed.size())) executed.resize(static_cast<size_t>(row) + 1);
            if (row >= 0) executed[static_cast<size_t>(row)] = 1;
        }
        CHECK(counted.tally.rows == executed);
        const auto& rows = whole.instructions.row;
        CHECK_EQUAL(counted.tally.unresolved, static_cast<uint64_t>(std::count(rows.begin(), rows.end(), -1)));
        CHECK(counted.tally.spans == whole.tally.spans && counted.tally.cycles == whole.tally.cycles);
        whole.count_rows(0, 0, false);
        CHECK(same(whole, counted));
    }
}

}  // namespace
}  // namespace wavewright
