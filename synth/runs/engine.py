"""A discrete-event simulation of programs: threads call, streams work in order, collectives meet.

Independent of the analyses of wavewright: nothing of them is imported.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from synth.runs.events import Meeting, Memory, Region, SimulatedRun, Work
from synth.runs.program import (
    Allocate,
    Call,
    Collective,
    Copy,
    Free,
    Graph,
    Host,
    Launch,
    Operation,
    Program,
    Range,
    Record,
    Synchronise,
    Wait,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["simulate", "stream_handle"]

_EVENTS, _STREAMS, _COMMS, _MEMORY = 0x7F20_0000_0000, 0x55D0_0000_0000, 0x7E10_0000_0000, 0x7F30_0000_0000
_FUNCTIONS = {
    "allreduce": "ncclAllReduce",
    "allgather": "ncclAllGather",
    "reduce_scatter": "ncclReduceScatter",
    "broadcast": "ncclBroadcast",
}
_COPY_KINDS = {"HtoD": "1", "DtoH": "2", "DtoD": "3"}
_BYTES_PER_ELEMENT = 4


def stream_handle(stream: int) -> str:
    """The pointer of a stream; that of the default stream is null.

    Examples
    --------
    >>> stream_handle(2)
    '0x55d000000200'
    """
    return hex(_STREAMS + 256 * stream) if stream else "0x0"


@dataclass(eq=False)
class _Item:
    """Work in a stream, or an event in it; its end is unknown until all that it waits for has ended."""

    arrival_ns: int
    duration_ns: int
    after: list[tuple[_Item, int]]
    """What it waits for, and how long after that it starts."""
    meeting: _Meeting | None = None
    rank: int = 0
    start_ns: int | None = None
    end_ns: int | None = None
    missing: int = 0
    followers: list[_Item] = field(default_factory=list)
    sleepers: list[_Thread] = field(default_factory=list)


@dataclass(eq=False)
class _Meeting:
    group: str
    sequence: int
    name: str
    size_bytes: int
    service_ns: int
    size: int
    items: list[_Item] = field(default_factory=list)


@dataclass(eq=False)
class _Thread:
    rank: int
    number: int
    now_ns: int
    steps: Iterator[list[_Item] | None]
    missing: int = 0


def simulate(program: Program) -> SimulatedRun:
    """Run a program.

    Raises
    ------
    ValueError
        Ranks wait for each other for ever, or threads of a rank share what only one of them may use.

    Examples
    --------
    >>> from synth.runs.program import Launch, Rank, Synchronise
    >>> body = (Launch("gemm", 100_000, call_ns=4_000, lag_ns=6_000), Synchronise(return_ns=3_000))
    >>> simulate(Program((Rank((body,)),))).span_ns
    109000
    """
    return _Simulation(program).run()


class _Simulation:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._result = SimulatedRun(program)
        self._meetings: dict[tuple[str, int], _Meeting] = {}
        self._groups = {group: program.group_of(group) for group in sorted(_groups(program))}
        self._works: list[tuple[_Item, Work]] = []
        self._items = 0
        self._resolved = 0
        self._ready: list[tuple[int, int, int, _Thread]] = []
        self._hosts = [_Host(self, number) for number in range(len(program.ranks))]

    def run(self) -> SimulatedRun:
        """Advance the earliest thread until none is left."""
        for host in self._hosts:
            for thread in host.threads():
                self.wake(thread)
        while self._ready:
            *_, thread = heapq.heappop(self._ready)
            try:
                awaited = next(thread.steps)
            except StopIteration:
                continue
            pending = [item for item in awaited or () if item.end_ns is None]
            thread.missing = len(pending)
            for item in pending:
                item.sleepers.append(thread)
            if not pending:
                self.wake(thread)
        if self._resolved != self._items:
            problem = "ranks wait for each other for ever: a collective is not called by all of its group"
            raise ValueError(problem)
        result = self._result
        result.works.extend(
            work._replace(start_ns=item.start_ns or 0, end_ns=item.end_ns or 0) for item, work in self._works
        )
        result.works.sort(key=lambda work: (work.rank, work.start_ns, work.end_ns))
        result.regions.sort(key=lambda region: (region.rank, region.thread, region.start_ns, -region.end_ns))
        for meeting in self._meetings.values():
            starts = {item.rank: item.start_ns or 0 for item in meeting.items}
            end = meeting.items[0].end_ns or 0
            result.meetings.append(
                Meeting(meeting.group, meeting.sequence, meeting.name, meeting.size_bytes, starts, end)
            )
        result.meetings.sort(key=lambda meeting: (meeting.group, meeting.sequence))
        return result

    @property
    def program(self) -> Program:
        return self._program

    @property
    def result(self) -> SimulatedRun:
        return self._result

    def wake(self, thread: _Thread) -> None:
        heapq.heappush(self._ready, (thread.now_ns, thread.rank, thread.number, thread))

    def add(self, item: _Item, work: Work | None = None) -> None:
        """Put an item into the run; it is resolved as soon as all before it are."""
        self._items += 1
        if work is not None:
            self._works.append((item, work))
        for earlier, _ in item.after:
            if earlier.end_ns is None:
                item.missing += 1
                earlier.followers.append(item)
        if not item.missing:
            self._resolve(item)

    def meeting(self, op: Collective, sequence: int) -> _Meeting:
        key = (op.group, sequence)
        size = len(self._groups[op.group])
        service = self._program.machine.service_ns(op.name, op.size_bytes, size)
        fresh = _Meeting(op.group, sequence, op.name, op.size_bytes, service, size)
        return self._meetings.setdefault(key, fresh)

    def _resolve(self, first: _Item) -> None:
        waiting = [first]
        while waiting:
            item = waiting.pop()
            ends = [earlier.end_ns + lag for earlier, lag in item.after if earlier.end_ns is not None]
            item.start_ns = max([item.arrival_ns, *ends])
            if item.meeting is None:
                waiting += self._end(item, item.start_ns + item.duration_ns)
                continue
            item.meeting.items.append(item)
            if len(item.meeting.items) == item.meeting.size:
                end = max(each.start_ns or 0 for each in item.meeting.items) + item.meeting.service_ns
                for each in item.meeting.items:
                    waiting += self._end(each, end)

    def _end(self, item: _Item, end_ns: int) -> list[_Item]:
        """Give an item its end; what can be resolved now."""
        item.end_ns = end_ns
        self._resolved += 1
        for thread in item.sleepers:
            thread.missing -= 1
            if not thread.missing:
                self.wake(thread)
        for follower in item.followers:
            follower.missing -= 1
        return [follower for follower in item.followers if not follower.missing]


def _groups(program: Program) -> set[str]:
    def inside(ops: Iterable[Operation]) -> Iterable[str]:
        for op in ops:
            if isinstance(op, Collective):
                yield op.group
            elif isinstance(op, Range):
                yield from inside(op.body)

    return {group for rank in program.ranks for thread in rank.threads for group in inside(thread)}


class _Host:
    """The process of a rank: its threads, streams and events."""

    def __init__(self, simulation: _Simulation, rank: int) -> None:
        self._simulation = simulation
        self._rank = rank
        self._streams: dict[int, _Item] = {}
        self._barriers: dict[int, list[_Item]] = {}
        self._events: dict[str, _Item] = {}
        self._handles: dict[str, int] = {}
        self._sequences: dict[str, int] = {}
        self._addresses: dict[str, tuple[int, int]] = {}
        self._last_address = _MEMORY
        self._number = 0
        self._latest_ns: dict[int, int] = {}
        self._device_ns = -1

    def threads(self) -> list[_Thread]:
        rank = self._simulation.program.ranks[self._rank]
        threads = []
        for number, ops in enumerate(rank.threads):
            thread = _Thread(self._rank, number, rank.start_ns, iter(()))
            thread.steps = self._body(thread, ops, 0, ())
            threads.append(thread)
        return threads

    def _body(
        self, thread: _Thread, ops: tuple[Operation, ...], parent: int, frames: tuple[str, ...]
    ) -> Iterator[list[_Item] | None]:
        for op in ops:
            yield None  # other threads may be earlier
            start = thread.now_ns
            if isinstance(op, Host):
                thread.now_ns += op.duration_ns
                if op.name is not None:
                    self._region(thread, self._next(), parent, "PYTHON", op.name, start, (), frames)
            elif isinstance(op, Range):
                number = self._next()
                inner = (op.name, *frames) if op.domain == "PYTHON" else frames
                yield from self._body(thread, op.body, number, inner)
                self._region(thread, number, parent, op.domain, op.name, start, (), frames)
            elif isinstance(op, Collective):
                self._collective(thread, op, parent, frames)
            else:
                yield from self._call(thread, op, parent, frames)

    def _call(
        self, thread: _Thread, op: Operation, parent: int, frames: tuple[str, ...]
    ) -> Iterator[list[_Item] | None]:
        number, start = self._next(), thread.now_ns
        awaited: list[_Item] = []
        arguments: tuple[tuple[str, str, str], ...] = ()
        domain, return_ns, then_ns = "HIP", 0, 0
        if isinstance(op, Launch):
            function, call_ns = op.function, op.call_ns
            arguments = (_stream(op.stream),)
            self._work(thread, number, op.stream, "kernel", op.kernel, start + op.lag_ns, op.duration_ns)
        elif isinstance(op, Graph):
            function, call_ns = "hipGraphLaunch", op.call_ns
            arguments = (("hipGraphExec_t", "graphExec", "0x7f5000000100"), _stream(op.stream))
            for node, (name, duration) in enumerate(op.kernels, 1):
                self._work(thread, number, op.stream, "kernel", name, start + op.lag_ns, duration, node=node)
        elif isinstance(op, Copy):
            function, call_ns = ("hipMemcpyWithStream" if op.is_blocking else "hipMemcpyAsync"), op.call_ns
            arguments = (
                ("size_t", "sizeBytes", str(op.size_bytes)),
                ("hipMemcpyKind", "kind", _COPY_KINDS[op.direction]),
                _stream(op.stream),
            )
            item = self._work(
                thread, number, op.stream, "copy", op.direction, start + op.lag_ns, op.duration_ns, size=op.size_bytes
            )
            awaited, return_ns = ([item] if op.is_blocking else []), op.return_ns
        elif isinstance(op, Synchronise):
            function, awaited, arguments = self._awaited(op, start)
            call_ns, return_ns = op.call_ns, op.return_ns
        elif isinstance(op, Record):
            function, call_ns = "hipEventRecord", op.call_ns
            arguments = (self._event(op.event), _stream(op.stream))
            self._events[op.event] = self._item(op.stream, start, 0)
        elif isinstance(op, Wait):
            function, call_ns = "hipStreamWaitEvent", op.call_ns
            arguments = (_stream(op.stream), self._event(op.event), ("unsigned int", "flags", "0"))
            if op.event in self._events:
                self._barriers.setdefault(op.stream, []).append(self._events[op.event])
        elif isinstance(op, Allocate):
            function, call_ns = "hipMalloc", op.call_ns
            arguments = (("size_t", "size", str(op.size_bytes)),)
        elif isinstance(op, Free):
            function, call_ns, then_ns = "hipFree", 0, op.call_ns
            _, awaited, _ = self._awaited(Synchronise(), start)
            arguments = (("void*", "ptr", hex(self._addresses.get(op.name, (0, 0))[0])),)
        elif isinstance(op, Call):
            function, call_ns, arguments, domain = op.function, op.call_ns, op.arguments, op.domain
        else:
            raise TypeError(op)
        if awaited:
            yield awaited
        ends = [item.end_ns + return_ns for item in awaited if item.end_ns is not None]
        thread.now_ns = max([start + call_ns, *ends]) + then_ns
        self._region(thread, number, parent, domain, function, start, arguments, frames)
        if isinstance(op, Allocate | Free):
            self._allocation(thread, number, op, start)

    def _awaited(self, op: Synchronise, start: int) -> tuple[str, list[_Item], tuple[tuple[str, str, str], ...]]:
        """The function that waits, for what, and its arguments."""
        if op.event is not None:
            item = self._events.get(op.event)
            return "hipEventSynchronize", [item] if item is not None else [], (self._event(op.event),)
        if op.stream is not None:
            last = [self._streams[op.stream]] if op.stream in self._streams else []
            return "hipStreamSynchronize", last + self._barriers.get(op.stream, []), (_stream(op.stream),)
        self._device_ns = max(self._device_ns, start)
        return "hipDeviceSynchronize", list(self._streams.values()), ()

    def _collective(self, thread: _Thread, op: Collective, parent: int, frames: tuple[str, ...]) -> None:
        """An RCCL call with the launch of its kernel inside."""
        outer, inner, start = self._next(), self._next(), thread.now_ns
        sequence = self._sequences[op.group] = self._sequences.get(op.group, -1) + 1
        before, after = op.call_ns // 4, op.call_ns // 8
        meeting = self._simulation.meeting(op, sequence)
        launch_start = thread.now_ns = start + before
        name = "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"
        self._work(
            thread, inner, op.stream, "communication", name, launch_start + op.lag_ns, 0, size=op.size_bytes,
            meeting=meeting, sequence=sequence,
        )  # fmt: skip
        thread.now_ns = start + op.call_ns - after
        self._region(thread, inner, outer, "HIP", "hipExtLaunchKernel", launch_start, (_stream(op.stream),), frames)
        thread.now_ns = start + op.call_ns
        shares = meeting.size if op.name in ("allgather", "reduce_scatter") else 1
        comm = hex(_COMMS + 4096 * self._rank + 64 * sorted(self._sequences).index(op.group))
        arguments = (
            ("const void*", "sendbuff", hex(_MEMORY)),
            ("void*", "recvbuff", hex(_MEMORY)),
            ("size_t", "count", str(op.size_bytes // (_BYTES_PER_ELEMENT * shares))),
            ("ncclDataType_t", "datatype", "7"),
            ("ncclRedOp_t", "op", "0"),
            ("ncclComm_t", "comm", comm),
            _stream(op.stream),
        )
        self._region(thread, outer, parent, "RCCL", _FUNCTIONS[op.name], start, arguments, frames)

    def _work(
        self,
        thread: _Thread,
        number: int,
        stream: int,
        kind: str,
        name: str,
        arrival_ns: int,
        duration_ns: int,
        *,
        size: int = 0,
        node: int = 0,
        meeting: _Meeting | None = None,
        sequence: int = -1,
    ) -> _Item:
        if thread.now_ns < self._device_ns or thread.now_ns < self._latest_ns.get(stream, -1):
            problem = (
                f"rank {self._rank}: a thread uses stream {stream} before another one did that was simulated first"
            )
            raise ValueError(problem)
        self._latest_ns[stream] = thread.now_ns
        group = meeting.group if meeting is not None else ""
        work = Work(self._rank, thread.number, stream, number, kind, name, 0, 0, size, group, sequence, node)
        return self._item(stream, arrival_ns, duration_ns, meeting, work)

    def _item(
        self, stream: int, arrival_ns: int, duration_ns: int, meeting: _Meeting | None = None, work: Work | None = None
    ) -> _Item:
        """Work, or without it an event, at the end of a stream."""
        gap = self._simulation.program.machine.kernel_gap_ns if work is not None else 0
        after = [(item, 0) for item in self._barriers.get(stream, [])]
        if stream in self._streams:
            after.append((self._streams[stream], gap))
        item = _Item(arrival_ns, duration_ns, after, meeting, self._rank)
        if work is not None:
            self._streams[stream] = item
            self._barriers.pop(stream, None)
        self._simulation.add(item, work)
        return item

    def _event(self, event: str) -> tuple[str, str, str]:
        number = self._handles.setdefault(event, len(self._handles) + 1)
        return "hipEvent_t", "event", hex(_EVENTS + 64 * number)

    def _allocation(self, thread: _Thread, number: int, op: Allocate | Free, start: int) -> None:
        if isinstance(op, Allocate):
            self._last_address += (op.size_bytes // 4096 + 2) * 4096
            self._addresses[op.name] = (self._last_address, op.size_bytes)
        address, size = self._addresses.get(op.name, (0, 0))
        is_release = isinstance(op, Free)
        row = Memory(self._rank, thread.number, number, is_release, address, 0 if is_release else size, start,
                     thread.now_ns)  # fmt: skip
        self._simulation.result.memory.append(row)

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _region(
        self,
        thread: _Thread,
        number: int,
        parent: int,
        domain: str,
        name: str,
        start_ns: int,
        arguments: tuple[tuple[str, str, str], ...],
        frames: tuple[str, ...],
    ) -> None:
        row = Region(
            self._rank, thread.number, number, parent, domain, name, start_ns, thread.now_ns, arguments, frames
        )
        self._simulation.result.regions.append(row)


def _stream(stream: int) -> tuple[str, str, str]:
    return "hipStream_t", "stream", stream_handle(stream)
