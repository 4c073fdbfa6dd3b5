"""Answers of the page, compressed and counted, so that a file of bounded size can be chosen from them."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, Self

from wavewright.errors import WavewrightError
from wavewright.model.document import Library
from wavewright.page.payloads import HeldAnswer, ask, json
from wavewright.page.protocol.payload import error_body

_COMPRESSION = 6
_AT_ONCE = 512
_LEVEL_MARK = ", level "
_NO_LEVEL = 1 << 30


@dataclass(frozen=True)
class PackedResult:
    """One answer in the spool."""

    key: str
    group: str  #: What is left out together when the file becomes too large; empty = it never is.
    offset: int
    length: int
    is_error: bool


class PackedAnswers:
    """All answers that an exported page may hold, in a temporary file."""

    def __init__(self) -> None:
        self.all: list[PackedResult] = []
        self.left_out: dict[str, int] = {}  # Group -> how many answers of it were left out.
        self._spool: IO[bytes] = tempfile.TemporaryFile(prefix="wavewright-")  # noqa: SIM115 - closed by __exit__
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()

    @property
    def byte_count(self) -> int:
        """Compressed bytes of what is held."""
        return sum(answer.length for answer in self.all)

    def add(self, key: str, group: str, content: bytes, *, is_error: bool = False) -> None:
        """One more answer."""
        self._append(key, group, _compressed(content), is_error=is_error)

    def _append(self, key: str, group: str, content: bytes, *, is_error: bool) -> None:
        self.all.append(PackedResult(key, group, self._end, len(content), is_error))
        self._spool.write(content)
        self._end += len(content)

    def ask(self, library: Library, requests: Iterable[HeldAnswer], most_bytes: int) -> None:
        """Ask for all these. A group that is larger than the whole file may become is not asked for any further."""
        sizes: dict[str, int] = defaultdict(int)

        def answer(request: HeldAnswer) -> tuple[bytes, bool]:
            content, is_error = _answer(library, request)
            return _compressed(content), is_error

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for batch in _batches(requests):
                requested = [request for request in batch if sizes[_group(request)] <= most_bytes]
                for request in batch:
                    if sizes[_group(request)] > most_bytes:
                        self.left_out[_group(request)] = self.left_out.get(_group(request), 0) + 1
                for request, (content, is_error) in zip(requested, pool.map(answer, requested), strict=True):
                    group = _group(request)
                    sizes[group] += len(content) if group else 0
                    self._append(request.key, group, content, is_error=is_error)

    def leave_out(self, most_bytes: int) -> None:
        """Give up whole groups, the largest first, until the rest fits; of levels of detail, the finest left."""
        while self.byte_count > most_bytes:
            sizes: dict[str, int] = defaultdict(int)
            for each in self.all:
                sizes[each.group] += each.length
            droppable = _droppable([group for group in sizes if group])
            if not droppable:
                return
            largest_group = max(droppable, key=sizes.__getitem__)
            other_answers = [each for each in self.all if each.group != largest_group]
            self.left_out[largest_group] = self.left_out.get(largest_group, 0) + len(self.all) - len(other_answers)
            self.all = other_answers
        broken_groups = {group for group in self.left_out if any(each.group == group for each in self.all)}
        for group in broken_groups:  # half a timeline would show holes that are not there
            other_answers = [each for each in self.all if each.group != group]
            self.left_out[group] += len(self.all) - len(other_answers)
            self.all = other_answers

    def read(self, answer: PackedResult) -> bytes:
        """The compressed bytes of an answer."""
        self._spool.seek(answer.offset)
        return self._spool.read(answer.length)


def _compressed(content: bytes) -> bytes:
    return gzip.compress(content, _COMPRESSION, mtime=0)


def _group(request: HeldAnswer) -> str:
    """Answers that are left out together: all of a question about parts of the document; of a level of detail, those
    of one level, so that coarser ones stay."""
    if not request.parameters:
        return ""
    about = [request.parameters[name] for name in ("layer", "name") if name in request.parameters]
    level = request.parameters.get("level")
    return " ".join([request.question, *about]) + ("" if level is None else f"{_LEVEL_MARK}{level}")


def _droppable(groups: Iterable[str]) -> list[str]:
    """Groups that may go next: without the finest level a timeline is coarser, without a middle one it has a gap."""
    finest: dict[str, tuple[int, str]] = {}
    for group in groups:
        series, _, level = group.partition(_LEVEL_MARK)
        finest[series] = min(finest.get(series, (_NO_LEVEL, group)), (int(level or 0), group))
    return [group for _, group in finest.values()]


def _answer(library: Library, request: HeldAnswer) -> tuple[bytes, bool]:
    """The bytes that the server would send, and whether they are an error."""
    try:
        return ask(library.document(request.document), request.question, request.parameters).content, False
    except WavewrightError as error:
        return json(error_body(error.what, error.where, error.kept, error.advice)).content, True


def _batches(requests: Iterable[HeldAnswer]) -> Iterator[list[HeldAnswer]]:
    batch: list[HeldAnswer] = []
    for request in requests:
        batch.append(request)
        if len(batch) == _AT_ONCE:
            yield batch
            batch = []
    yield batch
