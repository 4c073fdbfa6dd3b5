// make_seeds TARGET FOLDER: writes the seeds of one target as files, for libFuzzer.
#include <filesystem>
#include <fstream>
#include <iostream>

#include "targets.hpp"

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: make_seeds TARGET FOLDER\n";
        return 2;
    }
    const std::filesystem::path folder = argv[2];
    std::filesystem::create_directories(folder);
    for (const wavewright::fuzz::Seed& seed : wavewright::fuzz::seeds_of(argv[1])) {
        std::ofstream file(folder / seed.name, std::ios::binary);
        file.write(reinterpret_cast<const char*>(seed.bytes.data()), static_cast<std::streamsize>(seed.bytes.size()));
        if (!file) {
            std::cerr << "cannot write " << folder / seed.name << "\n";
            return 1;
        }
    }
    return 0;
}
