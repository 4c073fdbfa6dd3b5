"""Subjects of a gate: each says what is worse, and where its noise comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Subject:
    """One kind of quantity."""

    title: str
    meaning: str
    kinds: tuple[str, ...]  #: Of captures that measure it: run, trace, counters.
    worse: int = 1  #: 1 = larger is worse, -1 = smaller is worse, 0 = any change is.
    #: Whether one capture shows enough: then `LEAST_CHANGE` stands for what runs differ by. Else repeats are needed.
    is_told_by_calls: bool = True
    is_in_points: bool = False  #: A share: its change is a difference, not a ratio.
    of_whole: str = ""  #: The subject that changes are shares of; empty = of the quantity itself.
    has_names: bool = False


SUBJECTS: dict[str, Subject] = {
    "gpu-time": Subject("GPU time", "time of kernels and copies per run or step", ("run",)),
    "kernel": Subject("kernel", "mean duration of a call of each kernel", ("run", "counters"), has_names=True),
    "copy": Subject("copy", "mean duration of each kind of copy", ("run",), has_names=True),
    "marker": Subject("marker", "mean duration of each marker range", ("run",), has_names=True),
    "step": Subject("step", "mean duration of a step (--step)", ("run",)),
    "wall": Subject("wall time", "from the first event to the last", ("run",), is_told_by_calls=False),
    "busy": Subject(
        "busy", "share of time in which a GPU works", ("run",), worse=-1, is_told_by_calls=False, is_in_points=True
    ),
    "cycles": Subject("cycles per wave", "mean duration of a wave", ("trace",), is_told_by_calls=False),
    "kernel-time": Subject("kernel time", "median call in the run beside the trace", ("trace",)),
    "kind": Subject(
        "kind of instruction",
        "exposed cycles per wave of each kind of instruction, as a share of the cycles of a wave",
        ("trace",),
        is_told_by_calls=False,
        of_whole="cycles",
        has_names=True,
    ),
    "line": Subject(
        "line",
        "exposed cycles per wave of each source line, as a share of the cycles of a wave",
        ("trace",),
        is_told_by_calls=False,
        of_whole="cycles",
        has_names=True,
    ),
    "metric": Subject("metric", "a metric of counters", ("counters",), worse=0, has_names=True),
}


def default_subjects(kind: str, *, has_steps: bool, has_kernel_times: bool) -> tuple[str, ...]:
    """Subjects that a gate looks at by default.

    Durations of calls decide about traces where they are recorded on both sides: a trace is of one call.

    Examples
    --------
    >>> default_subjects("run", has_steps=True, has_kernel_times=False)
    ('gpu-time', 'step', 'kernel')
    >>> default_subjects("trace", has_steps=False, has_kernel_times=True)
    ('kernel-time',)
    """
    if kind == "run":
        return ("gpu-time", "step", "kernel") if has_steps else ("gpu-time", "kernel")
    if kind == "trace":
        return ("kernel-time",) if has_kernel_times else ("cycles",)
    return ("kernel",)
