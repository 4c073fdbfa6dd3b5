#include "wavewright/cache_orders.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <queue>
#include <random>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "line_cache.hpp"

namespace wavewright::caches {
namespace {

// Latencies in cycles, round numbers between published ones: only the order of accesses that they give matters.
constexpr double kL1Latency = 120, kL2Latency = 300, kFabricLatency = 800;
constexpr double kLatencySpread = 0.25;  // a latency is up to this share longer or shorter, by chance
// With queues: cycles for which an access occupies its CU, at least, and cycles of an instruction between accesses.
constexpr double kCyclesPerAccess = 4, kCyclesPerInstruction = 4;
constexpr double kLaunchDistance = 8;  // cycles between workgroups of an XCD: about 300 on each of 38 CUs
// Orders events that happen in the same cycle or turn: far below one, even times the waves of a workgroup.
constexpr double kInstant = 1e-3;

void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

void check_machine(const Machine& machine) {
    constexpr uint32_t kMostUnits = 1U << 16;                             // XCDs, CUs, workgroups of a CU
    constexpr uint64_t kMostL1Lines = 1U << 20, kMostL2Lines = 1U << 24;  // far above any GPU: these bound the memory
    require(machine.xcds != 0 && machine.xcds <= kMostUnits && machine.simulated_xcds <= machine.xcds, "no such XCDs");
    require(machine.cus != 0 && machine.cus <= kMostUnits, "no CUs");
    require(machine.residents != 0 && machine.residents <= kMostUnits, "no CUs");
    const bool has_both_sizes =
        (machine.l1_sets == 0) == (machine.l1_ways == 0) && (machine.l2_sets == 0) == (machine.l2_ways == 0);
    require(has_both_sizes && uint64_t{machine.l1_sets} * machine.l1_ways <= kMostL1Lines &&
                uint64_t{machine.l2_sets} * machine.l2_ways <= kMostL2Lines,
            "no such cache");
}

void check_work(const Work& work) {
    for (const Wave& wave : work.waves)
        require(wave.first_step <= wave.end_step && wave.end_step <= work.steps.size(), "no such step");
    for (const Step& step : work.steps)
        require(uint64_t{step.first_block} + step.block_count <= work.blocks.size(), "no such block");
    std::vector<uint32_t> move_counts(work.kinds.size(), 0);  // moves that each workgroup of a kind needs
    for (size_t number = 0; number < work.kinds.size(); ++number) {
        const Kind& kind = work.kinds[number];
        require(kind.first_wave < kind.end_wave && kind.end_wave <= work.waves.size(), "no such wave");
        for (uint32_t wave = kind.first_wave; wave < kind.end_wave; ++wave)
            for (uint32_t step = work.waves[wave].first_step; step < work.waves[wave].end_step; ++step)
                if (work.steps[step].block_count != 0)
                    move_counts[number] = std::max(move_counts[number], work.steps[step].move + 1);
    }
    for (const Workgroup& workgroup : work.workgroups)
        require(workgroup.kind < work.kinds.size() && workgroup.first_move <= work.moves.size() &&
                    move_counts[workgroup.kind] <= work.moves.size() - workgroup.first_move,
                "no such move");
}

// A workgroup on its CU. Vectors have one value per wave of the workgroup.
struct Running {
    uint32_t workgroup = 0, cu = 0;  // the CU is an index over all simulated XCDs
    uint32_t waiting_count = 0;      // waves at a barrier
    uint32_t ended_count = 0;
    std::vector<uint8_t> is_waiting;
    std::vector<uint32_t> next_step;  // in Work::steps
    std::vector<double> loads_end;    // when the last of its loads is back
};

// A wave takes its next step at `time`.
struct Event {
    double time;
    uint64_t rank;     // of events at the same time the lowest rank goes first
    uint32_t running;  // index of its workgroup in `running_`
    uint32_t wave;     // of the workgroup
    bool operator>(const Event& other) const { return std::tie(time, rank) > std::tie(other.time, other.rank); }
};

struct Cu {
    uint32_t xcd = 0;
    double free_at = 0;                    // when the next access can enter its queue
    std::deque<double> accesses_end = {};  // of the accesses in its queue, ascending
};

// Runs events in order of time. Every step of a wave looks its lines up at once and plans the wave's next event.
class Simulation {
  public:
    Simulation(const Work& work, const Machine& machine, const Order& order)
        : work_(work),
          machine_(machine),
          order_(order),
          random_(order.seed),
          last_level_(0, 0, machine.last_level_lines),
          next_workgroup_(machine.simulated_xcds) {
        // Sets hold single lines. Blocks of several lines get an L2 of the same capacity without sets.
        const bool has_blocks = std::any_of(work.blocks.begin(), work.blocks.end(),
                                            [](const LineBlock& block) { return block.count != 1; });
        const uint64_t l2_lines = uint64_t{machine.l2_sets} * machine.l2_ways;
        for (uint32_t xcd = 0; xcd < machine.simulated_xcds; ++xcd) {
            l2_.emplace_back(has_blocks ? 0 : machine.l2_sets, machine.l2_ways, l2_lines);
            next_workgroup_[xcd] = xcd;
            for (uint32_t cu = 0; cu < machine.cus; ++cu) {
                cus_.push_back({.xcd = xcd});
                l1_.emplace_back(machine.l1_sets, machine.l1_ways, 0);
            }
        }
    }

    Misses run() {
        for (uint32_t xcd = 0; xcd < machine_.simulated_xcds; ++xcd) launch_first(xcd);
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            take_step(event);
        }
        for (const LineCache& cache : l2_) misses_.evictions += cache.evictions();
        return misses_;
    }

  private:
    bool has_queues() const { return order_.queue_depth != 0; }

    double chance() { return std::uniform_real_distribution<double>(0, 1)(random_); }

    // Fills every CU of an XCD, one workgroup on each before any gets a second one.
    void launch_first(uint32_t xcd) {
        double launch_time = 0;
        std::vector<double> cu_drifts(machine_.cus);
        for (double& drift : cu_drifts) drift = order_.drift_turns * chance();
        for (uint32_t resident = 0; resident < machine_.residents; ++resident)
            for (uint32_t cu = 0; cu < machine_.cus; ++cu) {
                start_next(xcd * machine_.cus + cu, has_queues() ? launch_time : cu_drifts[cu]);
                launch_time += kLaunchDistance;
            }
    }

    // Starts the next workgroup of the XCD on a CU, where one is left.
    void start_next(uint32_t cu, double time) {
        uint64_t& next = next_workgroup_[cus_[cu].xcd];
        if (next >= work_.workgroups.size()) return;
        const Kind& kind = work_.kinds[work_.workgroups[next].kind];
        const uint32_t wave_count = kind.end_wave - kind.first_wave;
        const uint32_t number = free_running();
        Running& running = running_[number];
        running = {
            .workgroup = static_cast<uint32_t>(next), .cu = cu, .is_waiting = {}, .next_step = {}, .loads_end = {}};
        running.loads_end.assign(wave_count, 0);
        running.is_waiting.assign(wave_count, 0);
        next += machine_.xcds;
        for (uint32_t wave = 0; wave < wave_count; ++wave) {
            running.next_step.push_back(work_.waves[kind.first_wave + wave].first_step);
            plan(time + wave * kInstant * kInstant, number, wave);
        }
    }

    // A place in `running_`: that of a workgroup that has ended, or a new one.
    uint32_t free_running() {
        if (unused_.empty()) {
            running_.emplace_back();
            return static_cast<uint32_t>(running_.size() - 1);
        }
        const uint32_t number = unused_.back();
        unused_.pop_back();
        return number;
    }

    void plan(double time, uint32_t running, uint32_t wave) { events_.push({time, ++last_rank_, running, wave}); }

    void end_workgroup(uint32_t number, double time) {
        ++misses_.workgroups;
        const uint32_t cu = running_[number].cu;
        unused_.push_back(number);
        start_next(cu, time);
    }

    void take_step(const Event& event) {
        Running& running = running_[event.running];
        const Kind& kind = work_.kinds[work_.workgroups[running.workgroup].kind];
        const uint32_t wave_count = kind.end_wave - kind.first_wave;
        const uint32_t end_step = work_.waves[kind.first_wave + event.wave].end_step;
        uint32_t& next_step = running.next_step[event.wave];
        if (next_step == end_step) {
            if (++running.ended_count == wave_count)
                end_workgroup(event.running, event.time);
            else
                release_barrier(event, wave_count);  // the others do not wait for a wave that has ended
            return;
        }
        const Step& step = work_.steps[next_step];
        // A wave takes stores and barriers only when its loads are back.
        if (has_queues() && step.kind != StepKind::load && running.loads_end[event.wave] > event.time) {
            const double wait = step.kind == StepKind::barrier ? step.gap : 0;
            plan(running.loads_end[event.wave] + wait, event.running, event.wave);
            return;
        }
        if (step.kind == StepKind::barrier) {
            ++next_step;
            ++running.waiting_count;
            running.is_waiting[event.wave] = 1;
            release_barrier(event, wave_count);
            return;
        }
        double access_time = event.time;
        if (has_queues()) {
            const std::optional<double> entered = enter_queue(event, step, wave_count);
            if (!entered) return;
            access_time = *entered;
        }
        const double latency = look_up(step, running);
        if (step.kind == StepKind::load) {
            const double spread = 1 + kLatencySpread * (2 * chance() - 1);
            running.loads_end[event.wave] = std::max(running.loads_end[event.wave], access_time + latency * spread);
        }
        ++next_step;
        const double gap = next_step < end_step ? work_.steps[next_step].gap : 1;
        plan(event.time + (has_queues() ? kCyclesPerInstruction * gap : gap), event.running, event.wave);
    }

    // When an access is through the queue of its CU. Nothing where the queue is full: then the wave tries again as soon
    // as there is room, before all that is planned for that time and has no rank by age.
    std::optional<double> enter_queue(const Event& event, const Step& step, uint32_t wave_count) {
        const Running& running = running_[event.running];
        Cu& cu = cus_[running.cu];
        while (!cu.accesses_end.empty() && cu.accesses_end.front() <= event.time) cu.accesses_end.pop_front();
        if (cu.accesses_end.size() >= order_.queue_depth) {
            const uint64_t age = uint64_t{running.workgroup} * wave_count + event.wave;  // the oldest has the lowest
            events_.push({cu.accesses_end.front(), age, event.running, event.wave});
            return std::nullopt;
        }
        // A cycle for each block of lines.
        const double occupied = std::max<double>(kCyclesPerAccess, step.block_count);
        cu.free_at = std::max(event.time, cu.free_at) + occupied;
        cu.accesses_end.push_back(cu.free_at);
        return cu.free_at;
    }

    // Lets the waves at a barrier go on together, once all that have not ended are there.
    void release_barrier(const Event& event, uint32_t wave_count) {
        Running& running = running_[event.running];
        if (running.waiting_count == 0 || running.waiting_count + running.ended_count < wave_count) return;
        running.waiting_count = 0;
        for (uint32_t wave = 0; wave < wave_count; ++wave)
            if (std::exchange(running.is_waiting[wave], uint8_t{0}) != 0)
                plan(event.time + kInstant * (1 + wave * kInstant), event.running, wave);
    }

    // Looks the lines of a step up in all caches; the latency of the furthest one. L1 is written through: stores pass
    // it.
    double look_up(const Step& step, const Running& running) {
        const Workgroup& workgroup = work_.workgroups[running.workgroup];
        const int64_t move = step.block_count != 0 ? work_.moves[workgroup.first_move + step.move] : 0;
        const bool is_load = step.kind == StepKind::load;
        double latency = kL1Latency;
        for (uint32_t number = step.first_block; number < step.first_block + step.block_count; ++number) {
            const LineBlock& block = work_.blocks[number];
            const int64_t line = block.line + move;
            if (is_load && machine_.l1_sets != 0 && l1_[running.cu].touch(line, block.count)) continue;
            (is_load ? misses_.reads : misses_.writes) += block.count;
            latency = std::max(latency, kL2Latency);
            if (l2_[cus_[running.cu].xcd].touch(line, block.count)) continue;
            (is_load ? misses_.read_misses : misses_.write_misses) += block.count;
            if (!is_load) continue;
            latency = kFabricLatency;
            if (machine_.last_level_lines != 0 && !last_level_.touch(line, block.count))
                misses_.last_level_misses += block.count;
        }
        return latency;
    }

    const Work& work_;
    const Machine& machine_;
    const Order& order_;
    std::mt19937_64 random_;
    std::vector<LineCache> l1_;  // by CU
    std::vector<LineCache> l2_;  // by XCD
    LineCache last_level_;
    std::vector<uint64_t> next_workgroup_;  // by XCD: the next one that is launched there
    std::vector<Cu> cus_;                   // XCD by XCD
    std::vector<Running> running_;
    std::vector<uint32_t> unused_;  // places in running_ whose workgroup has ended
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    uint64_t last_rank_ = uint64_t{1} << 40;  // ranks in the order of planning stand behind all ranks by age
    Misses misses_;
};

}  // namespace

Misses simulate(const Work& work, const Machine& machine, const Order& order) {
    check_machine(machine);
    check_work(work);
    return Simulation(work, machine, order).run();
}

}  // namespace wavewright::caches
