"""Subjects of a gate: each says what is worse, and where its noise comes from."""

from __future__ import annotations

from wavewright.facts.loader import Fact, FactTable


class Subject(Fact, frozen=True):
    """One kind of quantity."""

    name: str
    title: str
    meaning: str
    kinds: tuple[str, ...]  #: Of captures that measure it: run, trace, counters.
    worse: int = 1  #: 1 = larger is worse, -1 = smaller is worse, 0 = any change is.
    #: Whether one capture shows enough: then `LEAST_CHANGE` stands for what runs differ by. Else repeats are needed.
    is_told_by_calls: bool = True
    is_in_points: bool = False  #: A share: its change is a difference, not a ratio.
    of_whole: str = ""  #: The subject that changes are shares of; empty = of the quantity itself.
    has_names: bool = False


SUBJECTS = FactTable("gate_subjects.toml", Subject)


def default_subjects(kind: str, *, has_steps: bool, has_kernel_times: bool) -> tuple[str, ...]:
    """Subjects that a gate looks at by default.

    Durations of calls decide about traces where they are recorded on both sides: a trace is of one call.

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
