"""Requests about counter captures: one path, and the selection of dispatches."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from wavewright.base.bounds import ID
from wavewright.cli.kit.io import progress, with_options
from wavewright.cli.kit.numbers import Whole, without_letter
from wavewright.cli.kit.request import FORM_NAMES, Request, form_options, target_option
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

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
    def document(self) -> Document:
        """What topics are asked about."""
        from wavewright.model.document import Document

        path = str(self.path)
        return Document(0, path, path, lambda: self.counters)

    @cached_property
    def choice(self) -> CounterChoice:
        """The requested dispatches.

        Raises
        ------
        UsageError
            When no dispatch has one of the ids.
        """
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


def counter_verb(verb: Callable[..., None], *, is_path_needed: bool = True) -> click.Command:
    """A click command that takes PATH and the common options, and passes them to `verb` as one `CounterRequest`."""
    path = click.argument("path", type=click.Path(path_type=Path), required=is_path_needed)
    return click.command()(path(counter_options(verb)))


def counter_options(verb: Callable[..., None]) -> Callable[..., None]:
    """The common options without PATH, passed on as one `CounterRequest`; no path where a verb has PATHS."""

    @wraps(verb)
    def run(**options: Any) -> None:
        common = {name: options.pop(name) for name in _NAMES}
        common["kernels"] = tuple(without_letter(name, "k") for name in common["kernels"])
        path = options.pop("path", None)
        paths = options.get("paths", ()) if path is None else (path,)
        verb(CounterRequest(path=path, paths=paths, **common), **options)

    return with_options(run, _OPTIONS)


class _Dispatches(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in newer versions of click only
    """`5`, `3-7`, `>10`, `<=4`: the first and the last id, None = open."""

    name = "ID"
    _FORM = re.compile(
        r"\s*(?:(?P<first>\d{1,30})\s*(?:[-:]\s*(?P<last>\d{1,30}))?|(?P<sign>[<>]=?)\s*(?P<bound>\d{1,30}))\s*"
    )

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Span:
        if isinstance(value, tuple):
            return value
        text = without_letter(str(value), "d")
        match = self._FORM.fullmatch(text.replace(",", "").replace("_", ""))
        if match is None:
            self.fail(f"{str(value)[:40]!r} is not an id, a range (3-7) or a bound ('>10')", param, ctx)
        if match["sign"]:
            bound, is_open = int(match["bound"]), len(match["sign"]) == 1
            return (bound + is_open, None) if match["sign"][0] == ">" else (None, bound - is_open)
        first, last = int(match["first"]), int(match["last"] or match["first"])
        if last < first:
            self.fail(f"{value!r} is an empty range", param, ctx)
        return first, last


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--kernel",
        "kernels",
        multiple=True,
        metavar="NAME",
        help="Only kernels whose name contains NAME, or the kernel of this rank (0 or k0 = the longest); repeatable.",
    ),
    click.option(
        "--dispatch",
        "dispatches",
        type=_Dispatches(),
        multiple=True,
        metavar="ID",
        help="Only dispatches with these ids: 5, 3-7 or '>10'; may be repeated.",
    ),
    click.option(
        "--gpu", "gpus", type=Whole(ID, "g"), multiple=True, help="Only this GPU of the capture; may be repeated."
    ),
    target_option,
    *form_options,
)
_NAMES = ("kernels", "dispatches", "gpus", "target", *FORM_NAMES)
