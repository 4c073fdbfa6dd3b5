#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "check.hpp"
#include "processor_time.hpp"

using namespace wavewright::testing;

namespace {

constexpr int kSecondsPerTest = 300;  // under sanitizers the longest takes two
const char* current = "";

void on_limit(int) {
    std::fprintf(stderr, "%s: took more than %d seconds\n", current, kSecondsPerTest);
    std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPROF, on_limit);
    const std::vector<std::string_view> wanted(argv + 1, argv + argc);
    int run = 0, failed = 0;
    for (const Test& test : tests()) {
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), test.suite) == wanted.end()) continue;
        const int before = failure_count();
        current = test.name;
        limit_processor_time(kSecondsPerTest);
        test.run();
        limit_processor_time(0);
        ++run;
        if (failure_count() != before) {
            ++failed;
            std::cerr << "failed: " << test.suite << " " << test.name << "\n";
        }
    }
    std::cout << run - failed << " passed, " << failed << " failed\n";
    return run == 0 || failed != 0;
}
