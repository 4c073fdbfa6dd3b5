"""A tiny HIP program, compiled and captured on a machine in every way: shows that everything works together."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wavewright.capture.doctor.check import Answer, not_checked, unhealthy
from wavewright.capture.doctor.sight import printable
from wavewright.capture.jobs.job import Job
from wavewright.capture.machines.runner import Limits
from wavewright.capture.wanted import Counters, Discovery, ThreadTraces
from wavewright.errors import WavewrightError

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.capture.doctor.sight import Sight
    from wavewright.capture.jobs.result import Result
    from wavewright.capture.machines.runner import Runner
    from wavewright.capture.wanted import Wanted

KERNEL = "wavewright_tiny"
_COUNTER = "SQ_WAVES"
_LAUNCHES = (7, 8)  #: Of ten; the first ones are cold.
_LIMITS = Limits(seconds=300.0, grace_seconds=60.0)
_ATTEMPTS = 3
#: Enough workgroups for every CU of the largest GPU, so that the traced one has some.
SOURCE = """#include <hip/hip_runtime.h>
#include <cstdio>

__global__ void wavewright_tiny(float* values, int rounds) {
  const int place = blockIdx.x * blockDim.x + threadIdx.x;
  float value = values[place];
  for (int round = 0; round < rounds; ++round) value = value * 1.0001f + 0.5f;
  values[place] = value;
}

static int failed(hipError_t error, const char* what) {
  if (error == hipSuccess) return 0;
  std::fprintf(stderr, "%s: %s\\n", what, hipGetErrorString(error));
  return 1;
}

int main() {
  const int groups = 4096, lanes = 256;
  float* values = nullptr;
  if (failed(hipMalloc(reinterpret_cast<void**>(&values), sizeof(float) * groups * lanes), "hipMalloc")) return 1;
  if (failed(hipMemset(values, 0, sizeof(float) * groups * lanes), "hipMemset")) return 1;
  for (int launch = 0; launch < 10; ++launch) wavewright_tiny<<<groups, lanes>>>(values, 64);
  if (failed(hipGetLastError(), "launch") || failed(hipDeviceSynchronize(), "hipDeviceSynchronize")) return 1;
  return failed(hipFree(values), "hipFree");
}
"""


@dataclass(frozen=True)
class _Step:
    """One kind of capture of the program."""

    title: str
    wanted: Wanted


def tried(sight: Sight, runner: Runner, *, pause: Callable[[float], None] = time.sleep) -> Answer:
    """Compile the program and take a kernel trace, a counter and a thread trace of it: the check `end-to-end`."""
    compiler = sight.machine.program(f"{sight.root}/bin/hipcc") or sight.machine.program("hipcc")
    if compiler is None:
        return not_checked("there is no hipcc, which compiles the tiny program (package hipcc)")
    if sight.installation is None:
        return not_checked("there is no rocprofv3 that answers")
    with tempfile.TemporaryDirectory(prefix="wavewright-doctor-") as name:
        folder = Path(name)
        program = str(folder / "tiny")
        problem = _compile(sight, runner, compiler, program, folder)
        if problem:
            return unhealthy(f"the tiny program does not compile: {problem}", "a HIP program of yours would not either")
        steps = _steps(sight, program)
        lines = []
        problems = []
        for number, step in enumerate(steps):
            line, advice = _taken(sight, runner, step, folder / f"step-{number}", pause)
            lines.append(line)
            problems += [advice] if advice else []
    if problems:
        return unhealthy("; ".join(lines), problems[0])
    return Answer("; ".join(lines))


def _compile(sight: Sight, runner: Runner, compiler: str, program: str, folder: Path) -> str:
    """Compile the program on the machine; what is wrong, or nothing."""
    targets = dict.fromkeys(gpu.target for gpu in sight.gpus if gpu.target)
    source = folder / "tiny.hip"
    source.write_text(SOURCE)
    ending = runner.run(
        [compiler, "-g", "-O2", *(f"--offload-arch={target}" for target in targets), "-o", program, str(source)],
        variables=sight.machine.variables,
        cwd="",
        stdout=folder / "compiler.txt",
        stderr=folder / "compiler-errors.txt",
        limits=_LIMITS,
    )
    if ending.status == 0:
        return ""
    text = ending.problem
    if not text and (folder / "compiler-errors.txt").is_file():
        text = (folder / "compiler-errors.txt").read_text("utf-8", "replace").strip()
    lines = [line for line in text.splitlines() if "error" in line.lower()] or text.splitlines()
    return printable(lines[0], 200) if lines else f"hipcc ended with status {ending.status}"


def _steps(sight: Sight, program: str) -> list[_Step]:
    words = (program,)
    steps = [
        _Step("kernel trace", Discovery(program=words)),
        _Step("counter", Counters(program=words, passes=((_COUNTER,),), kernel_regex=KERNEL)),
    ]
    names = sight.installation.options if sight.installation else frozenset()
    if {"--att", "--advanced-thread-trace"} & names:
        steps.append(_Step("thread trace", ThreadTraces(program=words, kernel_regex=KERNEL, launches=_LAUNCHES)))
    return steps


def _taken(sight: Sight, runner: Runner, step: _Step, folder: Path, pause: Callable[[float], None]) -> tuple[str, str]:
    """What became of one capture, and what to do about it; empty = nothing."""
    from wavewright.capture.jobs.taking import take

    job = Job(wanted=step.wanted, name=f"doctor {step.title}", limits=_LIMITS, attempts=_ATTEMPTS)
    try:
        result = take(job, folder, machine=sight.machine, runner=runner, installation=sight.installation, pause=pause)
    except WavewrightError as error:
        return f"{step.title}: {printable(str(error), 200)}", error.advice or "see the message"
    line = f"{step.title}: {result.verdict}"
    waves = max((dispatch.wave_count for dispatch in result.dispatches), default=0)
    if result.is_good:
        return f"{line}, {waves} waves" if waves else line, ""
    reason, advice = _reason(result)
    return f"{line} ({reason})" if reason else line, advice


def _reason(result: Result) -> tuple[str, str]:
    judgement = result.best.judgement if result.best else None
    if judgement is None:
        return "", "run the capture itself: wavewright capture att -- PROGRAM"
    reason = printable(judgement.reasons[0], 200) if judgement.reasons else ""
    remedy = judgement.causes[0].remedy if judgement.causes else ""
    return reason, judgement.advice or remedy or "run the capture itself: wavewright capture att -- PROGRAM"
