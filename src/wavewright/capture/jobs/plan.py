"""A capture in Python, whose commands can be looked at, and which can then be run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import structs

from wavewright.capture.gpus.choice import meant_gpus
from wavewright.capture.gpus.topology import Gpu, gpus_of
from wavewright.capture.jobs.capture_run import discovery_before, take
from wavewright.capture.jobs.folder import ATTEMPTS, DISCOVERIES, RAW
from wavewright.capture.jobs.job import Job
from wavewright.capture.jobs.result import Result
from wavewright.capture.kinds import Recording, ThreadTraces, is_by_rocprofv3
from wavewright.capture.machines.machine import Machine
from wavewright.capture.plans.command import Command
from wavewright.capture.plans.commands import Planned, needs_discovery, planned
from wavewright.capture.rocprofv3.installation import find_installation
from wavewright.capture.rocprofv3.regex import parts_regex
from wavewright.capture.rocprofv3.releases import NEWEST, Installation, assumed
from wavewright.errors import MissingToolError

#: What stands in commands for a kernel and launches that only the discovery before them will tell.
STAND_IN_KERNEL, STAND_IN_LAUNCHES = "KERNEL", (7, 8)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A capture that is to be taken.

    Examples
    --------
    >>> from wavewright import capture
    >>> plan = capture.att(["./gemm", "4096"], kernel="gemm", launches=[7, 8], rocm_version="7.11")
    >>> [command] = plan.commands("out")
    >>> command.words[0], command.words[-3:]
    ('rocprofv3', ('--', './gemm', '4096'))
    """

    job: Job
    machine: Machine
    installation: Installation | None = None  #: None = that of the machine; of commands: or the newest known release.

    def commands(self, folder: str | os.PathLike[str] = "capture") -> tuple[Command, ...]:
        """The commands of the first attempt, with a discovery before it where one is needed; nothing is run.

        Needs neither a GPU nor ROCm; UsageError when the release cannot do what is asked for.
        """
        gpus = gpus_of(self.machine)
        gpu = meant_gpus(self.job.gpu, gpus)[0] if gpus else None
        installation = self.installation
        if installation is None and is_by_rocprofv3(self.job.recording):  # other tools need none
            installation = planned_installation(self.machine)
        steps = first_steps(self.job, installation, gpu, folder=Path(folder), variables=self.machine.variables)
        return tuple(command for step in steps for command in step.commands)

    def run(
        self,
        folder: str | os.PathLike[str],
        *,
        resume: bool = False,
        force: bool = False,
        clean: bool = False,
        say: Callable[[dict[str, Any]], None] = lambda event: None,
    ) -> Result:
        """Take the capture: run, judge, change and try again, until it is good or nothing is left to try.

        `resume` goes on where an earlier call stopped, and does not run a finished capture again; `force` replaces an
        earlier capture in the folder; `clean` keeps only the raw data of the best attempt, without placeholders; `say`
        gets every event as an object (`docs/reference/capture-folder.md`).
        """
        how: dict[str, Any] = {"resume": resume, "force": force, "clean": clean, "say": say}
        return take(self.job, Path(folder), machine=self.machine, installation=self.installation, **how)


def planned_installation(machine: Machine) -> Installation:
    """The profiler of the machine; where it has none, the newest release that is known."""
    try:
        return find_installation(machine)
    except MissingToolError:
        return assumed(NEWEST.rocm)


def first_steps(
    job: Job, installation: Installation | None, gpu: Gpu | None, *, folder: Path, variables: Mapping[str, str]
) -> tuple[Planned, ...]:
    """The first attempt of a job, as `take` plans it, with a discovery before it where one is needed."""
    recording = job.recording
    if gpu is not None and job.gpu != "any" and recording.gpu_index is None:
        recording = structs.replace(recording, gpu_index=gpu.index)
    steps: list[tuple[Recording, str]] = []
    if isinstance(recording, ThreadTraces) and needs_discovery(recording):
        steps.append((discovery_before(recording), DISCOVERIES))
        regex = recording.kernel_regex or parts_regex([recording.kernel or STAND_IN_KERNEL])
        launches = recording.launches or STAND_IN_LAUNCHES[-recording.launch_count :]
        recording = structs.replace(recording, kernel_regex=regex, launches=launches)
    steps.append((recording, ATTEMPTS))
    raw = [str(folder.absolute() / name / "1" / RAW) for _, name in steps]
    return tuple(
        planned(step, installation, gpu, raw=folder_of_data, variables=variables)
        for (step, _), folder_of_data in zip(steps, raw, strict=True)
    )
