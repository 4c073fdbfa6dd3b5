"""What the verbs about counter captures have in common: the path, the choice of dispatches, how to show the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavescope.base.bounds import ID, TOP
from wavescope.base.words import side_label
from wavescope.cli.kit.io import console, emit_json, json_option, progress, with_options
from wavescope.cli.kit.numbers import Whole
from wavescope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import polars as pl
    from rich.console import RenderableType

    from wavescope.analysis.counters.choice import CounterChoice
    from wavescope.model.answer import Answer
    from wavescope.model.counters import CounterSet

DEFAULT_TOP = 20
Span = tuple[int | None, int | None]


@dataclass(frozen=True)
class AskedCounters:
    """What the user asked of one counter capture, and how to show the answer; it is opened when `counters` is read."""

    path: Path | None  #: None = not given, of verbs that may do without.
    kernels: tuple[str, ...] = ()
    dispatches: tuple[Span, ...] = ()
    gpus: tuple[int, ...] = ()
    target: str | None = None  #: The GPU, where the capture does not say it.
    top: int | None = None  #: Rows to show; None = not said.
    as_json: bool = False
    as_csv: bool = False

    @property
    def limit(self) -> int:
        """Rows to show in text; 0 asked for means all."""
        if self.top is None:
            return DEFAULT_TOP
        return self.top or 1 << 62

    @cached_property
    def counters(self) -> CounterSet:
        """The capture, whole, with progress on a terminal."""
        from wavescope.readers.counters import open_counters

        if self.path is None:
            raise UsageError("no capture is named", advice="give the PATH of a counter capture")
        with progress(f"reading {self.path.name}"):
            opened: CounterSet = open_counters(self.path, target=self.target)
        return opened

    @cached_property
    def choice(self) -> CounterChoice:
        """The dispatches that are asked about.

        Raises
        ------
        UsageError
            When no dispatch has one of the ids.
        """
        from wavescope.analysis.counters.choice import CounterChoice

        return CounterChoice(kernels=self.kernels, dispatches=self._dispatch_ids(), gpus=self.gpus)

    def at(self, path: Path) -> AskedCounters:
        """The same question about another capture."""
        return replace(self, path=path)

    def give(
        self,
        answer: Answer,
        table: pl.DataFrame,
        report: Callable[[], Iterable[RenderableType]],
        *,
        is_cut: bool = False,
        **more: Any,
    ) -> None:
        """The answer in the form that was asked for: one JSON object, `table` as CSV, or the parts of `report`.

        `is_cut`: the answer is about the first `top` things already, and its tables have several rows of each.

        Losses are never hidden: in JSON they are part of the object, with CSV they go to stderr.
        """
        if self.as_json:
            from wavescope.model.answer import to_builtins

            body = to_builtins(answer, top=None if is_cut else self.top or None)
            emit_json({"input": str(self.path), **body, **more, "losses": self.counters.losses.to_dicts()})
            return
        self.show(table, report, [self.counters], is_cut=is_cut)

    def show(
        self,
        table: pl.DataFrame,
        report: Callable[[], Iterable[RenderableType]],
        captures: Sequence[CounterSet],
        *,
        is_cut: bool = False,
    ) -> None:
        """`table` as CSV or the parts of `report`, then the losses of the captures A, B, ...: with CSV on stderr."""
        from rich.text import Text

        from wavescope.analysis.trace.overview import losses_of
        from wavescope.report.kit.losses import loss_lines

        if self.as_csv:
            from wavescope.base.csv import write_csv

            shown = table.head(self.top) if self.top and not is_cut else table
            click.echo(write_csv(shown), nl=False)
            if shown.height < table.height:
                click.echo(f"showing {shown.height:,} of {table.height:,} rows", err=True)
        out = console(stderr=self.as_csv)
        for part in () if self.as_csv else report():
            out.print(part)
        for number, counters in enumerate(captures):
            label = f"{side_label(number)}: " if len(captures) > 1 else ""
            for line in loss_lines(losses_of(counters)):
                out.print(Text.assemble(label, line))

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
            what = "no dispatch has such an id"
            known = f"ids are from {ids[0]} to {ids[-1]}" if ids.len() else "the capture has no dispatches"
            raise UsageError(what, where=str(self.path), advice=f"--dispatch takes 5, 3-7 or '>10'; {known}")
        return tuple(chosen)


def counter_verb(verb: Callable[..., None], *, is_path_needed: bool = True) -> click.Command:
    """A click command that takes PATH and the common options, and hands them to `verb` as one `AskedCounters`."""
    path = click.argument("path", type=click.Path(path_type=Path), required=is_path_needed)
    return click.command()(path(counter_options(verb)))


def counter_options(verb: Callable[..., None]) -> Callable[..., None]:
    """The common options without PATH, handed on as one `AskedCounters`; of a verb with several PATHS, without one."""

    @wraps(verb)
    def run(**options: Any) -> None:
        common = {name: options.pop(name) for name in _NAMES}
        verb(AskedCounters(path=options.pop("path", None), **common), **options)

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
        found = self._FORM.fullmatch(str(value).replace(",", "").replace("_", ""))
        if found is None:
            self.fail(f"{str(value)[:40]!r} is no id, range 3-7 or bound '>10'", param, ctx)
        if found["sign"]:
            bound, is_open = int(found["bound"]), len(found["sign"]) == 1
            return (bound + is_open, None) if found["sign"][0] == ">" else (None, bound - is_open)
        first, last = int(found["first"]), int(found["last"] or found["first"])
        if last < first:
            self.fail(f"{value!r} is an empty range", param, ctx)
        return first, last


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--kernel",
        "kernels",
        multiple=True,
        metavar="NAME",
        help="Only kernels whose name contains NAME, or the kernel of this rank (0 = the longest); may be repeated.",
    ),
    click.option(
        "--dispatch",
        "dispatches",
        type=_Dispatches(),
        multiple=True,
        metavar="ID",
        help="Only dispatches with these ids: 5, 3-7 or '>10'; may be repeated.",
    ),
    click.option("--gpu", "gpus", type=Whole(ID), multiple=True, help="Only this GPU of the capture; may be repeated."),
    click.option(
        "--target", metavar="NAME", help="GPU (gfx942 or MI300X) that was measured, if the capture does not say it."
    ),
    click.option("--top", type=Whole(TOP), metavar="N", help="Rows to show; 0 = all. Default: 20."),
    click.option("--csv", "as_csv", is_flag=True, help="Print the main table as CSV instead of text."),
    json_option,
)
_NAMES = ("kernels", "dispatches", "gpus", "target", "top", "as_csv", "as_json")
