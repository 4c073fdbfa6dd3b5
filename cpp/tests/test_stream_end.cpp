// A stream that was cut says so: at every byte of every family, whatever records are missing, a loss is there.
#include <span>
#include <vector>

#include "check.hpp"
#include "decode/stream_end.hpp"
#include "fingerprint.hpp"
#include "rows.hpp"
#include "sample.hpp"
#include "stream.hpp"
#include "wavewright/decode.hpp"

namespace wavewright {
namespace {

using testing::BitWriter;
using testing::Family;
using testing::Gfx9Writer;
using testing::kFamilies;
using testing::Place;
using testing::RdnaWriter;

Records decoded(std::span<const uint8_t> bytes) {
    const Program none;
    return decode(bytes, none);
}

// Whether one of the losses is about the end.
bool says_cut(const Records& records) {
    for (const Loss kind : {Loss::truncated_token, Loss::missing_end, Loss::unended_waves}) {
        if (testing::has_loss(records, kind)) return true;
    }
    return false;
}

TEST(stream_end, a_whole_stream_has_no_loss_at_its_end) {
    for (const Family& family : kFamilies) {
        const testing::Sample whole = testing::sample(family, {.waves = 4, .iterations = 2});
        CHECK(!says_cut(decoded(whole.stream)));
    }
}

TEST(stream_end, every_cut_that_takes_records_is_said) {
    for (const Family& family : kFamilies) {
        const std::vector<uint8_t> whole = testing::sample(family, {.waves = 4, .iterations = 2}).stream;
        Records all = decoded(whole);
        const testing::Fingerprint expected(all);
        size_t silent = 0, first_silent = 0;
        for (size_t size = 9; size < whole.size(); ++size) {
            Records cut = decoded(std::span(whole).first(size));
            const bool complete = testing::Fingerprint(cut).from(expected) == testing::Difference::none;
            if (complete || says_cut(cut)) continue;
            if (silent++ == 0) first_silent = size;
        }
        if (silent != 0) std::cerr << family.name << ": silent first at " << first_silent << "\n";
        CHECK_EQUAL(silent, 0U);
    }
}

constexpr uint32_t kCu = 2, kSimd = 1;
constexpr Place kWave{.cu = kCu, .simd = kSimd, .slot = 0}, kElsewhere{.cu = kCu + 1, .simd = kSimd, .slot = 3};

TEST(stream_end, waves_without_an_end_are_counted_on_the_whole_engine) {
    Gfx9Writer gfx9(kCu);
    gfx9.wave_start(kWave);
    gfx9.wave_start(kElsewhere);
    gfx9.wave_end(kWave);
    gfx9.stop();
    RdnaWriter rdna(4, kSimd, kCu);
    rdna.wave_start(kWave);
    rdna.wave_start(kElsewhere);
    rdna.wave_end(kWave);
    rdna.stop();
    for (const BitWriter* stream : {static_cast<const BitWriter*>(&gfx9), static_cast<const BitWriter*>(&rdna)}) {
        const Records records = decoded(stream->bytes());
        REQUIRE(records.losses.kind.size() == 1);
        CHECK(testing::has_loss(records, Loss::unended_waves));
        CHECK_EQUAL(records.losses.count[0], 1U);
        CHECK_EQUAL(records.losses.byte_offset[0], stream->bytes().size());
    }
}

// The stop must be behind the last wave, and the blocks must be whole.
TEST(stream_end, what_comes_behind_the_stop_needs_another) {
    Gfx9Writer out(kCu);
    out.stop();
    CHECK(!says_cut(decoded(out.bytes())));
    out.wave_start(kWave);
    out.wave_end(kWave);
    out.fill_block(64);
    CHECK(testing::has_loss(decoded(out.bytes()), Loss::missing_end));
    out.stop();
    CHECK(!says_cut(decoded(out.bytes())));
    std::vector<uint8_t> longer = out.bytes();
    longer.push_back(0);
    longer.push_back(1);  // a token of time
    CHECK(testing::has_loss(decoded(longer), Loss::missing_end));
}

// Writers of files fill up to a page or a buffer; the 8 bytes of the gfx9 header leave no whole block there.
TEST(stream_end, zeros_behind_the_last_block_are_padding) {
    for (const Family& family : kFamilies) {
        const std::vector<uint8_t> whole = testing::sample(family, {.waves = 4, .iterations = 2}).stream;
        Records all = decoded(whole);
        const testing::Fingerprint expected(all);
        for (const size_t zeros : {1U, 2U, 24U, 32U, 4096U}) {
            std::vector<uint8_t> padded = whole;
            padded.resize(whole.size() + zeros);
            Records records = decoded(padded);
            CHECK(!says_cut(records));
            CHECK(testing::Fingerprint(records).from(expected) == testing::Difference::none);
        }
        // Without its last block the stream is cut, whatever fills its place.
        std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(whole.size() / 2));
        cut.resize(whole.size());
        CHECK(says_cut(decoded(cut)));
    }
}

// gfx9: a flush whose time has not come.
TEST(stream_end, an_absolute_time_is_waited_for) {
    Gfx9Writer timeless(kCu);
    timeless.misc(Gfx9Writer::time_reset, 255);
    timeless.stop();
    CHECK(testing::has_loss(decoded(timeless.bytes()), Loss::missing_end));
}

// The hardware holds back what does not fill a block: half a token behind the stop is normal, zeros are padding.
TEST(stream_end, rdna_streams_may_end_inside_a_token_behind_the_stop) {
    for (const uint32_t version : {2U, 3U}) {
        for (const bool stopped : {false, true}) {
            RdnaWriter out(version, kSimd, kCu);
            if (stopped) out.reg(0x1E, 0, true);
            while (out.bytes().size() % kBlockBytes != kBlockBytes - 1) out.time(4);
            out.token(8, {{0, 1}});  // the first byte of a TIMESTAMP
            const Records records = decoded(out.bytes());
            CHECK_EQUAL(testing::has_loss(records, Loss::truncated_token), !stopped);
            CHECK(!testing::has_loss(records, Loss::missing_end));
        }
    }
}

// The parts of a chunked capture end anywhere.
TEST(stream_end, chunks_need_no_stop) {
    RdnaWriter out(4, kSimd, kCu, uint64_t{1} << 43);
    out.time(4);
    CHECK(testing::has_loss(decoded(out.bytes()), Loss::missing_end));  // not a whole block
    out.fill_block(0);
    CHECK(decoded(out.bytes()).double_buffer);
    CHECK(!says_cut(decoded(out.bytes())));
}

}  // namespace
}  // namespace wavewright
