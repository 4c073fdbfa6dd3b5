// Threads that cannot be made are done without, and what a worker throws arrives after all have ended.
#include <array>
#include <atomic>
#include <new>
#include <stdexcept>
#include <system_error>

#include "base/parallel.hpp"
#include "check.hpp"
#include "sample.hpp"
#include "wavewright/decode.hpp"
#include "wavewright/wave_json.hpp"

namespace wavewright {
namespace {

unsigned helpers_left = 0;
std::atomic<unsigned> helpers_ended = 0;

// While it lives, only `count` helper threads can be made; the next one fails with `Failure`.
template <class Failure>
class FewHelpers {
  public:
    explicit FewHelpers(unsigned count) {
        helpers_left = count;
        helpers_ended = 0;
        start_helper = [](const std::function<void()>& task) {
            if (helpers_left == 0) fail();
            --helpers_left;
            return std::thread([task] {
                task();
                ++helpers_ended;
            });
        };
    }
    ~FewHelpers() { start_helper = normal_; }
    FewHelpers(const FewHelpers&) = delete;
    FewHelpers& operator=(const FewHelpers&) = delete;

  private:
    [[noreturn]] static void fail() {
        if constexpr (std::is_same_v<Failure, std::system_error>) {
            throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
        } else {
            throw Failure();
        }
    }

    decltype(start_helper) normal_ = start_helper;
};

constexpr unsigned kWorkers = 5;

void check_all_turns() {
    std::array<std::atomic<int>, 100> done{};
    std::atomic<bool> known_worker = true;
    in_parallel(done.size(), kWorkers, [&](size_t turn, unsigned worker) {
        ++done[turn];
        if (worker >= kWorkers) known_worker = false;
    });
    for (const std::atomic<int>& times : done) CHECK_EQUAL(times.load(), 1);
    CHECK(known_worker);
}

TEST(parallel, every_turn_is_done_once) {
    check_all_turns();
    in_parallel(0, kWorkers, [](size_t, unsigned) { CHECK(false); });
    int calls = 0;
    in_parallel(3, 0, [&](size_t, unsigned worker) { calls += worker == 0; });  // no workers: the caller
    CHECK_EQUAL(calls, 3);
}

TEST(parallel, threads_that_cannot_be_made_are_done_without) {
    for (unsigned count = 0; count < kWorkers; ++count) {
        const FewHelpers<std::system_error> few(count);
        check_all_turns();
        CHECK_EQUAL(helpers_left, 0U);
        CHECK_EQUAL(helpers_ended.load(), count);
    }
    const FewHelpers<std::bad_alloc> none(1);
    check_all_turns();
}

TEST(parallel, an_exception_arrives_after_all_have_ended) {
    for (unsigned count = 0; count < kWorkers; ++count) {
        const FewHelpers<std::system_error> few(count);
        bool caught = false;
        try {
            in_parallel(1000, kWorkers, [](size_t turn, unsigned) {
                if (turn >= 20) throw std::runtime_error("turn");
            });
        } catch (const std::runtime_error& error) {
            caught = std::string_view(error.what()) == "turn";
        }
        CHECK(caught);
        CHECK_EQUAL(helpers_ended.load(), count);
    }
}

// The users of threads: one of them per entry point of the core.
TEST(parallel, traces_are_decoded_without_helpers) {
    std::vector<testing::Sample> samples;
    std::vector<std::span<const uint8_t>> buffers;
    for (const testing::Family& family : testing::kFamilies) samples.push_back(testing::sample(family, {}));
    for (const testing::Sample& sample : samples) buffers.emplace_back(sample.stream);
    for (unsigned count = 0; count < 3; ++count) {
        const FewHelpers<std::system_error> few(count);
        const std::vector<Records> decoded = decode_all(buffers, {}, {}, kWorkers);
        REQUIRE(decoded.size() == buffers.size());
        for (const Records& records : decoded) CHECK_EQUAL(records.waves.cu.size(), size_t{8});
        CHECK_EQUAL(helpers_ended.load(), count);
    }
}

TEST(parallel, wave_files_are_read_without_helpers) {
    const std::string text = R"({"wave":{"begin":1,"end":9,"slot":0,"instructions":[[1,1,0,4,1]]}})";
    const std::vector<WaveFile> files(100, {.path = {}, .content = text, .se = 0});
    const size_t problems = read_waves(files, LineRows({{1, 0}}), 1).problems.file.size();
    for (unsigned count = 0; count < 3; ++count) {
        const FewHelpers<std::system_error> few(count);
        const WaveFiles read = read_waves(files, LineRows({{1, 0}}), kWorkers);
        CHECK_EQUAL(read.waves.file.size(), size_t{1});  // the same wave a hundred times
        CHECK_EQUAL(read.problems.file.size(), problems);
    }
}

}  // namespace
}  // namespace wavewright
