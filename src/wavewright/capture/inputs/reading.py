"""What a release of rocprofv3 makes of an input file: the runs of the program with their variables, or a refusal.

A model of the scripts of ROCm 6.2 to 7.14 in our own words, which tests compare with AMD's scripts file by file. A job
is a map; its keys are the long options with `_`. The values are not checked: each is handed on as it is, by the rule
of its key. So a text where a list is needed is taken letter by letter, and a number 0 counts as not given.

Left out: what depends on the machine (libraries, MPI ranks, attaching to a process).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from wavewright.capture.rocprofv3.option import Kind, Option, Version
from wavewright.capture.rocprofv3.options import ACTIVITY_COUNTERS, FILE_ONLY_KEYS, all_options
from wavewright.capture.rocprofv3.releases import has_trap, release_of, version_of_installation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wavewright.capture.inputs.files import InputFile
    from wavewright.capture.rocprofv3.installation import Installation

#: Keys to which the command line gives a value of its own; any other value in a file conflicts with it.
DEFAULTS: dict[str, Any] = {
    "preload": [""],
    "version": False,
    "collection_period_unit": ["sec"],
    "att_serialize_all": False,
    "att_perfcounter_target_only": False,
    "attach_children": True,
}
#: Keys that the script looks for in a file although no option sets them -> the option that tells whether it does.
_UNNAMED = {"perfetto_fill_policy": "--perfetto-backend", "ompt_trace_operations": "--ompt-trace"}
#: Keys whose value 0 or "" is handed on; of all others it counts as not given.
_HANDED_ON = frozenset(
    [
        "output_file",
        "output_directory",
        "summary_units",
        "summary_output_file",
        "perfetto_backend",
        "perfetto_buffer_size",
        "perfetto_shmem_size_hint",
        "perfetto_fill_policy",
        "summary_groups",
        "process_sync",
        "disable_signal_handlers",
        "attach_sync_output",
        "att_target_cu",
        "extra_counters",
    ]
)
#: Keys that ask for a summary of a trace.
SUMMARIES = ("stats", "summary", "summary_per_domain", "summary_groups", "summary_output_file", "summary_units")
_FACTORS_NS = 1e9  #: Of a period: seconds, as a file cannot choose another unit.
_PASS, _TEXT_PASS = "pass_", "pmc_"


class Refusal(Exception):  # noqa: N818 - an outcome, not an error of ours
    """The script ends with status 1 before the program is run."""

    def __init__(self, key: str, why: str, remedy: str = "") -> None:
        super().__init__(why)
        self.key = key
        self.why = why
        self.remedy = remedy
        self.job: int | None = None


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of the program."""

    job: int | None  #: From 1; None = no job of the file.
    folder: str  #: Where the output goes.
    variables: dict[str, str] = field(hash=False)  #: Of the profiler, but for those that name its libraries.


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a release does with a file."""

    runs: tuple[Run, ...]
    refusal: Refusal | None = None  #: Why it stops, after these runs.
    echoed: tuple[int, ...] = ()  #: Jobs whose command is printed and not run.
    dropped: tuple[int, ...] = ()  #: Jobs that are left out without a word.


@dataclass(frozen=True)
class Reader:
    """How one release reads files."""

    version: Version
    options: Mapping[str, Option]  #: Key -> option, of those that the release has.
    more_keys: frozenset[str]  #: Keys that are no options.
    default_format: str
    decoder_folder: str

    @property
    def is_first(self) -> bool:
        """ROCm 6.2, which reads nothing but counters."""
        return "pmc" not in self.options

    @cached_property
    def has_groups(self) -> bool:
        """From 7.13 on: several --pmc, and a pmc that is a list of lists."""
        return has_trap(self.version, "jobs without counters are dropped")

    @property
    def is_old(self) -> bool:
        """Before 7.0."""
        return "advanced_thread_trace" not in self.options

    def knows(self, key: str) -> bool:
        """Whether a key of a job does anything."""
        return key in self.options or key in self.more_keys


def key_of(option: Option) -> str:
    """The key of an option in a job, whether a file can set it or not."""
    return option.name.removeprefix("--").replace("-", "_")


@cache
def options_by_key() -> dict[str, Option]:
    """Every option of any release, by its key."""
    return {key_of(option): option for option in all_options().values()}


def reader_of(installation: Installation) -> Reader:
    """How an installation reads files; its options decide, not its version."""
    options = {key: each for key, each in options_by_key().items() if each.name in installation.options}
    more = {key for key, needed in _UNNAMED.items() if needed in installation.options}
    if "--selected-regions" in installation.options:  # came with 7.0, as these did
        more |= set(FILE_ONLY_KEYS)
    return Reader(
        version=version_of_installation(installation),
        options=options,
        more_keys=frozenset(more),
        default_format=release_of(".".join(map(str, version_of_installation(installation)))).default_format,
        decoder_folder=installation.decoder_folder or f"{installation.root}/lib",
    )


def reading_of(
    file: InputFile, reader: Reader, *, cwd: str = ".", contents: Callable[[str], str | None] = lambda _: ""
) -> Reading:
    """What a release does with a file; `contents` reads a file with definitions of counters, None = there is none."""
    try:
        if reader.is_first:
            return _first_reading(file, reader, cwd)
        jobs = jobs_of(file, reader)
    except Refusal as refusal:
        return Reading(runs=(), refusal=refusal)
    return _Runs(reader, jobs, cwd=cwd, contents=contents, name=file.name).all()


def jobs_of(file: InputFile, reader: Reader) -> list[dict[Any, Any]]:
    """The jobs as the script takes them; lines of a text become jobs with nothing but counters.

    Raises
    ------
    Refusal
        When the script stops.
    """
    if file.suffix == ".text" and not reader.has_groups:
        raise Refusal("", "the extension .text is not known before ROCm 7.13", "rename the file to .txt")
    if file.form == "txt":
        return [{"pmc": names, "sub_directory": _TEXT_PASS} for names in text_passes(file, reader)]
    jobs = []
    for number, job in enumerate(_items(file.content, "jobs"), start=1):
        if not isinstance(job, dict):
            why = f"job {number} is {shown(job)}, not a map of keys and values"
            raise Refusal("jobs", why, "write `- key: value` lines below `jobs:`")
        nested = [key for key, value in job.items() if isinstance(value, list) and any(map(_is_list, value))]
        if reader.is_old and nested:
            raise Refusal(str(nested[0]), f"{nested[0]} is a list of lists, which needs ROCm 7.0", "write one list")
        jobs.append(job | {"sub_directory": _PASS})
    return jobs


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _items(content: Any, name: str) -> list[Any]:
    if not isinstance(content, dict):
        raise Refusal(
            name, f"the file is {shown(content)}, not a map with `{name}`", f"write `{name}:` in its first line"
        )
    if name not in content:
        raise Refusal(name, f"there is no `{name}`", f"put the jobs into a list below `{name}:`")
    items = content[name]
    if isinstance(items, dict | str) and items:
        raise Refusal(name, f"`{name}` is {shown(items)}, not a list", f"write - before each entry below `{name}:`")
    if not isinstance(items, list | dict | str):
        raise Refusal(name, f"`{name}` is {shown(items)}, not a list", f"write - before each entry below `{name}:`")
    return list(items)


def text_passes(file: InputFile, reader: Reader) -> list[list[str]]:
    """The counters of each `pmc:` line, as the script cuts them.

    Until 7.11 a line counts when `pmc:` is anywhere in it, also behind a `#`: what is left of such a line is a pass
    without counters. ROCm 6.2 drops empty passes.
    """
    passes = []
    for line in file.content:
        text = line.split("#", 1)[0].strip()
        if "pmc:" not in (text if reader.has_groups else line):
            continue
        names = text.replace("pmc:", "").replace("\t", " ").strip()
        if names or not reader.is_first:
            passes.append(names.split(" "))
    return passes


def shown(value: Any, width: int = 40) -> str:
    """A value in a sentence: what it is, and the value where it is short."""
    kinds = {dict: "a map", list: "a list", str: "the text", bool: "the truth value", type(None): "nothing"}
    kind = next((word for each, word in kinds.items() if isinstance(value, each)), "the number")
    text = repr(value)
    if value is None:
        return kind
    return f"{kind} {text}" if len(text) <= width else f"{kind} {text[:width]}..."


def _first_reading(file: InputFile, reader: Reader, cwd: str) -> Reading:
    """ROCm 6.2: counters only, from `metrics`."""
    if file.suffix == ".text":
        raise Refusal("", "the extension .text is not known before ROCm 7.13", "rename the file to .txt")
    if file.form == "txt":
        lines = [" ".join(names) for names in text_passes(file, reader)]
    else:
        lines = []
        for entry in _items(file.content, "metrics"):
            if not isinstance(entry, dict) or "pmc" not in entry:
                raise Refusal(
                    "metrics", f"an entry of `metrics` is {shown(entry)} and has no pmc", "write - pmc: [A, B]"
                )
            lines.append(joined("pmc", entry["pmc"], " "))
    always = {"ROCPROFILER_LIBRARY_CTOR": "1", "ROCPROF_OUTPUT_FORMAT": "csv", "ROCPROF_OUTPUT_PATH": cwd}
    if not lines:
        return Reading(runs=(Run(job=None, folder=cwd, variables=always),))
    runs = []
    for number, line in enumerate(lines, start=1):
        folder = os.path.join(cwd, f"{_TEXT_PASS}{number}")  # noqa: PTH118 - a path of the machine, as text
        more = {"ROCPROF_COUNTER_COLLECTION": "1", "ROCPROF_COUNTERS": f"pmc: {line}", "ROCPROF_OUTPUT_PATH": folder}
        runs.append(Run(job=number, folder=folder, variables=always | more))
    return Reading(runs=tuple(runs))


def joined(key: str, value: Any, joint: str) -> str:
    """Several words in one variable: a text counts as its letters, a map as its keys.

    Raises
    ------
    Refusal
        When there is something else among them.

    Examples
    --------
    >>> joined("pmc", ["SQ_WAVES", "GRBM_COUNT"], " "), joined("pmc", "SQ", " ")
    ('SQ_WAVES GRBM_COUNT', 'S Q')
    """
    if not isinstance(value, str | list | dict):
        raise Refusal(key, f"{key} is {shown(value)}, not a list of texts", f'write {key}: ["..."]')
    other = [word for word in value if not isinstance(word, str)]
    if other:
        why = f"{key} has {shown(other[0])} among its values, and only texts can be joined"
        raise Refusal(key, why, f'put it in quotes: "{other[0]}"' if not isinstance(other[0], dict | list) else "")
    return joint.join(value)


def number(key: str, value: Any) -> str:
    """A number of a thread trace: decimal, or with 0x.

    Raises
    ------
    Refusal
        When it is none.

    Examples
    --------
    >>> number("att_buffer_size", "0x6000000"), number("att_target_cu", 1)
    ('100663296', '1')
    """
    if isinstance(value, int):
        return _formatted(value)
    if isinstance(value, str):
        try:
            return str(int(value, 16 if "0x" in value else 10))
        except ValueError:
            raise Refusal(
                key, f"{key} is {shown(value)}, not a number", "no units: write bytes, as 0x6000000"
            ) from None
    raise Refusal(key, f"{key} is {shown(value)}, not an integer", "write an integer, or a text such as 0xF")


def _formatted(value: Any) -> str:
    return ("1" if value else "0") if isinstance(value, bool) else f"{value}"


class _Runs:
    """The runs of all jobs, one after the other, until the script stops."""

    def __init__(
        self,
        reader: Reader,
        jobs: list[dict[Any, Any]],
        *,
        cwd: str,
        contents: Callable[[str], str | None],
        name: str,
    ) -> None:
        self.reader, self.jobs, self.cwd, self.contents = reader, jobs, cwd, contents
        self.defaults = {key: value for key, value in DEFAULTS.items() if key in reader.options}
        self.defaults["input"] = name
        self.runs: list[Run] = []
        self.echoed: list[int] = []

    def all(self) -> Reading:
        reader, jobs = self.reader, self.jobs
        dropped: tuple[int, ...] = ()
        order = list(enumerate(jobs, start=1))
        try:
            if reader.has_groups and not jobs:
                raise Refusal("jobs", "there is no job in it", "add one")
            if reader.has_groups and len(jobs) > 1:
                self.merged(jobs[0], 1)
                dropped = tuple(at for at, job in order if job.get("pmc") is None)
                order = [(at, job) for at, job in order if job.get("pmc") is not None]
            for place, (at, job) in enumerate(order, start=1):
                self.one(at, job, place)
        except Refusal as refusal:
            return Reading(runs=tuple(self.runs), refusal=refusal, echoed=tuple(self.echoed), dropped=dropped)
        return Reading(runs=tuple(self.runs), echoed=tuple(self.echoed), dropped=dropped)

    def merged(self, job: dict[Any, Any], at: int) -> dict[str, Any]:
        """The job with what the command line gives by itself."""
        for key, value in job.items():
            if not isinstance(key, str):
                refusal = Refusal(str(key), f"the key {key!r} is {shown(key)}, not a text", "put the key in quotes")
                refusal.job = at
                raise refusal
            default = self.defaults.get(key)
            if value is not None and default is not None and default != value:
                why = f"{key} cannot be set in a file: the command line has a value for it already"
                refusal = Refusal(key, why, f"give --{key.replace('_', '-')} as an option of rocprofv3")
                refusal.job = at
                raise refusal
        values = job | {key: value for key, value in self.defaults.items() if value is not None}
        ranges = values.get("kernel_iteration_range")
        if isinstance(ranges, str):
            values["kernel_iteration_range"] = [ranges]
        names = values.get("pmc")
        if self.reader.has_groups and isinstance(names, list) and len(names) == 1 and isinstance(names[0], list):
            values["pmc"] = names[0]
        return values

    def one(self, at: int, job: dict[Any, Any], place: int) -> None:
        values = self.merged(job, at)
        try:
            variables = _Job(self.reader, values, self.contents).variables()
            folder = self.folder(values, place)
            variables["ROCPROF_OUTPUT_PATH"] = folder
            for name, text in variables.items():
                if "\0" in text:
                    raise Refusal("", f"{name} would hold a NUL character, with which no program can be started")
        except Refusal as refusal:
            refusal.job = at
            raise
        if values.get("echo") and "echo" in self.reader.options:
            self.echoed.append(at)
        else:
            self.runs.append(Run(job=at, folder=folder, variables=variables))

    def folder(self, values: dict[str, Any], place: int) -> str:
        names = values.get("pmc")
        is_pass = len(self.jobs) > 1
        if not is_pass and names is not None:
            if not isinstance(names, str | list | dict):
                raise Refusal("pmc", f"pmc is {shown(names)}, not a list of texts", 'write pmc: ["..."]')
            is_pass = len(names) > 0
        chosen = values.get("output_directory")
        if not is_pass:
            return self.cwd if chosen is None else _formatted(chosen)
        base = self.cwd if chosen is None else f"{chosen}"
        return os.path.join(base, f"{values['sub_directory']}{place}")  # noqa: PTH118


class _Job:
    """The variables that one job sets."""

    def __init__(self, reader: Reader, values: Mapping[str, Any], contents: Callable[[str], str | None]) -> None:
        self.reader, self.contents = reader, contents
        self.values = {key: value for key, value in values.items() if reader.knows(key)}
        self.set: dict[str, str] = {"ROCPROFILER_LIBRARY_CTOR": "1"}

    def get(self, key: str) -> Any:
        return self.values.get(key)

    def variables(self) -> dict[str, str]:
        self.check_regions()
        self.switch_on_parts()
        self.formats()
        self.summaries()
        self.plain_keys()
        self.periods()
        self.counters()
        self.samples()
        self.streams()
        if self.get("advanced_thread_trace"):
            self.thread_trace()
        if self.reader.is_old and self.reader.version < (6, 4):
            self.only_in_6_3()
        return self.set

    def check_regions(self) -> None:
        for key in ("att_consecutive_kernels", "collection_period"):
            if self.get("selected_regions") and self.get(key) and self.reader.version >= (7, 14):
                raise Refusal(key, f"selected_regions and {key} exclude each other", "leave one away")

    def switch_on_parts(self) -> None:
        """Keys that stand for others, in the order of the script: the widest first."""
        for key in ("kokkos_trace", "sys_trace", "runtime_trace", "hip_trace", "hsa_trace", "kfd_trace"):
            option = self.reader.options.get(key)
            if option is None or not self.get(key):
                continue
            for name in option.implies:
                part = name.removeprefix("--").replace("-", "_")
                is_free = self.reader.is_old or self.get(part) is None
                if part in self.reader.options and is_free:
                    self.values[part] = True

    def formats(self) -> None:
        formats = self.get("output_format") or [self.reader.default_format]
        if self.get("ompt_trace") and (not isinstance(formats, str | list | dict) or "rocpd" not in formats):
            if not isinstance(formats, list):
                why = f"output_format is {shown(formats)}; ompt_trace adds rocpd to it, and needs a list"
                raise Refusal("output_format", why, f"output_format: [{formats}]")
            formats = [*formats, "rocpd"]
        self.set["ROCPROF_OUTPUT_FORMAT"] = joined("output_format", formats, ",")

    def collected(self) -> list[str]:
        """Keys that ask for data."""
        late = ("pmc", "advanced_thread_trace", "pmc_groups", "pc_sampling_beta_enabled")  # count from 7.0 on
        keys = []
        for key in filter(self.get, self.values):
            option = self.reader.options.get(key)
            is_trace = option is not None and option.is_tracing and bool(option.variables) and key not in late
            if is_trace or (key in late and not self.reader.is_old):
                keys.append(key)
        return keys

    def summaries(self) -> None:
        if not self.collected():
            for key in SUMMARIES:
                if self.get(key):
                    why = f"{key} summarizes a trace, and nothing is traced"
                    raise Refusal(key, why, "add kernel_trace: true")
        target = self.get("summary_output_file")
        if self.get("summary") or (self.reader.is_old and target is not None):
            target = "stderr" if target is None else target
            if not isinstance(target, str):
                raise Refusal("summary_output_file", f"summary_output_file is {shown(target)}, not a text")
            if target.lower() in ("stdout", "stderr"):
                target = target.lower()
            self.values["summary_output_file"] = target
        elif self.reader.is_old and not self.reader.is_first:
            self.values["summary_output_file"] = "stderr"
        groups = self.get("summary_groups")
        self.values["summary_groups"] = joined("summary_groups", groups, "##@@##") if groups else None

    def plain_keys(self) -> None:
        """Keys with one rule each: handed on as they are, when they count as given."""
        special = ("output_format", "output_directory", "collection_period", "pmc", "spm", "list_avail", "list_metrics")
        for key, value in self.values.items():
            option = self.reader.options.get(key)
            if option is None:
                continue
            is_given = value is not None if key in _HANDED_ON else bool(value)
            is_apart = key in special or key.startswith(("att_", "pc_sampling_", "spm_", "attach_", "mpi_", "pid"))
            if not is_given or is_apart or key == "advanced_thread_trace":
                continue
            for variable, form in option.variables.items():
                self.set[variable] = self.handed_on(key, option, form, value)
        sync = self.get("attach_sync_output")
        if sync is not None:
            self.set["ROCPROF_ATTACH_OUTPUT_GENERATION_SYNC"] = _formatted(sync)
        policy = self.get("perfetto_fill_policy")
        if policy is not None:
            self.set["ROCPROF_PERFETTO_BUFFER_FILL_POLICY"] = _listed("perfetto_fill_policy", policy)
        level = self.get("log_level")
        if level and not isinstance(level, str) and self.reader.is_old:
            raise Refusal("log_level", f"log_level is {shown(level)}, not a text", "write log_level: info")
        if isinstance(level, str) and level in ("env", "config"):
            for variable in self.reader.options["log_level"].variables:
                self.set.pop(variable, None)
        if self.get("benchmark_mode") == "execution-profile":
            if self.get("group_by_queue"):
                raise Refusal("group_by_queue", "group_by_queue cannot be on with benchmark_mode")
            if self.get("group_by_queue") is None:
                self.set["ROCPROF_GROUP_BY_QUEUE"] = "0"
        operations = self.get("ompt_trace_operations")
        self.set.pop("ROCPROF_OMPT_TRACE_OPERATIONS", None)
        if operations:
            self.set["ROCPROF_OMPT_TRACE_OPERATIONS"] = _formatted(operations)

    def handed_on(self, key: str, option: Option, form: str, value: Any) -> str:
        if key == "mangled_kernels":
            return "0"
        if key == "disable_signal_handlers":
            return _formatted(not value)
        if key == "kernel_iteration_range":
            return joined(key, value, option.joint)
        if key == "extra_counters":
            text = self.contents(value) if isinstance(value, str) else None
            if text is None:
                why = f"extra_counters names {shown(value)}, which cannot be read"
                raise Refusal(key, why, "paths count from the folder in which rocprofv3 is started")
            return text
        if key == "minimum_output_data":
            if not isinstance(value, int | float | str | list):
                raise Refusal(key, f"{key} is {shown(value)}, not a number", "write KB as an integer")
            return _formatted(value * 1024 if not isinstance(value, bool) else 1024)
        if key.startswith("perfetto_"):
            return _listed(key, value)
        if form == "0" and option.kind is Kind.BOOLEAN:
            return form
        return _formatted(value)

    def periods(self) -> None:
        periods = self.get("collection_period")
        if not periods:
            return
        remedy = 'write collection_period: ["1:2:1"], with the quotes: YAML reads 1:2:1 as a number'
        if not isinstance(periods, str | list | dict):
            raise Refusal("collection_period", f"collection_period is {shown(periods)}, not a list of texts", remedy)
        texts = []
        for period in periods:
            try:
                delay, length, repeat = period.split(":")
                texts.append(f"{int(float(delay) * _FACTORS_NS)}:{int(float(length) * _FACTORS_NS)}:{int(repeat)}")
            except (AttributeError, ValueError, OverflowError):
                why = f"{shown(period)} in collection_period is not delay:time:repeat"
                raise Refusal("collection_period", why, remedy) from None
        self.set["ROCPROF_COLLECTION_PERIOD"] = ";".join(texts)

    def counters(self) -> None:
        names, groups = self.get("pmc"), self.get("pmc_groups")
        if names and groups:
            raise Refusal("pmc_groups", "a job has either pmc or pmc_groups", "make two jobs")
        if names:
            self.set["ROCPROF_COUNTER_COLLECTION"] = "1"
            if self.reader.has_groups and isinstance(names, dict):
                raise Refusal("pmc", f"pmc is {shown(names)}, not a list of texts", "write pmc: [A, B]")
            if self.reader.has_groups and isinstance(names, list) and isinstance(names[0], list):
                self.set_groups("pmc", names)
            else:
                self.set["ROCPROF_COUNTERS"] = f"pmc: {joined('pmc', names, ' ')}"
        if groups:
            self.set["ROCPROF_COUNTER_COLLECTION"] = "1"
            self.set_groups("pmc_groups", groups)

    def set_groups(self, key: str, groups: Any) -> None:
        if not isinstance(groups, str | list | dict):
            raise Refusal(key, f"{key} is {shown(groups)}, not a list of lists", f"write {key}: [[A, B], [C]]")
        lines = "".join(f"pmc: {joined(key, group, ' ')}\n" for group in groups)
        self.set["ROCPROF_COUNTER_GROUPS"] = lines.rstrip()
        if self.get("pmc_group_interval"):
            self.set["ROCPROF_COUNTER_GROUPS_INTERVAL"] = f"{self.get('pmc_group_interval')}"

    def samples(self) -> None:
        keys = ("pc_sampling_unit", "pc_sampling_method", "pc_sampling_interval")
        if not any(map(self.get, keys)):
            return
        if not self.get("pc_sampling_beta_enabled"):
            why = f"{next(filter(self.get, keys))} needs pc_sampling_beta_enabled"
            raise Refusal("pc_sampling_beta_enabled", why, "add pc_sampling_beta_enabled: true")
        if not all(map(self.get, keys)):
            missing = [key for key in keys if not self.get(key)]
            raise Refusal(missing[0], f"PC sampling needs unit, method and interval; {', '.join(missing)} is missing")
        interval = self.get("pc_sampling_interval")
        if not isinstance(interval, int | float) or interval <= 0:
            remedy = "write it without quotes" if isinstance(interval, str) else "write an integer above 0"
            why = f"pc_sampling_interval is {shown(interval)}, not a number above 0"
            raise Refusal("pc_sampling_interval", why, remedy)
        self.set["ROCPROFILER_PC_SAMPLING_BETA_ENABLED"] = _formatted(self.get("pc_sampling_beta_enabled"))
        for key in keys:
            self.set[f"ROCPROF_{key.upper()}"] = _formatted(self.get(key))

    def streams(self) -> None:
        keys = ("spm", "spm_sample_interval", "spm_sample_interval_unit")
        if not any(map(self.get, keys)):
            return
        if not self.get("spm_beta_enabled"):
            raise Refusal("spm_beta_enabled", "streaming counters need spm_beta_enabled", "add spm_beta_enabled: true")
        if self.get("pmc") or self.get("pc_sampling_beta_enabled"):
            raise Refusal("spm", "streaming counters exclude pmc and PC sampling", "make two jobs")
        if self.get("spm") is None:
            raise Refusal("spm", "there are no streaming counters", "add spm: [SQ_WAVES]")
        self.set["ROCPROFILER_SPM_BETA_ENABLED"] = "1"
        self.set["ROCPROF_SPM_COUNTER_COLLECTION"] = "1"
        self.set["ROCPROF_SPM_COUNTERS"] = f"spm: {joined('spm', self.get('spm'), ' ')}"
        for key in keys[1:]:
            if self.get(key):
                self.set[f"ROCPROF_{key.upper()}"] = _formatted(self.get(key))

    def thread_trace(self) -> None:
        self.set["ROCPROF_ADVANCED_THREAD_TRACE"] = "1"
        for key, option in self.reader.options.items():
            value = self.get(key)
            is_given = value is not None if key in _HANDED_ON else bool(value)
            if option.kind is Kind.NUMBER and is_given:
                for variable in option.variables:
                    self.set[variable] = number(key, value)
        if self.get("att_gpu_index"):
            self.set["ROCPROF_ATT_PARAM_GPU_INDEX"] = _formatted(self.get("att_gpu_index"))
        self.set["ROCPROF_ATT_LIBRARY_PATH"] = self.decoder()
        counters, period, activity = map(self.get, ("att_perfcounters", "att_perfcounter_ctrl", "att_activity"))
        for key, value in (
            ("att_perfcounters", counters),
            ("att_perfcounter_ctrl", period),
            ("att_activity", activity),
        ):
            if value and self.get("pmc"):
                raise Refusal(key, f"{key} and pmc exclude each other", "make two jobs")
        if activity and (counters or period):
            raise Refusal(
                "att_activity",
                "att_activity stands for att_perfcounters and att_perfcounter_ctrl, which are given too",
                "leave it or them away",
            )
        if counters:
            self.set["ROCPROF_ATT_PARAM_PERFCOUNTERS"] = _formatted(counters)
        if period:
            self.set["ROCPROF_ATT_PARAM_PERFCOUNTER_CTRL"] = _formatted(period)
        if activity:
            self.set["ROCPROF_ATT_PARAM_PERFCOUNTER_CTRL"] = _formatted(activity)
            self.set["ROCPROF_ATT_PARAM_PERFCOUNTERS"] = " ".join(ACTIVITY_COUNTERS)

    def decoder(self) -> str:
        folders = self.get("att_library_path")
        if not folders:
            return self.reader.decoder_folder
        if isinstance(folders, str):
            why = f"att_library_path is {shown(folders)}, not a list: each of its letters is taken for a folder"
            raise Refusal("att_library_path", why, f"write att_library_path: [{folders}]")
        if not isinstance(folders, list) or not all(isinstance(folder, str) for folder in folders):
            why = f"att_library_path is {shown(folders)}, not a list of folders"
            raise Refusal("att_library_path", why, "write att_library_path: [FOLDER]")
        return str(folders[0])

    def only_in_6_3(self) -> None:
        self.set.setdefault("ROCPROF_COUNTER_COLLECTION", "0")
        if self.get("output_file") is not None or self.get("output_directory") is not None:
            self.set["ROCPROF_OUTPUT_LIST_METRICS_FILE"] = "1"


def _listed(key: str, value: Any) -> str:
    return joined(key, value, ", ") if isinstance(value, list) else _formatted(value)
