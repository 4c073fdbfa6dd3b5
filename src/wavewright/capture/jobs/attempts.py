"""One attempt: its passes are run one after the other, and end as one."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from wavewright.base.shown import shown
from wavewright.capture.jobs.folder import RAW, STDERR, STDOUT, refused
from wavewright.capture.machines.left_behind import MARK
from wavewright.capture.machines.runner import Ending
from wavewright.capture.plans.planning import environment_of
from wavewright.errors import WavewrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from wavewright.capture.machines.runner import Limits, Runner
    from wavewright.capture.plans.command import Command

_USAGE_STATUS = 2  #: Of AMD's script for words that it does not know.


@dataclass(frozen=True)
class Passes:
    """How the passes of an attempt ended."""

    endings: tuple[Ending, ...]

    @property
    def is_stopped(self) -> bool:
        """Whether the other passes make no sense: one could not be started, was refused, or had to be stopped."""
        return any(each.status in (None, _USAGE_STATUS) or each.stopped for each in self.endings)

    @property
    def together(self) -> Ending:
        """All of them as one: the first that did not end well says how."""
        first = next((each for each in self.endings if each.stopped or each.status != 0), None)
        ending = first or (
            self.endings[-1] if self.endings else Ending(status=None, seconds=0.0, problem="nothing ran")
        )
        return Ending(
            status=ending.status,
            seconds=sum(each.seconds for each in self.endings),
            stopped=ending.stopped,
            problem=ending.problem,
            dropped_bytes=sum(each.dropped_bytes for each in self.endings),
            left_behind=sum(each.left_behind for each in self.endings),
        )


def run_passes(
    commands: Sequence[Command],
    folder: Path,
    *,
    runner: Runner,
    variables: Mapping[str, str],
    limits: Limits,
    mark: str,
    started: Callable[[int, str], None],
    ended: Callable[[int, Ending], None],
    running: Callable[[int, float], None],
) -> Passes:
    """Run the commands of an attempt; what they print goes to stdout.txt and stderr.txt of its folder.

    Parameters
    ----------
    variables
        Those of the machine.
    mark
        By which processes of this attempt are recognised.
    started, ended, running
        Called with the number of a pass, from 1, and its mark, its ending, or the seconds since it was started.
    """
    endings: list[Ending] = []
    for place, command in enumerate(commands, 1):
        is_only = len(commands) == 1
        _write_files(command, folder / RAW, runner)
        started(place, mark)
        ending = runner.run(
            command.words,
            variables=environment_of(command, variables) | {MARK: mark},
            cwd=command.cwd,
            stdout=folder / (STDOUT if is_only else f"{place}.{STDOUT}"),
            stderr=folder / (STDERR if is_only else f"{place}.{STDERR}"),
            limits=limits,
            each_second=partial(running, place),
        )
        ended(place, ending)
        endings.append(ending)
        if Passes(tuple(endings)).is_stopped:
            break
    join_outputs(folder)
    return Passes(tuple(endings))


def _write_files(command: Command, raw: Path, runner: Runner) -> None:
    """Files that a command names; they are in the folder of its data."""
    place = runner.folder(raw) if command.files else ""
    for path, content in command.files.items():
        if not path.startswith(f"{place}/"):
            raise WavewrightError(f"{shown(path)} is not in the folder of the data", where=shown(place))
        runner.write(raw, path.removeprefix(f"{place}/"), content)


def join_outputs(folder: Path) -> None:
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
