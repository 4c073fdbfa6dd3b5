"""The unit of work: one recording, on one GPU, tried a bounded number of times, with one folder.

FOLDER/
  job.json              what is to be recorded; its hash is the job's id
  machine.json          the machine, its GPUs and versions
  attempts/1/           command.json  ending.json  judgement.json  stdout.txt  stderr.txt  raw/
  result -> attempts/2  the best attempt
  result.json           its verdict; written last
"""

from __future__ import annotations

import hashlib

import msgspec

from wavewright.base.shown import json_bytes
from wavewright.capture.kinds import Recording
from wavewright.capture.machines.runner import Limits

_ID_DIGITS = 16


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A recording, and how hard to try."""

    recording: Recording = msgspec.field(name="wanted")
    name: str = ""  #: For people; empty = the program's name.
    gpu: str = "auto"  #: auto (the freest), any (no check), a number, a PCI address, or GPU-...
    limits: Limits = Limits()
    attempts: int = 4
    wait_seconds: float = 0.0  #: How long to wait for a busy GPU.
    is_shared: bool = False  #: Take a GPU that others use.
    is_monitored: bool = False  #: Sample clocks, power, memory and temperature of the GPU meanwhile.

    @property
    def id(self) -> str:
        """A hash of what decides about the data: how long it may take and how often it is tried does not."""
        content = json_bytes([1, self.name, self.gpu, msgspec.to_builtins(self.recording)], order="sorted")
        return hashlib.sha256(content).hexdigest()[:_ID_DIGITS]

    @property
    def kind(self) -> str:
        """The verb of `wavewright capture` that takes it."""
        return str(self.recording.__struct_config__.tag)

    def as_json(self) -> dict[str, object]:
        """The job with its id, as job.json holds it."""
        return {"v": 1, "id": self.id, **msgspec.to_builtins(self)}
