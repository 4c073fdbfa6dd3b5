"""A machine at the other end of a connection: the same questions as about this one, answered by the agent there."""

from __future__ import annotations

import time
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from wavewright.capture.machines.machine import READ_BYTES_MAX, Completed, FileFacts, Identity
from wavewright.capture.remote.connection import ANSWER_SECONDS
from wavewright.errors import UnreachableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from wavewright.capture.remote.connection import Connection

#: How old an answer may be that was sent ahead: GPUs become busy and free.
FRESH_SECONDS = 10.0
_MISSING = object()


class RemoteMachine:
    """Answers of the agent; what was announced by `prefetch` is asked for once, in one message."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ahead: dict[str, tuple[float, dict[str, Any]]] = {}  #: By path: until when it is fresh, and answers.

    @property
    def name(self) -> str:
        """What messages call it: the host or container."""
        return self._connection.place.name

    @cached_property
    def _greeting(self) -> dict[str, Any]:
        with _sensible(self.name):
            return dict(self._connection.ask("hello"))

    @cached_property
    def variables(self) -> Mapping[str, str]:
        """The environment in which programs would be started."""
        with _sensible(self.name):
            return {str(name): str(value) for name, value in self._greeting["variables"].items()}

    @cached_property
    def identity(self) -> Identity:
        """Who runs there, and on what."""
        with _sensible(self.name):
            facts = self._greeting["identity"]
            return Identity(
                hostname=str(facts["hostname"]),
                system=str(facts["system"]),
                kernel=str(facts["kernel"]),
                processor=str(facts["processor"]),
                uid=int(facts["uid"]),
                gids=tuple(map(int, facts["gids"])),
                group_names={int(gid): str(name) for gid, name in facts["group_names"].items()},
                python=str(facts["python"]),
            )

    def read(self, path: str) -> bytes | None:
        """The first READ_BYTES_MAX bytes of a file; None = it cannot be read."""
        content = self._from_ahead(path, "content")
        if content is not _MISSING:
            return None if content is None else bytes(content)
        is_there, more = self._connection.ask_bytes("read", path=path)
        return more[:READ_BYTES_MAX] if is_there is True else None

    def text(self, path: str) -> str | None:
        """The same as text, without white space at both ends; bytes that are not UTF-8 are replaced."""
        content = self.read(path)
        return None if content is None else content.decode("utf-8", "replace").strip()

    def names(self, folder: str) -> tuple[str, ...]:
        """Sorted names of the entries of a folder; empty when it cannot be read."""
        with _sensible(self.name):
            return tuple(sorted(_text(name) for name in self._about(folder, "names")))

    def facts(self, path: str) -> FileFacts | None:
        """None = there is nothing, or it may not be seen."""
        with _sensible(self.name):
            facts = self._about(path, "facts")
            if facts is None:
                return None
            kind, mode, uid, gid, size_bytes, modified_ns = facts
            return FileFacts(str(kind), int(mode), int(uid), int(gid), int(size_bytes), int(modified_ns))

    def real_path(self, path: str) -> str:
        """The path with all links followed."""
        with _sensible(self.name):
            return _text(self._about(path, "real_path"))

    def refusal(self, path: str) -> str:
        """Why the file cannot be opened for reading and writing: the name of the error, as EACCES; empty = it can."""
        value = self._about(path, "refusal")
        return value if isinstance(value, str) else _refuse(self.name)

    def free_bytes(self, path: str) -> int | None:
        """Free bytes of the file system of a path, or of its nearest parent that exists; None = unknown."""
        value = self._about(path, "free_bytes")
        return value if isinstance(value, int) else None

    def program(self, name: str) -> str | None:
        """Absolute path of a program on PATH, or of a path to one; None = there is none."""
        value = self._about(name, "program")
        with _sensible(self.name):
            return None if value is None else _text(value)

    def run(self, words: Sequence[str], *, seconds: float, variables: Mapping[str, str] | None = None) -> Completed:
        """Run a short command that changes nothing; it is killed, with all its children, after `seconds`."""
        answer, printed = self._connection.ask_bytes(
            "run",
            patience=seconds + ANSWER_SECONDS,
            seconds=seconds,
            words=list(words),
            variables=dict(variables or {}),
        )
        with _sensible(self.name):
            status, count = answer["status"], int(answer["bytes"])
            parts = printed[:count], printed[count:]
            stdout, stderr = (part[:READ_BYTES_MAX].decode("utf-8", "replace") for part in parts)
            return Completed(None if status is None else int(status), stdout, stderr, str(answer["problem"]))

    def prefetch(self, patterns: Iterable[str]) -> None:
        """Ask for everything about files at once; answers from it are at most FRESH_SECONDS old.

        What was sent ahead before about these paths, and the folders on the way to them, is forgotten.
        """
        wanted = list(patterns)
        answer, contents = self._connection.ask_bytes("prefetch", patterns=wanted)
        with _sensible(self.name):
            ahead = {}
            offset = 0
            for path, entry in sorted(answer.items(), key=lambda each: _bytes(each[0])):
                value = dict(entry)
                if "bytes" in value:
                    count = value["bytes"]
                    value["content"] = None if count is None else contents[offset : offset + int(count)]
                    offset += int(count or 0)
                ahead[_text(path)] = value
        now = time.monotonic()
        asked = [pattern.split("/") for pattern in wanted]
        self._ahead = {
            path: (until, value)
            for path, (until, value) in self._ahead.items()
            if until > now and not any(_is_on_the_way(path.split("/"), pattern) for pattern in asked)
        }
        self._ahead |= {path: (now + FRESH_SECONDS, value) for path, value in ahead.items()}

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _about(self, path: str, what: str) -> Any:
        value = self._from_ahead(path, what)
        return self._connection.ask(what, path=path) if value is _MISSING else value

    def _from_ahead(self, path: str, what: str) -> Any:
        """What was sent ahead, _MISSING = nothing that is fresh."""
        until, value = self._ahead.get(path, (0.0, {}))
        return value.get(what, _MISSING) if time.monotonic() < until else _MISSING


def _is_on_the_way(path: list[str], pattern: list[str]) -> bool:
    """Whether a path is matched by a pattern, or is a folder on the way to what is; both in parts."""
    return len(path) <= len(pattern) and all(map(fnmatchcase, path, pattern))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(name: str) -> str:
    """A name as this Python spells it: an old one there may have spelled letters as bytes."""
    return _bytes(name).decode("utf-8", "surrogateescape")


def _refuse(name: str) -> NoReturn:
    advice = "run it again; if that does not help, report it"
    raise UnreachableError("an answer from there makes no sense", where=name, advice=advice)


def _sensible(name: str) -> AbstractContextManager[None]:
    """What an answer of another form raises becomes one clear error."""
    from contextlib import contextmanager

    @contextmanager
    def guarded() -> Iterator[None]:
        try:
            yield
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            _refuse(name)

    return guarded()
