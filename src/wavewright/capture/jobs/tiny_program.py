"""A tiny HIP program, compiled and captured on a machine in every way: shows that everything works together."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from wavewright.capture.doctor.check import Outcome, bad, ok, skipped
from wavewright.capture.doctor.view import MachineView, printable
from wavewright.capture.jobs.capture_run import take
from wavewright.capture.jobs.job import Job
from wavewright.capture.kinds import Counters, Discovery, Recording, ThreadTraces
from wavewright.capture.machines.runner import Limits, run_program
from wavewright.errors import WavewrightError

KERNEL = "wavewright_tiny"
_COUNTER = "SQ_WAVES"
_LAUNCHES = (7, 8)  #: Of ten; the first ones are cold.
_LIMITS = Limits(seconds=300.0, grace_seconds=60.0)
_ATTEMPTS = 3
SOURCE = Path(__file__).with_name("tiny.hip")
_OTHERWISE = "run the capture itself: wavewright capture att -- PROGRAM"


def tried(view: MachineView, *, pause: Callable[[float], None] = time.sleep) -> Outcome:
    """Compile the program and take a kernel trace, a counter and a thread trace of it: the check `end-to-end`."""
    compiler = view.machine.program(f"{view.root}/bin/hipcc") or view.machine.program("hipcc")
    if compiler is None:
        return skipped("no compiler")
    if view.installation is None:
        return skipped("no profiler")
    with tempfile.TemporaryDirectory(prefix="wavewright-doctor-") as name:
        folder = Path(name)
        problem = _compile(view, compiler, folder)
        if problem:
            return bad("not compiled", problem=problem)
        words = (str(folder / "tiny"),)
        recordings: dict[str, Recording] = {
            "kernel trace": Discovery(program=words),
            "counter": Counters(program=words, passes=((_COUNTER,),), kernel_regex=KERNEL),
        }
        if {"--att", "--advanced-thread-trace"} & view.installation.options:
            traces = ThreadTraces(program=words, kernel_regex=KERNEL, launches=_LAUNCHES)
            recordings["thread trace"] = traces
        results = [
            _taken(view, title, recording, folder / title.replace(" ", "-"), pause)
            for title, recording in recordings.items()
        ]
    lines = "; ".join(line for line, _ in results)
    advice = next((advice for _, advice in results if advice), "")
    return bad("failed", lines=lines, advice=advice) if advice else ok("good", lines=lines)


def _compile(view: MachineView, compiler: str, folder: Path) -> str:
    """Compile the program on the machine; what is wrong, or nothing."""
    targets = dict.fromkeys(gpu.target for gpu in view.gpus if gpu.target)
    options = ["-g", "-O2", *(f"--offload-arch={target}" for target in targets)]
    errors = folder / "compiler-errors.txt"
    ending = run_program(
        [compiler, *options, "-o", str(folder / "tiny"), str(SOURCE)],
        variables=view.machine.variables,
        cwd="",
        stdout=folder / "compiler.txt",
        stderr=errors,
        limits=_LIMITS,
    )
    if ending.status == 0:
        return ""
    text = ending.problem or (errors.read_text("utf-8", "replace").strip() if errors.is_file() else "")
    lines = [line for line in text.splitlines() if "error" in line.lower()] or text.splitlines()
    return printable(lines[0], 200) if lines else f"hipcc ended with status {ending.status}"


def _taken(
    view: MachineView, title: str, recording: Recording, folder: Path, pause: Callable[[float], None]
) -> tuple[str, str]:
    """The verdict about one capture, and what to do about it; empty = nothing."""
    job = Job(recording=recording, name=f"doctor {title}", limits=_LIMITS, attempts=_ATTEMPTS)
    try:
        result = take(job, folder, machine=view.machine, installation=view.installation, pause=pause)
    except WavewrightError as error:
        return f"{title}: {printable(str(error), 200)}", error.advice or "see the message"
    waves = max((dispatch.wave_count for dispatch in result.dispatches), default=0)
    if result.is_good:
        return f"{title}: {result.verdict}{f', {waves} waves' if waves else ''}", ""
    judgement = result.best.judgement if result.best else None
    if judgement is None:
        return f"{title}: {result.verdict}", _OTHERWISE
    reason = f" ({printable(judgement.reasons[0], 200)})" if judgement.reasons else ""
    remedy = judgement.causes[0].remedy if judgement.causes else ""
    return f"{title}: {result.verdict}{reason}", judgement.advice or remedy or _OTHERWISE
