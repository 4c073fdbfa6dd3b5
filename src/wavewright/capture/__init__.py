"""From a program and a GPU to data that are worth reading: machine facts, commands, runs, verdicts, pools of GPUs.

Examples
--------
>>> from wavewright import capture
>>> plan = capture.att(["python", "bench.py"], kernel="pa_decode", launches=[7, 8])
>>> plan.commands()  # doctest: +SKIP
>>> result = plan.run("capture-bench")  # doctest: +SKIP
>>> result.verdict, result.trace().instructions  # doctest: +SKIP
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wavewright.capture.doctor import Check
    from wavewright.capture.jobs.capture_run import take as take
    from wavewright.capture.jobs.plan import Plan as Plan
    from wavewright.capture.jobs.result import Result as Result
    from wavewright.capture.judgement import Judgement as Judgement
    from wavewright.capture.judgement import Verdict as Verdict
    from wavewright.capture.machines.machine import Machine
    from wavewright.capture.pool.schedule import Pool as Pool

_HOMES = {
    "Judgement": "wavewright.capture.judgement",
    "Plan": "wavewright.capture.jobs.plan",
    "Pool": "wavewright.capture.pool.schedule",
    "Result": "wavewright.capture.jobs.result",
    "Verdict": "wavewright.capture.judgement",
    "take": "wavewright.capture.jobs.capture_run",
}
__all__ = ["att", "counters", "discover", "doctor", "open_result", "run", "samples"]
__all__ += sorted(_HOMES)


def att(
    program: Sequence[str],
    *,
    kernel: str = "",
    regex: str = "",
    launches: Iterable[int] = (),
    target_cu: int | None = None,
    simds: int | None = None,
    se_mask: int | None = None,
    buffer_bytes: int | None = None,
    **more: Any,
) -> Plan:
    """Thread traces of chosen launches of a kernel; what is not told is chosen, by a discovery where it is needed.

    Parameters
    ----------
    program
        Its words.
    kernel
        Name of the kernel, or a part of it; empty = the one that takes most time.
    regex
        In place of a name: a regex as rocprofv3 takes it.
    launches
        Which launches of the kernel, from 1; none = two warm neighbours.
    target_cu, simds, se_mask, buffer_bytes, more
        Fields of `ThreadTraces`, as all others in `more`, and what `discover` takes; else a TypeError. None = chosen.
    """
    values = {key: value for key, value in locals().items() if key not in ("program", "regex", "more")}
    return _plan("att", program, {**values, "kernel_regex": regex, "launches": tuple(launches), **more})


def counters(
    program: Sequence[str], passes: Iterable[Iterable[str]], *, kernel: str = "", regex: str = "", **more: Any
) -> Plan:
    """Hardware counters: the program runs once per pass.

    Parameters
    ----------
    passes
        Names of counters, those of one pass together.
    kernel, regex
        Which kernels; empty = all.
    more
        Other fields of `Counters`, and what `discover` takes.
    """
    together = tuple(tuple(names) for names in passes)
    return _plan("counters", program, {"passes": together, "kernel": kernel, "kernel_regex": regex, **more})


def samples(
    program: Sequence[str],
    *,
    method: str | None = None,
    unit: str | None = None,
    interval: int | None = None,
    **more: Any,
) -> Plan:
    """PC samples; None = what the GPU supports. `more` is what `discover` takes."""
    return _plan("samples", program, {"method": method, "unit": unit, "interval": interval, **more})


def run(program: Sequence[str], *, parts: Iterable[str] = ("kernel", "hip", "memory", "markers"), **more: Any) -> Plan:
    """A trace of the whole program. `more` is what `discover` takes."""
    return _plan("run", program, {"parts": tuple(parts), **more})


def discover(
    program: Sequence[str],
    *,
    variables: Mapping[str, str] | None = None,
    cwd: str = "",
    gpu: str | int = "auto",
    timeout_seconds: float = 900.0,
    grace_seconds: float = 120.0,
    attempts: int = 4,
    wait_seconds: float = 0.0,
    share: bool = False,
    monitor: bool = False,
    name: str = "",
    rocprofv3: str | None = None,
    rocm_version: str = "",
    machine: Machine | None = None,
    **more: Any,
) -> Plan:
    """A list of the kernels that a program runs, how often and how long: `result.kernels()`.

    Parameters
    ----------
    program
        Its words.
    variables, cwd
        Set for the program, and the folder in which it runs.
    gpu
        The only GPU that it sees: auto (the freest), a number, a PCI address or GPU-...; any = all, unchecked.
    timeout_seconds, grace_seconds
        After how long it is told to stop, and how long it may then write its data.
    attempts
        How often it is tried at most.
    wait_seconds, share
        How long to wait for a GPU that others use; whether to take it all the same.
    monitor
        Whether amd-smi samples clocks, power, memory and temperature of the GPU meanwhile.
    rocprofv3, rocm_version
        The profiler by its path, or a release to plan for without one.
    machine
        The machine that is asked; None = this one.
    more
        `extra`: more words for rocprofv3.
    """
    values = {key: value for key, value in locals().items() if key not in ("program", "more")}
    return _plan("discover", program, {**values, **more})


def open_result(folder: str) -> Result:
    """The result of a capture, from its folder; UsageError when it holds none."""
    from pathlib import Path

    from wavewright.capture.jobs.result import stored_result

    return stored_result(Path(folder))


def doctor(machine: Machine | None = None) -> tuple[Check, ...]:
    """Everything between a machine and a good capture, as checks; None = this machine."""
    from wavewright.capture.doctor import examine
    from wavewright.capture.machines.machine import Machine

    return examine(machine or Machine())


def _plan(kind: str, program: Sequence[str], values: Mapping[str, Any]) -> Plan:
    """A plan from the fields of a recording, of the job, and of where it runs."""
    from wavewright.capture.jobs.job import Job
    from wavewright.capture.jobs.plan import Plan
    from wavewright.capture.kinds import KINDS
    from wavewright.capture.machines.machine import Machine
    from wavewright.capture.machines.runner import Limits
    from wavewright.capture.rocprofv3.installation import find_installation
    from wavewright.capture.rocprofv3.releases import assumed
    from wavewright.errors import UsageError

    if isinstance(program, str) or not program or not all(isinstance(word, str) for word in program):
        what = "a program is a list of words" if program else "no program is given"
        raise UsageError(what, advice='as ["python", "bench.py"]')
    fields = {key: value for key, value in values.items() if value is not None}

    def of(**names: str) -> dict[str, Any]:
        return {name: fields.pop(key) for name, key in names.items() if key in fields}

    machine = fields.pop("machine", None) or Machine()
    release, path = fields.pop("rocm_version", ""), fields.pop("rocprofv3", "")
    installation = assumed(release) if release else find_installation(machine, path) if path else None
    limits = Limits(**of(seconds="timeout_seconds", grace_seconds="grace_seconds"))
    effort = of(
        name="name", attempts="attempts", wait_seconds="wait_seconds", is_shared="share", is_monitored="monitor"
    )
    effort["gpu"] = str(fields.pop("gpu", "auto"))
    recording = KINDS[kind](program=tuple(program), **fields)
    return Plan(job=Job(recording=recording, limits=limits, **effort), machine=machine, installation=installation)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


class _Package(ModuleType):
    """The function `doctor` stays what the name means here, also after the package of that name was imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if name != "doctor" or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
