#include "wavewright/cache_orders.hpp"

#include <algorithm>
#include <deque>
#include <queue>
#include <random>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "line_cache.hpp"

namespace wavewright::caches {
namespace {

// Cycles, round numbers between published latencies; only the order that they give matters.
constexpr double kFromL1 = 120, kFromL2 = 300, kFromFabric = 800, kSpread = 0.25;
constexpr double kLeastPerAccess = 4, kPerInstruction = 4;
constexpr double kLaunchDistance = 8;  // between workgroups of an XCD: about 300 cycles on each of 38 CUs
constexpr double kTick = 1e-3;

void check(const Work& work, const Machine& machine) {
    const auto require = [](bool holds, const char* what) {
        if (!holds) throw std::invalid_argument(what);
    };
    const uint32_t most = 1U << 16;
    require(machine.xcds != 0 && machine.xcds <= most && machine.simulated_xcds <= machine.xcds, "no such XCDs");
    require(machine.cus != 0 && machine.cus <= most && machine.residents != 0 && machine.residents <= most, "no CUs");
    require((machine.l1_sets == 0) == (machine.l1_ways == 0) && (machine.l2_sets == 0) == (machine.l2_ways == 0) &&
                uint64_t{machine.l1_sets} * machine.l1_ways <= (1U << 20) &&
                uint64_t{machine.l2_sets} * machine.l2_ways <= (1U << 24),
            "no such cache");
    std::vector<uint32_t> moves(work.kinds.size(), 0);  // that its steps use
    for (const Wave& wave : work.waves)
        require(wave.first <= wave.end && wave.end <= work.steps.size(), "no such step");
    for (const Step& step : work.steps)
        require(uint64_t{step.first} + step.count <= work.blocks.size(), "no such block");
    for (size_t kind = 0; kind < work.kinds.size(); ++kind) {
        require(work.kinds[kind].first < work.kinds[kind].end && work.kinds[kind].end <= work.waves.size(),
                "no such wave");
        for (uint32_t wave = work.kinds[kind].first; wave < work.kinds[kind].end; ++wave)
            for (uint32_t step = work.waves[wave].first; step < work.waves[wave].end; ++step)
                if (work.steps[step].count != 0) moves[kind] = std::max(moves[kind], work.steps[step].move + 1);
    }
    for (const Workgroup& workgroup : work.workgroups)
        require(workgroup.kind < work.kinds.size() && workgroup.moves <= work.moves.size() &&
                    moves[workgroup.kind] <= work.moves.size() - workgroup.moves,
                "no such move");
}

struct Running {
    uint32_t workgroup = 0, cu = 0;
    uint32_t waiting = 0, ended = 0;  // waves at a barrier, and behind their end
    std::vector<uint8_t> waits;
    std::vector<uint32_t> at;       // step of each wave
    std::vector<double> loads_end;  // of each wave
};

struct Event {
    double time;
    uint64_t order;
    uint32_t running;
    uint32_t wave;
    bool operator>(const Event& other) const { return std::tie(time, order) > std::tie(other.time, other.order); }
};

struct Cu {
    uint32_t xcd = 0;
    double free_at = 0;
    std::deque<double> taken;  // times at which accesses that it took are done
};

class Simulation {
  public:
    Simulation(const Work& work, const Machine& machine, const Order& order)
        : work_(work),
          machine_(machine),
          order_(order),
          random_(order.seed),
          last_level_(0, 0, machine.last_level_lines),
          next_(machine.simulated_xcds) {
        for (uint32_t xcd = 0; xcd < machine.simulated_xcds; ++xcd) {
            const uint64_t lines = uint64_t{machine.l2_sets} * machine.l2_ways;
            const bool has_blocks = std::any_of(work.blocks.begin(), work.blocks.end(),
                                                [](const LineBlock& block) { return block.count != 1; });
            l2_.emplace_back(has_blocks ? 0 : machine.l2_sets, machine.l2_ways, lines);
            next_[xcd] = xcd;
            for (uint32_t cu = 0; cu < machine.cus; ++cu) {
                cus_.push_back({.xcd = xcd});
                l1_.emplace_back(machine.l1_sets, machine.l1_ways, 0);
            }
        }
    }

    Misses run() {
        for (uint32_t xcd = 0; xcd < machine_.simulated_xcds; ++xcd) launch(xcd);
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            step(event);
        }
        for (const LineCache& cache : l2_) misses_.evictions += cache.evictions();
        return misses_;
    }

  private:
    double chance() { return std::uniform_real_distribution<double>(0, 1)(random_); }

    void launch(uint32_t xcd) {
        double time = 0;
        std::vector<double> apart(machine_.cus);
        for (double& each : apart) each = order_.drift * chance();
        for (uint32_t resident = 0; resident < machine_.residents; ++resident)
            for (uint32_t cu = 0; cu < machine_.cus; ++cu) {
                start(xcd * machine_.cus + cu, order_.depth != 0 ? time : apart[cu]);
                time += kLaunchDistance;
            }
    }

    void start(uint32_t cu, double time) {
        uint64_t& next = next_[cus_[cu].xcd];
        if (next >= work_.workgroups.size()) return;
        const Kind& kind = work_.kinds[work_.workgroups[next].kind];
        const uint32_t waves = kind.end - kind.first;
        uint32_t number = 0;
        if (unused_.empty()) {
            number = static_cast<uint32_t>(running_.size());
            running_.emplace_back();
        } else {
            number = unused_.back();
            unused_.pop_back();
        }
        Running& running = running_[number];
        running = {.workgroup = static_cast<uint32_t>(next), .cu = cu, .waits = {}, .at = {}, .loads_end = {}};
        running.loads_end.assign(waves, 0);
        running.waits.assign(waves, 0);
        next += machine_.xcds;
        for (uint32_t wave = 0; wave < waves; ++wave) {
            running.at.push_back(work_.waves[kind.first + wave].first);
            push(time + wave * kTick * kTick, number, wave);
        }
    }

    void push(double time, uint32_t running, uint32_t wave) { events_.push({time, ++count_, running, wave}); }

    void ended(uint32_t number, double time) {
        ++misses_.workgroups;
        const uint32_t cu = running_[number].cu;
        unused_.push_back(number);
        start(cu, time);
    }

    void step(const Event& event) {
        Running& running = running_[event.running];
        const Kind& kind = work_.kinds[work_.workgroups[running.workgroup].kind];
        const uint32_t waves = kind.end - kind.first;
        uint32_t& at = running.at[event.wave];
        const uint32_t end = work_.waves[kind.first + event.wave].end;
        if (at == end) {
            if (++running.ended == waves)
                ended(event.running, event.time);
            else
                meet(event, waves);
            return;
        }
        const Step& step = work_.steps[at];
        const bool is_queued = order_.depth != 0;
        if (is_queued && step.kind != StepKind::load && running.loads_end[event.wave] > event.time) {
            const double wait = step.kind == StepKind::barrier ? step.gap : 0;
            push(running.loads_end[event.wave] + wait, event.running, event.wave);
            return;
        }
        if (step.kind == StepKind::barrier) {
            ++at;
            ++running.waiting;
            running.waits[event.wave] = 1;
            meet(event, waves);
            return;
        }
        double time = event.time;
        if (is_queued) {
            Cu& cu = cus_[running.cu];
            while (!cu.taken.empty() && cu.taken.front() <= time) cu.taken.pop_front();
            if (cu.taken.size() >= order_.depth) {  // the oldest wave goes first when there is room again
                const uint64_t age = uint64_t{running.workgroup} * waves + event.wave;
                events_.push({cu.taken.front(), age, event.running, event.wave});
                return;
            }
            time = std::max(time, cu.free_at) + std::max<double>(kLeastPerAccess, step.count);
            cu.free_at = time;
            cu.taken.push_back(time);
        }
        const double from = touch(step, running);
        if (step.kind == StepKind::load)
            running.loads_end[event.wave] =
                std::max(running.loads_end[event.wave], time + from * (1 + kSpread * (2 * chance() - 1)));
        ++at;
        const double gap = at < end ? work_.steps[at].gap : 1;
        push(event.time + (is_queued ? kPerInstruction * gap : gap), event.running, event.wave);
    }

    // Lets waves at a barrier go on together, once all that have not ended are there.
    void meet(const Event& event, uint32_t waves) {
        Running& running = running_[event.running];
        if (running.waiting == 0 || running.waiting + running.ended < waves) return;
        running.waiting = 0;
        for (uint32_t wave = 0; wave < waves; ++wave)
            if (std::exchange(running.waits[wave], uint8_t{0}) != 0)
                push(event.time + kTick * (1 + wave * kTick), event.running, wave);
    }

    // Looks lines up; the latency of the furthest.
    double touch(const Step& step, const Running& running) {
        const Workgroup& workgroup = work_.workgroups[running.workgroup];
        const int64_t move = step.count != 0 ? work_.moves[workgroup.moves + step.move] : 0;
        double from = kFromL1;
        for (uint32_t number = step.first; number < step.first + step.count; ++number) {
            const LineBlock& block = work_.blocks[number];
            const int64_t line = block.line + move;
            const bool is_load = step.kind == StepKind::load;
            if (is_load && machine_.l1_sets != 0 && l1_[running.cu].touch(line, block.count)) continue;
            (is_load ? misses_.reads : misses_.writes) += block.count;
            from = std::max(from, kFromL2);
            if (l2_[cus_[running.cu].xcd].touch(line, block.count)) continue;
            (is_load ? misses_.read_misses : misses_.write_misses) += block.count;
            if (!is_load) continue;
            from = kFromFabric;
            if (machine_.last_level_lines != 0 && !last_level_.touch(line, block.count))
                misses_.last_level_misses += block.count;
        }
        return from;
    }

    const Work& work_;
    const Machine& machine_;
    const Order& order_;
    std::mt19937_64 random_;
    std::vector<LineCache> l1_, l2_;
    LineCache last_level_;
    std::vector<uint64_t> next_;  // workgroup of each XCD
    std::vector<Cu> cus_;
    std::vector<Running> running_;
    std::vector<uint32_t> unused_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    uint64_t count_ = uint64_t{1} << 40;
    Misses misses_;
};

}  // namespace

Misses simulate(const Work& work, const Machine& machine, const Order& order) {
    check(work, machine);
    return Simulation(work, machine, order).run();
}

}  // namespace wavewright::caches
