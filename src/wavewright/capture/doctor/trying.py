"""Checks that use the GPU: only on request, because they open it or run a program on it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wavewright.base.shown import quoted
from wavewright.capture.doctor.check import Answer, not_checked, unhealthy
from wavewright.capture.doctor.sight import printable

if TYPE_CHECKING:
    from wavewright.capture.doctor.sight import Sight

_AVAIL_SECONDS = 60.0
_ARGUMENTS = (7, 0)  #: The first release whose rocprofv3-avail takes arguments.
_COUNTER = "SQ_WAVES"  #: Every GPU since gfx9 has it.


def counters_and_samples(sight: Sight) -> Answer:
    """Ask rocprofv3-avail, which opens every GPU."""
    if not sight.request.asks_gpu:
        return not_checked("only with --gpu, because it opens the GPUs")
    if sight.version and sight.version < _ARGUMENTS:
        return not_checked("rocprofv3-avail takes no arguments before ROCm 7.0")
    path = sight.machine.program(f"{sight.root}/bin/rocprofv3-avail")
    if path is None:
        return unhealthy(f"there is no rocprofv3-avail in {printable(sight.root)}/bin", "install rocprofiler-sdk again")
    refused = []
    for gpu in sight.gpus:
        words = [path, "-d", str(gpu.index), "pmc-check", _COUNTER]  # -d must come before the subcommand
        answer = sight.machine.run(words, seconds=_AVAIL_SECONDS)
        if answer.status is None:  # it would take as long with each of the others
            refused.append(f"GPU {gpu.index}: {printable(answer.problem)}")
            break
        if answer.status != 0:
            lines = [line for line in (answer.stderr or answer.stdout).splitlines() if line.strip()]
            refused.append(f"GPU {gpu.index}: {printable(lines[-1]) if lines else 'no reason is given'}")
    if refused:
        remedy = f"{_COUNTER} cannot be counted: the messages of the profiler tell why"
        return unhealthy("; ".join(refused), remedy, f"{quoted(path)} info --pmc {_COUNTER}")
    finding = f"every GPU counts {_COUNTER}"
    samples = sight.machine.run([path, "list", "--pc-sampling"], seconds=_AVAIL_SECONDS)
    if samples.status == 0:
        count = len(re.findall(r"(?m)^GPU\s*:", samples.stdout))
        finding += f"; {count} of {len(sight.gpus)} can sample PCs"
    return Answer(finding)


def end_to_end(sight: Sight) -> Answer:
    """Compile and capture a tiny program."""
    if sight.request.trial is None:
        return not_checked("only with --full, because it runs a program on a GPU")
    return sight.request.trial(sight)
