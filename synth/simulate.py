"""Runs a workload: iterations of all ranks side by side, so that collectives wait for the last rank."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from synth.random_numbers import seeded
from synth.run_events import Allocation, Call, Copy, Dispatch, Mark, Monitor, Step, place_of
from synth.run_truth import RankTruth, Sums
from synth.workload import COUNTERS, HOSTILE, KERNELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from synth.workload import Workload

__all__ = ["RankRun", "simulate"]

_Key = TypeVar("_Key")

PHASES = ("forward", "backward", "optimizer")
GRAPH_PHASE = "optimizer"
HIP, HSA, HSA_AMD, RCCL = "HIP_RUNTIME_API_EXT", "HSA_CORE_API", "HSA_AMD_EXT_API", "RCCL_API"
RANGE = "MARKER_CORE_RANGE_API"

_CALL_NS = (math.log(3000.0), 0.35)
_PAUSE_NS = (math.log(800.0), 0.6)
_LATENCY_NS = (math.log(2500.0), 0.4)
_BETWEEN_KERNELS_NS = (math.log(1000.0), 0.5)
_SKEW_SHARE = 0.0005  # firmware sometimes stamps the end of a kernel after the begin of the next one
_SKEW_NS = 700
_LIVE_ALLOCATIONS = 6
_FRAMES = ("linear (functional.py:31)", "forward (model.py:203)", "train_step (train.py:81)", "<module> (train.py:140)")


class _Iteration(NamedTuple):
    number: int
    batch_bytes: int
    phases: list[tuple[str, list[int]]]
    reduces: bool
    is_last: bool


def _program(workload: Workload) -> Iterator[_Iteration]:
    """The iterations of every rank: the same kernels in the same order."""
    dispatches_left, number = workload.dispatches // workload.ranks, 0
    weights = [kernel.weight for kernel in KERNELS]
    most = workload.phase_dispatches
    while dispatches_left:
        rng = seeded(workload.seed, "program", number)
        phases = []
        for name in PHASES:
            size = min(dispatches_left, rng.randint(most // 2, most))
            if size:
                phases.append((name, rng.choices(range(len(KERNELS)), weights, k=size)))
            dispatches_left -= size
        reduces = workload.ranks > 1 and dispatches_left > 0
        dispatches_left -= reduces
        yield _Iteration(number, 1 << rng.randint(16, 24), phases, reduces, dispatches_left == 0)
        number += 1


class RankRun:
    """One rank at work: its clocks, what it has done in this iteration, and the truth so far."""

    def __init__(self, workload: Workload, rank: int) -> None:
        self.workload = workload
        self.place = place_of(workload, rank)
        self.truth = RankTruth()
        self.done = Step()
        self._rng = seeded(workload.seed, "rank", rank)
        share = rank / (workload.ranks - 1) if workload.ranks > 1 else 0.0
        slower = math.log(1.0 + workload.imbalance * share)
        self._kernels = [
            (math.log(kernel.median_us * 1000) + slower, kernel.sigma, math.prod(kernel.grid) // 64, kernel.name)
            for kernel in workload.kernels
        ]
        begin = self.place.start_ns + self._rng.randrange(2_000_000)
        self.truth.start_ns = self.truth.end_ns = begin
        self._cpu = [begin] * workload.threads
        self._free = [begin] * (workload.streams + 1)
        self._open: list[tuple[int, int, str, tuple[str, ...]]] = [(0, begin, "", ())]
        self._live: list[int] = []
        self._correlation = self._dispatches = self._allocations = 0
        self._thread = 0
        self._begin = self._now = self._gpu_end = begin

    def begin_iteration(self, number: int, batch_bytes: int) -> None:
        """A thread begins an iteration and copies the batch to the GPU."""
        self._thread = number % self.workload.threads
        self._begin = self._now = self._gpu_end = self._cpu[self._thread]
        self.enter("iteration")
        self._copy("hipMemcpyAsync", "MEMORY_COPY_HOST_TO_DEVICE", batch_bytes, self._stream(), waits=False)
        if number % 8 == 0:
            self._allocate()
        if number % 64 == 0:
            self._scratch()

    def enter(self, text: str) -> None:
        """A marker range begins."""
        path = self._open[-1][3]
        self._open.append((self._next(), self._now, text, (*path, text)))
        self._now += 300

    def leave(self) -> None:
        """The innermost marker range ends."""
        correlation, begin, text, path = self._open.pop()
        self._call(RANGE, "roctxThreadRangeA", begin, self._now, correlation=correlation, text=text, path=path)
        self._now += 300

    def launch(self, kernel: int) -> None:
        """A HIP call launches a kernel."""
        rng, work = self._rng, self.workload
        begin = self._now
        end = begin + int(rng.lognormvariate(*_CALL_NS))
        stream = self._stream()
        arguments = self._arguments(kernel, stream) if rng.random() < work.argument_share else ()
        frames = _FRAMES if rng.random() < work.call_stack_share else ()
        correlation = self._call(HIP, "hipLaunchKernel", begin, end, arguments=arguments, frames=frames)
        if rng.random() < work.hsa_share:
            tenth = (end - begin) // 10
            self._inside("hsa_queue_load_read_index_relaxed", HSA, "hipLaunchKernel", correlation, begin, tenth, 3)
            self._inside("hsa_signal_store_screlease", HSA, "hipLaunchKernel", correlation, begin + 4 * tenth, tenth, 4)
        self._dispatch(kernel, stream, correlation, end)
        self._now = end + int(rng.lognormvariate(*_PAUSE_NS))

    def launch_graph(self, kernels: list[int]) -> None:
        """One HIP call launches many kernels."""
        begin = self._now
        end = begin + int(self._rng.lognormvariate(*_CALL_NS)) + 200 * len(kernels)
        stream = self._stream()
        correlation = self._call(HIP, "hipGraphLaunch", begin, end)
        for node, kernel in enumerate(kernels):
            self._dispatch(kernel, stream, correlation, end, graph=(1 + self._thread, node))
        self._now = end + int(self._rng.lognormvariate(*_PAUSE_NS))

    def begin_reduce(self) -> int:
        """An all-reduce is launched; gives when its kernel begins, by the clock of the first node."""
        self.enter("allreduce")
        begin, end = self._now, self._now + int(self._rng.lognormvariate(*_CALL_NS)) * 3
        path = (*self._open[-1][3], "ncclAllReduce")
        outer = self._call(RCCL, "ncclAllReduce", begin, end)
        self._open.append((outer, begin, "", path))
        correlation = self._call(HIP, "hipExtLaunchKernel", begin + (end - begin) // 4, end - (end - begin) // 4)
        self._open.pop()
        own_streams = self._own_streams()
        ready = end + int(self._rng.lognormvariate(*_LATENCY_NS))
        self._reduce = (correlation, own_streams[0], max(ready, *(self._free[stream] for stream in own_streams)))
        self._now = end + 500
        return self._reduce[2] - self.place.clock_shift_ns

    def end_reduce(self, last_ns: int, finish_ns: int) -> None:
        """The all-reduce ends, for all ranks at the same time (clock of the first node)."""
        correlation, stream, begin = self._reduce
        shift = self.place.clock_shift_ns
        end = finish_ns + shift
        self.truth.collective_wait_ns += last_ns + shift - begin
        self._add_dispatch(len(self._kernels) - 1, stream, correlation, begin, end)
        self._free[stream] = end
        self.leave()

    def end_iteration(self, number: int) -> Step:
        """The loss comes back, the thread waits for the GPU; gives all that was done in the iteration."""
        if self.workload.hostile_names:
            self.enter(HOSTILE[number % len(HOSTILE)])
            self.leave()
        self._copy("hipMemcpy", "MEMORY_COPY_DEVICE_TO_HOST", 4, self._stream(), waits=True)
        self._mark(f"step {number} done")
        begin = self._now
        end = max(begin + 1500, self._gpu_end + 3000)
        self._call(HIP, "hipStreamSynchronize", begin, end)
        self._now = end + 1000
        self.leave()
        self._monitors()
        self._cpu[self._thread] = self._now + int(self._rng.expovariate(1 / 40_000))
        done, self.done = self.done, Step()
        return done

    def _next(self) -> int:
        self._correlation += 1
        return self._correlation

    def _stream(self) -> int:
        """One of the thread's own streams."""
        own_streams = self._own_streams()
        return own_streams[self._rng.randrange(len(own_streams))]

    def _own_streams(self) -> range:
        return range(1 + self._thread, self.workload.streams + 1, self.workload.threads)

    def _call(
        self,
        category: str,
        function: str,
        begin: int,
        end: int,
        *,
        correlation: int = 0,
        text: str | None = None,
        path: tuple[str, ...] = (),
        arguments: tuple[tuple[str, str, str], ...] = (),
        frames: tuple[str, ...] = (),
    ) -> int:
        parent, _, _, outer = self._open[-1]
        correlation = correlation or self._next()
        call = Call(correlation, parent, self._thread, category, function, text, begin, end, arguments, frames)
        self.done.calls.append(call)
        self._count_call(call, path or (*outer, function))
        self.truth.counts["arguments"] += len(arguments)
        return correlation

    def _inside(
        self, function: str, category: str, caller: str, parent: int, begin: int, tenth: int, tenths: int
    ) -> None:
        """A call within a HIP call."""
        path = (*self._open[-1][3], caller, function)
        call = Call(self._next(), parent, self._thread, category, function, None, begin, begin + tenth * tenths)
        self.done.calls.append(call)
        self._count_call(call, path)

    def _count_call(self, call: Call, path: tuple[str, ...]) -> None:
        truth, duration = self.truth, call.end_ns - call.start_ns
        domain = call.category.partition("_")[0]
        _sums(truth.regions, (domain, path[-1])).add(duration)
        _sums(truth.tree, path).add(duration)
        truth.counts["regions"] += 1
        truth.end_ns = max(truth.end_ns or 0, call.end_ns)

    def _dispatch(
        self, kernel: int, stream: int, correlation: int, called: int, *, graph: tuple[int, int] = (0, 0)
    ) -> None:
        rng = self._rng
        mean, sigma, _, _ = self._kernels[kernel]
        begin = max(called + int(rng.lognormvariate(*_LATENCY_NS)), self._free[stream])
        end = begin + max(900, int(rng.lognormvariate(mean, sigma)))
        self._free[stream] = end + int(rng.lognormvariate(*_BETWEEN_KERNELS_NS))
        if rng.random() < _SKEW_SHARE:
            end += _SKEW_NS
        self._add_dispatch(kernel, stream, correlation, begin, end, graph)

    def _add_dispatch(
        self, kernel: int, stream: int, correlation: int, begin: int, end: int, graph: tuple[int, int] = (0, 0)
    ) -> None:
        self._dispatches += 1
        number, place, truth = self._dispatches, self.place, self.truth
        counters = self._counters(kernel) if number % self.workload.counter_every == 0 else ()
        phase = self._open[-1][2]
        gpu, queue = place.gpu_of(stream), place.queue_of(stream)
        place_and_time = (gpu, queue, stream, kernel, number, begin, end)
        self.done.dispatches.append(Dispatch(correlation, self._thread, *place_and_time, phase, counters, *graph))
        self._gpu_end = max(self._gpu_end, end)
        _sums(truth.kernels, self._kernels[kernel][3]).add(end - begin)
        truth.counts["dispatches"] += 1
        truth.end_ns = max(truth.end_ns or 0, end)

    def _counters(self, kernel: int) -> tuple[tuple[int, int, int], ...]:
        instances, waves = self.workload.counter_instances, self._kernels[kernel][2]
        counters = []
        for number, counter in enumerate(COUNTERS[: self.workload.counters]):
            each, remainder = divmod(waves * counter.per_wave, instances)
            counters += [
                (number, instance, each + (remainder if instance == 0 else 0)) for instance in range(instances)
            ]
            self.truth.counters[counter.name] += each * instances + remainder
        self.truth.counts["counters"] += len(counters)
        return tuple(counters)

    def _arguments(self, kernel: int, stream: int) -> tuple[tuple[str, str, str], ...]:
        chosen = self.workload.kernels[kernel]
        blocks = [grid // group for grid, group in zip(chosen.grid, chosen.workgroup, strict=True)]
        return (
            ("void const*", "function_address", hex(0x7F2000000000 + 4096 * kernel)),
            ("dim3", "numBlocks", "{{{}, {}, {}}}".format(*blocks)),
            ("dim3", "dimBlocks", "{{{}, {}, {}}}".format(*chosen.workgroup)),
            ("void**", "args", hex(0x7FFC00000000 + self._correlation)),
            ("unsigned long", "sharedMemBytes", str(chosen.lds_bytes)),
            ("hipStream_t", "stream", hex(0x55D000000000 + 256 * stream)),
        )

    def _copy(self, function: str, direction: str, size: int, stream: int, *, waits: bool) -> None:
        rng, place = self._rng, self.place
        called = self._now
        returned = called + int(rng.lognormvariate(*_CALL_NS)) * 2
        begin = max(returned + int(rng.lognormvariate(*_LATENCY_NS)), self._free[stream])
        end = begin + 2000 + int(size / rng.uniform(20, 55))
        self._free[stream] = end + 500
        gpu = place.agent_of(stream)
        source, destination = (gpu, 0) if direction.endswith("HOST") else (0, gpu)
        correlation = self._call(HIP, function, called, end + 2000 if waits else returned)
        tenth = (returned - called) // 10
        self._inside("hsa_amd_memory_async_copy_on_engine", HSA_AMD, function, correlation, called + tenth, tenth, 8)
        queue = place.queue_of(stream)
        self.done.copies.append(
            Copy(correlation, self._thread, direction, source, destination, queue, stream, begin, end, size)
        )
        self._now = (end + 2000 if waits else returned) + 800
        self._gpu_end = max(self._gpu_end, end)
        truth = self.truth
        _sums(truth.copies, direction).add(end - begin)
        truth.copied_bytes[direction] += size
        truth.counts["copies"] += 1
        truth.end_ns = max(truth.end_ns or 0, end)

    def _allocate(self) -> None:
        """New memory; the oldest goes when there is much."""
        self._allocations += 1
        address, size = 0x7F5000000000 + (self._allocations << 31), 1 << self._rng.randint(12, 30)
        self._live.append(address)
        self._allocation("hipMalloc", "ALLOC", 60_000, address, size)
        if len(self._live) > _LIVE_ALLOCATIONS:
            self._allocation("hipFree", "FREE", 30_000, self._live.pop(0), 0)

    def _allocation(self, function: str, kind: str, median_ns: int, address: int, size: int) -> None:
        begin = self._now
        end = begin + 1000 + int(self._rng.lognormvariate(math.log(median_ns), 0.4))
        parent = self._open[-1][0]
        correlation = self._call(HIP, function, begin, end)
        self._add_allocation(
            Allocation(correlation, parent, self._thread, self.place.gpus[0], kind, "REAL", begin + 400, end - 400,
                       address, size)
        )  # fmt: skip
        self._now = end + 500

    def _scratch(self) -> None:
        parent, gpu, begin = self._open[-1][0], self.place.gpus[0], self._now
        self._add_allocation(
            Allocation(parent, parent, self._thread, gpu, "ALLOC", "SCRATCH", begin, begin + 90_000, 0, 1 << 20)
        )
        self._now = begin + 91_000

    def _add_allocation(self, allocation: Allocation) -> None:
        self.done.allocations.append(allocation)
        duration = allocation.end_ns - allocation.start_ns
        _sums(self.truth.allocations, (allocation.level, allocation.type)).add(duration)
        self.truth.counts["allocations"] += 1

    def _mark(self, text: str) -> None:
        self.done.marks.append(Mark(self._next(), self._open[-1][0], self._thread, text, self._now))
        self.truth.marks[text] += 1
        self.truth.counts["samples"] += 1
        self._now += 200

    def _monitors(self) -> None:
        for gpu in self.place.gpus:
            for name, least, most in (("sclk", 1300, 2100), ("power", 300, 750)):
                value = self._rng.randint(least, most)
                self.done.monitors.append(Monitor(gpu, name, self._begin, self._now, value))
                self.truth.counts["monitors"] += 1


def _sums(table: dict[_Key, Sums], key: _Key) -> Sums:
    totals = table.get(key)
    if totals is None:
        totals = table[key] = Sums()
    return totals


def simulate(workload: Workload) -> Iterator[tuple[RankRun, Step]]:
    """Run a workload; gives what each rank did in each iteration. The truth about a rank grows in its `truth`.

    Examples
    --------
    >>> from synth.workload import Workload
    >>> sum(len(step.dispatches) for _, step in simulate(Workload(dispatches=100, ranks=3)))
    100
    """
    ranks = [RankRun(workload, rank) for rank in range(workload.ranks)]
    extra = workload.dispatches % workload.ranks
    transfer = seeded(workload.seed, "transfer")
    for iteration in _program(workload):
        for rank in ranks:
            rank.begin_iteration(iteration.number, iteration.batch_bytes)
            for phase, kernels in iteration.phases:
                rank.enter(phase)
                if workload.graphs and phase == GRAPH_PHASE:
                    rank.launch_graph(kernels)
                else:
                    for kernel in kernels:
                        rank.launch(kernel)
                rank.leave()
            if iteration.is_last and rank.place.rank < extra:
                rank.launch(0)
        if iteration.reduces:
            last = max([rank.begin_reduce() for rank in ranks])
            finish = last + int(transfer.lognormvariate(math.log(60_000), 0.2))
            for rank in ranks:
                rank.end_reduce(last, finish)
        for rank in ranks:
            yield rank, rank.end_iteration(iteration.number)
