"""Listings of source lines and of instructions, with what each costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wavewright.cli.kit.form import current_brief
from wavewright.cli.kit.io import progress
from wavewright.cli.kit.question_verb import Shown

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from wavewright.analysis.trace.listing.source_lines import SampleLines, SourceListing
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.trace import TraceRequest
    from wavewright.questions.kit.question import Wording

_DEFAULT_HOT = 10  #: Without --top, the places of so many of the costliest lines are shown.
_BRIEF_LINES = 20  #: Lines around a place in a brief.
_NO_TEXT = "the text of the source is not in this trace; --source-root DIR shows source lines from below DIR"


class _SourceView(NamedTuple):
    """Options of a listing, as `questions/trace/verbs/source.toml` declares them: its lines and its costs."""

    context: int
    show_all: bool
    around: tuple[str, ...]
    arrows: str
    cost: str
    iteration: int | None
    frame: str
    prefixes: tuple[str, ...]
    lane_sums: pl.DataFrame | None  #: Costs of lanes by code row (--lanes); None = not asked for.

    @property
    def is_of_instructions(self) -> bool:
        """True if an option is given that only instructions have."""
        return (self.around, self.iteration, self.cost, self.arrows) != ((), None, "sum", "waits")


def source(
    request: TraceRequest, mode: str | None, source_root: Path | None, function: str | None, lanes: bool, **options: Any
) -> Shown:
    """Source lines where their text is known, else instructions."""
    view = _SourceView(**options, lane_sums=evaluated_lanes(request) if lanes else None)
    trace = request.trace if request.trace.samples.height else request.require_instructions()
    is_brief = current_brief() is not None
    if source_root is None and is_brief and (request.path / "src").is_dir():
        source_root = request.path / "src"  # where `capture` and `demo` put it
    if source_root is not None:
        from wavewright.readers.trace.sources import add_sources

        add_sources(trace, source_root)
    rows = _rows(request, function)
    if is_brief and mode is None and function is None and view.iteration is None:
        return _brief(request, view)
    if mode is None and view.is_of_instructions:
        mode = "isa"
    lines = None if mode == "isa" else _lines(request, rows, view)
    if lines is not None and (mode == "source" or lines.has_text):
        return _of_lines(request, lines, view)
    return _of_rows(request, rows, view, hint=_NO_TEXT if lines is not None and lines.files.height else "")


def evaluated_lanes(request: TraceRequest) -> pl.DataFrame:
    """Costs of lanes by code row, for more columns."""
    from wavewright.analysis.trace.lanes.answer import lane_sums

    with progress("evaluating lanes"):
        return lane_sums(request.require_instructions())


def _brief(request: TraceRequest, view: _SourceView) -> Shown:
    """The lines around a place, or around the hottest ones, as agents get them."""
    from wavewright.analysis.trace.listing.hot_code import hot_code

    count, chosen = max(_BRIEF_LINES, 2 * view.context + 1), request.selection
    at = _places(request, view)
    return Shown(hot_code(request.trace, at=at, file=chosen.file, line=chosen.first_line, count=count))


def _places(request: TraceRequest, view: _SourceView) -> list[int]:
    """The code rows at the places of --around."""
    from wavewright.analysis.trace.listing.places import rows_at

    return [row for place in view.around for row in rows_at(request.trace.code, place)]


def _rows(request: TraceRequest, function: str | None) -> pl.Series | None:
    """The selected code rows, within the function if one is named; None = all."""
    from wavewright.analysis.trace.listing.places import rows_of_function

    if function is None:
        return request.rows
    named = rows_of_function(request.trace.code, function)
    return named if request.rows is None else named.filter(named.is_in(request.rows.implode()))


def _lines(request: TraceRequest, rows: pl.Series | None, view: _SourceView) -> SourceListing | SampleLines:
    from wavewright.analysis.trace.listing.source_lines import sample_lines, source_listing

    how: dict[str, Any] = {"rows": rows, "attribution": view.frame, "mine": view.prefixes}
    if not request.trace.instructions.height:
        return sample_lines(request.trace, **how)
    return source_listing(request.trace, **how, lane_sums=view.lane_sums)


def _of_lines(request: TraceRequest, lines: SourceListing | SampleLines, view: _SourceView) -> Shown:
    from wavewright.analysis.trace.listing.source_lines import SourceListing

    def words(wording: Wording) -> Parts:
        from wavewright.words.trace.listing.source import SourceView, sampled_source_report, source_report

        advice = "--source-root DIR reads it from below DIR"
        room: dict[str, Any] = {"width": wording.width, "ascii_only": wording.ascii_only}
        shown = SourceView(_top(request), view.context, view.show_all, advice, **room)
        return source_report(lines, shown) if isinstance(lines, SourceListing) else sampled_source_report(lines, shown)

    return Shown(lines, lines.lines, words=words)


def _of_rows(request: TraceRequest, rows: pl.Series | None, view: _SourceView, *, hint: str) -> Shown:
    from wavewright.analysis.trace.listing import IsaListing, isa_listing, sample_listing

    around = frozenset(_places(request, view))
    listing = (
        isa_listing(request.trace, rows=rows, iteration=view.iteration, lane_sums=view.lane_sums)
        if request.trace.instructions.height
        else sample_listing(request.trace, rows=rows)
    )

    def words(wording: Wording) -> Parts:
        from wavewright.words.trace.listing import isa_report, samples_report
        from wavewright.words.trace.listing.lines import IsaView

        room: dict[str, Any] = {"width": wording.width, "ascii_only": wording.ascii_only}
        shown = IsaView(view.arrows, view.cost, _top(request), view.context, view.show_all, around, hint, **room)
        return isa_report(listing, shown) if isinstance(listing, IsaListing) else samples_report(listing, shown)

    return Shown(listing, listing.rows, words=words)


def _top(request: TraceRequest) -> int:
    return _DEFAULT_HOT if request.top is None else request.limit
