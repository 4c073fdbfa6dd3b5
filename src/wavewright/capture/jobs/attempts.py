"""One attempt: its passes are run one after the other, and end as one."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wavewright.base.shown import shown
from wavewright.capture.jobs.folder import ENDING, RAW, STDERR, STDOUT, refused
from wavewright.capture.jobs.stored import write_json
from wavewright.capture.machines.left_behind import MARK
from wavewright.capture.machines.runner import Ending
from wavewright.capture.plans.planning import environment_of
from wavewright.errors import WavewrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wavewright.capture.machines.runner import Limits, Runner
    from wavewright.capture.plans.command import Command

_USAGE_STATUS = 2  #: Of AMD's script for words that it does not know.


def run_passes(
    commands: Sequence[Command],
    folder: Path,
    *,
    runner: Runner,
    variables: Mapping[str, str],
    limits: Limits,
    mark: str,
    tell: Callable[..., None],
) -> Ending:
    """Run the commands of an attempt; what they print goes to stdout.txt and stderr.txt of its folder.

    Parameters
    ----------
    variables
        Those of the machine.
    mark
        By which processes of this attempt are recognised.
    tell
        Called with started, ended or running, and facts about it.
    """
    endings: list[Ending] = []
    total = len(commands)
    for place, command in enumerate(commands, 1):
        _write_files(command, folder / RAW)
        number = {"pass": place, "passes": total}
        tell("started", **number, command=command.line)
        ending = runner.run(
            command.words,
            variables=environment_of(command, variables) | {MARK: mark},
            cwd=command.cwd,
            stdout=folder / (STDOUT if total == 1 else f"{place}.{STDOUT}"),
            stderr=folder / (STDERR if total == 1 else f"{place}.{STDERR}"),
            limits=limits,
            each_second=partial(_running, tell, place, total),
        )
        endings.append(ending)
        is_last = place == total or ending.status in (None, _USAGE_STATUS) or bool(ending.stopped)
        if is_last:  # or the other passes make no sense
            _join_outputs(folder)
            write_json(folder / ENDING, asdict(_together(endings)))
        tell("ended", **number, **asdict(ending))
        if is_last:
            break
    return _together(endings)


def _running(tell: Callable[..., None], place: int, total: int, seconds: float) -> None:
    tell("running", **{"pass": place, "passes": total}, seconds=round(seconds, 1))


def _together(endings: Sequence[Ending]) -> Ending:
    """All of them as one: the first that did not end well says how."""
    if not endings:
        return Ending(status=None, seconds=0.0, problem="nothing ran")
    ending = next((each for each in endings if each.stopped or each.status != 0), endings[-1])
    return replace(
        ending,
        seconds=sum(each.seconds for each in endings),
        dropped_bytes=sum(each.dropped_bytes for each in endings),
        left_behind=sum(each.left_behind for each in endings),
    )


def _write_files(command: Command, raw: Path) -> None:
    """Files that a command names; they are in the folder of its data."""
    for name, content in command.files.items():
        path = Path(name)
        if not path.is_relative_to(raw.absolute()):
            raise WavewrightError(f"{shown(name)} is not in the folder of the data", where=shown(str(raw)))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise refused("write a file of the capture", error, path) from None


def _join_outputs(folder: Path) -> None:
    """Write what several passes printed into one file each, pass by pass."""
    for name in (STDOUT, STDERR):
        parts = [part for part in folder.glob(f"*.{name}") if part.name.partition(".")[0].isdigit()]
        if not parts:
            continue
        try:
            with (folder / name).open("wb") as whole:
                for part in sorted(parts, key=lambda part: int(part.name.partition(".")[0])):
                    with suppress(FileNotFoundError), part.open("rb") as stream:
                        shutil.copyfileobj(stream, whole)
        except OSError as error:
            raise refused("write what the program printed", error, folder) from None
