#include <algorithm>

#include "check.hpp"

using namespace wavewright::testing;

int main(int argc, char** argv) {
    const std::vector<std::string_view> wanted(argv + 1, argv + argc);
    int run = 0, failed = 0;
    for (const Test& test : tests()) {
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), test.suite) == wanted.end()) continue;
        const int before = failure_count();
        test.run();
        ++run;
        if (failure_count() != before) {
            ++failed;
            std::cerr << "failed: " << test.suite << " " << test.name << "\n";
        }
    }
    std::cout << run - failed << " passed, " << failed << " failed\n";
    return run == 0 || failed != 0;
}
