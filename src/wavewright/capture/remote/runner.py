"""Programs on another machine or in a container: the agent there runs them, and keeps what they leave until it is here.

Beside each local folder a small file, NAME.remote.json, says where its data are. With it a later connection brings what
an earlier one could not, and learns how a program ended whose connection was lost.
"""

from __future__ import annotations

import os
import secrets
import time
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from wavewright.base.own_folders import is_own_folder
from wavewright.base.shown import shown
from wavewright.capture.jobs.stored import converted, read_json, write_json
from wavewright.capture.machines.runner import Ending
from wavewright.capture.remote.bringing import BYTES_MAX, Brought, bring, name_problem
from wavewright.errors import OutputError, UnreachableError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from wavewright.capture.machines.runner import Limits
    from wavewright.capture.remote.connection import Connection

_MARK = "WAVEWRIGHT_JOB"  #: As in capture/machines/left_behind.py.
_WATCH_SECONDS = 1.0
_LOSSES_TOLD_MAX = 10
_CLEAR_SECONDS = 1000.0  #: A program may use its whole grace.
_LATEST_SECONDS = 45.0  #: From the last signal to the answer that a program has ended.


@dataclass(kw_only=True)
class _Run:
    """One program of a folder."""

    run: int  #: Its number on the other machine.
    stdout: str  #: Where its output goes, as a path from the folder in which NAME.remote.json is.
    stderr: str
    ending: dict[str, Any] | None = None


@dataclass(kw_only=True)
class _Record:
    """What NAME.remote.json holds."""

    token: str
    place: str = ""
    folder: str = ""
    runs: list[_Run] = field(default_factory=list)
    is_brought: bool = False
    losses: list[str] = field(default_factory=list)


class RemoteRunner:
    """Runs programs at the other end of a connection.

    Parameters
    ----------
    connection
        An open connection.
    progress
        Called with bytes that are here and bytes in total while data are brought.
    say
        Called with a sentence about data that stay there.
    bytes_max
        Most bytes that one call of `bring` fetches.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        progress: Callable[[int, int], None] = lambda done_bytes, total_bytes: None,
        say: Callable[[str], None] = lambda sentence: None,
        bytes_max: int = BYTES_MAX,
    ) -> None:
        self._connection = connection
        self._say = say
        self.progress = progress
        self.bytes_max = bytes_max
        self._folders: dict[Path, _Record] = {}

    def folder(self, local: Path) -> str:
        """The folder of that machine in which a program leaves what will end up in `local`; both are created.

        Raises
        ------
        OutputError
            When the file system here refuses.
        WavewrightError
            When that of the other machine does.
        """
        try:
            local.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot create the folder: {error.strerror}", where=shown(str(local))) from None
        record = self._record(local) or _Record(token=secrets.token_hex(12))
        record.place = self._connection.place.name
        record.folder = str(self._connection.ask("folder", token=record.token))
        record.is_brought = False
        self._folders[local] = record
        self._save(local, record)
        return record.folder

    def run(
        self,
        words: Sequence[str],
        *,
        variables: Mapping[str, str],
        cwd: str,
        stdout: Path,
        stderr: Path,
        limits: Limits,
        each_second: Callable[[float], None] = lambda seconds: None,
    ) -> Ending:
        """Run a program with exactly these variables to its end; nothing of its group is left running.

        As on this machine, the variable WAVEWRIGHT_JOB is added where it is missing.

        Raises
        ------
        UnreachableError
            When the connection is lost. The program is then stopped gently by the other end, and `bring` gets its data.
        """
        with _opened(stdout) as out, _opened(stderr) as err:
            local = self._folder_of(stdout)
            record = self._folders[local] if local else _Record(token=secrets.token_hex(12))
            record.is_brought = False
            number = len(record.runs) + 1
            top = local.parent if local else stdout.parent
            entry = _Run(run=number, stdout=os.path.relpath(stdout, top), stderr=os.path.relpath(stderr, top))
            record.runs.append(entry)
            self._save(local, record)
            self._connection.ask(
                "start",
                token=record.token,
                run=number,
                words=list(words),
                variables={_MARK: uuid.uuid4().hex, **variables},
                cwd=cwd,
                seconds=limits.seconds,
                grace_seconds=limits.grace_seconds,
                output_bytes=limits.output_bytes,
            )
            following = _Following(self._connection, record.token, number, out, err, limits.output_bytes)
            try:
                ending = following.to_end(each_second)
            except UnreachableError:
                raise
            except BaseException:  # an interrupt: it gets the time to write its data
                self._connection.ask("stop", token=record.token, run=number)
                following.to_end(lambda seconds: None, seconds_max=limits.grace_seconds + _LATEST_SECONDS)
                raise
        entry.ending = asdict(ending)
        self._save(local, record)
        if local is None:
            self._connection.ask("remove", token=record.token)
        return ending

    def bring(self, local: Path) -> None:
        """Bring what programs left in `folder(local)` into `local`, checked by hash; what is there already stays.

        A program whose connection was lost is waited for, and what it printed is completed. When everything is here,
        the other machine's copy is removed; what was refused or does not fit stays there and is in `losses`.

        Raises
        ------
        UnreachableError
            When the connection is lost; calling it again goes on where it stopped.
        OutputError
            When the file system here refuses.
        """
        record = self._folders.get(local) or self._record(local)
        if record is None or record.is_brought:
            return
        self._folders[local] = record
        for entry in record.runs:
            if entry.ending is None:
                self._complete(local, record, entry)
                self._save(local, record)
        brought: Brought = bring(
            self._connection, record.token, local, bytes_max=self.bytes_max, progress=self.progress
        )
        record.losses = brought.losses
        record.is_brought = not brought.losses
        self._save(local, record)
        self._tell_losses(record)
        if record.is_brought:  # a program that is started in this folder later makes it again
            self._connection.ask("remove", token=record.token)

    def _tell_losses(self, record: _Record) -> None:
        for loss in record.losses[:_LOSSES_TOLD_MAX]:
            self._say(f"not brought: {loss}")
        if len(record.losses) > _LOSSES_TOLD_MAX:
            self._say(f"not brought: {len(record.losses) - _LOSSES_TOLD_MAX:,} more")
        if record.losses:
            self._say(f"what was not brought is in {record.folder} on {record.place}")

    def losses(self, local: Path) -> tuple[str, ...]:
        """What the last `bring` refused or left there, and why."""
        record = self._folders.get(local) or self._record(local)
        return tuple(record.losses) if record else ()

    def ending(self, local: Path) -> Ending | None:
        """How the last program of a folder ended, also when its connection was lost; None = unknown."""
        record = self._folders.get(local) or self._record(local)
        ending = record.runs[-1].ending if record and record.runs else None
        return _ending_of(ending) if ending else None

    def clear(self, mark: str) -> int:
        """End what is left of an earlier run whose taker was killed; how many processes that were."""
        count = self._connection.ask("clear", mark=mark, patience=_CLEAR_SECONDS)
        return count if isinstance(count, int) else 0

    def write(self, local: Path, name: str, content: bytes) -> str:
        """Write a small file that a program needs into `folder(local)`; `name` may hold folders. Its path there."""
        if local not in self._folders:
            self.folder(local)
        return str(self._connection.ask("write", content, token=self._folders[local].token, name=name))

    def _folder_of(self, stdout: Path) -> Path | None:
        """The folder to which a program belongs that prints into this file; None = there will be no data."""
        for local in reversed(self._folders):
            if stdout.parent in (local, local.parent):
                return local
        return None

    def _complete(self, local: Path, record: _Record, entry: _Run) -> None:
        """Get the rest of what a program printed whose connection was lost, and how it ended."""
        with _appended(local, entry.stdout) as out, _appended(local, entry.stderr) as err:
            limit = 1 << 40
            following = _Following(self._connection, record.token, entry.run, out, err, limit)
            ending = following.to_end(lambda seconds: None, seconds_max=3600.0)
        entry.ending = asdict(ending)

    def _record(self, local: Path) -> _Record | None:
        """What an earlier connection wrote."""
        try:
            return converted(read_json(_record_path(local)), _Record)
        except UsageError:
            return None

    def _save(self, local: Path | None, record: _Record) -> None:
        if local is None:
            return
        write_json(_record_path(local), asdict(record))


class _Following:
    """Follows a program: its output into two files, until it has ended."""

    def __init__(
        self, connection: Connection, token: str, number: int, out: BinaryIO, err: BinaryIO, output_bytes: int
    ) -> None:
        self._connection = connection
        self._key: dict[str, Any] = {"token": token, "run": number}
        self._files = (out, err)
        # The agent keeps the limit; the line that says what is left out is beyond it.
        self._limit = output_bytes + 200
        self._dropped = 0

    def to_end(self, tick: Callable[[float], None], *, seconds_max: float | None = None) -> Ending:
        start = time.monotonic()
        beat = start + _WATCH_SECONDS
        while True:
            offsets = [file.tell() for file in self._files]
            answer, printed = self._connection.ask_bytes(
                "output", **self._key, stdout=offsets[0], stderr=offsets[1], wait_seconds=_WATCH_SECONDS
            )
            count = answer.get("bytes") if isinstance(answer, dict) else None
            if not isinstance(count, int):
                raise UnreachableError("an answer from there makes no sense", where=self._connection.place.name)
            is_over_limit = not self._write(printed[:count], printed[count:])
            if answer.get("ending") or is_over_limit:
                return _ending_of(answer.get("ending") or {"stopped": "interrupted"}, self._dropped)
            if answer.get("is_over"):  # its agent was killed, too
                return Ending(status=None, seconds=0.0, stopped="interrupted", problem="how it ended is not known")
            now = time.monotonic()
            if now >= beat:
                beat = now + _WATCH_SECONDS
                tick(now - start)
            if seconds_max is not None and now - start > seconds_max:
                raise UnreachableError("the program there does not end", where=self._connection.place.name)
            if seconds_max is not None and not printed:
                time.sleep(0.05)

    def _write(self, *parts: bytes) -> bool:
        """Whether all of it was within the limit."""
        is_within = True
        for file, part in zip(self._files, parts, strict=True):
            room = max(0, self._limit - file.tell())
            is_within &= len(part) <= room
            with suppress(OSError):  # a full disk costs the rest of the output, but not the run
                file.write(part[:room])
                file.flush()
        return is_within


def _ending_of(value: dict[str, Any], more_dropped: int = 0) -> Ending:
    status = value.get("status")
    numbers = {name: value.get(name) for name in ("seconds", "dropped_bytes", "left_behind")}
    counts = {name: number if isinstance(number, int | float) else 0 for name, number in numbers.items()}
    return Ending(
        status=status if isinstance(status, int) else None,
        seconds=float(counts["seconds"]),
        stopped=str(value.get("stopped") or ""),
        problem=str(value.get("problem") or ""),
        dropped_bytes=int(counts["dropped_bytes"]) + more_dropped,
        left_behind=int(counts["left_behind"]),
    )


def _record_path(local: Path) -> Path:
    return local.with_name(f"{local.name}.remote.json")


def _appended(local: Path, name: str) -> BinaryIO:
    """A file of the capture, at whose end the rest is written; its name comes from a file that anyone may have made."""
    path = local.parent / name
    if name_problem(name) or not is_own_folder(local.parent, path.parent):
        what = f"{_record_path(local).name} names a file outside the capture: {shown(name)}"
        raise UsageError(what, where=shown(str(local.parent)), advice="do not go on with this capture; take it again")
    file = _opened(path, 0)
    file.seek(0, os.SEEK_END)
    return file


def _opened(path: Path, more_flags: int = os.O_TRUNC) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | more_flags
    try:
        return os.fdopen(os.open(path, flags, 0o666), "wb")
    except OSError as error:
        raise OutputError(f"cannot write what the program prints: {error.strerror}", where=shown(str(path))) from None
