"""What speaks against a job of an input file in a release: keys that do nothing, values that mean something else.

rocprofv3 checks almost nothing of a file. What it makes of every odd value is not followed here: what is not a plain
value of its key is named, and the file is to be written otherwise.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from wavewright.base.words import counted
from wavewright.capture.inputs.jobs import launch_text, number_in, options_by_key, words_of
from wavewright.capture.rocprofv3.grammar import launch_words, read_launches
from wavewright.capture.rocprofv3.options import FILE_ONLY_KEYS, Kind
from wavewright.capture.rocprofv3.refusals import check_options
from wavewright.capture.rocprofv3.regex import regex_warnings
from wavewright.capture.rocprofv3.releases import has_trap
from wavewright.capture.rocprofv3.words import read_words
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wavewright.capture.inputs.files import InputFile
    from wavewright.capture.rocprofv3.options import Version
    from wavewright.capture.rocprofv3.releases import Installation

#: Keys to which the command line gives a value of its own, and what it is; any other value in a file is refused.
_OF_COMMAND_LINE: dict[str, Any] = {
    "preload": [""],
    "version": False,
    "collection_period_unit": ["sec"],
    "att_serialize_all": False,
    "att_perfcounter_target_only": False,
    "attach_children": True,
    "input": None,
    "echo": False,
}
#: Where a list is needed; a text is taken letter by letter.
_LISTS = ("pmc", "output_format", "att_library_path", "summary_groups", "collection_period", "spm")
#: Where the number 0 counts as not given.
_ZEROS = ("att_simd_select", "att_gpu_index", "att_shader_engine_mask", "kernel_iteration_range")
#: Lines of the text files of rocprof, the predecessor, which rocprofv3 does not read.
_OF_ROCPROF = ("gpu:", "range:", "kernel:", "pmc :", "metrics:")
_RECORDING = ("pmc", "pmc_groups", "spm", "kokkos_trace", "list_avail", "pid")
_LETTERS = 60


#: What a value must be, where the script does not check it.
_TYPES: dict[Kind, type | tuple[type, ...]] = {
    Kind.TEXT: (str, list, bool),  # lists and truth values are looked at by themselves
    Kind.FILE: str,
    Kind.CHOICE: str,
    Kind.INTEGER: int,
    Kind.WORDS: (list, str),
}


class Level(StrEnum):
    """How bad a finding is."""

    ERROR = "error"  #: Nothing, or something else than meant, is recorded.
    WARNING = "warning"  #: Probably not what is meant.
    NOTE = "note"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing about a file or a job."""

    level: Level
    key: str  #: Empty = about the whole.
    sentence: str
    remedy: str = ""


@dataclass(frozen=True, kw_only=True)
class CheckedJob:
    """A job, and what speaks against it."""

    number: int  #: From 1.
    keys: dict[str, Any] = field(hash=False)  #: As they are written.
    findings: tuple[Finding, ...]

    @property
    def is_good(self) -> bool:
        """Whether rocprofv3 would do what is written."""
        return not any(finding.level is Level.ERROR for finding in self.findings)


@dataclass(frozen=True, kw_only=True)
class CheckedFile:
    """A file, and what speaks against it in a release."""

    name: str
    release: str
    jobs: tuple[CheckedJob, ...]
    findings: tuple[Finding, ...]  #: About the file as a whole.

    @property
    def is_good(self) -> bool:
        """Whether rocprofv3 would do what is written."""
        is_whole = not any(finding.level is Level.ERROR for finding in self.findings)
        return is_whole and bool(self.jobs) and all(job.is_good for job in self.jobs)

    @property
    def summary(self) -> str:
        """One sentence."""
        bad = sum(not job.is_good for job in self.jobs)
        outcome = f", {bad:,} of them not as meant" if bad else "" if self.is_good else ", not as meant"
        return f"ROCm {self.release}: {counted(len(self.jobs), 'jobs')}{outcome}"

    def as_json(self) -> dict[str, Any]:
        """What `--json` prints."""
        jobs = [
            {"number": job.number, "is_good": job.is_good, "findings": list(map(asdict, job.findings))}
            for job in self.jobs
        ]
        findings = list(map(asdict, self.findings))
        facts = {"file": self.name, "rocm_version": self.release, "is_good": self.is_good}
        return {**facts, "findings": findings, "jobs": jobs}


def checked(file: InputFile, installation: Installation) -> CheckedFile:
    """What speaks against a file in a release.

    Examples
    --------
    >>> from wavewright.capture.inputs.files import input_of
    >>> from wavewright.capture.rocprofv3.releases import assumed
    >>> text = b"jobs: [{pmc: SQ_WAVES}]"
    >>> checked(input_of(text, "input.yaml"), assumed("7.2")).jobs[0].findings[0].sentence
    'pmc is a text where a list is needed, and is read letter by letter'
    """
    version = installation.version
    findings = list(_of_file(file, version))
    jobs, problem = _jobs_of(file, version)
    findings += [problem] if problem else []
    is_dropping = has_trap(version, "jobs without counters are dropped") and len(jobs) > 1
    results = []
    for number, job in enumerate(jobs, 1):
        job_findings = list(
            _of_job(job, installation, version) if version >= (6, 3) else _of_value("pmc", job.get("pmc"))
        )
        if is_dropping and not job.get("pmc"):
            sentence = "this job is left out without a word: only jobs with pmc are run where there are several"
            job_findings.insert(0, _error("pmc", sentence, "put it into a file of its own"))
        order = list(Level)
        job_findings.sort(key=lambda finding: order.index(finding.level))
        results.append(
            CheckedJob(number=number, keys={str(key): job[key] for key in job}, findings=tuple(job_findings))
        )
    release = installation.rocm_version or ".".join(map(str, version))
    return CheckedFile(name=file.name, release=release, jobs=tuple(results), findings=tuple(findings))


def _jobs_of(file: InputFile, version: Version) -> tuple[list[dict[Any, Any]], Finding | None]:
    """The jobs of a file, and why it has none that the release would read."""
    if file.form == "txt":
        lines = [line.split("#", 1)[0].strip() for line in file.content]
        jobs = [{"pmc": line.replace("pmc:", "").split()} for line in lines if "pmc:" in line]
        return jobs, None if jobs else _error("pmc", "there are no counters in it", "write a line `pmc: SQ_WAVES`")
    name = "jobs" if version >= (6, 3) else "metrics"
    remedy = f"put a list below `{name}:`, each entry with - before it"
    entries = file.content.get(name) if isinstance(file.content, dict) else None
    if not isinstance(entries, list) or not all(isinstance(job, dict) for job in entries):
        return [], _error(name, f"rocprofv3 refuses the file: it has no list of jobs below `{name}`", remedy)
    return entries, None if entries else _error(name, "there is no job in it, and nothing is run", "add one")


def _of_file(file: InputFile, version: Version) -> Iterator[Finding]:
    for key in dict.fromkeys(file.repeated):
        yield _error(key, f"{key[:_LETTERS]} is given twice in one place: the last one counts", "leave one away")
    if file.suffix == ".text" and version < (7, 13):
        yield _error("", "the extension .text is not known before ROCm 7.13", "rename the file to .txt")
    if file.form == "txt":
        yield from _of_text(file, version)
    elif isinstance(file.content, dict):
        read = ("jobs", "metrics") if version >= (6, 3) else ("metrics",)
        for key in file.content:
            if key not in read:
                level = Level.ERROR if key in ("jobs", "GlobalParameters") or key in options_by_key() else Level.WARNING
                sentence = f"{str(key)[:_LETTERS]} does nothing: beside `{read[0]}` nothing is read"
                yield Finding(level=level, key=str(key)[:_LETTERS], sentence=sentence, remedy="write it into each job")


def _of_text(file: InputFile, version: Version) -> Iterator[Finding]:
    if (6, 3) <= version < (7, 13) and any(
        "pmc:" in line and "pmc:" not in line.split("#")[0] for line in file.content
    ):
        yield _error("pmc", "a line with pmc: behind a # is taken for a pass without counters", "remove such lines")
    if other := [line.strip()[:40] for line in file.content if line.strip().lower().startswith(_OF_ROCPROF)]:
        remedy = "choose kernels and launches by options: --kernel-include-regex, --kernel-iteration-range"
        yield _error("", f"lines of the older rocprof do nothing: {'; '.join(other[:3])}", remedy)
    if any("," in line.split("#")[0] for line in file.content if "pmc:" in line):
        yield _warning("pmc", "counters are divided by spaces here; the script leaves commas in the names", "spaces")
    if has_trap(version, "text input deprecated"):
        yield _warning("", "text files are called deprecated from ROCm 7.13 on", "write JSON or YAML")


def _of_job(job: Mapping[Any, Any], installation: Installation, version: Version) -> Iterator[Finding]:
    given = {key: value for key, value in job.items() if isinstance(key, str) and value is not None}
    if len(given) < sum(value is not None for value in job.values()):
        yield _error("", "a key is not a text, and rocprofv3 stops", "put the key in quotes")
    by_key = options_by_key()
    names = {key for key, option in by_key.items() if option.name in installation.options}
    names |= {key for key, since in FILE_ONLY_KEYS.items() if version >= tuple(map(int, since.split(".")))}
    for key, value in given.items():
        if key not in names:
            yield _unknown(key, names)
        elif key in _OF_COMMAND_LINE:
            if value != _OF_COMMAND_LINE[key]:
                remedy = f"give {by_key[key].name} as an option of rocprofv3"
                yield _error(key, f"rocprofv3 stops: {key} cannot be set in a file", remedy)
        else:
            yield from _of_value(key, value)
    if given.get("pmc") and given.get("pmc_groups"):
        yield _error("pmc_groups", "rocprofv3 stops: a job has either pmc or pmc_groups", "make two jobs")
    if (
        version < (7, 13)
        and isinstance(given.get("pmc"), list)
        and any(isinstance(word, list) for word in given["pmc"])
    ):
        yield _error("pmc", "rocprofv3 stops: pmc is a list of lists, which needs ROCm 7.13", "make two jobs")
    idle = [key for key in given if key.startswith("att_") and key in names]
    if idle and not given.get("advanced_thread_trace"):
        sentence = f"{', '.join(idle)} does nothing without advanced_thread_trace"
        yield _error(idle[0], sentence, "add advanced_thread_trace: true")
    formats = given.get("output_format") or ["rocpd" if version >= (7, 0) else "csv"]
    is_database = isinstance(formats, list) and not {"csv", "json"} & set(map(str, formats))
    if is_database and (given.get("stats") or given.get("pc_sampling_method")):
        sentence = "the output is a database, which holds neither tables of totals nor PC samples"
        yield _error("output_format", sentence, "write output_format: [csv, json]")
    yield from _launches(given)
    yield from _combined(given, installation, version)
    if not any(given[key] and (key in _RECORDING or (key in by_key and by_key[key].is_tracing)) for key in given):
        yield _error("", "the job records nothing, and the program is run for nothing", "add kernel_trace or pmc")
    prefix = given.get("output_file")
    if isinstance(prefix, str) and prefix and not any(mark in prefix for mark in "%{$"):
        remedy = f"write output_file: '%pid%/{prefix}'"
        yield _warning("output_file", "all processes of the program write to the same names", remedy)


def _unknown(key: str, names: set[str]) -> Finding:
    near = get_close_matches(key.replace("-", "_"), sorted(names), n=1, cutoff=0.7)
    remedy = f"did you mean {near[0]}?" if near else "leave it away"
    name = key[:_LETTERS]
    option = options_by_key().get(key)
    why = f"this release does not know it, ROCm {option.since} has it first" if option else "there is no such key"
    return _error(name, f"{name} does nothing: {why}", remedy)


def _of_value(key: str, value: Any) -> Iterator[Finding]:
    """Values whose form means something else than it seems, or nothing."""
    option = options_by_key().get(key)
    if key in _LISTS and isinstance(value, str) and value:
        words = ", ".join(value.replace(",", " ").split())
        sentence = f"{key} is a text where a list is needed, and is read letter by letter"
        yield _error(key, sentence, f"write {key}: [{words}]")
    elif key in _ZEROS and value == 0 and not isinstance(value, bool):
        yield _error(key, "the number 0 counts as not given", f'put it in quotes: {key}: "0"')
    elif isinstance(value, list) and any(not isinstance(word, str | list) for word in value):
        yield _error(key, f"{key} has something else than texts in its list, and rocprofv3 stops", "put it in quotes")
    elif key == "kernel_iteration_range" and isinstance(value, int):
        yield _error(key, f"{key} is a number, and rocprofv3 stops", f'put it in quotes: {key}: "{value}"')
    elif option is not None and not isinstance(value, _TYPES.get(option.kind, object)):
        yield _error(key, f"{key} is {_name(value)}, and rocprofv3 stops or hands it on as that", f"see {option.name}")
    elif option is not None and option.kind is Kind.BOOLEAN and not isinstance(value, bool | int):
        yield _warning(key, f"{key} is not true or false, and counts as yes", f"write {key}: true or false")
    elif option is not None and option.kind is Kind.NUMBER and number_in(value) is None:
        yield _error(key, f"{key} is not a number, and rocprofv3 stops", "no units: write bytes, as 0x6000000")
    elif key in ("pmc", "pmc_groups") and not isinstance(value, list | str):
        yield _error(key, f"{key} is not a list of texts, and rocprofv3 stops", f"write {key}: [A, B]")


def _launches(given: Mapping[str, Any]) -> Iterator[Finding]:
    key, is_traced = "kernel_iteration_range", bool(given.get("advanced_thread_trace"))
    text = launch_text(given)
    if text is None:
        if is_traced and not given.get(key):
            sentence = "no launches are chosen: of each kernel only launch 1 is traced, the coldest of all"
            yield _warning(key, sentence, 'choose warm ones, such as kernel_iteration_range: "7-8"')
        return
    try:
        launches = read_launches(text)
    except UsageError as error:
        yield _error(key, f"{error.what}: the tool ends the program", error.advice)
        return
    plain = " ".join(launch_words([number for number in launches.numbers if number > 1])[:8])
    for note in launches.notes:
        yield _warning(key, note, f'write "{plain}"' if plain else "")


def _combined(given: Mapping[str, Any], installation: Installation, version: Version) -> Iterator[Finding]:
    """What the release refuses of the same options on its command line, and what its regexes do not do."""
    try:
        words = words_of({key: value for key, value in given.items() if key in options_by_key()}, installation)
        check_options(read_words(words, version), version)
    except UsageError as error:
        yield _error("", error.what, error.advice)
    for key in ("kernel_include_regex", "kernel_exclude_regex"):
        pattern = given.get(key)
        if isinstance(pattern, str):
            for sentence in regex_warnings(pattern, version, is_truncating=bool(given.get("truncate_kernels"))):
                remedy = "leave truncate_kernels away" if sentence.startswith("-T") else "write it without that"
                yield _error(key, sentence.replace("-T cuts", "truncate_kernels cuts", 1), remedy)


def _name(value: Any) -> str:
    names: dict[type, str] = {dict: "a map", list: "a list", str: "a text"}
    return names.get(type(value), "a number")


def _error(key: str, sentence: str, remedy: str = "") -> Finding:
    return Finding(level=Level.ERROR, key=key[:_LETTERS], sentence=sentence, remedy=remedy)


def _warning(key: str, sentence: str, remedy: str = "") -> Finding:
    return Finding(level=Level.WARNING, key=key[:_LETTERS], sentence=sentence, remedy=remedy)
