"""The unit of work: one thing that is wanted, on one GPU, tried a bounded number of times, with one folder.

FOLDER/
  job.json              what is wanted; its hash is the job's id
  machine.json          the machine, its GPUs and versions
  attempts/1/           command.json  ending.json  judgement.json  stdout.txt  stderr.txt  raw/
  result -> attempts/2  the best attempt
  result.json           its verdict; written last
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wavewright.capture.machines.runner import Limits

if TYPE_CHECKING:
    from wavewright.capture.wanted import Wanted


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is wanted, and how hard to try."""

    wanted: Wanted
    name: str = ""  #: For people; empty = the program's name.
    gpu: str = "auto"  #: auto (the freest), any (no check), a number, a PCI address, or GPU-...
    limits: Limits = field(default_factory=Limits)
    attempts: int = 4
    wait_seconds: float = 0.0  #: How long to wait for a busy GPU.
    is_shared: bool = False  #: Take a GPU that others use.
