"""The cases on which HTA shows its critical path, rebuilt from their description with round times.

Times are nanoseconds, all multiples of 1,000. Host code inside an operator is part of that operator.
"""

from __future__ import annotations

from synth.runs.program import Host, Launch, Machine, Operation, Program, Range, Rank, Record, Synchronise, Wait

__all__ = ["HTA_CASES", "hta_case"]


def _launch(kernel: str, duration_us: int, stream: int = 7) -> Launch:
    return Launch(kernel, duration_us * 1000, stream, call_ns=5_000, lag_ns=10_000)


def _operator(name: str, *body: Operation) -> Range:
    return Range(name, body, "OPERATOR")


def _conv(number: int, duration_us: int) -> Range:
    inner = _operator("aten::cudnn_convolution", Host(2_000), _launch(f"conv{number}", duration_us), Host(1_000))
    return _operator("aten::conv2d", Host(3_000), inner, Host(1_000))


_SYNCHRONISE = Synchronise(call_ns=2_000, return_ns=4_000)

HTA_CASES: dict[str, tuple[Operation, ...]] = {
    # An operator launches a kernel, the host waits for the GPU.
    "simple add": (
        _operator("aten::add", Host(20_000), _launch("add", 30), Host(5_000)),
        _SYNCHRONISE,
    ),
    # The host runs ahead of a chain of kernels.
    "chain": (*(_conv(number, 200) for number in range(5)), _SYNCHRONISE),
    # The host waits for an event between two kernels, then works long before it launches another.
    "event of one stream": (
        _operator("aten::mm", Host(10_000), _launch("first", 100)),
        Record("done", 7, call_ns=1_000),
        _operator("aten::relu", _launch("second", 40)),
        Synchronise(event="done", call_ns=2_000, return_ns=4_000),
        _operator("aten::sort", Host(300_000), _launch("third", 50)),
        _SYNCHRONISE,
    ),
    # A kernel of a second stream waits for one of the first.
    "event between streams": (
        _operator("aten::mm", Host(10_000), _launch("producer", 150, stream=7)),
        Record("ready", 7, call_ns=1_000),
        Wait("ready", 20, call_ns=1_000),
        _operator("aten::add", _launch("consumer", 80, stream=20)),
        _operator("aten::mul", _launch("beside", 60, stream=7)),
        _SYNCHRONISE,
    ),
    # Operators inside operators: each has the time in which no inner one runs.
    "nested operators": (
        _operator(
            "aten::linear",
            Host(10_000),
            _operator("aten::addmm", Host(20_000), _launch("gemm", 40), Host(3_000)),
            Host(200_000),
        ),
        _operator("aten::relu", Host(5_000), _launch("relu", 30)),
        _SYNCHRONISE,
    ),
    # Kernels shorter than their launches: every kernel waits for its own.
    "empty queue": (*(_operator(f"aten::op{n}", Host(30_000), _launch(f"k{n}", 5)) for n in range(4)), _SYNCHRONISE),
    # The same kernels, long: only the first waits for its launch.
    "deep queue": (*(_operator(f"aten::op{n}", Host(3_000), _launch(f"k{n}", 100)) for n in range(4)), _SYNCHRONISE),
}


def hta_case(name: str) -> Program:
    """The program of a case of `HTA_CASES`.

    Examples
    --------
    >>> len(hta_case("simple add").ranks)
    1
    """
    return Program((Rank((HTA_CASES[name],)),), Machine(kernel_gap_ns=1_000))
