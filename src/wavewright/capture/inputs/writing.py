"""Input files of rocprofv3 as texts: jobs in YAML or JSON, counters also as lines. The only place that writes them.

What every release reads alike: texts and lists of texts, every job of several with `pmc`. ROCm 6.2 wants `metrics`
instead of `jobs`; a file may have both, as each release looks at its own only.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wavewright.capture.inputs.reading import DEFAULTS
from wavewright.capture.rocprofv3.option import Kind, is_within
from wavewright.capture.rocprofv3.releases import version_of_installation
from wavewright.capture.rocprofv3.words import option_words, read_words
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from wavewright.capture.plans.command import Command
    from wavewright.capture.rocprofv3.installation import Installation
    from wavewright.capture.rocprofv3.words import Given

#: Extension -> form. rocprofv3 reads .text from 7.13 on only.
SUFFIXES = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".txt": "txt"}
#: Keys of jobs that mean the same to ROCm 6.2, or that it can do without.
_ALSO_FOR_6_2 = frozenset({"pmc", "output_format", "output_file"})
TEXT_LAST = "7.12"  #: Last release whose script does not call text files deprecated.


def form_of(path: Path) -> str:
    """The form of a file by its extension.

    Raises
    ------
    UsageError
        When rocprofv3 would not know it.
    """
    form = SUFFIXES.get(path.suffix)
    if form is None:
        what = "rocprofv3 knows the form of an input by its extension"
        raise UsageError(what, where=str(path), advice=f"let it end in {', '.join(SUFFIXES)}")
    return form


def jobs_text(
    jobs: Sequence[Mapping[str, Any]], form: str, *, comments: Sequence[str] = (), is_for_6_2: bool = False
) -> str:
    """Jobs as the text of a file; `comments` where the form has them. `is_for_6_2`: readable by ROCm 6.2 as well.

    Raises
    ------
    UsageError
        When a text file is to hold more than counters, or several jobs would not be run by every release.

    Examples
    --------
    >>> print(jobs_text([{"pmc": ["SQ_WAVES"]}], "yaml", comments=["one pass"]), end="")
    # one pass
    jobs:
      - pmc: ["SQ_WAVES"]
    """
    if len(jobs) > 1 and not all(job.get("pmc") for job in jobs):
        what = "of several jobs in one file, ROCm 7.13 and newer run only those with counters"
        raise UsageError(what, advice="write one file per job")
    metrics = [{"pmc": job["pmc"]} for job in jobs if job.get("pmc")] if is_for_6_2 else []
    remarks = [f"# {line}" for comment in comments for line in comment.splitlines()]
    if form == "txt":
        if any(set(job) != {"pmc"} for job in jobs):
            what = "a text file holds nothing but counters"
            raise UsageError(what, advice="write .json or .yaml; or give the rest as options of rocprofv3")
        return "\n".join([*remarks, *(f"pmc: {' '.join(job['pmc'])}" for job in jobs), ""])
    if form == "json":
        return json.dumps({**({"metrics": metrics} if metrics else {}), "jobs": list(jobs)}, indent=2) + "\n"
    lines = [*remarks]
    if metrics:
        lines += ["# for ROCm 6.2, which does not read jobs", "metrics:", *_yaml_lines(metrics)]
    return "\n".join([*lines, "jobs:" if jobs else "jobs: []", *_yaml_lines(jobs), ""])


def _yaml_lines(jobs: Sequence[Mapping[str, Any]]) -> list[str]:
    """JSON is YAML, so that values are written as JSON: no text can be taken for a number, a date or a truth value."""
    lines = []
    for job in jobs:
        for place, (key, value) in enumerate(job.items()):
            lines.append(f"  {'-' if place == 0 else ' '} {key}: {json.dumps(value)}")
    return lines


@dataclass(frozen=True, kw_only=True)
class WrittenInput:
    """An input file, and how rocprofv3 is called with it."""

    text: str
    options: tuple[str, ...]  #: What the file cannot say, for the command line.
    definitions: str = ""  #: Content of the file that `--extra-counters` names; empty = there is none.
    notes: tuple[str, ...] = ()


def input_from(
    commands: Sequence[Command],
    installation: Installation,
    form: str,
    *,
    comments: Sequence[str] = (),
    definitions_path: str = "",
) -> WrittenInput:
    """The input file that stands for some commands: one job each. Folders are left to the command line.

    Parameters
    ----------
    commands
        As `commands.commands_of` makes them.
    installation
        For which they were made.
    form
        json, yaml or txt.
    comments
        For forms that have them.
    definitions_path
        Where the definitions of counters will be, if there are any.

    Raises
    ------
    UsageError
        When a file cannot say it.
    """
    version = version_of_installation(installation)
    jobs: list[dict[str, Any]] = []
    options: list[str] = []
    definitions = ""
    for command in commands:
        job: dict[str, Any] = {}
        for given in read_words(command.words[1 : command.words.index("--")], version):
            key, name, values = given.option.key, given.option.name, given.values
            if name == "--input":  # ROCm 6.2: a file with one line of counters
                line = command.files[values[0]].decode()
                job["pmc"] = line.removeprefix("pmc:").split()
            elif name == "--output-directory" or (
                name == "--att-library-path" and (installation.is_assumed or _is_ours(values[0], command))
            ):
                continue
            elif name == "--extra-counters" and values[0] in command.files:
                definitions = command.files[values[0]].decode()
                options += [] if name in options else (name, definitions_path)
            elif key is None or key in DEFAULTS or (form == "txt" and key != "pmc") or not is_within(version, "6.3"):
                again = option_words(name, *values)
                options += [] if _has(options, again) else again
            else:
                job[key] = _value(given)
        jobs.append(dict(sorted(job.items(), key=lambda item: item[0] != "pmc")))
    has_only_counters = bool(jobs) and all(job.get("pmc") for job in jobs)
    if form == "txt" and not has_only_counters:
        raise UsageError("a text file holds nothing but counters", advice="write .json or .yaml")
    if not has_only_counters and not is_within(version, "6.3"):
        raise UsageError("ROCm 6.2 reads nothing but counters from a file", advice="give the options themselves")
    is_for_6_2 = has_only_counters and not definitions and all(set(job) <= _ALSO_FOR_6_2 for job in jobs)
    text = jobs_text(jobs, form, comments=comments, is_for_6_2=is_for_6_2)
    notes = (
        ["text files are called deprecated from ROCm 7.13 on"] if form == "txt" and is_within(version, "7.13") else []
    )
    return WrittenInput(text=text, options=tuple(options), definitions=definitions, notes=tuple(notes))


def _is_ours(folder: str, command: Command) -> bool:
    """Whether a folder is one that a command makes for itself, such as that of the stand-in for AMD's decoder."""
    return any(path.startswith(f"{folder.rstrip('/')}/") for path in command.files)


def _has(options: Sequence[str], words: Sequence[str]) -> bool:
    size = len(words)
    return any(tuple(options[at : at + size]) == tuple(words) for at in range(len(options) - size + 1))


def _value(given: Given) -> Any:
    """The value of a key that the script turns into the same variable as that of the option."""
    kind = given.option.kind
    if kind is Kind.BOOLEAN:
        return given.is_on
    if kind in (Kind.WORDS, Kind.ANY_WORDS, Kind.CHOICES):
        return list(given.values)
    if kind is Kind.INTEGER:
        return int(given.values[0])
    if given.option.name == "--att-perfcounters":  # put into capitals on the command line only
        return given.values[0].upper()
    return given.values[0]
