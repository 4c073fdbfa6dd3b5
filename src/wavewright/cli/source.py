"""`wavewright source`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from wavewright.base.bounds import AMOUNT, ITEM
from wavewright.cli.kit.form import current_brief
from wavewright.cli.kit.lanes import evaluated_lanes
from wavewright.cli.kit.numbers import Whole
from wavewright.cli.kit.trace import trace_verb

if TYPE_CHECKING:
    import polars as pl

    from wavewright.analysis.trace.listing.source_lines import SampleLines, SourceListing
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.trace import TraceRequest
    from wavewright.model.trace import ThreadTrace

DEFAULT_HOT = 10
BRIEF_LINES = 20  #: Lines around a place in a brief.
NO_TEXT = "the text of the source is not in this trace; --source-root DIR shows source lines from below DIR"
ISA_ONLY = {"around": (), "iteration": None, "cost": "sum", "arrows": "waits"}


@trace_verb
@click.option("--isa", "mode", flag_value="isa", help="List instructions, even if there is source text.")
@click.option("--source", "mode", flag_value="source", help="List source lines, even if their text is not here.")
@click.option("--all", "show_all", is_flag=True, help="Everything; without it, windows around the hottest.")
@click.option(
    "--context", type=Whole(AMOUNT), default=3, show_default=True, metavar="N", help="Lines around the hottest."
)
@click.option("--function", metavar="NAME", help="Only functions whose name contains NAME.")
@click.option(
    "--around",
    "--at",
    multiple=True,
    metavar="ROW|ADDRESS",
    help="Instructions around this row, 0xADDRESS or handle (i0x1814); repeatable.",
)
@click.option(
    "--arrows",
    type=click.Choice(("waits", "branches", "none")),
    default="waits",
    show_default=True,
    help="Arrows from producers to waits, or from taken branches to their targets.",
)
@click.option(
    "--cost",
    type=click.Choice(("sum", "mean", "max")),
    default="sum",
    show_default=True,
    help="Cycles of all executions, per execution, or of the longest execution.",
)
@click.option("--iteration", type=Whole(ITEM), metavar="N", help="Costs of the N-th execution in one wave.")
@click.option(
    "--frame",
    type=click.Choice(("innermost", "outermost", "mine")),
    default="outermost",
    show_default=True,
    help="Line of inlined code that a row belongs to; mine = the first that is not in a library.",
)
@click.option("--mine", multiple=True, metavar="PREFIX", help="With --frame mine: paths of your code; may be repeated.")
@click.option("--lanes", is_flag=True, help="With extra LDS cycles and cache segments (see wavewright lanes).")
@click.option(
    "--source-root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Read source files that the trace does not hold from below DIR.",
)
def command(
    request: TraceRequest, mode: str | None, source_root: Path | None, function: str | None, **options: Any
) -> None:
    """Source lines are shown where their text is known, else instructions."""
    options["lane_sums"] = evaluated_lanes(request) if options["lanes"] else None
    trace = request.trace if request.trace.samples.height else request.require_instructions()
    if source_root is None and current_brief() is not None and (request.path / "src").is_dir():
        source_root = request.path / "src"  # where `capture` and `demo` put it
    if source_root is not None:
        from wavewright.readers.trace.sources import add_sources

        add_sources(trace, source_root)
    rows = _rows(request, function)
    if current_brief() is not None and mode is None and function is None and options["iteration"] is None:
        _show_brief(request, options)
        return
    if mode is None and any(options[name] != default for name, default in ISA_ONLY.items()):
        mode = "isa"
    lines = None if mode == "isa" else _lines(trace, rows, options)
    if lines is not None and (mode == "source" or lines.has_text):
        _show_lines(request, lines, options)
    else:
        _show_rows(request, rows, options, hint=NO_TEXT if lines is not None and lines.files.height else "")


def _show_brief(request: TraceRequest, options: dict[str, Any]) -> None:
    """The lines around a place, or around the hottest ones, as agents get them."""
    from wavewright.analysis.trace.listing.hot_code import hot_code
    from wavewright.analysis.trace.listing.places import rows_at

    chosen = request.selection
    answer = hot_code(
        request.trace,
        at=[row for place in options["around"] for row in rows_at(request.trace.code, place)],
        file=chosen.file,
        line=chosen.first_line,
        count=max(BRIEF_LINES, 2 * options["context"] + 1),
    )

    def report() -> Parts:
        from wavewright.words.trace.hot_code import hot_code_parts

        return cast("Parts", hot_code_parts(answer))  # blocks, which a brief takes as they are

    request.give(answer, answer.lines, request.with_code(report), request.trace.losses)


def _rows(request: TraceRequest, function: str | None) -> pl.Series | None:
    from wavewright.analysis.trace.listing.places import rows_of_function

    if function is None:
        return request.rows
    named = rows_of_function(request.trace.code, function)
    return named if request.rows is None else named.filter(named.is_in(request.rows.implode()))


def _lines(trace: ThreadTrace, rows: pl.Series | None, options: dict[str, Any]) -> SourceListing | SampleLines:
    from wavewright.analysis.trace.listing.source_lines import sample_lines, source_listing

    how = {"rows": rows, "attribution": options["frame"], "mine": options["mine"]}
    if not trace.instructions.height:
        return sample_lines(trace, **how)
    return source_listing(trace, **how, lane_sums=options["lane_sums"])


def _show_lines(request: TraceRequest, lines: SourceListing | SampleLines, options: dict[str, Any]) -> None:
    from wavewright.analysis.trace.listing.source_lines import SourceListing

    def report() -> Parts:
        from wavewright.words.trace.source import SourceView, sampled_source_report, source_report

        advice = "--source-root DIR reads it from below DIR"
        view = SourceView(_top(request), options["context"], options["show_all"], advice, **_room())
        return source_report(lines, view) if isinstance(lines, SourceListing) else sampled_source_report(lines, view)

    request.give(lines, lines.lines, request.with_code(report), request.trace.losses)


def _show_rows(request: TraceRequest, rows: pl.Series | None, options: dict[str, Any], *, hint: str) -> None:
    from wavewright.analysis.trace.listing import IsaListing, isa_listing, sample_listing
    from wavewright.analysis.trace.listing.places import rows_at

    around = frozenset(row for place in options["around"] for row in rows_at(request.trace.code, place))
    listing = (
        isa_listing(request.trace, rows=rows, iteration=options["iteration"], lane_sums=options["lane_sums"])
        if request.trace.instructions.height
        else sample_listing(request.trace, rows=rows)
    )

    def report() -> Parts:
        from wavewright.words.trace.listing import isa_report, samples_report
        from wavewright.words.trace.listing.lines import IsaView

        shown = (options["arrows"], options["cost"], _top(request), options["context"], options["show_all"])
        view = IsaView(*shown, around, hint, **_room())
        return isa_report(listing, view) if isinstance(listing, IsaListing) else samples_report(listing, view)

    request.give(listing, listing.rows, request.with_code(report), request.trace.losses)


def _room() -> dict[str, Any]:
    """What lines have room for."""
    from wavewright.cli.kit.io import console

    out = console()
    return {"width": out.width, "ascii_only": out.options.ascii_only}


def _top(request: TraceRequest) -> int:
    return DEFAULT_HOT if request.top is None else request.limit
