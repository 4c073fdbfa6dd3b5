"""A capture in Python: what is wanted, whose commands can be looked at, and which can then be run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.capture.wanted import Discovery, ThreadTraces

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from wavewright.capture.gpus.gpu import Gpu
    from wavewright.capture.jobs.job import Job
    from wavewright.capture.jobs.result import Result
    from wavewright.capture.machines.machine import Machine
    from wavewright.capture.machines.runner import Runner
    from wavewright.capture.plans.command import Command
    from wavewright.capture.plans.planning import Planned
    from wavewright.capture.rocprofv3.installation import Installation
    from wavewright.capture.wanted import Wanted

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
    runner: Runner
    installation: Installation | None = (
        None  #: None = the one of the machine; of commands: or the newest that is known.
    )

    def commands(self, folder: str | os.PathLike[str] = "capture") -> tuple[Command, ...]:
        """What the first attempt would run, with a discovery before it where one is needed; nothing is run.

        Needs neither a GPU nor ROCm.

        Raises
        ------
        UsageError
            When the release cannot do what is wanted.
        """
        return tuple(command for step in self.steps(folder) for command in step.commands)

    def steps(self, folder: str | os.PathLike[str] = "capture") -> tuple[Planned, ...]:
        """The same, step by step, with what was chosen and why.

        Raises
        ------
        UsageError
            When the release cannot do what is wanted.
        """
        return first_steps(
            self.job, self._installation(), self._gpu(), folder=Path(folder), variables=self.machine.variables
        )

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

        Parameters
        ----------
        folder
            Where everything goes; it is made.
        resume
            Go on where an earlier call stopped; a finished capture is not run again.
        force
            Replace an earlier capture in the folder.
        clean
            Keep only the raw data of the best attempt.
        say
            Gets every event; see `docs/reference/capture-folder.md`.

        Raises
        ------
        UsageError
            When the folder holds something else, the program does not exist, or the release cannot do what is wanted.
        OutputError
            When the file system refuses or is full.
        MissingToolError
            When there is no profiler or no GPU.
        BusyError
            When every GPU is used by others.
        """
        from wavewright.capture.jobs.taking import take

        return take(
            self.job,
            Path(folder),
            machine=self.machine,
            runner=self.runner,
            installation=self.installation,
            say=say,
            resume=resume,
            force=force,
            clean=clean,
        )

    def _installation(self) -> Installation:
        if self.installation is not None:
            return self.installation
        from wavewright.capture.rocprofv3.installed import find_installation
        from wavewright.capture.rocprofv3.releases import NEWEST, assumed
        from wavewright.errors import MissingToolError

        try:
            return find_installation(self.machine)
        except MissingToolError:
            return assumed(NEWEST.rocm)

    def _gpu(self) -> Gpu | None:
        """The GPU for which is planned: the one that is named, else the first; None = there is none here."""
        from wavewright.capture.gpus.choice import meant_gpus
        from wavewright.capture.gpus.topology import gpus_of

        gpus = gpus_of(self.machine)
        return meant_gpus(self.job.gpu, gpus)[0] if gpus else None


def first_steps(
    job: Job, installation: Installation, gpu: Gpu | None, *, folder: Path, variables: Mapping[str, str]
) -> tuple[Planned, ...]:
    """The first attempt of a job, as `take` plans it, with a discovery before it where one is needed.

    Raises
    ------
    UsageError
        When the release cannot do what is wanted.
    """
    from wavewright.capture.plans.planning import needs_discovery, planned

    wanted = job.wanted
    if gpu is not None and job.gpu != "any" and wanted.gpu_index is None:
        wanted = replace(wanted, gpu_index=gpu.index)
    place = folder.absolute()
    steps: list[tuple[Wanted, Path]] = [(wanted, place / "attempts" / "1")]
    if needs_discovery(wanted) and isinstance(wanted, ThreadTraces):
        first = Discovery(
            program=wanted.program, variables=wanted.variables, cwd=wanted.cwd, gpu_index=wanted.gpu_index
        )
        steps = [(first, place / "discovery" / "1"), (_with_stand_in(wanted), steps[0][1])]
    return tuple(planned(each, installation, gpu, raw=str(where / "raw"), variables=variables) for each, where in steps)


def _with_stand_in(wanted: ThreadTraces) -> ThreadTraces:
    """The same with names for what only the discovery tells."""
    from wavewright.capture.rocprofv3.regex import parts_regex

    regex = wanted.kernel_regex or parts_regex([wanted.kernel or STAND_IN_KERNEL])
    launches = wanted.launches or STAND_IN_LAUNCHES[-wanted.launch_count :]
    return replace(wanted, kernel_regex=regex, launches=launches)
