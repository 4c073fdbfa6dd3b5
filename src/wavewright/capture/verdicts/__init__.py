"""Verdicts about attempts: judged by the data that they left, with our own decoder and readers."""

from __future__ import annotations

from pathlib import Path

from wavewright.capture.gpus.topology import Gpu
from wavewright.capture.judgement import Judgement
from wavewright.capture.kinds import Counters, Discovery, Recording, RunTrace, Samples, ThreadTraces
from wavewright.capture.machines.runner import Ending


def judge(recording: Recording, ending: Ending, attempt: Path, gpu: Gpu | None = None) -> Judgement:
    """Judge an attempt: raw data below `attempt/raw`, what was printed in `attempt/stdout.txt` and `stderr.txt`.

    The verdict comes from the data; the ending and the log say why data are missing, or add a caution. Missing and
    damaged files are part of the judgement, never an error.
    """
    from wavewright.capture.verdicts import counters, other_kinds, thread_traces
    from wavewright.capture.verdicts.endings import causes_of, concluded

    match recording:
        case ThreadTraces():
            data = thread_traces.judge_data(recording, attempt, gpu)
        case Counters():
            data = counters.judge_data(recording, attempt)
        case Samples():
            data = other_kinds.judge_samples(attempt)
        case RunTrace():
            data = other_kinds.judge_run(recording, attempt)
        case Discovery():
            data = other_kinds.judge_discovery(attempt)
    return concluded(data, ending, causes_of(recording, ending, attempt), attempt)
