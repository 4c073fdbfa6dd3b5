#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "wavewright/event_graph.hpp"

namespace wavewright {
namespace {

using Numbers = std::vector<int64_t>;

// A run that is written down event by event.
struct Made {
    std::vector<uint32_t> track, launch, meeting, awaited, process, gpu, before, after, group;
    std::vector<int64_t> start, end;
    std::vector<uint8_t> awaits, is_gpu, is_working, is_into_end;

    uint32_t add_track(uint32_t of_process, bool is_stream, bool works = true) {
        process.push_back(of_process);
        is_gpu.push_back(is_stream ? 1 : 0);
        is_working.push_back(works ? 1 : 0);
        gpu.push_back(0);
        while (group.size() <= of_process) group.push_back(0);
        return static_cast<uint32_t>(process.size() - 1);
    }
    uint32_t add(uint32_t on, int64_t from, int64_t to, uint32_t launched_by = kNoEvent,
                 Awaits what = Awaits::kNothing) {
        track.push_back(on);
        start.push_back(from);
        end.push_back(to);
        launch.push_back(launched_by);
        meeting.push_back(kNoEvent);
        awaited.push_back(kNoEvent);
        awaits.push_back(static_cast<uint8_t>(what));
        return static_cast<uint32_t>(track.size() - 1);
    }
    EventGraph graph() const {
        return EventGraph({track, start, end, launch, meeting, awaits, awaited, process, is_gpu, is_working, gpu,
                           before, after, is_into_end, group});
    }
    // In the window of its events.
    PathColumns path() const {
        return graph().path(0, *std::min_element(start.begin(), start.end()),
                            *std::max_element(end.begin(), end.end()));
    }
};

Numbers values(const Column<int64_t>& column) {
    return {column.begin(), column.end()};
}

template <class T>
std::vector<uint32_t> numbers(const Column<T>& column) {
    return {column.begin(), column.end()};
}

Numbers ends_after(const EventGraph& graph, const GraphChange& change, const GraphReading& reading = {}) {
    Column<int64_t> start, end;
    graph.recompute(change, reading, start, end);
    return values(end);
}

TEST(event_graph, path_goes_through_what_came_last) {
    Made run;
    const uint32_t thread = run.add_track(0, false), stream = run.add_track(0, true);
    const uint32_t call = run.add(thread, 0, 10);            // launches the kernel
    const uint32_t kernel = run.add(stream, 25, 125, call);  // 25 after its call began
    const uint32_t sync = run.add(thread, 30, 130, kNoEvent, Awaits::kAllWork);
    const EventGraph graph = run.graph();
    const PathColumns path = run.path();
    CHECK_EQUAL(values(path.start_ns), (Numbers{0, 25, 125}));
    CHECK_EQUAL(values(path.end_ns), (Numbers{25, 125, 130}));
    CHECK_EQUAL(numbers(path.event), (std::vector<uint32_t>{kernel, kernel, sync}));
    CHECK_EQUAL(numbers(path.link), (std::vector<uint32_t>{3, 0, 5}));
    CHECK_EQUAL(values(graph.slack()), (Numbers{100, 0, 0}));
    const std::vector<double> faster{1.0, 0.5, 1.0};
    CHECK_EQUAL(ends_after(graph, {faster, {}, {}, {}}), (Numbers{10, 75, 80}));
    const std::vector<double> much_faster{1.0, 0.0, 1.0};  // then the code before the call decides
    CHECK_EQUAL(ends_after(graph, {much_faster, {}, {}, {}}), (Numbers{10, 25, 30}));
}

TEST(event_graph, ranks_wait_for_the_last_one) {
    Made run;
    const uint32_t first = run.add_track(0, true), second = run.add_track(1, true);
    run.add(first, 0, 10);
    const uint32_t slow = run.add(second, 0, 60);
    const uint32_t early = run.add(first, 10, 80), late = run.add(second, 60, 80);
    run.add(first, 80, 90);
    run.meeting[early] = run.meeting[late] = 0;
    const EventGraph graph = run.graph();
    const PathColumns path = run.path();
    CHECK_EQUAL(numbers(path.event), (std::vector<uint32_t>{slow, early, 4}));
    CHECK_EQUAL(values(path.end_ns), (Numbers{60, 80, 90}));
    CHECK_EQUAL(values(graph.slack()), (Numbers{50, 0, 0, 10, 0}));
    const std::vector<double> faster{1.0, 0.5, 1.0, 1.0, 1.0};
    CHECK_EQUAL(ends_after(graph, {faster, {}, {}, {}}), (Numbers{10, 30, 50, 50, 60}));
    std::vector<uint8_t> on_time(5);
    on_time[late] = kOnTime;
    CHECK_EQUAL(ends_after(graph, {{}, {}, {}, on_time}), (Numbers{10, 60, 30, 30, 40}));
}

// Two threads take turns; the second launches into a stream.
PathColumns turns(bool is_one_stream, bool works) {
    Made run;
    const uint32_t main = run.add_track(0, false), other = run.add_track(0, false, works);
    const uint32_t stream = run.add_track(0, true), second = run.add_track(0, true);
    const uint32_t first = run.add(main, 0, 1'000), handed = run.add(other, 50'000, 60'000);
    const uint32_t back = run.add(main, 100'000, 101'000);
    run.add(stream, 2'000, 3'000, first);
    if (works) run.add(is_one_stream ? stream : second, 62'000, 63'000, handed);
    run.add(stream, 102'000, 103'000, back);
    return run.path();
}

TEST(event_graph, a_quiet_thread_goes_on_after_another_that_feeds_the_same_stream) {
    const PathColumns path = turns(true, true);
    CHECK_EQUAL(numbers(path.link), (std::vector<uint32_t>{1, 9, 12, 9, 1, 9, 12, 9, 3, 0}));
    CHECK_EQUAL(numbers(path.is_inferred), (std::vector<uint32_t>{0, 1, 1, 1, 0, 1, 1, 1, 0, 0}));
    // Without evidence the time between the calls of a thread is its own code.
    CHECK_EQUAL(numbers(turns(false, true).link), (std::vector<uint32_t>{1, 2, 3, 0}));
    CHECK_EQUAL(numbers(turns(false, false).link), (std::vector<uint32_t>{1, 2, 3, 0}));
}

TEST(event_graph, a_thread_without_work_is_not_on_the_path) {
    Made run;
    const uint32_t main = run.add_track(0, false), watchdog = run.add_track(0, false, false);
    const uint32_t stream = run.add_track(0, true);
    const uint32_t call = run.add(main, 0, 10);
    const uint32_t kernel = run.add(stream, 20, 120, call);
    for (const int64_t time : {40, 100'000, 200'000}) run.add(watchdog, time, time + 5);
    const PathColumns path = run.path();
    CHECK_EQUAL(numbers(path.event), (std::vector<uint32_t>{kernel, kernel, kernel}));
    CHECK_EQUAL(numbers(path.link), (std::vector<uint32_t>{3, 0, 14}));
    CHECK_EQUAL(values(path.end_ns), (Numbers{20, 120, 200'005}));
}

TEST(event_graph, a_wait_ends_with_the_work_within_the_tolerance_of_the_clocks) {
    Made run;
    const uint32_t thread = run.add_track(0, false), stream = run.add_track(0, true);
    const uint32_t call = run.add(thread, 0, 1'000);
    const uint32_t kernel = run.add(stream, 5'000, 100'000, call);
    const uint32_t sync = run.add(thread, 2'000, 92'500, kNoEvent, Awaits::kAllWork);  // 7.5 us before the end
    const uint32_t next = run.add(thread, 150'000, 151'000), after = run.add(stream, 160'000, 200'000, next);
    const EventGraph graph = run.graph();
    CHECK_EQUAL(graph.tolerance_ns()[0], int64_t{7'500});
    const PathColumns path = run.path();
    CHECK_EQUAL(numbers(path.event), (std::vector<uint32_t>{kernel, kernel, sync, next, after, after}));
    CHECK_EQUAL(values(path.end_ns), (Numbers{5'000, 92'500, 92'500, 150'000, 160'000, 200'000}));
    const std::vector<double> faster{1.0, 0.5, 1.0, 1.0, 1.0};
    CHECK_EQUAL(ends_after(graph, {faster, {}, {}, {}})[sync], int64_t{92'500 - 47'500});
    CHECK_EQUAL(ends_after(graph, {faster, {}, {}, {}})[after], int64_t{200'000 - 47'500});
}

TEST(event_graph, work_before_its_launch_is_held_up_by_it_within_the_tolerance) {
    Made run;
    const uint32_t thread = run.add_track(0, false), stream = run.add_track(0, true);
    const uint32_t first = run.add(thread, 0, 10'000), second = run.add(thread, 300'000, 310'000);
    run.add(stream, 5'000, 50'000, first);
    const uint32_t early = run.add(stream, 270'000, 400'000, second);  // 30 us before its launch
    const PathColumns path = run.path();
    CHECK_EQUAL(run.graph().tolerance_ns()[0], int64_t{30'000});
    CHECK_EQUAL(numbers(path.event), (std::vector<uint32_t>{first, second, early, early}));
    CHECK_EQUAL(values(path.end_ns), (Numbers{10'000, 270'000, 270'000, 400'000}));
}

TEST(event_graph, what_ran_meanwhile_is_on_the_path_instead_of_idle_time) {
    Made run;
    const uint32_t first = run.add_track(0, true), second = run.add_track(0, true);
    const uint32_t begin = run.add(first, 0, 100), middle = run.add(first, 400, 500);
    const uint32_t beside = run.add(second, 50, 700);  // of another stream
    const uint32_t last = run.add(first, 500'000, 500'100);
    const PathColumns path = run.path();
    CHECK_EQUAL(numbers(path.event), (std::vector<uint32_t>{begin, beside, middle, beside, last, last}));
    CHECK_EQUAL(values(path.busy_ns), (Numbers{100, 300, 100, 200, 0, 100}));
}

TEST(event_graph, cycles_and_backward_times_are_losses) {
    Made run;
    const uint32_t thread = run.add_track(0, false), stream = run.add_track(0, true), second = run.add_track(0, true);
    const uint32_t call = run.add(thread, 200'000, 200'010);
    const uint32_t early = run.add(stream, 50, 60, call);  // long before its launch
    const uint32_t empty = run.add(stream, 60, 60), other = run.add(second, 60, 60);
    for (const auto& [from, to] : {std::pair{empty, other}, std::pair{other, empty}, std::pair{call, early}}) {
        run.before.push_back(from);
        run.after.push_back(to);
        run.is_into_end.push_back(0);
    }
    const EventGraph graph = run.graph();
    CHECK_EQUAL(graph.losses().backward_edges[static_cast<size_t>(Link::kLaunch)], uint64_t{1});
    CHECK_EQUAL(graph.losses().backward_edges[static_cast<size_t>(Link::kDependency)], uint64_t{1});
    CHECK_EQUAL(graph.losses().cycle_edges, uint64_t{1});
    CHECK_EQUAL(ends_after(graph, {}), (Numbers{200'010, 60, 60, 60}));
}

// Random runs: whatever the record says, computing it again gives the recorded times, the path has no gaps, and an
// event can end later by its slack but not by more.
TEST(event_graph, random_runs_are_reproduced) {
    std::mt19937_64 random(11);
    const auto below = [&](uint64_t count) { return static_cast<int64_t>(random() % count); };
    for (int round = 0; round < 60; ++round) {
        Made run;
        for (uint32_t process = 0; process < 2; ++process)
            for (int track = 0; track < 4; ++track) run.add_track(process, track >= 2);
        const int64_t step = round % 2 == 0 ? 100 : 50'000;
        for (int at = 0; at < 120; ++at) {
            const auto track = static_cast<uint32_t>(below(8));
            const int64_t start = below(40) * step;
            const uint32_t event = run.add(track, start, start + below(6) * step / 2);
            if (run.is_gpu[track] == 0)
                run.awaits[event] = static_cast<uint8_t>(below(6));
            else if (event > 0 && below(2) == 0) {
                const auto call = static_cast<uint32_t>(below(event));
                if (run.is_gpu[run.track[call]] == 0) run.launch[event] = call;
            }
            if (run.is_gpu[track] == 0 && below(3) == 0)
                run.awaited[event] = run.process[track] * 4 + 2;
            else if (run.is_gpu[track] != 0 && below(6) == 0)
                run.meeting[event] = static_cast<uint32_t>(below(10));
            if (event > 0 && below(5) == 0) {
                run.before.push_back(static_cast<uint32_t>(below(event)));
                run.after.push_back(event);
                run.is_into_end.push_back(run.is_gpu[track] == 0 ? 1 : 0);
            }
        }
        const EventGraph graph = run.graph();
        Column<int64_t> starts, ends;
        graph.recompute({}, {}, starts, ends);
        CHECK_EQUAL(values(starts), run.start);
        for (const GraphReading reading :
             {GraphReading{true, false}, GraphReading{false, true}, GraphReading{true, true}})
            CHECK_EQUAL(ends_after(graph, {}, reading), values(ends));
        const Numbers all_ends = values(ends);
        const int64_t last = *std::max_element(all_ends.begin(), all_ends.end());
        const PathColumns path = graph.path(0, *std::min_element(run.start.begin(), run.start.end()), last);
        for (size_t at = 1; at < path.start_ns.size(); ++at) CHECK_EQUAL(path.start_ns[at], path.end_ns[at - 1]);
        if (!path.end_ns.empty()) CHECK_EQUAL(path.end_ns[path.end_ns.size() - 1], last);
        const Numbers slack = values(graph.slack());
        for (uint32_t event = 0; event < slack.size(); ++event) {
            CHECK(slack[event] >= 0);
            const int64_t length = run.end[event] - run.start[event];
            if (run.is_gpu[run.track[event]] == 0 || run.meeting[event] != kNoEvent || length == 0) continue;
            std::vector<double> longer(slack.size(), 1.0);
            longer[event] = static_cast<double>(length + slack[event]) / static_cast<double>(length);
            const Numbers same = ends_after(graph, {longer, {}, {}, {}});
            CHECK_EQUAL(*std::max_element(same.begin(), same.end()), last);
            longer[event] = static_cast<double>(length + slack[event] + 1) / static_cast<double>(length);
            const Numbers late = ends_after(graph, {longer, {}, {}, {}});
            CHECK_EQUAL(*std::max_element(late.begin(), late.end()), last + 1);
        }
    }
}

}  // namespace
}  // namespace wavewright
