// Work on several cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace wavescope {

// Calls work(worker) on up to `count` threads, one of them this one, and waits; hands on the first exception.
template <class Work>
void on_workers(unsigned count, Work&& work) {
    std::atomic<bool> failed{false};
    std::exception_ptr failure;
    auto guarded = [&](unsigned worker) {
        try {
            work(worker);
        } catch (...) {
            if (!failed.exchange(true)) failure = std::current_exception();
        }
    };
    std::vector<std::thread> helpers;
    for (unsigned worker = 1; worker < count; ++worker) helpers.emplace_back(guarded, worker);
    guarded(0);
    for (std::thread& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
}

// How many workers `tasks` independent tasks can use on this machine; at least one.
inline unsigned workers_for(size_t tasks) {
    const size_t cores = std::max(1U, std::thread::hardware_concurrency());
    return static_cast<unsigned>(std::clamp<size_t>(tasks, 1, cores));
}

}  // namespace wavescope
