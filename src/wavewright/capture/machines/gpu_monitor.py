"""Clocks, power, memory and temperature of the GPU while a program runs, as amd-smi tells them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wavewright.capture.machines.machine import Machine
from wavewright.errors import MissingToolError
from wavewright.facts.gpus import samples as gpu_samples

PROGRAM = "amd-smi"
_PERIOD_SECONDS = 1.0  #: Pause between two samples.
_ANSWER_SECONDS = 10.0  #: After which a call of amd-smi is killed.
_ANSWER_CHARACTERS_MAX = 1 << 18  #: Of what amd-smi prints.
_SAMPLES_MAX = 100_000  #: Of one run: a day at one per second.


def check_monitor(machine: Machine, pci: str) -> None:
    """Refuse a capture whose GPU cannot be sampled."""
    if machine.program(PROGRAM) is None:
        raise MissingToolError("amd-smi is not installed", advice="leave --monitor away, or install it with ROCm")
    if not pci:
        advice = "leave --monitor away, or choose one GPU: --gpu auto"
        raise MissingToolError("no GPU of a known PCI address is chosen, so none can be sampled", advice=advice)


@contextmanager
def monitored(machine: Machine, pci: str, folder: Path) -> Iterator[None]:
    """Sample a GPU about once a second while the block runs; nothing without an address."""
    if not pci:
        yield
        return
    is_over = threading.Event()
    sampler = threading.Thread(target=_sample, args=(machine, pci, folder / gpu_samples.FILE, is_over), daemon=True)
    sampler.start()
    try:
        yield
    finally:
        is_over.set()
        sampler.join(_ANSWER_SECONDS)


def _sample(machine: Machine, pci: str, path: Path, is_over: threading.Event) -> None:
    words = [PROGRAM, "metric", "--gpu", pci, "--usage", "--power", "--clock", "--temperature", "--mem-usage", "--json"]
    with path.open("a", encoding="utf-8") as stream:
        for _ in range(_SAMPLES_MAX):
            start = _now()
            answer = machine.run(words, seconds=_ANSWER_SECONDS)
            end = _now()
            try:
                document = json.loads(answer.stdout[:_ANSWER_CHARACTERS_MAX])
            except (ValueError, RecursionError):
                document = None  # a line without values: the reader counts it as lost
            stream.write(json.dumps({"pci": pci, "begin": start, "end": end, "answer": document}) + "\n")
            stream.flush()
            if is_over.wait(_PERIOD_SECONDS):
                return


def _now() -> dict[str, int]:
    return {clock: time.clock_gettime_ns(getattr(time, f"CLOCK_{clock.upper()}")) for clock in gpu_samples.CLOCKS}
