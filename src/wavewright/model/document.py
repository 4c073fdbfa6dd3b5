"""Documents that questions are about: thread traces, runs, counter captures; opened when first asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from wavewright.base.once import once
from wavewright.base.shown import shown
from wavewright.errors import UsageError
from wavewright.model.counters import CounterSet
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    import polars as pl

    from wavewright.model.losses import Loss

#: The kinds of documents, as messages call them.
DOCUMENTS = {"trace": "a thread trace", "run": "a run", "counters": "a counter capture"}
STORE = "a store of captures"  #: The page shows these, too.

Made = TypeVar("Made")


class CaptureStore(Protocol):
    """A store of what captures measured (`readers.store`)."""

    losses: list[Loss]

    def read(self, where: pl.Expr | None = None, *, columns: Sequence[str] = ...) -> pl.DataFrame:
        """Rows of all captures that fulfil a condition, in the order in which the captures were taken."""


Shown = ThreadTrace | Run | CounterSet


class FirstAnswers(Protocol):
    """Answers that were stored when the document was shown before (`page.protocol.kept_answers`)."""

    @property
    def is_known(self) -> bool:
        """True if there are any."""

    def get(self, name: str, parameters: Mapping[str, str]) -> Any:
        """The answer to a question; None = it is not there."""

    def put(self, name: str, parameters: Mapping[str, str], payload: Any) -> None:
        """Add the answer to a question."""

    def when_quiet(self, longest_seconds: float) -> None:
        """Wait until no question has come for a moment, at most for `longest_seconds`."""

    def differs(self) -> bool:
        """True if a new answer differs from the stored one."""

    def save(self) -> None:
        """Store the new answers."""


@dataclass
class Document:
    """A thread trace, a run, a counter capture or a store that the page can show."""

    number: int
    label: str
    path: str
    opener: Callable[[], Shown | CaptureStore] = field(repr=False)
    library: Library | None = field(default=None, repr=False)
    whole: Document | None = field(default=None, repr=False)  #: The whole document, where this is a part of its time.
    part: tuple[float | None, float | None] = (None, None)  #: Which part: its time, as the page counts it; None = open.
    notes: str = ""  #: The file of notes beside it; empty = there is no place for any.
    #: Answers that were stored when it was shown before, used until it is read; None = none are stored.
    kept_answers: FirstAnswers | None = field(default=None, repr=False)
    #: What questions cache between answers, such as indices and levels of detail; keys are those of `kept`.
    cache: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    gone: str = ""  #: Why it can be read no more; empty = it can.
    _opened: Shown | CaptureStore | None = field(default=None, repr=False)
    _lock: RLock = field(default_factory=RLock, repr=False)

    @property
    def is_open(self) -> bool:
        """True if it was read already."""
        return self._opened is not None

    @property
    def opened(self) -> Shown:
        """The trace, the run or the counter capture, read on first use; a store is asked for as `store`."""
        with self._lock:
            if self.gone:
                raise UsageError(self.gone, where=self.label)
            if self._opened is None:
                self._opened = self._taken_over() or self.opener()
            return cast("Shown", self._opened)

    def _taken_over(self) -> Shown | None:
        """The contents that were read for a look at the document already."""
        lent = self.library.lent.get(self.number) if self.library else None
        if lent is None or lent is self or not lent.is_open:
            return None
        self.cache.update(lent.cache)
        return lent.opened

    def close(self, why: str) -> None:
        """Forget what was read: its files are gone."""
        with self._lock:
            self.gone, self._opened = why, None
            self.cache.clear()

    @property
    def kind(self) -> str:
        """Kind: one of `DOCUMENTS`, or "store"."""
        kinds = ((ThreadTrace, "trace"), (Run, "run"), (CounterSet, "counters"))
        return next((kind for content, kind in kinds if isinstance(self.opened, content)), "store")

    def _contents(self, kind: str) -> Any:
        """The opened trace, run or counters. Raises `UsageError` when it is of another kind."""
        if self.kind != kind:
            raise UsageError(f"{self.label} is {DOCUMENTS.get(self.kind, STORE)}, not {DOCUMENTS.get(kind, STORE)}")
        return self.opened

    @property
    def line(self) -> dict[str, Any]:
        """Entry in the list of documents; the kind is not known before it was opened."""
        return {
            **{name: getattr(self, name) for name in ("number", "label", "path", "is_open")},
            "identity": self.notes or self.path,  # the same whenever it is opened, from wherever
            "kind": self.kind if self.is_open else None,
        }

    @property
    def trace(self) -> ThreadTrace:
        """The thread trace."""
        return cast("ThreadTrace", self._contents("trace"))

    @property
    def run(self) -> Run:
        """The run."""
        return cast("Run", self._contents("run"))

    @property
    def counters(self) -> CounterSet:
        """The counter capture."""
        return cast("CounterSet", self._contents("counters"))

    @property
    def store(self) -> CaptureStore:
        """The store of captures."""
        return cast("CaptureStore", self._contents("store"))

    def kept(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """`make()`, once per key: other threads wait for it, but not for what is made under other keys."""
        value: Made = once(self.cache, key, make)
        return value


@dataclass
class Library:
    """The documents of one page, in the order in which they were named."""

    documents: list[Document] = field(default_factory=list)
    command: str = ""  #: What shows the same documents again, to be followed by `--at PLACE`; empty = not known.
    is_extended: bool = False  #: Whether documents were opened from the page, which no answer of an earlier time knows.
    lent: dict[int, Document] = field(default_factory=dict, repr=False)  #: Number -> copy for a card (`page.gallery`).
    _lock: Lock = field(default_factory=Lock, repr=False)

    def add(self, label: str, path: str, opener: Callable[[], Shown | CaptureStore], *, notes: str = "") -> Document:
        """A new document, not yet opened; `notes` is the file of notes beside it."""
        with self._lock:
            document = Document(len(self.documents), shown(label), path, opener, self, notes=notes)
            self.documents.append(document)
        return document

    def take_back(self, documents: Sequence[Document]) -> None:
        """Remove the documents that were added last: they cannot be read. Others that came after them stay."""
        with self._lock:
            while self.documents and any(self.documents[-1] is document for document in documents):
                self.documents.pop()

    def close_below(self, folder: Path) -> None:
        """Close the documents of a folder that is about to be removed."""
        for document in self.documents:
            if Path(document.path).is_relative_to(folder):
                document.close("it was removed to make room for what was dropped later")

    def document(self, number: int) -> Document:
        """The document of that number."""
        if not 0 <= number < len(self.documents):
            raise UsageError(f"there is no document {number}")
        return self.documents[number]
