"""Objections to a job of an input file in a release: keys that do nothing, values that mean something else.

rocprofv3 checks almost nothing of a file. What it makes of every odd value is not followed here: what is not a plain
value of its key is named, and the file is to be written otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from wavewright.base.words import counted
from wavewright.capture.inputs.files import InputFile
from wavewright.capture.inputs.jobs import KEYS, launch_text, number_in, options_by_key, words_of
from wavewright.capture.rocprofv3.grammar import launch_words, read_launches
from wavewright.capture.rocprofv3.options import FILE_ONLY_KEYS, Kind, Version
from wavewright.capture.rocprofv3.refusals import check_options
from wavewright.capture.rocprofv3.regex import regex_warnings
from wavewright.capture.rocprofv3.releases import Installation, has_trap
from wavewright.capture.rocprofv3.words import read_words
from wavewright.errors import UsageError
from wavewright.facts.loader import packaged

_LETTERS = 60  #: Letters of a key in a finding.
_OBJECTIONS = packaged("objections.toml", __package__)  #: Level -> name of an objection -> sentence and remedy.
_NAMES: dict[type, str] = {dict: "a map", list: "a list", str: "a text"}
#: What a value must be, where the script does not check it.
_TYPES: dict[Kind, type | tuple[type, ...]] = {
    Kind.TEXT: (str, list, bool),  # lists and truth values are looked at by themselves
    Kind.FILE: str,
    Kind.CHOICE: str,
    Kind.INTEGER: int,
    Kind.WORDS: (list, str),
}


class Level(StrEnum):
    """The weight of a finding."""

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
        """True when rocprofv3 would do what is written."""
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
        """True when rocprofv3 would do what is written."""
        is_whole = not any(finding.level is Level.ERROR for finding in self.findings)
        return is_whole and bool(self.jobs) and all(job.is_good for job in self.jobs)

    @property
    def summary(self) -> str:
        """One sentence."""
        bad = sum(not job.is_good for job in self.jobs)
        outcome = f", {bad:,} of them not as meant" if bad else "" if self.is_good else ", not as meant"
        return f"ROCm {self.release}: {counted(len(self.jobs), 'jobs')}{outcome}"

    def as_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        facts = {"file": self.name, "rocm_version": self.release, "is_good": self.is_good}
        jobs = [{"number": job.number, "is_good": job.is_good, **_findings_json(job)} for job in self.jobs]
        return {**facts, **_findings_json(self), "jobs": jobs}


def _findings_json(subject: CheckedFile | CheckedJob) -> dict[str, Any]:
    return {"findings": list(map(asdict, subject.findings))}


def checked(file: InputFile, installation: Installation) -> CheckedFile:
    """The objections to a file in a release.

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
        objections = _of_job(job, installation) if version >= (6, 3) else _of_value("pmc", job.get("pmc"))
        dropped = [_finding("dropped", "pmc")] if is_dropping and not job.get("pmc") else []
        in_order = sorted([*dropped, *objections], key=lambda finding: list(Level).index(finding.level))
        keys = {str(key): job[key] for key in job}
        results.append(CheckedJob(number=number, keys=keys, findings=tuple(in_order)))
    release = installation.rocm_version or ".".join(map(str, version))
    return CheckedFile(name=file.name, release=release, jobs=tuple(results), findings=tuple(findings))


def _finding(name: str, key: str = "", **values: object) -> Finding:
    level = next(level for level in (Level.ERROR, Level.WARNING) if name in _OBJECTIONS[level])
    sentence, remedy = (text.format(key=key[:_LETTERS], **values) for text in _OBJECTIONS[level][name])
    return Finding(level=level, key=key[:_LETTERS], sentence=sentence, remedy=remedy)


def _jobs_of(file: InputFile, version: Version) -> tuple[list[dict[Any, Any]], Finding | None]:
    """The jobs of a file, and why it has none that the release would read."""
    if file.form == "txt":
        lines = [line.split("#", 1)[0].strip() for line in file.content]
        jobs = [{"pmc": line.replace("pmc:", "").split()} for line in lines if "pmc:" in line]
        return jobs, None if jobs else _finding("no counters", "pmc")
    name = "jobs" if version >= (6, 3) else "metrics"
    entries = file.content.get(name) if isinstance(file.content, dict) else None
    if not isinstance(entries, list) or not all(isinstance(job, dict) for job in entries):
        return [], _finding("no list", name)
    return entries, None if entries else _finding("no job", name)


def _of_file(file: InputFile, version: Version) -> Iterator[Finding]:
    yield from (_finding("twice", key) for key in dict.fromkeys(file.repeated))
    if file.suffix == ".text" and version < (7, 13):
        yield _finding("text extension")
    if file.form == "txt":
        yield from _of_text(file.content, version)
    elif isinstance(file.content, dict):
        read = ("jobs", "metrics") if version >= (6, 3) else ("metrics",)
        for key in file.content:
            if key not in read:
                is_error = key in ("jobs", "GlobalParameters") or key in options_by_key()
                yield _finding("beside jobs" if is_error else "beside jobs too", str(key), beside=read[0])


def _of_text(lines: list[str], version: Version) -> Iterator[Finding]:
    passes = [line for line in lines if "pmc:" in line]
    if (6, 3) <= version < (7, 13) and any("pmc:" not in line.split("#")[0] for line in passes):
        yield _finding("commented pass", "pmc")
    if other := [line.strip()[:40] for line in lines if line.strip().lower().startswith(tuple(KEYS["of_rocprof"]))]:
        yield _finding("rocprof", lines="; ".join(other[:3]))
    if any("," in line.split("#")[0] for line in passes):
        yield _finding("commas", "pmc")
    if has_trap(version, "text input deprecated"):
        yield _finding("deprecated")


def _of_job(job: Mapping[Any, Any], installation: Installation) -> Iterator[Finding]:
    version = installation.version
    values = {key: value for key, value in job.items() if isinstance(key, str) and value is not None}
    if len(values) < sum(value is not None for value in job.values()):
        yield _finding("key not a text")
    by_key = options_by_key()
    names = {key for key, option in by_key.items() if option.name in installation.options}
    names |= {key for key, since in FILE_ONLY_KEYS.items() if version >= tuple(map(int, since.split(".")))}
    for key, value in values.items():
        if key not in names:
            near = get_close_matches(key.replace("-", "_"), sorted(names), n=1, cutoff=0.7)
            remedy = f"did you mean {near[0]}?" if near else "leave it away"
            since = f"ROCm {by_key[key].since} has it first" if key in by_key else ""
            why = f"this release does not know it, {since}" if since else "there is no such key"
            yield _finding("unknown", key, why=why, remedy=remedy)
        elif key not in KEYS["of_command_line"]:
            yield from _of_value(key, value)
        elif value != KEYS["of_command_line"][key]:
            yield _finding("of the command line", key, option=by_key[key].name)
    pmc = values.get("pmc")
    if pmc and values.get("pmc_groups"):
        yield _finding("two kinds of passes", "pmc_groups")
    if version < (7, 13) and isinstance(pmc, list) and any(isinstance(word, list) for word in pmc):
        yield _finding("nested passes", "pmc")
    idle = [key for key in values if key.startswith("att_") and key in names]
    if idle and not values.get("advanced_thread_trace"):
        yield _finding("idle", idle[0], keys=", ".join(idle))
    formats = values.get("output_format") or ["rocpd" if version >= (7, 0) else "csv"]
    is_database = isinstance(formats, list) and not {"csv", "json"} & set(map(str, formats))
    if is_database and (values.get("stats") or values.get("pc_sampling_method")):
        yield _finding("database", "output_format")
    yield from _launches(values)
    yield from _combined(values, installation)
    recording_keys = {*KEYS["recording"], *(key for key, option in by_key.items() if option.is_tracing)}
    if not any(value for key, value in values.items() if key in recording_keys):
        yield _finding("nothing")
    prefix = values.get("output_file")
    if isinstance(prefix, str) and prefix and not any(mark in prefix for mark in "%{$"):
        yield _finding("same names", "output_file", prefix=prefix)


def _of_value(key: str, value: Any) -> Iterator[Finding]:
    """Values whose form means something else than it seems, or nothing."""
    option = options_by_key().get(key)
    kind = option.kind if option else None
    if key in KEYS["lists"] and isinstance(value, str) and value:
        yield _finding("letters", key, words=", ".join(value.replace(",", " ").split()))
    elif key in KEYS["zeros"] and value == 0 and not isinstance(value, bool):
        yield _finding("zero", key)
    elif isinstance(value, list) and any(not isinstance(word, str | list) for word in value):
        yield _finding("mixed list", key)
    elif key == "kernel_iteration_range" and isinstance(value, int):
        yield _finding("number", key, value=value)
    elif option is not None and not isinstance(value, _TYPES.get(option.kind, object)):
        yield _finding("other type", key, type=_NAMES.get(type(value), "a number"), option=option.name)
    elif kind is Kind.BOOLEAN and not isinstance(value, bool | int):
        yield _finding("not boolean", key)
    elif kind is Kind.NUMBER and number_in(value) is None:
        yield _finding("no number", key)
    elif key in ("pmc", "pmc_groups") and not isinstance(value, list | str):
        yield _finding("no list of texts", key)


def _launches(values: Mapping[str, Any]) -> Iterator[Finding]:
    key = "kernel_iteration_range"
    text = launch_text(values)
    if text is None:
        if values.get("advanced_thread_trace") and not values.get(key):
            yield _finding("first launch", key)
        return
    try:
        launches = read_launches(text)
    except UsageError as error:
        yield _finding("launches", key, what=error.what, advice=error.advice)
        return
    plain = " ".join(launch_words([number for number in launches.numbers if number > 1])[:8])
    for note in launches.notes:
        yield _finding("surprise", key, what=note, remedy=f'write "{plain}"' if plain else "")


def _combined(values: Mapping[str, Any], installation: Installation) -> Iterator[Finding]:
    """Objections to the same options on a command line of the release, and to its regexes."""
    version = installation.version
    try:
        words = words_of({key: value for key, value in values.items() if key in options_by_key()}, installation)
        check_options(read_words(words, version), version)
    except UsageError as error:
        yield _finding("refused", what=error.what, advice=error.advice)
    for key in ("kernel_include_regex", "kernel_exclude_regex"):
        if isinstance(pattern := values.get(key), str):
            for sentence in regex_warnings(pattern, version, is_truncating=bool(values.get("truncate_kernels"))):
                what = sentence.replace("-T cuts", "truncate_kernels cuts", 1)
                yield _finding("short names" if sentence.startswith("-T") else "regex", key, what=what)
