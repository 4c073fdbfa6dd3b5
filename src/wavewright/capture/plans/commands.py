"""From what is wanted and the installed release to commands: only options that it has, nothing that it refuses."""

from __future__ import annotations

import re
from functools import singledispatch
from typing import TYPE_CHECKING

from wavewright.capture.plans.command import Command
from wavewright.capture.plans.environment import VISIBILITY, cleared
from wavewright.capture.rocprofv3.grammar import launch_words
from wavewright.capture.rocprofv3.option import Kind, Option, Version
from wavewright.capture.rocprofv3.options import all_options, options_in
from wavewright.capture.rocprofv3.refusals import check_options
from wavewright.capture.rocprofv3.regex import parts_regex, regex_warnings
from wavewright.capture.rocprofv3.releases import first_release_with, version_of_installation
from wavewright.capture.rocprofv3.words import option_words, read_words
from wavewright.capture.wanted import Counters, Discovery, KernelChoice, RunTrace, Samples, ThreadTraces, Wanted
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wavewright.capture.rocprofv3.installation import Installation

DECODER = "librocprof-trace-decoder.so"
#: Folder, below the output, of the file that stands for AMD's decoder where there is none.
STAND_IN = "no-decoder"
DEFINITIONS = "definitions.yaml"
#: The kernel takes 128 KiB per word and variable; the script joins the words of an option into one variable.
VALUE_BYTES_MAX = 120_000
WORDS_BYTES_MAX = 1_500_000
_COUNTER = re.compile(r"[A-Za-z_][A-Za-z0-9_\[\]]*(?::device=\d{1,4})?")
#: Options that decide where data go, or that collect nothing: not for the user's own words.
_OURS = {
    "--input": "input files have a command of their own: `wavewright capture -i FILE`",
    "--output-directory": "wavewright chooses the folder: use -o",
    "--output-file": "wavewright chooses the names of files",
    "--help": "run rocprofv3 --help yourself",
    "--version": "`wavewright doctor` prints versions",
    "--list-metrics": "run rocprofv3 yourself for that",
    "--list-avail": "run rocprofv3-avail yourself for that",
    "--pid": "wavewright starts the program itself",
    "--echo": "--dry-run prints the command",
}
#: Parts of a run -> options, the first that the release has.
RUN_PARTS: dict[str, tuple[str, ...]] = {
    "kernel": ("--kernel-trace",),
    "hip": ("--hip-runtime-trace",),
    "hip-compiler": ("--hip-compiler-trace",),
    "hsa": ("--hsa-trace",),
    "memory": ("--memory-copy-trace", "--memory-allocation-trace", "--scratch-memory-trace"),
    "copies": ("--memory-copy-trace",),
    "allocations": ("--memory-allocation-trace",),
    "scratch": ("--scratch-memory-trace",),
    "markers": ("--marker-trace",),
    "rccl": ("--rccl-trace",),
    "rocdecode": ("--rocdecode-trace",),
    "rocjpeg": ("--rocjpeg-trace",),
    "rocshmem": ("--rocshmem-trace",),
    "kfd": ("--kfd-trace",),
    "openmp": ("--ompt-trace",),
    "kokkos": ("--kokkos-trace",),
    "all": ("--sys-trace",),
}


def commands_of(
    wanted: Wanted, installation: Installation, *, folder: str, environment: Mapping[str, str]
) -> tuple[Command, ...]:
    """The commands that record what is wanted, to be run one after the other: one per pass.

    Parameters
    ----------
    wanted
        With everything chosen (`choices.chosen`).
    installation
        Where rocprofv3 is and what it can do.
    folder
        For its output, on the machine on which it runs; counters of pass N go to its subfolder `pass_N`.
    environment
        Of the caller there.

    Raises
    ------
    UsageError
        For what this release lacks, with the first one that has it, and for what it would refuse.
    """
    if not wanted.program or not wanted.program[0]:
        raise UsageError("no program is given", advice="write it behind --, as: -- python bench.py")
    if any("\0" in word for word in (*wanted.program, *wanted.extra, *wanted.variables, *wanted.variables.values())):
        raise UsageError("a word or variable holds a null character", advice="no program can be given one")
    if sum(len(word.encode("utf-8", "surrogateescape")) + 9 for word in wanted.program) > WORDS_BYTES_MAX:
        raise UsageError("the program's words do not fit into a command line", advice="let it read them from a file")
    maker = _Maker(wanted, installation, folder, environment)
    return maker.commands()


def _variables(wanted: Wanted, changed: Mapping[str, str]) -> dict[str, str]:
    """Variables of the program: those of the user, and the one GPU that it shall see."""
    variables = {**changed, **wanted.variables}
    if wanted.gpu_index is None:
        return variables
    for name in ("ROCR_VISIBLE_DEVICES", *VISIBILITY):
        if name in wanted.variables:
            raise UsageError(
                f"{name} is given, and a GPU is chosen too", advice="leave the variable away, or choose with --gpu any"
            )
    # Alone: HIP's variables would count within it. It hides the other GPUs from the profiler as well, which would
    # else put a buffer and a queue on each. --att-gpu-index adds nothing then, and counts the driver's nodes.
    return {**variables, "ROCR_VISIBLE_DEVICES": str(wanted.gpu_index)}


class _Maker:
    """Collects the words of one command line after the other."""

    def __init__(self, wanted: Wanted, installation: Installation, folder: str, environment: Mapping[str, str]) -> None:
        self.wanted = wanted
        self.installation = installation
        self.folder = folder.rstrip("/") or "/"
        self.environment = environment
        self.version: Version = version_of_installation(installation)
        self.files: dict[str, bytes] = {}
        self.notes: list[str] = []

    def commands(self) -> tuple[Command, ...]:
        changes = cleared(self.environment, self.wanted.variables, hides_gpus=self.wanted.gpu_index is not None)
        variables = _variables(self.wanted, changes.variables)
        lines = _lines(self.wanted, self)
        return tuple(
            Command(
                words=(self.installation.rocprofv3, *self._checked(words), "--", *self.wanted.program),
                variables=variables,
                removed=changes.removed,
                cwd=self.wanted.cwd,
                notes=(*self.notes, *changes.notes),
                files=dict(self.files),
            )
            for words in lines
        )

    def has(self, name: str) -> bool:
        """Whether the installed script has an option."""
        return name in self.installation.options

    def option(self, name: str, *values: str, purpose: str = "") -> tuple[str, ...]:
        """The words of an option that is needed.

        Raises
        ------
        UsageError
            When the release does not have it.
        """
        if not self.has(name):
            release = self.installation.rocm_version or ".".join(map(str, self.version))
            raise UsageError(
                f"rocprofv3 of ROCm {release} cannot record {purpose or 'this'} (it has no {name})",
                advice=f"the first release that can is ROCm {first_release_with(name)}",
            )
        if sum(len(value.encode("utf-8", "surrogateescape")) + 2 for value in values) > VALUE_BYTES_MAX:
            raise UsageError(
                f"what {name} is to be given does not fit into a command line",
                advice=f"it may have {VALUE_BYTES_MAX:,} bytes",
            )
        return option_words(name, *values)

    def output(self, name: str, *, folder: str = "", form: str) -> tuple[str, ...]:
        """Where data go, and in which format; names hold the process, so that processes never meet."""
        return (
            *self.option("--output-format", form),
            *option_words("-d", folder or self.folder),
            *option_words("-o", f"%pid%/{name}"),
        )

    def kernels(self, wanted: KernelChoice) -> tuple[str, ...]:
        """Filters of names and launches."""
        pattern = wanted.kernel_regex or (parts_regex([wanted.kernel]) if wanted.kernel else "")
        words: list[str] = []
        is_truncating = _has(wanted.extra, "-T", "--truncate-kernels")
        is_mangled = _has(wanted.extra, "-M", "--mangled-kernels")
        for name, regex in (("--kernel-include-regex", pattern), ("--kernel-exclude-regex", wanted.exclude_regex)):
            if regex:
                words += self.option(name, regex, purpose="chosen kernels only")
                self.notes += regex_warnings(regex, self.version, is_truncating=is_truncating, is_mangled=is_mangled)
        if wanted.launches:
            launches = launch_words(wanted.launches)
            words += self.option("--kernel-iteration-range", *launches, purpose="chosen launches only")
        return tuple(words)

    def _checked(self, words: Sequence[str]) -> tuple[str, ...]:
        """Our words and the user's, after everything that the release could object to was looked for."""
        names = self._names()
        extra = read_words(self.wanted.extra, self.version, names, where="options for rocprofv3")
        given = {each.option.name for each in read_words(words, self.version, names)}
        for each in extra:
            if each.option.name in _OURS:
                raise UsageError(f"{each.name} cannot be passed on", advice=_OURS[each.option.name])
            if each.option.name in given and each.option.kind is not Kind.BOOLEAN:
                raise UsageError(
                    f"{each.name} is set by wavewright already", advice="use the option of wavewright for it"
                )
            if each.option.name == "--advanced-thread-trace" and not isinstance(self.wanted, ThreadTraces):
                raise UsageError(f"{each.name} is a capture of its own", advice="use `wavewright capture att`")
        everything = (*words, *self.wanted.extra)
        check_options(read_words(everything, self.version, names), self.version, self._environment())
        return everything

    def _environment(self) -> dict[str, str]:
        return {**self.environment, **self.wanted.variables}

    def _names(self) -> dict[str, Option]:
        """Names that the installed script takes; what our table does not know takes any words."""
        present = {
            name: option
            for name, option in options_in(self.version).items()
            if option.name in self.installation.options or option.is_hidden
        }
        for name in self.installation.options:
            if name not in present:
                option = all_options().get(name)
                unknown = Option(name=name, kind=Kind.ANY_WORDS, since="6.2", meaning="not in our table")
                present[name] = option or unknown
        return present


def _has(words: Sequence[str], *names: str) -> bool:
    return any(word.partition("=")[0] in names for word in words)


@singledispatch
def _lines(wanted: Wanted, maker: _Maker) -> list[tuple[str, ...]]:
    """The options of each command line."""
    raise UsageError(f"{type(wanted).__name__} cannot be recorded with rocprofv3")


@_lines.register
def _discovery(wanted: Discovery, maker: _Maker) -> list[tuple[str, ...]]:
    # Name filters do not apply to a kernel trace; csv because --stats writes nothing into a database.
    return [("--kernel-trace", "--stats", *maker.output("discover", form="csv"))]


@_lines.register
def _thread_traces(wanted: ThreadTraces, maker: _Maker) -> list[tuple[str, ...]]:
    words = [*maker.option("--att", purpose="thread traces"), *_decoder(maker)]
    for name, value, form in (
        ("--att-target-cu", wanted.target_cu, "d"),
        ("--att-simd-select", wanted.simds, "#X"),
        ("--att-shader-engine-mask", wanted.se_mask, "#X"),
        ("--att-buffer-size", wanted.buffer_bytes, "#x"),
    ):
        if value is not None:
            words += maker.option(name, f"{value:{form}}".replace("0X", "0x"))
    if wanted.counters:
        words += maker.option("--att-perfcounters", " ".join(wanted.counters).upper())
    if wanted.counter_period is not None:
        words += maker.option("--att-perfcounter-ctrl", str(wanted.counter_period))
    if wanted.activity is not None:
        words += maker.option("--att-activity", str(wanted.activity))
    if wanted.target_only:
        words += maker.option("--att-perfcounter-target-only", purpose="counters of the target CU only")
    if wanted.serialize_all:
        words += maker.option("--att-serialize-all")
    if wanted.consecutive is not None:
        if wanted.consecutive < 1:
            raise UsageError(f"{wanted.consecutive} dispatches in a row cannot be traced", advice="1 or more")
        words += maker.option("--att-consecutive-kernels", str(wanted.consecutive), purpose="dispatches in a row")
    words += maker.kernels(wanted)
    # The kernel trace of the same run says which launch each traced dispatch was.
    return [(*words, "--kernel-trace", *maker.output("att", form="csv"))]


def _decoder(maker: _Maker) -> tuple[str, ...]:
    """The folder of AMD's decoder, always given: else some releases search the whole disk.

    Where there is none, all releases refuse to start unless a file of that name exists. We decode ourselves, so an
    empty file does: the tool fails to load it at the very end, when raw data and tables are written.
    """
    folder = maker.installation.decoder_folder
    if folder:
        return maker.option("--att-library-path", folder)
    stand_in = f"{maker.folder}/{STAND_IN}"
    maker.files[f"{stand_in}/{DECODER}"] = b""
    maker.notes.append(
        "AMD's decoder is not installed: an empty file stands for it, and wavewright decodes the raw data; "
        "rocprofv3 says at the end that it cannot load it, and ends with status 134"
    )
    maker.notes.append(f"written first: {stand_in}/{DECODER}, which is empty")
    return maker.option("--att-library-path", stand_in)


@_lines.register
def _counters(wanted: Counters, maker: _Maker) -> list[tuple[str, ...]]:
    if not wanted.passes or not all(wanted.passes):
        raise UsageError("no counters are given", advice="name counters, metrics or panels")
    for name in (name for names in wanted.passes for name in names):
        if not _COUNTER.fullmatch(name):
            raise UsageError(f"not the name of a counter: {name[:60]!r}", advice="rocprofv3-avail lists them")
    definitions: tuple[str, ...] = ()
    if wanted.definitions:
        path = f"{maker.folder}/{DEFINITIONS}"
        definitions = maker.option("--extra-counters", path, purpose="counters with definitions of their own")
        if len(wanted.definitions.encode()) > VALUE_BYTES_MAX:  # the script hands the text over in a variable
            raise UsageError("definitions of counters are too long", advice=f"they may have {VALUE_BYTES_MAX:,} bytes")
        maker.files[path] = wanted.definitions.encode()
        maker.notes.append(f"written first: {path}, the definitions of counters")
    filters = maker.kernels(wanted)
    lines = []
    for number, names in enumerate(wanted.passes, 1):
        folder = f"{maker.folder}/pass_{number}"
        output = maker.output("counters", folder=folder, form="csv")
        lines.append((*_pass(names, folder, maker), *definitions, *filters, *output))
    return lines


def _pass(names: Sequence[str], folder: str, maker: _Maker) -> tuple[str, ...]:
    """The counters of one run; before 6.3 only a file can name them, and data go to its subfolder pmc_1."""
    if maker.has("--pmc"):
        return maker.option("--pmc", *names)
    path = f"{folder}.txt"
    maker.files[path] = f"pmc: {' '.join(names)}\n".encode()
    maker.notes.append(f"written first: {path}, which holds the counters of the pass; only a file can name them here")
    return maker.option("--input", path)


@_lines.register
def _samples(wanted: Samples, maker: _Maker) -> list[tuple[str, ...]]:
    words = list(maker.option("--pc-sampling-beta-enabled", purpose="PC samples"))
    methods = all_options()["--pc-sampling-method"].choices_in(maker.version)
    if wanted.method == "stochastic" and wanted.method not in methods:
        raise UsageError(
            "rocprofv3 of this release does not sample by stochastic",
            advice="the first release that does is ROCm 7.0; host_trap works here",
        )
    for name, value in (
        ("--pc-sampling-method", wanted.method),
        ("--pc-sampling-unit", wanted.unit),
        ("--pc-sampling-interval", wanted.interval),
    ):
        if value is not None:
            words += maker.option(name, str(value))
    # A database holds no PC samples; json alone says to which code object an address belongs.
    formats = maker.option("--output-format", "csv", "json")
    output = (*option_words("-d", maker.folder), "-o", "%pid%/samples")
    return [(*words, "--kernel-trace", *formats, *output)]


@_lines.register
def _run_trace(wanted: RunTrace, maker: _Maker) -> list[tuple[str, ...]]:
    if not wanted.parts:
        raise UsageError("nothing of the run is to be recorded", advice=f"some of {', '.join(RUN_PARTS)}")
    words: list[str] = []
    for part in wanted.parts:
        if part not in RUN_PARTS:
            raise UsageError(f"not a part of a run: {part[:40]!r}", advice=f"some of {', '.join(RUN_PARTS)}")
        present = [name for name in RUN_PARTS[part] if maker.has(name)]
        words += present or maker.option(RUN_PARTS[part][0], purpose=part)
    form = "rocpd" if "rocpd" in all_options()["--output-format"].choices_in(maker.version) else "csv"
    if form == "csv":
        maker.notes.append(
            "this release writes no database: the run is recorded as csv (ROCm 7.0 is the first that does)"
        )
    return [(*dict.fromkeys(words), *maker.output("run", form=form))]
