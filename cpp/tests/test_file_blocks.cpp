#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "check.hpp"
#include "wavewright/column.hpp"
#include "wavewright/file_blocks.hpp"
#include "wavewright/span_pyramid.hpp"

using namespace wavewright;

namespace {

constexpr size_t kCount = size_t{5} << 20;  // 40 MB of numbers

std::string folder() {
    return std::filesystem::temp_directory_path().string();
}

Column<uint64_t> counted() {
    Column<uint64_t> numbers;
    for (size_t i = 0; i < kCount; ++i) numbers.push_back(i * i);
    return numbers;
}

bool is_counted(const Column<uint64_t>& numbers) {
    for (size_t i = 0; i < kCount; ++i)
        if (numbers[i] != i * i) return false;
    return true;
}

}  // namespace

TEST(file_blocks, columns_keep_what_is_in_them) {
    keep_blocks_in(folder(), uint64_t{1} << 30);
    {
        const Column<uint64_t> numbers = counted();
        CHECK(bytes_in_files() >= kCount * sizeof(uint64_t));
        give_pages_back();
        CHECK(is_counted(numbers));
    }
    CHECK_EQUAL(bytes_in_files(), uint64_t{0});
    keep_blocks_in("", 0);
}

TEST(file_blocks, columns_stay_in_memory_where_there_is_no_room) {
    keep_blocks_in(folder(), uint64_t{12} << 20);
    {
        const Column<uint64_t> numbers = counted();
        CHECK(bytes_in_files() <= uint64_t{12} << 20);
        CHECK(is_counted(numbers));
    }
    keep_blocks_in("/there/is/no/such/folder", uint64_t{1} << 30);
    CHECK(is_counted(counted()));
    CHECK_EQUAL(bytes_in_files(), uint64_t{0});
    keep_blocks_in("", 0);
}

TEST(file_blocks, what_is_stored_of_many_tracks_lies_in_files) {
    constexpr uint32_t kTracks = 64;
    constexpr size_t kSpans = 3'000'000;
    constexpr size_t kSmallBlocks = size_t{15} << 20;  // 1, 2, 4 and 8 MB: too small for files
    keep_blocks_in(folder(), uint64_t{1} << 30);
    {
        const SpanSource overlapping = [](const SpanVisit& visit) {
            for (size_t i = 0; i < kSpans; ++i) {
                const auto begin = static_cast<int64_t>(i / kTracks * 4);
                visit(i, i % kTracks, begin, begin + 7, i % 5);
            }
        };
        const SpanPyramid pyramid(overlapping, {kTracks, 0, kSpans / kTracks * 4 + 8, 2, false});
        CHECK_EQUAL(pyramid.span_count(), uint64_t{kSpans});
        CHECK(pyramid.byte_count() >= kSpans * 14 + 2 * kSmallBlocks);
        CHECK(bytes_in_files() + kSmallBlocks >= pyramid.byte_count());
    }
    CHECK_EQUAL(bytes_in_files(), uint64_t{0});
    keep_blocks_in("", 0);
}

TEST(file_blocks, a_file_that_shrinks_ends_in_zeros) {
    const std::string path = folder() + "/wavewright-shrinking-" + std::to_string(getpid());
    std::ofstream(path) << std::string(1 << 20, 'x');
    {
        const MappedFile file(path);
        CHECK(file.is_whole());
        CHECK_EQUAL(file.data()[file.size() - 1], uint8_t{'x'});
        std::filesystem::resize_file(path, 4096);
        give_pages_back();
        CHECK_EQUAL(file.data()[0], uint8_t{'x'});
        CHECK_EQUAL(file.data()[file.size() - 1], uint8_t{0});
        CHECK(!file.is_whole());
    }
    std::filesystem::remove(path);
}
