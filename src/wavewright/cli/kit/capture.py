"""Requests for captures: the program behind `--`, where and how hard to try, and the way from there to a verdict."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.base.bounds import SECONDS, Bounds
from wavewright.base.shown import command_line
from wavewright.cli.kit.form import current_brief, events_option
from wavewright.cli.kit.numbers import Real, Whole
from wavewright.errors import MissingToolError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wavewright.capture.gpus.gpu import Gpu
    from wavewright.capture.jobs.job import Job
    from wavewright.capture.machines.machine import Machine
    from wavewright.capture.other_machines import Place
    from wavewright.capture.rocprofv3.installation import Installation
    from wavewright.capture.wanted import Wanted

ATTEMPTS = Bounds(1, 100)  #: Of one job.
_PROGRAM, TYPED = "wavewright.program", "wavewright.typed"  #: Keys of click's context: the program, and all words.
_SHOWN_WORDS, _LONGEST_WORD = 12, 60  #: Of a program, in messages.
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ProgramCommand(click.Command):
    """A command whose own options end at `--`; what follows is the program, word by word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options in front of `--`.

        Raises
        ------
        UsageError
            When a program stands there without `--`.
        """
        place = args.index("--") if "--" in args else len(args)
        ctx.meta[_PROGRAM], ctx.meta[TYPED] = tuple(args[place + 1 :]), tuple(args)
        ctx.allow_interspersed_args = any(isinstance(each, click.Argument) for each in self.params)
        ctx.allow_extra_args = True
        rest = super().parse_args(ctx, args[:place])
        if ctx.args and not ctx.resilient_parsing:
            word = ctx.args[0][:_LONGEST_WORD]
            if place < len(args):
                raise UsageError(f"{word!r} stands before --", advice="options first, then -- and the program")
            ours = args[: place - len(ctx.args)]
            program = ctx.args[:_SHOWN_WORDS] + (["..."] if len(ctx.args) > _SHOWN_WORDS else [])
            again = f"wavewright capture {ctx.info_name} {command_line([*ours, '--', *program])}"
            raise UsageError(f"{word!r} has no -- before it", advice=f"write -- before the program: {again}")
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The options, and the program behind `--`."""
        return [*super().collect_usage_pieces(ctx), "-- PROGRAM..."]


def program_of(context: click.Context) -> tuple[str, ...]:
    """The words behind `--`."""
    words: tuple[str, ...] = context.meta.get(_PROGRAM, ())
    return words


class _OfJobs(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in newer versions of click only
    """A value that a jobs file may hold, too, read by the same function."""

    def read(self, text: str) -> Any:
        """What a text says."""
        raise NotImplementedError

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """What was typed."""
        from wavewright.capture.pool.keys import WrongValueError

        if not isinstance(value, str):
            return value
        try:
            return self.read(int(value) if value.isdecimal() and value.isascii() else value)  # type: ignore[arg-type]
        except WrongValueError as error:
            self.fail(f"{value[:40]!r} is not {error}.", param, ctx)


class Launches(_OfJobs):
    """Launches of a kernel, counted from 1: 7, 7-8 or 3,7-8."""

    name = "launches"

    def read(self, text: str) -> tuple[int, ...]:
        """What a text says."""
        from wavewright.capture.pool.keys import launches

        return launches(text)


class Size(_OfJobs):
    """Bytes, with or without a unit."""

    name = "size"

    def read(self, text: str) -> int:
        """What a text says."""
        from wavewright.capture.pool.keys import size

        return size(text)


def request_of(options: dict[str, Any], *, stand_in: str = "") -> CaptureRequest:
    """The request that the common options and the program behind `--` make.

    Raises
    ------
    UsageError
        When there is no program, or when options contradict each other.
    """
    context = click.get_current_context()
    program = program_of(context)
    is_stored = bool(not program and options["is_resumed"] and options["output"])  # the folder knows the program
    if not program and stand_in and not is_stored:
        program = (stand_in,)
        options["is_dry_run"] = True
    if not is_stored and not (program and program[0]):
        name = context.info_name or "att"
        advice = f"write it behind --: wavewright capture {name} -- python bench.py"
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


@dataclass(frozen=True, kw_only=True)
class CaptureRequest:
    """What all captures have in common: the program, where it runs, how hard to try, where to write."""

    program: tuple[str, ...]  #: Empty = go on with the job of the folder, whatever it is.
    variables: dict[str, str] = field(default_factory=dict)
    extra: tuple[str, ...] = ()
    cwd: str = ""
    output: Path | None = None
    is_dry_run: bool = False
    rocm_version: str | None = None
    rocprofv3: str | None = None
    decoder: str | None = None
    gpu: str = "auto"
    timeout: float = 900.0
    grace: float = 120.0
    attempts: int = 4
    wait: float = 0.0
    is_shared: bool = False
    host: str | None = None
    container: str | None = None
    remote: str = ""
    is_resumed: bool = False
    is_forced: bool = False
    is_cleaned: bool = False
    as_json: bool = False
    opens: bool = False

    @property
    def common(self) -> dict[str, Any]:
        """Fields of `Wanted`, for the classes of what is wanted."""
        return {"program": self.program, "variables": self.variables, "cwd": self.cwd, "extra": self.extra}

    @cached_property
    def folder(self) -> Path:
        """Where the capture goes."""
        return self.output or default_folder(self.program, {} if self.place else self.machine.variables)

    @cached_property
    def place(self) -> Place | None:
        """Another machine or a container; None = here."""
        if self.host is None and self.container is None:
            return None
        from wavewright.capture.other_machines import place_of

        return place_of(self.host, self.container, self.remote)

    @cached_property
    def machine(self) -> Machine:
        """The machine on which the program runs."""
        from wavewright.capture.machines.machine import Machine

        return Machine()

    @cached_property
    def installation(self) -> Installation:
        """The profiler that is used; with --dry-run and none on the machine, the newest release that is known.

        Raises
        ------
        MissingToolError
            When there is none.
        """
        from wavewright.capture.rocprofv3.releases import NEWEST, assumed

        if self.rocm_version:
            installation = assumed(self.rocm_version)
        else:
            from wavewright.capture.rocprofv3.installed import find_installation

            try:
                installation = find_installation(self.machine, self.rocprofv3)
            except MissingToolError:
                if not self.is_dry_run or self.rocprofv3:
                    raise
                installation = assumed(NEWEST.rocm)
        return replace(installation, decoder_folder=self.decoder) if self.decoder else installation

    @cached_property
    def planned_gpu(self) -> Gpu | None:
        """The GPU for which a dry run plans: the one that is named, else the first; None = none is known here."""
        from wavewright.capture.gpus.topology import gpus_of

        gpus = gpus_of(self.machine)
        named = [each for each in gpus if self.gpu in (str(each.index), each.pci, each.unique_id)]
        return next(iter(named or (gpus if self.gpu in ("auto", "any") else ())), None)

    def job(self, wanted: Wanted) -> Job:
        """The unit of work for what is wanted."""
        from wavewright.capture.jobs.job import Job
        from wavewright.capture.machines.runner import Limits

        return Job(
            wanted=wanted,
            name=program_name(self.program),
            gpu=self.gpu,
            limits=Limits(seconds=self.timeout, grace_seconds=self.grace),
            attempts=self.attempts,
            wait_seconds=self.wait,
            is_shared=self.is_shared,
        )


#: Variables that tell the rank of a process to it, as rocprofv3 looks for them (spec 6.2, check 42).
_RANKS = ("SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PBS_NODENUM", "MPI_RANK")


def default_folder(program: Sequence[str], variables: Mapping[str, str]) -> Path:
    """A folder for a capture of a program, named after it, the time, and the rank where there are several.

    Examples
    --------
    >>> folder = default_folder(["python", "-u", "bench/gemm.py"], {"SLURM_PROCID": "3"})
    >>> folder.name[:13], folder.name[-6:]
    ('capture-gemm-', '-rank3')
    """
    from time import localtime, strftime

    ranks = [variables[name] for name in _RANKS if variables.get(name, "").isdecimal()]
    rank = f"-rank{ranks[0][:9]}" if ranks else ""
    return Path(f"capture-{program_name(program)}-{strftime('%Y%m%d-%H%M%S', localtime())}{rank}")


_INTERPRETERS = re.compile(r"(python|python\d(\.\d+)?|bash|sh|env|torchrun|mpirun|mpiexec|srun|numactl|taskset)")
_LONGEST_NAME = 40


def program_name(program: Sequence[str]) -> str:
    """What a program is called: the script, where the first word is what runs it.

    Examples
    --------
    >>> program_name(["python3", "-u", "bench/gemm.py", "--m", "8"]), program_name(["./a.out"]), program_name(["srun"])
    ('gemm', 'a.out', 'srun')
    """
    words = [word for word in program if word and not word.startswith("-") and "=" not in word]
    names = [Path(word).name for word in words]
    chosen = next((name for name in names if not _INTERPRETERS.fullmatch(name)), names[0] if names else "program")
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", chosen.removesuffix(".py").removesuffix(".sh")).strip("._")
    return plain[:_LONGEST_NAME] or "program"


#: (name of the parameter, declaration of the option), in the order of `--help`.
_DECLARED: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    (
        "output",
        click.option(
            "-o",
            "--output",
            type=click.Path(path_type=Path),
            metavar="FOLDER",
            help="Where the capture goes; default: capture-PROGRAM-TIME.",
        ),
    ),
    (
        "is_dry_run",
        click.option("--dry-run", "is_dry_run", is_flag=True, help="Print what would be run, and run nothing."),
    ),
    (
        "rocm_version",
        click.option("--rocm-version", metavar="VERSION", help="With --dry-run: the release to assume, as 7.2."),
    ),
    ("rocprofv3", click.option("--rocprofv3", metavar="PATH", help="The rocprofv3 to use; default: as doctor finds.")),
    (
        "decoder",
        click.option("--decoder", metavar="DIR", help="Folder of librocprof-trace-decoder.so, for AMD's own check."),
    ),
    (
        "gpu",
        click.option(
            "--gpu",
            default="auto",
            show_default=True,
            metavar="K|PCI|GPU-ID|auto|any",
            help="The only GPU that the program sees; auto = the freest, any = all, unchecked.",
        ),
    ),
    (
        "timeout",
        click.option(
            "--timeout",
            type=Real(SECONDS),
            default=900.0,
            show_default=True,
            metavar="SECONDS",
            help="For each attempt.",
        ),
    ),
    (
        "grace",
        click.option(
            "--grace",
            type=Real(SECONDS),
            default=120.0,
            show_default=True,
            metavar="SECONDS",
            help="To write data after SIGINT, before SIGTERM and SIGKILL.",
        ),
    ),
    (
        "attempts",
        click.option(
            "--attempts", type=Whole(ATTEMPTS), default=4, show_default=True, help="Most attempts, each with a change."
        ),
    ),
    (
        "wait",
        click.option(
            "--wait", type=Real(SECONDS), default=0.0, metavar="SECONDS", help="How long to wait for a busy GPU."
        ),
    ),
    ("is_shared", click.option("--share", "is_shared", is_flag=True, help="Take a GPU that others use.")),
    ("env", click.option("--env", multiple=True, metavar="NAME=VALUE", help="Set for the program; may be repeated.")),
    ("cwd", click.option("--cwd", default="", metavar="DIR", help="Folder in which the program runs.")),
    (
        "extra",
        click.option("--extra", multiple=True, metavar="WORDS", help="More options for rocprofv3; may be repeated."),
    ),
    ("host", click.option("--host", metavar="[USER@]MACHINE", help="Run it there, over ssh; data come back.")),
    ("container", click.option("--container", metavar="NAME", help="Run it in this container.")),
    (
        "remote",
        click.option("--remote", default="", metavar="PATH", help="The wavewright there; default: as its PATH says."),
    ),
    ("is_resumed", click.option("--resume", "is_resumed", is_flag=True, help="Go on in a FOLDER that exists.")),
    ("is_forced", click.option("--force", "is_forced", is_flag=True, help="Replace a capture that exists.")),
    ("is_cleaned", click.option("--clean", "is_cleaned", is_flag=True, help="Keep only the best attempt.")),
    ("as_json", events_option),
    ("opens", click.option("--open", "opens", is_flag=True, help="Show the capture in a browser afterwards.")),
)
NAMES = tuple(name for name, _ in _DECLARED)
OPTIONS = tuple(option for _, option in _DECLARED)
