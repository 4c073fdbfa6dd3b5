"""What an attempt is worth: judged by the data that it left, with our own decoder and readers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from wavewright.capture.wanted import Counters, Discovery, RunTrace, Samples, ThreadTraces

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wavewright.capture.gpus.gpu import Gpu
    from wavewright.capture.judgement import Judgement
    from wavewright.capture.machines.runner import Ending
    from wavewright.capture.wanted import Wanted

#: What judges each kind: a module of this package, imported when it is needed, and its function.
_JUDGES: tuple[tuple[type, str, str], ...] = (
    (ThreadTraces, "thread_traces", "judge_thread_traces"),
    (Counters, "counters", "judge_counters"),
    (Samples, "samples", "judge_samples"),
    (RunTrace, "runs", "judge_run"),
    (Discovery, "discoveries", "judge_discovery"),
)


def judge(wanted: Wanted, ending: Ending, attempt: Path, gpu: Gpu | None = None) -> Judgement:
    """Judge an attempt: raw data below `attempt/raw`, what was printed in `attempt/stdout.txt` and `stderr.txt`.

    The verdict comes from the data; the ending and the log say why data are missing, or add a caution. Missing and
    damaged files are part of the judgement, never an error.

    Raises
    ------
    TypeError
        When nothing of that kind can be judged.
    """
    for kind, module, name in _JUDGES:
        if isinstance(wanted, kind):
            function: Callable[..., Judgement] = getattr(import_module(f"{__name__}.{module}"), name)
            if isinstance(wanted, ThreadTraces):
                return function(wanted, ending, attempt, gpu)
            return function(wanted, ending, attempt)
    raise TypeError(f"nothing judges {type(wanted).__name__}")
