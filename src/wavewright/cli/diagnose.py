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


def _meant(words: list[str], kinds_of_options: set[str]) -> str:
    """The kind of what the paths are: what holds both a run and counters is a counter capture, unless asked."""
    from wavewright.readers.files.kinds import COUNTER_CAPTURES, RUNS

    if "run" in kinds_of_options:
        return "run"
    kinds = {word: _kind_of(word) for word in words}
    if any(kind in COUNTER_CAPTURES for kind in kinds.values()):
        return "counters"
    if any(_has_samples(word) for word in words):
        return "trace"
    if not kinds or not any(kind in RUNS for kind in kinds.values()):
        return "trace"
    if len(words) == 1 and _has_counters(Path(words[0]), kinds[words[0]]):
        click.echo("note: this is about the counters in it; --run diagnoses the run itself", err=True)
        return "counters"
    return "run"


def _kind_of(word: str) -> Kind | None:
    from wavewright.readers.files.kinds import sniff

    names = [word] if Path(word).exists() else sorted(glob.glob(word, recursive=True))[:1]  # noqa: PTH207 - patterns may be absolute
    try:
        return sniff(Path(names[0])) if names else None
    except (WavewrightError, OSError, ValueError):
        return None


def _has_samples(word: str) -> bool:
    """True if there are PC samples in the result files of a run."""
    from wavewright.readers.opening import samples_at

    return Path(word).exists() and bool(samples_at(Path(word)))


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
command = CommandOfKinds("diagnose", _COMMANDS, _meant)
