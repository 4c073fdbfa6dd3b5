"""`wavewright diagnose`: whether a thread trace, hardware counters or a run is meant."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.commands import CommandOfKinds
from wavewright.cli.kit.question_verb import derived_verb
from wavewright.errors import WavewrightError
from wavewright.questions.catalog import QUESTIONS

if TYPE_CHECKING:
    from wavewright.readers.files.kinds import Kind


def _kind_meant(paths: list[str], kinds_of_options: set[str]) -> str:
    """The kind of what the paths are; what holds both a run and counters is a counter capture, except with --run."""
    from wavewright.readers.files.kinds import COUNTER_CAPTURES, RUNS

    if "run" in kinds_of_options:
        return "run"
    kinds = {path: _kind_of(path) for path in paths}
    if any(kind in COUNTER_CAPTURES for kind in kinds.values()):
        return "counters"
    if any(map(_has_samples, paths)) or not any(kind in RUNS for kind in kinds.values()):
        return "trace"
    if len(paths) == 1 and _has_counters(Path(paths[0]), kinds[paths[0]]):
        click.echo("note: this is about the counters in it; --run diagnoses the run itself", err=True)
        return "counters"
    return "run"


def _kind_of(path: str) -> Kind | None:
    """The kind of a path, or of the first one that fits a pattern; None = it cannot be told."""
    from wavewright.readers.files.kinds import sniff

    names = [path] if Path(path).exists() else sorted(glob.glob(path, recursive=True))[:1]  # noqa: PTH207 - patterns may be absolute
    try:
        return sniff(Path(names[0])) if names else None
    except (WavewrightError, OSError, ValueError):
        return None


def _has_samples(path: str) -> bool:
    """True if there are PC samples in the result files of a run."""
    from wavewright.readers.opening import samples_at

    return Path(path).exists() and bool(samples_at(Path(path)))


def _has_counters(path: Path, kind: Kind | None) -> bool:
    """True if a run holds hardware counters as well; folders are asked for their files."""
    from wavewright.readers.counters import open_counters
    from wavewright.readers.files.kinds import STORES_OF_COUNTERS, Kind

    if kind not in (*STORES_OF_COUNTERS, Kind.RUN_FOLDER):
        return False
    try:
        return bool(open_counters(path).dispatches.height)
    except WavewrightError:
        return False


_COMMANDS = {kind: derived_verb(QUESTIONS[kind]["diagnose"]) for kind in ("trace", "counters", "run")}
command = CommandOfKinds("diagnose", _COMMANDS, _kind_meant)
