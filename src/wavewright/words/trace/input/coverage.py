"""Coverage and trust in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.base.words import counted, percent, short
from wavewright.model.blocks import GAP, AnyBlock, Grid, GridColumn, sentence
from wavewright.words.kit.frame_tables import Column, bar_cell, frame_table, place
from wavewright.words.trace.input.trust import caveat_lines, trust_lines
from wavewright.words.trace.row_columns import WAVE

if TYPE_CHECKING:
    from wavewright.analysis.trace.trust.coverage import Coverage
    from wavewright.analysis.trace.trust.mapping import SourceMapping
    from wavewright.analysis.trace.trust.verdicts import Trust

FEW = 6


def coverage_report(
    trust: Trust, seen: Coverage, lines: SourceMapping, *, limit: int, few: int = FEW
) -> list[AnyBlock]:
    """Return both verdicts, the caveats, then the coverage of code, paths and engines, with at most `few` outliers."""
    parts: list[AnyBlock] = [*trust_lines(trust), *caveat_lines(trust.caveats), GAP, _summary(seen)]
    if seen.functions.height > 1:
        parts += [GAP, frame_table(seen.functions, _FUNCTIONS, limit=limit, what="functions that were entered")]
    if seen.paths.height:
        title = "ways through the code"
        several = seen.paths["kernel"].n_unique() > 1
        columns = (*_PATHS, _KERNEL) if several else _PATHS
        parts += [GAP, frame_table(seen.paths, columns, limit=limit, what="paths", title=title)]
    if seen.engines.height:
        parts += [GAP, frame_table(seen.engines, _ENGINES, limit=limit, what="shader engines")]
    if seen.outliers.height:
        title = "waves unlike the others of their path"
        parts += [GAP, frame_table(seen.outliers, _OUTLIERS, limit=few, what="waves", title=title)]
    if not seen.executed_row_count:
        return parts
    is_repeated = any(caveat.advice == lines.remedy for caveat in trust.caveats)
    return [*parts, GAP, *_mapping(lines, few, remedy="" if is_repeated else lines.remedy)]


def _facts(*facts: tuple[str, float | None, str]) -> Grid:
    """Lines of a name, a bar for a share, and its meaning; wrapped text stays apart from the bars."""
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


def _mapping(lines: SourceMapping, few: int, *, remedy: str) -> list[AnyBlock]:
    text = f"{lines.mapped_row_count:,} of {lines.row_count:,} instructions have a source line"
    if lines.line_count:
        text += f"; {lines.line_count:,} lines that spread the cost like {lines.effective_line_count:.2f} equal ones, "
        text += f"the heaviest has {percent(lines.top_line_share)}"
    parts: list[AnyBlock] = [_facts(("lines", lines.mapped_share, text))]
    if lines.line_count:
        has_text = lines.lines["text"].null_count() < lines.lines.height
        columns = _SOURCE_LINES if has_text else _SOURCE_LINES[:-1]
        parts.append(frame_table(lines.lines, columns, limit=few, what="lines", title="heaviest lines"))
    if lines.files.height > 1:
        parts.append(frame_table(lines.files, _FILES, limit=few, what="files", title="by file"))
    if remedy:
        parts.append(sentence(("remedy: ", "bold"), remedy))
    return parts


def _kind_of_path(row: dict[str, Any]) -> str:
    if not row["instruction_count_max"]:
        return "no traced instructions"
    return "early exit" if row["early_exit"] else ""


def _range(row: dict[str, Any], name: str) -> str:
    least, most = row[f"{name}_min"], row[f"{name}_max"]
    return short(least) if least == most else f"{short(least)}..{short(most)}"


_FUNCTIONS = (
    Column("executed", lambda row: f"{row['executed_row_count']:,} of {row['row_count']:,}"),
    Column("", lambda row: bar_cell(row["executed_share"]), is_bar=True),
    Column("hits", lambda row: short(row["hit_count"])),
    Column("function", lambda row: row["function"] or "", takes_rest=True),
)
_PATHS = (
    Column("path", lambda row: str(row["path"])),
    Column("waves", lambda row: f"{row['wave_count']:,}"),
    Column("of waves", lambda row: f"{100 * row['wave_share']:.0f} %"),
    Column("of cycles", lambda row: f"{100 * row['cycles_share']:.0f} %"),
    Column("rows", lambda row: f"{row['distinct_row_count']:,}"),
    Column("instructions", lambda row: _range(row, "instruction_count")),
    Column("cycles", lambda row: _range(row, "duration_cycles")),
    Column("median", lambda row: short(row["duration_cycles_median"])),
    Column("e.g.", lambda row: str(row["first_wave"])),
    Column("", _kind_of_path, is_text=True, is_fixed=True),
)
_KERNEL = Column("kernel", lambda row: row["kernel"] or "", takes_rest=True)
_ENGINES = (
    Column("SE", lambda row: str(row["se"])),
    Column("CU", lambda row: row["cu"] or ""),
    Column("waves", lambda row: f"{row['wave_count']:,}"),
    Column("of waves", lambda row: percent(row["traced_share"])),
    Column("instructions", lambda row: f"{row['instruction_count']:,}"),
    Column("mean stay", lambda row: short(row["target_duration_cycles_mean"], none="")),
    Column("on other CUs", lambda row: short(row["other_duration_cycles_mean"], none="")),
    Column("other CUs", lambda row: str(row["other_cu_count"])),
)
_OUTLIERS = (
    WAVE,
    Column("SE", lambda row: str(row["se"])),
    Column("SIMD", lambda row: str(row["simd"])),
    Column("slot", lambda row: str(row["slot"])),
    Column("path", lambda row: str(row["path"])),
    Column("instructions", lambda row: f"{row['instruction_count']:,}"),
    Column("cycles", lambda row: f"{row['duration_cycles']:,}"),
    Column("cycles/instruction", lambda row: f"{row['cycles_per_instruction_ratio']:.2f} x the median"),
)
_SOURCE_LINES = (
    Column("of cost", lambda row: percent(row["weight_share"])),
    Column("", lambda row: bar_cell(row["weight_share"]), is_bar=True),
    Column("instructions", lambda row: f"{row['row_count']:,}"),
    Column("of its file", lambda row: percent(row["row_share"])),
    Column("stall", lambda row: short(row["stall_cycles_total"])),
    Column("line", lambda row: place(row["file"], row["line"]), is_text=True, is_name=True),
    Column("source", lambda row: row["text"] or "", takes_rest=True),
)
_FILES = (
    Column("instructions", lambda row: f"{row['row_count']:,}"),
    Column("lines", lambda row: f"{row['line_count']:,}"),
    Column("of executions", lambda row: percent(row["hit_share"])),
    Column("of latency", lambda row: percent(row["latency_share"])),
    Column("of stall", lambda row: percent(row["stall_share"])),
    Column("file", lambda row: _tail(row["file"]) if row["file"] else "(no source line)", takes_rest=True),
)


def _tail(path: str) -> str:
    """The end of a path; its start is the same everywhere."""
    return "/".join(path.rsplit("/", 2)[-2:])
