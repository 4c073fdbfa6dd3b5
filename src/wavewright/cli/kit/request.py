"""One request of the command line: inputs, number of rows, and the form of the output."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

import click

from wavewright.cli.kit.form import DEFAULT_TOP as DEFAULT_TOP  # verbs take it from here
from wavewright.cli.kit.form import current_brief, is_compact
from wavewright.cli.kit.io import COMPACT_TOP, console, emit_json, tell_losses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import polars as pl

    from wavewright.model.answer import Answer
    from wavewright.model.blocks import AnyBlock, Sentence
    from wavewright.model.document import Document

Parts: TypeAlias = "Iterable[AnyBlock]"  #: What text shows, one below the other.
#: Imports what makes text only when called: other forms start faster without.
Report: TypeAlias = "Callable[[], Parts]"
ALL_ROWS = 1 << 62  #: A number of rows that no table has, for functions that take a limit.


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Request:
    """Inputs and form of an answer, for every verb that prints one. Subclasses add the selection of their kind."""

    paths: tuple[str | Path, ...] = ()
    kind: ClassVar[str] = ""  #: Of the document: trace, run or counters; empty = none of them.
    top: int | None = None  #: Rows to show; None = the default, 0 = all.
    as_json: bool = False
    as_csv: bool = False

    @property
    def limit(self) -> int:
        """Rows to show in text."""
        return DEFAULT_TOP if self.top is None else self.top or ALL_ROWS

    @property
    def json_top(self) -> int | None:
        """Rows of a table in JSON; None = all."""
        return COMPACT_TOP if self.top is None and is_compact() else self.top or None

    @property
    def losses(self) -> pl.DataFrame | Sequence[pl.DataFrame]:
        """Losses of the input."""
        return ()

    @property
    def inputs(self) -> Sequence[str] | None:
        """The files that were read; None = the paths."""
        return None

    @property
    def origin(self) -> dict[str, Any]:
        """Facts about the input that belong into the JSON object."""
        return {}

    @property
    def document(self) -> Document | None:
        """The document of the request, as questions take it; None = no document."""
        return None

    def head(self, width: int) -> Sequence[Sentence]:
        """Lines above every report: the subject."""
        return ()

    def give(
        self,
        answer: Answer | dict[str, Any],
        table: pl.DataFrame,
        report: Report,
        losses: pl.DataFrame | Sequence[pl.DataFrame],
        *,
        inputs: Sequence[str] | None = None,
        is_cut: bool = False,
        **facts: Any,
    ) -> None:
        """Print the answer in the requested form: one JSON object, `table` as CSV, or the parts of `report`.

        Losses that may change a number are always printed, by CSV to stderr; JSON contains all.

        `losses` are of all inputs together, or one table per input; then lines are labelled A, B, ... For JSON `inputs`
        are the files that were read (None = the paths), and `facts` more keys of the object. `is_cut`: the answer is
        limited to the first `top` items already; its tables may have several rows of each.
        """
        if self.as_json:
            self.emit(answer, losses, inputs=inputs, top=None if is_cut else self.json_top, **facts)
        elif self.as_csv:
            self.print_csv(table, is_cut=is_cut)
            self.print_losses(losses, stderr=True)
        else:
            out = console()
            head: Parts = self.head(out.width)
            if brief := current_brief():  # which has a place of its own for the subject
                brief.kind, brief.subject, head = self.kind, " ".join(part.text for part in self.head(out.width)), ()
                brief.answer, brief.document, brief.table, brief.limit = answer, self.document, table, self.limit
            for part in chain(head, report()):
                out.print(part)
            self.print_losses(_without_caveats(losses, answer))

    def emit(
        self,
        answer: Answer | dict[str, Any],
        losses: pl.DataFrame | Sequence[pl.DataFrame],
        *,
        inputs: Sequence[str] | None = None,
        top: int | None = None,
        **facts: Any,
    ) -> None:
        """Print the answer as one JSON object, its tables and its findings cut to `top` of them."""
        import polars as pl

        from wavewright.model.answer import to_builtins

        findings = getattr(answer, "findings", ())
        if top is not None and len(findings) > top:
            answer = replace(cast("Any", answer), findings=findings[:top])
            facts["finding_count"] = len(findings)
        body = {**self.origin, **to_builtins(answer, top=top), **facts}
        rows = losses.to_dicts() if isinstance(losses, pl.DataFrame) else [table.to_dicts() for table in losses]
        emit_json(body, inputs=self.paths if inputs is None else inputs, losses=rows)

    def print_csv(self, table: pl.DataFrame, *, is_cut: bool = False) -> None:
        """Print the first rows of a table as CSV; stderr says how many were left out."""
        from wavewright.base.csv import write_csv

        head = table.head(self.top) if self.top and not is_cut else table
        click.echo(write_csv(head), nl=False)
        say_rows_left_out(head.height, table.height)

    @staticmethod
    def print_losses(losses: pl.DataFrame | Sequence[pl.DataFrame], *, stderr: bool = False) -> None:
        """Print losses, one line each, without those that only `info` tells."""
        import polars as pl

        from wavewright.base.words import side_label
        from wavewright.model.losses import LOSSES

        untold = [name for name, kind in LOSSES.items() if kind.is_for_info]
        tables = [losses] if isinstance(losses, pl.DataFrame) else list(losses)
        tables = [table.filter(~pl.col("kind").is_in(untold)) for table in tables]
        if not any(table.height for table in tables):
            return
        from wavewright.words.kit.losses import loss_lines

        lines: list[Sentence] = []
        for number, table in enumerate(tables):
            label = f"{side_label(number)}: " if len(tables) > 1 else ""
            lines += [replace(line, text=f"{label}{line.text}") for line in loss_lines(table)]
        tell_losses(lines, stderr=stderr)


def _without_caveats(
    losses: pl.DataFrame | Sequence[pl.DataFrame], answer: Answer | dict[str, Any]
) -> pl.DataFrame | Sequence[pl.DataFrame]:
    """The losses that no caveat of the answer says already; those that name a place in the file say more."""
    import polars as pl

    trust = answer.get("trust") if isinstance(answer, dict) else getattr(answer, "trust", None)
    caveats = getattr(trust, "caveats", ())  # of runs, trust is a word
    if not caveats or not isinstance(losses, pl.DataFrame):
        return losses
    is_said = pl.col("message").is_in([caveat.sentence for caveat in caveats])
    place = [name for name in ("se", "time_cycles", "byte_offset") if name in losses.columns]
    return losses.filter(~is_said | pl.any_horizontal(pl.col(place).is_not_null()))


def form_of(options: dict[str, Any]) -> dict[str, Any]:
    """The form of the output (--top, --csv, --json) among the options of a command line, which is taken out."""
    return {name: options.pop(name) for name in ("top", "as_csv", "as_json") if name in options}


def say_rows_left_out(shown_count: int, row_count: int) -> None:
    """Tell on stderr that a table was truncated."""
    if shown_count < row_count:
        click.echo(f"showing {shown_count:,} of {row_count:,} rows", err=True)
