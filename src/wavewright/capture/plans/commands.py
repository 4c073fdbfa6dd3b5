"""From a recording and the installed release to commands: only options that it has, nothing that it refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, singledispatch

from msgspec import structs

from wavewright.capture.gpus.topology import Gpu
from wavewright.capture.kinds import (
    USUAL_PARTS,
    Counters,
    Discovery,
    KernelChoice,
    Recording,
    RunTrace,
    Samples,
    ThreadTraces,
    is_by_rocprofv3,
)
from wavewright.capture.plans.command import Command, surroundings
from wavewright.capture.plans.other_tools import tool_commands
from wavewright.capture.rocprofv3.grammar import launch_words
from wavewright.capture.rocprofv3.options import Kind, Option, Version, all_options, options_in
from wavewright.capture.rocprofv3.refusals import check_options
from wavewright.capture.rocprofv3.regex import parts_regex, regex_warnings
from wavewright.capture.rocprofv3.releases import Installation, first_release_with
from wavewright.capture.rocprofv3.words import option_words, read_words
from wavewright.errors import UsageError
from wavewright.facts.loader import packaged

DECODER = "librocprof-trace-decoder.so"
#: Folder, below the output, of the file that stands for AMD's decoder where there is none.
STAND_IN = "no-decoder"
DEFINITIONS = "definitions.yaml"
#: The kernel takes 128 KiB per word and variable; the script joins the words of an option into one variable.
VALUE_BYTES_MAX = 120_000
WORDS_BYTES_MAX = 1_500_000  #: Of all words of a program together: each also takes a NUL and a pointer of 8 bytes.
_COUNTER = re.compile(r"[A-Za-z_][A-Za-z0-9_\[\]]*(?::device=\d{1,4})?")
_TABLES = packaged("commands.toml", __package__)
RUN_PARTS: dict[str, list[str]] = _TABLES["run_parts"]


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One attempt, before it runs."""

    recording: Recording  #: With everything chosen.
    commands: tuple[Command, ...]  #: One per pass.
    notes: tuple[str, ...]  #: What was chosen, and why.


def planned(
    recording: Recording, installation: Installation | None, gpu: Gpu | None, *, raw: str, variables: Mapping[str, str]
) -> Planned:
    """The commands of one attempt, whose data go to the folder `raw` of the machine: the only way to commands."""
    from wavewright.capture.plans.choices import chosen

    if isinstance(recording, KernelChoice) and recording.kernel and not recording.kernel_regex:
        recording = structs.replace(recording, kernel_regex=parts_regex([recording.kernel]))
    complete, notes = chosen(recording, gpu)
    commands = commands_of(complete, installation, folder=raw, environment=variables)
    return Planned(recording=complete, commands=commands, notes=tuple(notes))


def needs_discovery(recording: Recording) -> bool:
    """True for thread traces of a kernel, or of launches, that nobody named."""
    if not isinstance(recording, ThreadTraces):
        return False
    return not (recording.launches and (recording.kernel or recording.kernel_regex))


def commands_of(
    recording: Recording, installation: Installation | None, *, folder: str, environment: Mapping[str, str]
) -> tuple[Command, ...]:
    """The commands of a recording with everything chosen, to be run one after the other: one per pass.

    Data go to `folder` of the machine, counters of pass N to its subfolder `pass_N`; `environment` is the caller's
    there. UsageError for what this release lacks, with the first one that has it, and for what it would refuse.
    Without an installation the recording is one that another tool makes.
    """
    if not recording.program or not recording.program[0]:
        raise UsageError("no program is given", advice="write it behind --, as: -- python bench.py")
    variables = recording.variables
    if any("\0" in word for word in (*recording.program, *recording.extra, *variables, *variables.values())):
        raise UsageError("a word or variable holds a null character", advice="no program can be given one")
    if sum(len(word.encode("utf-8", "surrogateescape")) + 9 for word in recording.program) > WORDS_BYTES_MAX:
        raise UsageError("the program's words do not fit into a command line", advice="let it read them from a file")
    if isinstance(recording, RunTrace) and not is_by_rocprofv3(recording):
        return tool_commands(recording, folder=folder, environment=environment)
    assert installation is not None  # noqa: S101 - `take` finds it, or says that there is none
    return _Maker(recording, installation, folder.rstrip("/") or "/", environment).commands()


@dataclass
class _Maker:
    """Collects the words of one command line after the other."""

    recording: Recording
    installation: Installation
    folder: str
    environment: Mapping[str, str]
    files: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def version(self) -> Version:
        return self.installation.version

    def commands(self) -> tuple[Command, ...]:
        recording = self.recording
        changes = surroundings(recording, self.environment)
        variables, library = changes.variables, getattr(recording, "arguments_library", "")
        if library:
            before = {"LD_PRELOAD": ""} if "LD_PRELOAD" in changes.removed else self.environment
            others = variables.get("LD_PRELOAD", before.get("LD_PRELOAD", ""))
            libraries = ":".join(filter(None, (library, others)))
            variables = {**variables, "LD_PRELOAD": libraries, "WAVEWRIGHT_ARGUMENTS": self.folder}
        lines = _lines(recording, self)
        return tuple(
            Command(
                words=(self.installation.rocprofv3, *self._checked(words), "--", *recording.program),
                variables=variables,
                removed=changes.removed,
                cwd=recording.cwd,
                notes=(*self.notes, *changes.notes),
                files=dict(self.files),
            )
            for words in lines
        )

    def has(self, name: str) -> bool:
        """True when the installed script has an option."""
        return name in self.installation.options

    def option(self, name: str, *values: str, purpose: str = "") -> tuple[str, ...]:
        """The words of an option that is needed; UsageError when the release does not have it."""
        if not self.has(name):
            release = self.installation.rocm_version or ".".join(map(str, self.version))
            what = f"rocprofv3 of ROCm {release} cannot record {purpose or 'this'} (it has no {name})"
            raise UsageError(what, advice=f"the first release that can is ROCm {first_release_with(name)}")
        if sum(len(value.encode("utf-8", "surrogateescape")) + 2 for value in values) > VALUE_BYTES_MAX:
            what = f"what {name} is to be given does not fit into a command line"
            raise UsageError(what, advice=f"it may have {VALUE_BYTES_MAX:,} bytes")
        return option_words(name, *values)

    def output(self, name: str, *, folder: str = "", forms: tuple[str, ...] = ("csv",)) -> tuple[str, ...]:
        """The options for where data go, and in which formats; names hold the process, so that processes never meet."""
        place = (*option_words("-d", folder or self.folder), *option_words("-o", f"%pid%/{name}"))
        return (*self.option("--output-format", *forms), *place)

    def kernels(self, recording: KernelChoice) -> tuple[str, ...]:
        """Filters of names and launches."""
        pattern = recording.kernel_regex or (parts_regex([recording.kernel]) if recording.kernel else "")
        words: list[str] = []
        extra = {word.partition("=")[0] for word in recording.extra}
        is_truncating = not extra.isdisjoint(("-T", "--truncate-kernels"))
        is_mangled = not extra.isdisjoint(("-M", "--mangled-kernels"))
        for name, regex in (("--kernel-include-regex", pattern), ("--kernel-exclude-regex", recording.exclude_regex)):
            if regex:
                words += self.option(name, regex, purpose="chosen kernels only")
                self.notes += regex_warnings(regex, self.version, is_truncating=is_truncating, is_mangled=is_mangled)
        if recording.launches:
            launches = launch_words(recording.launches)
            words += self.option("--kernel-iteration-range", *launches, purpose="chosen launches only")
        return tuple(words)

    def _checked(self, words: Sequence[str]) -> tuple[str, ...]:
        """Our words and the user's, after everything that the release could object to was looked for."""
        names = self._names()
        extra = read_words(self.recording.extra, self.version, names, where="options for rocprofv3")
        ours = {use.option.name for use in read_words(words, self.version, names)}
        for use in extra:
            name = use.option.name
            if name in _TABLES["ours"]:
                raise UsageError(f"{use.name} cannot be passed on", advice=_TABLES["ours"][name])
            if name in ours and use.option.kind is not Kind.BOOLEAN:
                advice = "use the option of wavewright for it"
                raise UsageError(f"{use.name} is set by wavewright already", advice=advice)
            if name == "--advanced-thread-trace" and not isinstance(self.recording, ThreadTraces):
                raise UsageError(f"{use.name} is a capture of its own", advice="use `wavewright capture att`")
        everything = (*words, *self.recording.extra)
        environment = {**self.environment, **self.recording.variables}
        check_options(read_words(everything, self.version, names), self.version, environment)
        return everything

    def _names(self) -> dict[str, Option]:
        """Names that the installed script takes; what our table does not know takes any words."""
        installed = self.installation.options
        table = options_in(self.version).items()
        present = {name: option for name, option in table if option.name in installed or option.is_hidden}
        for name in installed - present.keys():
            unknown = Option(name=name, kind=Kind.ANY_WORDS, since="6.2", meaning="not in our table")
            present[name] = all_options().get(name) or unknown
        return present


@singledispatch
def _lines(recording: Recording, maker: _Maker) -> list[tuple[str, ...]]:
    """The options of each command line."""
    raise TypeError(type(recording).__name__)


@_lines.register
def _discovery(recording: Discovery, maker: _Maker) -> list[tuple[str, ...]]:
    # Name filters do not apply to a kernel trace; csv because --stats writes nothing into a database.
    return [("--kernel-trace", "--stats", *maker.output("discover"))]


@_lines.register
def _thread_traces(recording: ThreadTraces, maker: _Maker) -> list[tuple[str, ...]]:
    words = [*maker.option("--att", purpose="thread traces"), *_decoder(maker)]
    for name, value, form in (
        ("--att-target-cu", recording.target_cu, "d"),
        ("--att-simd-select", recording.simds, "#X"),
        ("--att-shader-engine-mask", recording.se_mask, "#X"),
        ("--att-buffer-size", recording.buffer_bytes, "#x"),
        ("--att-perfcounters", " ".join(recording.counters).upper() or None, ""),
        ("--att-perfcounter-ctrl", recording.counter_period, "d"),
        ("--att-activity", recording.activity, "d"),
    ):
        if value is not None:
            words += maker.option(name, f"{value:{form}}".replace("0X", "0x"))
    if recording.target_only:
        words += maker.option("--att-perfcounter-target-only", purpose="counters of the target CU only")
    if recording.serialize_all:
        words += maker.option("--att-serialize-all")
    if recording.consecutive is not None:
        if recording.consecutive < 1:
            raise UsageError(f"{recording.consecutive} dispatches in a row cannot be traced", advice="1 or more")
        words += maker.option("--att-consecutive-kernels", str(recording.consecutive), purpose="dispatches in a row")
    words += maker.kernels(recording)
    # The kernel trace of the same run says which launch each traced dispatch was.
    return [(*words, "--kernel-trace", *maker.output("att"))]


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
def _counters(recording: Counters, maker: _Maker) -> list[tuple[str, ...]]:
    if not recording.passes or not all(recording.passes):
        raise UsageError("no counters are given", advice="name counters, metrics or panels")
    for name in (name for names in recording.passes for name in names):
        if not _COUNTER.fullmatch(name):
            raise UsageError(f"not the name of a counter: {name[:60]!r}", advice="rocprofv3-avail lists them")
    definitions: tuple[str, ...] = ()
    if recording.definitions:
        path = f"{maker.folder}/{DEFINITIONS}"
        definitions = maker.option("--extra-counters", path, purpose="counters with definitions of their own")
        if len(recording.definitions.encode()) > VALUE_BYTES_MAX:  # the script hands the text over in a variable
            raise UsageError("definitions of counters are too long", advice=f"they may have {VALUE_BYTES_MAX:,} bytes")
        maker.files[path] = recording.definitions.encode()
        maker.notes.append(f"written first: {path}, the definitions of counters")
    filters = maker.kernels(recording)
    lines = []
    for number, names in enumerate(recording.passes, 1):
        folder = f"{maker.folder}/pass_{number}"
        output = maker.output("counters", folder=folder)
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
def _samples(recording: Samples, maker: _Maker) -> list[tuple[str, ...]]:
    words = list(maker.option("--pc-sampling-beta-enabled", purpose="PC samples"))
    methods = all_options()["--pc-sampling-method"].choices_in(maker.version)
    if recording.method == "stochastic" and recording.method not in methods:
        advice = "the first release that does is ROCm 7.0; host_trap works here"
        raise UsageError("rocprofv3 of this release does not sample by stochastic", advice=advice)
    for name, value in (
        ("--pc-sampling-method", recording.method),
        ("--pc-sampling-unit", recording.unit),
        ("--pc-sampling-interval", recording.interval),
    ):
        if value is not None:
            words += maker.option(name, str(value))
    # A database holds no PC samples; json alone says to which code object an address belongs.
    return [(*words, "--kernel-trace", *maker.output("samples", forms=("csv", "json")))]


@_lines.register
def _run_trace(recording: RunTrace, maker: _Maker) -> list[tuple[str, ...]]:
    if not recording.parts:
        raise UsageError("nothing of the run is to be recorded", advice=f"some of {', '.join(RUN_PARTS)}")
    words: list[str] = []
    # A choice of regions by itself records nothing.
    parts = (*USUAL_PARTS, *recording.parts) if set(recording.parts) == {"selected"} else recording.parts
    for part in parts:
        if part not in RUN_PARTS:
            raise UsageError(f"not a part of a run: {part[:40]!r}", advice=f"some of {', '.join(RUN_PARTS)}")
        present = [name for name in RUN_PARTS[part] if maker.has(name)]
        words += present or maker.option(RUN_PARTS[part][0], purpose=part)
    form = "rocpd" if "rocpd" in all_options()["--output-format"].choices_in(maker.version) else "csv"
    if form == "csv":
        note = "this release writes no database: the run is recorded as csv (ROCm 7.0 is the first that does)"
        maker.notes.append(note)
    return [(*dict.fromkeys(words), *maker.output("run", forms=(form,)))]
