"""A request for a capture: the common options of the verbs of `wavewright capture`, and the program behind `--`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import localtime, strftime
from typing import Any

from wavewright.capture.gpus.topology import Gpu, gpus_of
from wavewright.capture.jobs.job import Job
from wavewright.capture.jobs.plan import planned_installation
from wavewright.capture.kinds import Recording
from wavewright.capture.machines.machine import Machine
from wavewright.capture.machines.runner import Limits
from wavewright.capture.other_machines import Place, place_of
from wavewright.capture.rocprofv3.installation import find_installation
from wavewright.capture.rocprofv3.releases import Installation, assumed
from wavewright.cli.kit.form import current_brief
from wavewright.errors import UsageError

STAND_IN = "PROGRAM"  #: Where `capture input` is given no program: the file is only checked.
_LONGEST_NAME = 40  #: Characters of a program's name in names of folders.
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Variables that tell the rank of a process to it, as rocprofv3 looks for them (spec 6.2, check 42).
_RANKS = ("SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PBS_NODENUM", "MPI_RANK")
#: Programs that run another one, which is the one that names the folder.
_INTERPRETERS = re.compile(r"(python|python\d(\.\d+)?|bash|sh|env|torchrun|mpirun|mpiexec|srun|numactl|taskset)")
#: Options of a command here that a command on another machine is not given; True = they have a value.
_OF_HERE = {"--host": True, "--container": True, "--remote": True, "-o": True, "--output": True}
_OF_HERE |= {"--open": False, "--json": False, "--force": False}


@dataclass(frozen=True, kw_only=True)
class CaptureRequest:
    """The common options of all captures (`cli/options/capture/common.toml`), and the program."""

    program: tuple[str, ...]  #: Empty = go on with the job of the folder, whatever it is.
    variables: dict[str, str]
    extra: tuple[str, ...]
    cwd: str
    output: Path | None
    is_dry_run: bool
    rocm_version: str | None
    rocprofv3: str | None
    decoder: str | None
    gpu: str
    timeout: float
    grace: float
    attempts: int
    wait: float
    is_shared: bool
    is_monitored: bool
    host: str | None
    container: str | None
    remote: str
    is_resumed: bool
    is_forced: bool
    is_cleaned: bool
    as_json: bool
    opens: bool

    @property
    def common(self) -> dict[str, Any]:
        """Fields of every recording."""
        return {"program": self.program, "variables": self.variables, "cwd": self.cwd, "extra": self.extra}

    @cached_property
    def folder(self) -> Path:
        """The folder of the capture."""
        return self.output or default_folder(self.program, {} if self.place else self.machine.variables)

    @cached_property
    def place(self) -> Place | None:
        """Another machine or a container; None = here."""
        if self.host is None and self.container is None:
            return None
        return place_of(self.host, self.container, self.remote)

    @cached_property
    def machine(self) -> Machine:
        """The machine on which the program runs."""
        return Machine()

    @cached_property
    def installation(self) -> Installation:
        """The profiler that is used; with --dry-run and none on the machine, the newest release that is known."""
        if self.rocm_version:
            installation = assumed(self.rocm_version)
        elif self.is_dry_run and not self.rocprofv3:
            installation = planned_installation(self.machine)
        else:
            installation = find_installation(self.machine, self.rocprofv3)
        return replace(installation, decoder_folder=self.decoder) if self.decoder else installation

    @cached_property
    def planned_gpu(self) -> Gpu | None:
        """The GPU for which a dry run plans: the one that is named, else the first; None = none is known here."""
        gpus = gpus_of(self.machine)
        named = [gpu for gpu in gpus if self.gpu in (str(gpu.index), gpu.pci, gpu.unique_id)]
        return next(iter(named or (gpus if self.gpu in ("auto", "any") else ())), None)

    def job(self, recording: Recording) -> Job:
        """The unit of work for a recording."""
        return Job(
            recording=recording,
            name=program_name(self.program),
            gpu=self.gpu,
            limits=Limits(seconds=self.timeout, grace_seconds=self.grace),
            attempts=self.attempts,
            wait_seconds=self.wait,
            is_shared=self.is_shared,
            is_monitored=self.is_monitored,
        )


def request_of(verb: str, program: tuple[str, ...], options: dict[str, Any]) -> CaptureRequest:
    """The request of a verb of `wavewright capture`: its common options, and the program behind `--`.

    Without a program `--resume` goes on with that of the folder, and `input` runs nothing.
    """
    is_stored = bool(not program and options["is_resumed"] and options["output"])  # the folder knows the program
    if not program and verb == "input" and not is_stored:
        program = (STAND_IN,)
        options["is_dry_run"] = True
    if not is_stored and not (program and program[0]):
        advice = f"write it behind --: wavewright capture {verb} -- python bench.py"
        raise UsageError("which program? There is none behind --", advice=advice)
    _refuse_contradictions(options)
    variables = dict(map(_variable, options.pop("env")))
    extra = tuple(word for text in options.pop("extra") for word in _words(text))
    return CaptureRequest(program=program, variables=variables, extra=extra, **options)


def _refuse_contradictions(options: dict[str, Any]) -> None:
    if options["rocm_version"] and not options["is_dry_run"]:
        what = "--rocm-version says which release to assume, and a capture uses the one that is installed"
        raise UsageError(what, advice="add --dry-run, or choose an installation with --rocprofv3 PATH")
    if options["rocm_version"] and options["rocprofv3"]:
        raise UsageError("--rocm-version and --rocprofv3 both choose a release", advice="give one of them")
    if options["is_resumed"] and options["is_forced"]:
        what = "--resume goes on with what is in the folder, --force starts anew"
        raise UsageError(what, advice="give one of them")
    if options["is_resumed"] and options["output"] is None:
        raise UsageError("--resume needs the folder to go on with", advice="-o FOLDER")
    if options["opens"] and (options["as_json"] or options["is_dry_run"] or current_brief()):
        other = "--json" if options["as_json"] else "--dry-run" if options["is_dry_run"] else "--brief"
        raise UsageError(f"--open shows the capture in a browser, {other} does not", advice="give one of them")


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not _VARIABLE.fullmatch(name) or "\0" in value:
        raise UsageError(f"--env {text[:60]!r} is not NAME=VALUE", advice="as --env HSA_XNACK=1")
    return name, value


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--extra {text[:60]!r} cannot be split into words: {error}") from error


def default_folder(program: Sequence[str], variables: Mapping[str, str]) -> Path:
    """A folder for a capture of a program, named after it, the time, and the rank where there are several.

    >>> folder = default_folder(["python", "-u", "bench/gemm.py"], {"SLURM_PROCID": "3"})
    >>> folder.name[:13], folder.name[-6:]
    ('capture-gemm-', '-rank3')
    """
    ranks = [variables[name] for name in _RANKS if variables.get(name, "").isdecimal()]
    rank = f"-rank{ranks[0][:9]}" if ranks else ""
    return Path(f"capture-{program_name(program)}-{strftime('%Y%m%d-%H%M%S', localtime())}{rank}")


def program_name(program: Sequence[str]) -> str:
    """The name of a program: the script, where the first word is what runs it.

    >>> program_name(["python3", "-u", "bench/gemm.py", "--m", "8"]), program_name(["./a.out"]), program_name(["srun"])
    ('gemm', 'a.out', 'srun')
    """
    words = [word for word in program if word and not word.startswith("-") and "=" not in word]
    names = [Path(word).name for word in words]
    chosen = next((name for name in names if not _INTERPRETERS.fullmatch(name)), names[0] if names else "program")
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", chosen.removesuffix(".py").removesuffix(".sh")).strip("._")
    return plain[:_LONGEST_NAME] or "program"


def words_for_there(typed: Sequence[str]) -> list[str]:
    """The words of a command without what is for this machine.

    >>> words_for_there(["--host", "gpu7", "-oout", "--wait=5", "--json", "--", "./a", "--host"])
    ['--wait=5', '--', './a', '--host']
    """
    end = typed.index("--") if "--" in typed else len(typed)
    chosen: list[str] = []
    place = 0
    while place < end:
        word = typed[place]
        name = word.partition("=")[0] if word.startswith("--") else word[:2]
        place += 1
        if name not in _OF_HERE:
            chosen.append(word)
        elif _OF_HERE[name] and word == name:
            place += 1
    return [*chosen, *typed[end:]]
