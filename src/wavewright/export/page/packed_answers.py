"""The compressed answers of an exported page, and the choice of those that fit into a file of bounded size."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import IO, Self

from wavewright.errors import WavewrightError
from wavewright.model.document import Library
from wavewright.page.payloads import HeldAnswer, ask, json
from wavewright.page.protocol.payload import error_body

_COMPRESSION = 6  #: Level of gzip.
_BATCH = 512  #: Answers that are computed before the sizes of their groups are checked.
_LEVEL_MARK = ", level "  #: In the name of a group, before its level of detail.


@dataclass(frozen=True)
class PackedResult:
    """One compressed answer in the spool file."""

    key: str
    group: str  #: Answers of a group are left out together when the page becomes too large; empty = never.
    offset: int
    length: int
    is_error: bool


class PackedAnswers:
    """The answers of an exported page, in a temporary file."""

    def __init__(self) -> None:
        self.all: list[PackedResult] = []
        self.left_out: Counter[str] = Counter()  # Group -> number of its answers that were left out.
        self._spool: IO[bytes] = tempfile.TemporaryFile(prefix="wavewright-")  # noqa: SIM115 - closed by __exit__
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()

    def add(self, key: str, content: bytes) -> None:
        """Add an answer that is never left out."""
        self._append(key, "", _compressed(content), is_error=False)

    def _append(self, key: str, group: str, content: bytes, *, is_error: bool) -> None:
        self.all.append(PackedResult(key, group, self._end, len(content), is_error))
        self._spool.write(content)
        self._end += len(content)

    def ask(self, library: Library, requests: Iterable[HeldAnswer], most_bytes: int) -> None:
        """Compute and add answers; once a group is larger than the whole page may be, the rest of it is skipped."""
        sizes: Counter[str] = Counter()
        answer = partial(_answer, library)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for batch in _batches(requests):
                groups = [_group(request) for request in batch]
                self.left_out.update(group for group in groups if sizes[group] > most_bytes)
                wanted = [request for request, group in zip(batch, groups, strict=True) if sizes[group] <= most_bytes]
                for request, (content, is_error) in zip(wanted, pool.map(answer, wanted), strict=True):
                    group = _group(request)
                    sizes[group] += len(content) if group else 0
                    self._append(request.key, group, content, is_error=is_error)

    def leave_out(self, most_bytes: int) -> None:
        """Drop whole groups, the largest first, until the rest fits; of levels of detail, the finest one first."""
        while sum(answer.length for answer in self.all) > most_bytes:
            sizes: Counter[str] = Counter()
            for answer in self.all:
                sizes[answer.group] += answer.length
            droppable = _droppable([group for group in sizes if group])
            if not droppable:
                return
            self._drop(max(droppable, key=sizes.__getitem__))
        for group in self.left_out.keys() & {answer.group for answer in self.all}:
            self._drop(group)  # a part of a timeline would look like a timeline with holes

    def _drop(self, group: str) -> None:
        remaining = [answer for answer in self.all if answer.group != group]
        self.left_out[group] += len(self.all) - len(remaining)
        self.all = remaining

    def read(self, answer: PackedResult) -> bytes:
        """The compressed bytes of an answer."""
        self._spool.seek(answer.offset)
        return self._spool.read(answer.length)


def _compressed(content: bytes) -> bytes:
    return gzip.compress(content, _COMPRESSION, mtime=0)


def _group(request: HeldAnswer) -> str:
    """The group of an answer: its question with the timeline or curve, and the level of detail if there is one."""
    if not request.parameters:
        return ""
    series = [request.parameters[name] for name in ("layer", "name") if name in request.parameters]
    level = request.parameters.get("level")
    return " ".join([request.question, *series]) + ("" if level is None else f"{_LEVEL_MARK}{level}")


def _droppable(groups: Iterable[str]) -> list[str]:
    """The finest level of each timeline or curve; dropping a middle level would leave a gap between two others."""
    finest: dict[str, tuple[int, str]] = {}
    for group in groups:
        series, _, level = group.partition(_LEVEL_MARK)
        numbered_group = (int(level or 0), group)  # level 0 is the finest
        finest[series] = min(finest.get(series, numbered_group), numbered_group)
    return [group for _, group in finest.values()]


def _answer(library: Library, request: HeldAnswer) -> tuple[bytes, bool]:
    """The compressed bytes that the server would send, and whether they are an error."""
    try:
        payload = ask(library.document(request.document), request.question, request.parameters)
        return _compressed(payload.content), False
    except WavewrightError as error:
        body = error_body(error.what, error.where, error.kept, error.advice)
        return _compressed(json(body).content), True


def _batches(requests: Iterable[HeldAnswer]) -> Iterator[list[HeldAnswer]]:
    batch: list[HeldAnswer] = []
    for request in requests:
        batch.append(request)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    yield batch
