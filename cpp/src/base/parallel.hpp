// Work on several cores: the only place of the core where threads are made.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "wavewright/stop.hpp"

namespace wavewright {

// How a helper thread is made; throws when none can be had. A variable, so that a test can make it fail.
inline std::thread (*start_helper)(const std::function<void()>&) = [](const std::function<void()>& task) {
    return std::thread(task);
};

// Calls work(turn, worker) once for every turn on up to `workers` threads, one of them this one, and waits. Helpers
// that cannot be made are done without. What a call throws is handed on after all threads have ended; the turns that
// had not begun by then are left out.
template <class Work>
void in_parallel(size_t turns, unsigned workers, Work&& work) {
    std::atomic<size_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr failure;
    const StopFlag stop = current_stop;
    const auto run = [&](unsigned worker) {
        try {
            current_stop = stop;
            for (size_t turn = next++; turn < turns && !failed; turn = next++) {
                if (stop != nullptr && *stop) throw Stopped();
                work(turn, worker);
            }
        } catch (...) {
            if (!failed.exchange(true)) failure = std::current_exception();
        }
    };
    const auto most = static_cast<unsigned>(std::min<size_t>(workers, turns));
    std::vector<std::thread> helpers;
    helpers.reserve(most);  // nothing may throw between the start of a thread and its join
    try {
        for (unsigned worker = 1; worker < most; ++worker)
            helpers.push_back(start_helper([&run, worker] { run(worker); }));
    } catch (const std::exception&) {
        // No more threads or no more memory to be had: those that run do the work.
    }
    run(0);
    for (std::thread& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
}

// How many workers `tasks` independent tasks can use on this machine; at least one.
inline unsigned workers_for(size_t tasks) {
    const size_t cores = std::max(1U, std::thread::hardware_concurrency());
    return static_cast<unsigned>(std::clamp<size_t>(tasks, 1, cores));
}

}  // namespace wavewright
