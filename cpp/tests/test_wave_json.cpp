// Wave files of decoded directories: good ones in every spelling, and broken ones that must give a problem and no wave.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "check.hpp"
#include "wavewright/integer_rows.hpp"
#include "wavewright/wave_json.hpp"

namespace wavewright {
namespace {

const std::vector<std::pair<int64_t, int32_t>> kLines = {{1, 0}, {2, 1}, {3, 2}};

WaveFiles read(const std::vector<std::string>& texts, unsigned threads = 1) {
    std::vector<WaveFile> files;
    for (const std::string& text : texts) files.push_back({.path = {}, .content = text, .se = 0});
    return read_waves(files, LineRows(kLines), threads);
}

std::string wave(const std::string& members) {
    return R"({"name":"SE0","duration":148,"wave":{"begin":1000,"end":1148,"simd":2,"slot":5,)" + members + "}}";
}

// "time/category/stall/duration/row" of every instruction.
std::string instructions(const WaveFiles& files) {
    std::string shown;
    const InstructionTable& table = files.instructions;
    for (size_t i = 0; i < table.time_cycles.size(); ++i) {
        if (i != 0) shown += " ";
        shown += std::to_string(table.time_cycles[i]) + "/" + std::to_string(table.category[i]) + "/" +
                 std::to_string(table.stall_cycles[i]) + "/" + std::to_string(table.duration_cycles[i]) + "/" +
                 std::to_string(table.row[i]);
    }
    return shown;
}

// "file:kind@offset*count" of every problem. Kinds are numbers of WaveProblem: 0 malformed rows, 1 impossible times, 2
// no PC, 3 unknown lines; without a wave: 16 unreadable, 17 syntax, 18 too deep, 19 bad number, 20 no wave, 21
// backwards, 22 duplicate.
std::string problems(const WaveFiles& files) {
    std::string shown;
    const WaveProblemTable& table = files.problems;
    for (size_t i = 0; i < table.file.size(); ++i) {
        if (i != 0) shown += " ";
        shown += std::to_string(table.file[i]) + ":" + std::to_string(table.kind[i]) + "@" +
                 std::to_string(table.byte_offset[i]) + "*" + std::to_string(table.count[i]);
    }
    return shown;
}

std::string only_problem(const std::string& text) {
    const WaveFiles files = read({text});
    return files.waves.file.empty() ? problems(files) : "a wave and " + problems(files);
}

TEST(wave_json, a_wave_in_any_order_of_keys) {
    const WaveFiles files =
        read({R"( {"num_insts" : 2, "wave" : { "waitcnt":[[2,[[1,0]]]], "timeline" : [ [1,32] , [2, 4] ],
        "instructions": [[1032,1,0,4,1], [ 1036 , 9, 100, 100, 2 ]], "id":7, "slot":5, "simd":2, "end":1148, "begin":1000,
        "info":{"a":[{"b":"]}\"x"}]}, "cu":3, "me_id":1, "workgroup_id":9}} )"});
    CHECK_EQUAL(problems(files), "");
    CHECK_EQUAL(instructions(files), "1032/1/0/4/0 1036/9/100/100/1");
    REQUIRE(files.waves.file.size() == 1);
    CHECK_EQUAL(files.waves.start_cycles[0], 1000);
    CHECK_EQUAL(files.waves.end_cycles[0], 1148);
    CHECK_EQUAL(files.waves.id[0], 7);
    CHECK_EQUAL(files.waves.cu[0], 3);
    CHECK_EQUAL(files.waves.me[0], 1);
    CHECK_EQUAL(files.waves.pipe[0], -1);
    CHECK_EQUAL(files.waves.workgroup[0], 9);
    CHECK_EQUAL(files.states.duration_cycles.size(), 2U);
}

TEST(wave_json, old_writers) {
    const WaveFiles files = read({wave(R"("instructions":null,"timeline":null,"dispatcher":35)")});
    CHECK_EQUAL(problems(files), "");
    REQUIRE(files.waves.file.size() == 1);
    CHECK_EQUAL(files.waves.cu[0], -1);
    CHECK_EQUAL(files.waves.me[0], 2);
    CHECK_EQUAL(files.waves.pipe[0], 3);
    CHECK_EQUAL(files.waves.instruction_count[0], 0U);
}

TEST(wave_json, numbers_in_other_forms) {
    const WaveFiles files = read({wave(R"("instructions":[[1.032e3,1.0,0,4,1],[1040,1,0,4,2,99,[]]])")});
    CHECK_EQUAL(instructions(files), "1032/1/0/4/0");
    CHECK_EQUAL(problems(files), "0:0@115*1");
    CHECK_EQUAL(instructions(read({wave(R"("instructions":[[1040,1,0,4,2,99]])")})), "1040/1/0/4/1");
}

TEST(wave_json, a_key_that_stands_twice_counts_once) {
    const WaveFiles files = read({wave(
        R"("instructions":[[1000,1,0,4,9],[1004,1,0,4,0]],"instructions":[[1008,1,0,4,3]],"timeline":[[1,2]],"timeline":[])")});
    CHECK_EQUAL(instructions(files), "1008/1/0/4/2");
    CHECK_EQUAL(problems(files), "");
    CHECK_EQUAL(files.states.wave.size(), 0U);
}

TEST(wave_json, a_wave_that_stands_twice_counts_once) {
    const WaveFiles files =
        read({R"({"wave":{"begin":1,"end":9,"cu":3,"instructions":[[1,1,0,4,0]]},"wave":{"begin":5,"end":6}})"});
    REQUIRE(files.waves.file.size() == 1);
    CHECK_EQUAL(files.waves.start_cycles[0], 5);
    CHECK_EQUAL(files.waves.cu[0], -1);
    CHECK_EQUAL(instructions(files), "");
    CHECK_EQUAL(problems(files), "");
    CHECK_EQUAL(only_problem(R"({"wave":{"begin":1,"end":9},"wave":null})"), "0:20@40*1");
}

TEST(wave_json, rows_that_are_none) {
    const WaveFiles files = read({wave(
        R"("instructions":[[1000,1,0,4],5,null,[1000,256,0,4,1],[1000,1,2147483648,4,1],[99999999999999999999,1,0,4,1],["a",1,0,4,1],[1004,1,0,4,1]])")});
    CHECK_EQUAL(instructions(files), "1004/1/0/4/0");
    CHECK_EQUAL(files.problems.count[0], 7U);
    CHECK_EQUAL(files.problems.kind[0], static_cast<uint8_t>(WaveProblem::malformed_rows));
}

TEST(wave_json, states_end_at_the_first_that_cannot_be_read) {
    const WaveFiles files = read({wave(R"("timeline":[[1,4],[2,-8],[3,4]])")});
    CHECK_EQUAL(files.states.state.size(), 1U);
    CHECK_EQUAL(files.problems.count[0], 2U);
}

TEST(wave_json, unknown_lines_and_impossible_times_are_counted_and_kept) {
    const WaveFiles files =
        read({wave(R"("instructions":[[900,1,0,4,0],[1000,1,-1,4,1],[1004,1,9,4,77],[1000,1,0,4,-5]])")});
    CHECK_EQUAL(instructions(files), "900/1/0/4/-1 1000/1/-1/4/0 1004/1/9/4/-1 1000/1/0/4/-1");
    CHECK_EQUAL(problems(files), "0:1@0*4 0:2@0*1 0:3@0*2");
}

TEST(wave_json, broken_files_give_no_wave) {
    const std::string good = wave(R"("instructions":[[1032,1,0,4,1]],"timeline":[[1,32]])");
    for (size_t length = 0; length < good.size(); ++length) {
        const WaveFiles files = read({good.substr(0, length)});
        CHECK_EQUAL(files.waves.file.size(), 0U);
        CHECK_EQUAL(files.instructions.wave.size(), 0U);
        CHECK_EQUAL(problems(files), "0:17@" + std::to_string(length) + "*1");
    }
    CHECK_EQUAL(only_problem(good + "x"), "0:17@" + std::to_string(good.size()) + "*1");
    CHECK_EQUAL(only_problem("[]"), "0:17@0*1");
    CHECK_EQUAL(only_problem(R"({"a":[1}})"), "0:17@7*1");
    CHECK_EQUAL(only_problem(std::string(R"({"a":)") + std::string(100, '[')), "0:18@69*1");
    CHECK_EQUAL(only_problem("{}"), "0:20@2*1");
    CHECK_EQUAL(only_problem(R"({"wave":null})"), "0:20@13*1");
    CHECK_EQUAL(only_problem(R"({"wave":{"begin":1}})"), "0:20@20*1");
    CHECK_EQUAL(only_problem(R"({"wave":{"begin":9,"end":8}})"), "0:21@28*1");
    CHECK_EQUAL(only_problem(R"({"wave":{"begin":9,"end":99999999999999999999}})"), "0:19@45*1");
    CHECK_EQUAL(only_problem(R"({"wave":{"begin":9,"end":"x"}})"), "0:19@25*1");
    CHECK_EQUAL(only_problem(R"({"wave":{"begin":9,"end":10,"cu":256}})"), "0:19@36*1");
    CHECK_EQUAL(only_problem(std::string("{\"a\":\0}", 7)), "0:17@5*1");
}

TEST(wave_json, waves_by_end_and_each_once) {
    const auto at = [](int begin, int end, int slot) {
        return R"({"wave":{"begin":)" + std::to_string(begin) + R"(,"end":)" + std::to_string(end) + R"(,"slot":)" +
               std::to_string(slot) + R"(,"instructions":[[)" + std::to_string(begin) + R"(,1,0,4,1]]}})";
    };
    std::vector<std::string> texts;
    for (int i = 0; i < 100; ++i) texts.push_back(at(i, 1000 - i, i % 8));
    texts.push_back(at(3, 997, 3));
    for (const unsigned threads : {1U, 4U}) {
        const WaveFiles files = read(texts, threads);
        REQUIRE(files.waves.file.size() == 100);
        CHECK_EQUAL(problems(files), "100:22@0*1");
        for (uint32_t i = 0; i < 100; ++i) {
            CHECK_EQUAL(files.waves.file[i], 99 - i);
            CHECK_EQUAL(files.waves.first_instruction[i], i);
            CHECK_EQUAL(files.instructions.wave[i], i);
            CHECK_EQUAL(files.instructions.time_cycles[i], 99 - i);
        }
    }
}

TEST(wave_json, files_on_disk) {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "wavewright_test_wave_json";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "good.json") << wave(R"("instructions":[[1032,1,0,4,1]])");
    const std::vector<WaveFile> given = {{.path = folder / "good.json", .content = {}, .se = 3},
                                         {.path = folder / "missing.json", .content = {}, .se = 3},
                                         {.path = folder, .content = {}, .se = 3}};
    const WaveFiles files = read_waves(given, LineRows(kLines), 0);
    CHECK_EQUAL(instructions(files), "1032/1/0/4/0");
    CHECK_EQUAL(problems(files), "1:16@0*1 2:16@0*1");
    std::filesystem::remove_all(folder);
}

TEST(wave_json, lines_far_apart) {
    const LineRows rows({{int64_t{1} << 60, 5}, {-4, 6}, {7, 1}, {7, 2}, {0, 3}});
    CHECK_EQUAL(rows.row_of(int64_t{1} << 60), 5);
    CHECK_EQUAL(rows.row_of(-4), 6);
    CHECK_EQUAL(rows.row_of(7), 1);
    CHECK_EQUAL(rows.row_of(0), 3);
    CHECK_EQUAL(rows.row_of(1), -1);
    CHECK_EQUAL(rows.row_of((int64_t{1} << 60) + 1), -1);
}

TEST(integer_rows, rows_and_what_is_none) {
    const IntegerRows rows = read_integer_rows(R"([[1,2,3],[4,true],[5],[6,-7,8,9],"x",[1,2.5]])", 2, 3);
    CHECK(rows.is_json);
    CHECK_EQUAL(rows.malformed_count, 3U);
    REQUIRE(rows.width.size() == 3);
    CHECK_EQUAL(rows.values[1][1], 1);
    CHECK_EQUAL(rows.values[2][1], 0);
    CHECK_EQUAL(rows.values[1][2], -7);
    CHECK_EQUAL(rows.width[2], 4U);
    CHECK(read_integer_rows("null", 1, 1).is_json);
    CHECK_EQUAL(read_integer_rows("[[1],[2", 1, 1).byte_offset, 7U);
    CHECK_EQUAL(read_integer_rows("[[1],[2", 1, 1).width.size(), 1U);
}

TEST(integer_rows, members_of_an_object) {
    const std::string text = R"({"0":[[1]], "dispatches" : {"a":"}"},"last":3)";
    const ObjectMembers split = split_object(text);
    REQUIRE(split.members.size() == 3);
    CHECK_EQUAL(split.members[1].key, "dispatches");
    CHECK_EQUAL(text.substr(split.members[1].begin, split.members[1].end - split.members[1].begin), R"({"a":"}"})");
    CHECK(!split.is_json);
    CHECK_EQUAL(split.byte_offset, text.size());
}

}  // namespace
}  // namespace wavewright
