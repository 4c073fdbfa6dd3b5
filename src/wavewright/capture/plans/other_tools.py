"""Runs that other tools record (other_tools.toml): ROCm Systems Profiler, and RPD's tracer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from wavewright.base.files import open_regular
from wavewright.base.shown import shown
from wavewright.capture.kinds import RunTrace
from wavewright.capture.plans.command import Command, surroundings
from wavewright.errors import UsageError
from wavewright.facts.loader import packaged

_TABLES = packaged("other_tools.toml", __package__)
TOOLS: dict[str, dict[str, Any]] = _TABLES["tools"]
_FILE_BYTES_MAX = 1 << 20  #: Of a configuration of the user.
_SETTING = re.compile(r"\$?[A-Za-z_][\w:]*")
_ON = re.compile(r"on|yes|true|1|trace|sampling", re.IGNORECASE)
_CAUTION = "nobody has run this tool through wavewright on a GPU yet"


def tool_commands(run: RunTrace, *, folder: str, environment: Mapping[str, str]) -> tuple[Command, ...]:
    """The commands of a run that another tool records, to be run one after the other; data go to `folder`.

    UsageError for a tool, a part of a run, an option or a configuration that does not fit.
    """
    tool = TOOLS.get(run.tool)
    if tool is None:
        advice = f"one of rocprofv3, {', '.join(TOOLS)}"
        raise UsageError(f"not a tool that records runs: {run.tool[:40]!r}", advice=advice)
    family = _TABLES["families"][tool["family"]]
    _check_words(run, family)
    changes = surroundings(run, environment)
    variables = {name: value.format(raw=folder) for name, value in family.get("variables", {}).items()}
    notes, files = [_CAUTION, *changes.notes], {}
    if "note" in family:
        notes.append(family["note"])
    if configuration := family.get("configuration"):
        if path := run.variables.get(configuration):
            notes += _judged(path, family)
        else:
            variables[configuration] = f"{folder}/{family['file']}"
            lines = [f"{name} = {value}" for name, value in _settings(run.parts, family).items()]
            files[variables[configuration]] = ("\n".join(lines) + "\n").encode()
            notes.append(f"written first: {variables[configuration]}, which holds {'; '.join(lines)}")
    return tuple(
        Command(
            words=tuple(word for template in templates for word in _words(template, run, folder)),
            variables=variables | changes.variables,
            removed=changes.removed,
            cwd=run.cwd,
            notes=tuple(notes),
            files=files,
        )
        for templates in tool["commands"]
    )


def _words(template: str, run: RunTrace, folder: str) -> tuple[str, ...]:
    """The words for one of a declared command, in which names in braces stand for words of the run."""
    program = run.program
    places = {"{extra}": run.extra, "{program}": program, "{executable}": program[:1], "{arguments}": program[1:]}
    return places[template] if template in places else (template.format(raw=folder),)


def _check_words(run: RunTrace, family: Mapping[str, Any]) -> None:
    """Refuse options of the user that the tool does not take, or that wavewright sets itself."""
    if run.extra and "ours" not in family:
        raise UsageError(f"{run.tool} takes no options", advice="leave --extra away")
    for word in run.extra:
        name = word.partition("=")[0]
        if name in family["ours"]:
            raise UsageError(f"{name} cannot be passed on", advice=family["ours"][name])
    if run.program[0].startswith("-"):
        raise UsageError(f"{run.program[0][:40]!r} would be an option of {run.tool}", advice="write ./NAME")


def _settings(parts: Iterable[str], family: Mapping[str, Any]) -> dict[str, str]:
    """Settings for parts of a run; a setting with several values has them all, joined."""
    lists: dict[str, list[str]] = {}
    for part in parts:
        if part not in family["parts"]:
            advice = f"some of {', '.join(family['parts'])}"
            raise UsageError(f"not a part of a run that this tool records: {part[:40]!r}", advice=advice)
        for name, value in family["parts"][part].items():
            lists.setdefault(name, []).extend(value.split(","))
    if not lists:
        raise UsageError("nothing of the run is to be recorded", advice=f"some of {', '.join(family['parts'])}")
    return {**family["settings"], **{name: ",".join(dict.fromkeys(values)) for name, values in lists.items()}}


def _judged(path: str, family: Mapping[str, Any]) -> list[str]:
    """Notes about a configuration of the user; UsageError for one that cannot be read, or records nothing."""
    try:
        with open_regular(path) as stream:
            text = stream.read(_FILE_BYTES_MAX).decode()
    except (OSError, ValueError) as error:
        problem, advice = f"the configuration cannot be read: {error}", "rocprof-sys-avail -G FILE writes one"
        raise UsageError(problem, where=shown(path), advice=advice) from None
    if path.endswith((".json", ".xml")):
        return ["what the configuration records is up to it; in this form it is not judged"]
    notes = ["what is recorded is up to the configuration: --what has no say"]
    for number, line in enumerate(text.splitlines(), 1):
        name, equals, value = (part.strip() for part in line.partition("#")[0].partition("="))
        if not name and not equals:
            continue
        if not equals or not _SETTING.fullmatch(name):
            raise UsageError(f"line {number} sets nothing", where=shown(path), advice="write NAME = VALUE")
        if name in family["silent"] and value and not _ON.fullmatch(value):
            problem = f"line {number} sets {name}: {family['silent'][name]}"
            raise UsageError(problem, where=shown(path), advice="leave the line away")
        if name in family["variables"]:
            notes.append(f"line {number} has no effect: wavewright sets {name}")
    return notes
