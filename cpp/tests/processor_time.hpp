// Limits of tests: in processor time, which what hangs uses up and a busy machine does not.
#pragma once

#include <sys/time.h>

#include <csignal>

namespace wavewright::testing {

// From now on the program may use so much; then it gets SIGPROF. 0 lifts the limit.
inline void limit_processor_time(int seconds) {
    const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
}

}  // namespace wavewright::testing
