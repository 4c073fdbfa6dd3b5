"""The only thing that doctor ever changes, and only when it is told to: steady clocks of Radeons, for counters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavewright.capture.doctor.gpus import gated_gpus, steady_words
from wavewright.capture.doctor.sight import Request, Sight, printable

if TYPE_CHECKING:
    from wavewright.capture.machines.machine import Machine

_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Change:
    """A setting of a GPU that was changed, or could not be."""

    gpu: int  #: Its index.
    what: str
    problem: str = ""  #: Why it could not be changed; empty = it was.
    command: str  #: What was run.
    back: str  #: The command that takes it back.


def set_steady_clocks(machine: Machine) -> tuple[Change, ...]:
    """Give every GPU whose counters stand still otherwise a steady clock."""
    changes = []
    for gpu, level in gated_gpus(Sight(machine, Request())).items():
        words = steady_words(gpu)
        answer = machine.run(words, seconds=_SECONDS)
        lines = [line for line in (answer.problem or answer.stderr or answer.stdout).splitlines() if line.strip()]
        problem = (printable(lines[-1]) if lines else f"status {answer.status}") if answer.status != 0 else ""
        back = " ".join(steady_words(gpu, level="AUTO"))
        what = f"performance level of GPU {gpu.index}: {level} -> profile_standard"
        changes.append(Change(gpu=gpu.index, what=what, problem=problem, command=" ".join(words), back=f"sudo {back}"))
    return tuple(changes)
