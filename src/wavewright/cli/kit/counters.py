"""Requests about counter captures: one path, and the selection of dispatches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from wavewright.cli.kit.io import progress
from wavewright.cli.kit.options import without_letter
from wavewright.cli.kit.request import Request, form_of
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from wavewright.analysis.counters.choice import CounterChoice
    from wavewright.model.counters import CounterSet
    from wavewright.model.document import Document

Span = tuple[int | None, int | None]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CounterRequest(Request):
    """A request about one counter capture, which is opened when `counters` is read."""

    kind: ClassVar[str] = "counters"

    path: Path | None = None  #: None = no capture given, for verbs that can do without.
    kernels: tuple[str, ...] = ()
    dispatches: tuple[Span, ...] = ()
    gpus: tuple[int, ...] = ()
    target: str | None = None  #: The GPU, where the capture does not record it.

    @cached_property
    def counters(self) -> CounterSet:
        """The whole capture, read with progress on a terminal."""
        from wavewright.readers.counters import open_counters

        if self.path is None:
            raise UsageError("no capture is given", advice="pass the PATH of a counter capture")
        with progress(f"reading {self.path.name}"):
            opened: CounterSet = open_counters(self.path, target=self.target)
        return opened

    @property
    def losses(self) -> pl.DataFrame:
        """Losses of the capture."""
        return self.counters.losses

    @property
    def document(self) -> Document:
        """The document that questions are asked about."""
        from wavewright.model.document import Document

        path = str(self.path)
        return Document(0, path, path, lambda: self.counters)

    @cached_property
    def choice(self) -> CounterChoice:
        """The requested dispatches. Raises `UsageError` when no dispatch has one of the ids."""
        from wavewright.analysis.counters.choice import CounterChoice

        return CounterChoice(kernels=self.kernels, dispatches=self._dispatch_ids(), gpus=self.gpus)

    def at(self, path: Path) -> CounterRequest:
        """The same request about another capture."""
        return replace(self, path=path, paths=(path,))

    def _dispatch_ids(self) -> tuple[int, ...]:
        """Ids of the capture's dispatches in one of the spans; all of them where nothing is said: ()."""
        import polars as pl

        if not self.dispatches:
            return ()
        rows = self.counters.dispatches
        if self.gpus:
            rows = rows.filter(pl.col("gpu").is_in(self.gpus))
        ids = rows["dispatch_id"].drop_nulls().unique().sort()
        lowest, highest = -(1 << 63), (1 << 63) - 1
        inside = [
            pl.col("dispatch_id").is_between(max(lowest, begin or 0), highest if end is None else min(highest, end))
            for begin, end in self.dispatches
        ]
        chosen = ids.to_frame().filter(pl.any_horizontal(inside))["dispatch_id"]
        if not chosen.len():
            what = "no dispatch has this id"
            ids_there = f"ids are from {ids[0]} to {ids[-1]}" if ids.len() else "the capture has no dispatches"
            raise UsageError(what, where=str(self.path), advice=f"--dispatch takes 5, 3-7 or '>10'; {ids_there}")
        return tuple(chosen)


def counter_request(options: dict[str, Any]) -> CounterRequest:
    """The request of a command line about one PATH, or about PATHS; its options are taken out."""
    paths = options.pop("paths", ())
    path = options.pop("path", None)
    return CounterRequest(
        path=path,
        paths=paths if path is None else (path,),
        kernels=tuple(without_letter(name, "k") for name in options.pop("kernels")),
        **{name: options.pop(name) for name in ("dispatches", "gpus", "target")},
        **form_of(options),
    )
