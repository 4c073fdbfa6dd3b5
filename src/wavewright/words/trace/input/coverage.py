"""Coverage and trust in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.trace.trust.coverage import Coverage
from wavewright.analysis.trace.trust.mapping import SourceMapping
from wavewright.analysis.trace.trust.verdicts import Trust
from wavewright.base.words import counted, percent, short
from wavewright.model.blocks import GAP, AnyBlock, Cell, Grid, GridColumn, sentence
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.words.kit.frame_tables import bar_cell

FEW = 6  #: Outliers and source lines that are shown.
SEVERITY_TONES = {"fatal": "bold red", "care": "bold yellow", "note": "bold cyan"}
_CYCLES_TONES = {"good": "bold green", "use with caution": "bold yellow", "do not use": "bold red"}
_LINES_TONES = {"good": "bold green", "coarse": "bold yellow", "few": "bold yellow", "none": "bold yellow"}


def coverage_report(
    trust: Trust, seen: Coverage, lines: SourceMapping, *, limit: int, few: int = FEW
) -> Iterator[AnyBlock]:
    """Both verdicts, the caveats, then the coverage of code, paths and engines, with at most `few` outliers."""
    yield from trust_lines(trust)
    yield from caveat_lines(trust.caveats)
    yield GAP
    yield _summary(seen)
    if seen.functions.height > 1:
        executed = lambda row: f"{row['executed_row_count']:,} of {row['row_count']:,}"  # noqa: E731
        yield from table_below("trace/input_coverage/functions", seen.functions, limit=limit, executed=executed)
    yield from table_below(
        "trace/input_coverage/paths",
        seen.paths,
        limit=limit,
        instructions=lambda row: _range(row, "instruction_count"),
        cycles=lambda row: _range(row, "duration_cycles"),
        kind=_kind_of_path,
        several_kernels=seen.paths["kernel"].n_unique() > 1,
    )
    yield from table_below("trace/input_coverage/engines", seen.engines, limit=limit)
    yield from table_below("trace/input_coverage/outliers", seen.outliers, limit=few)
    if seen.executed_row_count:
        is_repeated = any(caveat.advice == lines.remedy for caveat in trust.caveats)
        yield GAP
        yield from _mapping(lines, few, remedy="" if is_repeated else lines.remedy)


def trust_lines(trust: Trust) -> Iterator[AnyBlock]:
    """One line for each verdict."""
    yield sentence(("Trace quality: ", "bold"), (trust.cycles, _CYCLES_TONES[trust.cycles]))
    yield sentence(("Source lines: ", "bold"), (trust.lines, _LINES_TONES[trust.lines]))


def caveat_lines(caveats: Sequence[Caveat]) -> Iterator[AnyBlock]:
    """One entry per caveat: how grave, what, what to do."""
    rows = tuple(
        (
            Cell(f"  {caveat.severity}", SEVERITY_TONES[caveat.severity]),
            Cell.of(caveat.sentence, (f"; {caveat.advice}" if caveat.advice else "", "dim")),
        )
        for caveat in caveats
    )
    if rows:
        yield Grid(rows, (GridColumn(), GridColumn()))


def _facts(*facts: tuple[str, float | None, str]) -> Grid:
    """Lines of (name, share, meaning) with a bar for the share, None = not known; wrapped text is beside the bars."""
    rows = ((name, "" if share is None else bar_cell(share), percent(share), text) for name, share, text in facts)
    return Grid(tuple(rows), (GridColumn("bold"), GridColumn(), GridColumn(is_number=True), GridColumn()))


def _summary(seen: Coverage) -> Grid:
    code = f"{seen.executed_row_count:,} of {seen.entered_row_count:,} instructions of the functions entered ran"
    if seen.row_count > seen.entered_row_count:
        code += f" ({seen.row_count:,} in all functions)"
    share = seen.traced_share
    waves = f"{seen.traced_wave_count:,} traced"
    if share is None:
        waves += "; the occupancy of other CUs was not recorded"
    else:
        waves += f" of {counted(seen.all_wave_count, 'waves')} of these shader engines"
    if seen.untraced_wave_count:
        waves += f"; {seen.untraced_wave_count:,} more without traced instructions"
    target, other = seen.target_duration_cycles_mean, seen.other_duration_cycles_mean
    if target and other:
        waves += f"; mean stay {target:,.0f} cycles, on other CUs {other:,.0f}"
    return _facts(("code", seen.executed_share, code), ("waves", share, waves))


def _mapping(lines: SourceMapping, few: int, *, remedy: str) -> Iterator[AnyBlock]:
    text = f"{lines.mapped_row_count:,} of {lines.row_count:,} instructions have a source line"
    if lines.line_count:
        text += f"; {lines.line_count:,} lines that spread the cost like {lines.effective_line_count:.2f} equal ones, "
        text += f"the heaviest has {percent(lines.top_line_share)} of it"
    yield _facts(("lines", lines.mapped_share, text))
    if lines.line_count:
        yield declared_table("trace/input_coverage/source_lines", lines.lines, limit=few)
    if lines.files.height > 1:
        yield declared_table("trace/input_coverage/files", lines.files, limit=few)
    if remedy:
        yield sentence(("remedy: ", "bold"), remedy)


def _kind_of_path(row: dict[str, Any]) -> str:
    if not row["instruction_count_max"]:
        return "no traced instructions"
    return "early exit" if row["early_exit"] else ""


def _range(row: dict[str, Any], name: str) -> str:
    least, most = row[f"{name}_min"], row[f"{name}_max"]
    return short(least) if least == most else f"{short(least)}..{short(most)}"
