"""Source files and lines with their costs, and the source texts that are part of the capture."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.trace.about.overview import unknown_code
from wavewright.analysis.trace.listing.line_costs import LineCosts, line_costs
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.model.schema import SAMPLE_COUNTS
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.protocol.serialize import doubles
from wavewright.questions.kit.parameters import place

MOST_LINES = 100_000  #: Of a file; the rest of a longer one is not shown.
LONGEST_LINE = 2_000  #: Characters of a line that are sent.
MOST_COSTED = 50_000  #: Lines, and pairs of lines, that are sent with their costs, the costliest ones.
LONGEST_BEGINNING = 160  #: Characters of a line in the table of all lines.
MOST_SEARCHED = 200_000  #: Lines of text that the page searches; later ones are not found.
NO_TEXT = "the source text is not part of this capture"
ADVICE = "`wavewright open PATH --source-root DIR` reads it from below DIR; without the option it looks below PATH/src"


def source_files(document: Document) -> pl.DataFrame:
    """The source files with their costs, costliest first; the one without a name has all rows without a debug line."""
    return doubles(_costs(document).files.with_row_index("number"))


def source_lines(document: Document) -> pl.DataFrame:
    """The source lines that debug lines name, with their costs and the first characters of their texts.

    `file` is the number of the file; line 0 = the compiler gave no line. Of more than `MOST_COSTED` lines, the
    cheapest are left out; `source_files` counts them all.
    """
    lines = _numbered(document, _costliest(_costs(document).lines, "inclusive_"))
    return doubles(lines.join(_beginnings(document, lines), on=["file", "line"], how="left", maintain_order="left"))


def source_calls(document: Document) -> pl.DataFrame:
    """Pairs of a line and a line inlined directly into it, with their cycles."""
    calls = _numbered(document, _costliest(_costs(document).calls))
    return doubles(_numbered(document, calls, file="inlined_file", line="inlined_line"))


def source_categories(document: Document) -> pl.DataFrame:
    """Cycles of each line by category of instruction."""
    return doubles(_numbered(document, _costs(document).categories))


def source_reasons(document: Document) -> pl.DataFrame:
    """Reasons why PC samples saw the instructions of each line not issued."""
    return doubles(_numbered(document, _costs(document).reasons))


def source(document: Document, *, file: int) -> dict[str, Any]:
    """The text of one file by its number in `source_files`, or the reason why it is not available.

    The page cannot name a path: only files that the trace names were read, from the folders given when it was opened.
    """
    files = _costs(document).files
    if not 0 <= file < files.height:
        raise UsageError(f"there is no source file {file}")
    name = files["file"][file]
    lines = None if name is None else _text_lines(document, name)
    if lines is not None:
        texts = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines[:MOST_LINES]]
        return {"file": name, "lines": texts, "line_count": len(lines), "reason": "", "advice": ""}
    reason, advice = (NO_TEXT, ADVICE) if name is not None else _no_debug_line(document)
    return {"file": name, "lines": None, "line_count": 0, "reason": reason, "advice": advice}


def _no_debug_line(document: Document) -> tuple[str, str]:
    unknown = unknown_code(document.trace)
    return (unknown, "") if unknown else ("these instructions have no debug line", "compile with -g")


def _costs(document: Document) -> LineCosts:
    return line_costs(document.trace)


def _costliest(frame: pl.DataFrame, prefix: str = "") -> pl.DataFrame:
    """The rows that cost most, in their order."""
    if frame.height <= MOST_COSTED:
        return frame
    costs = [f"{prefix}{name}" for name in ("latency_cycles_total", "idle_cycles_total", *SAMPLE_COUNTS)]
    cost = pl.sum_horizontal(name for name in costs if name in frame.columns)
    rows = frame.with_row_index("order").sort(cost, descending=True, maintain_order=True)
    return rows.head(MOST_COSTED).sort("order").drop("order")


def _numbered(document: Document, frame: pl.DataFrame, *, file: str = "file", line: str = "line") -> pl.DataFrame:
    """The frame with numbers of files instead of their names, and 0 where there is no line."""
    names = _costs(document).files["file"].drop_nulls()
    numbers = pl.Series(range(names.len()), dtype=pl.UInt32)
    return frame.with_columns(
        pl.col(file).replace_strict(names, numbers, default=None, return_dtype=pl.UInt32), pl.col(line).fill_null(0)
    )


def _text_lines(document: Document, file: str) -> list[str] | None:
    """The lines of a source text; None = it is not part of the capture."""
    texts = document.trace.sources.filter(pl.col("file") == file)["text"].drop_nulls()
    return texts[0].replace("\r\n", "\n").split("\n") if texts.len() else None


def _beginnings(document: Document, lines: pl.DataFrame) -> pl.DataFrame:
    """`file`, `line` and first characters (`text`) of those of the lines whose text is part of the capture."""
    rows: list[tuple[int, int, str]] = []
    for (file,), group in lines.select("file", "line").group_by("file", maintain_order=True):
        texts = _text_lines(document, _costs(document).files["file"][file]) or []
        numbers = (line for line in group["line"] if 0 < line <= len(texts))
        rows += [(file, line, texts[line - 1].strip()[:LONGEST_BEGINNING]) for line in numbers]
    return pl.DataFrame(rows, schema={"file": pl.UInt32, "line": pl.UInt32, "text": pl.String}, orient="row")


def _every_file(document: Document) -> list[dict[str, int]]:
    return [{"file": number} for number in range(_costs(document).files.height)]


def source_texts(document: Document) -> pl.DataFrame:
    """The lines of all source texts that are not blank: file, line, text."""
    with_text = document.trace.sources.filter(pl.col("text").is_not_null())
    lines = with_text.with_columns(pl.col("text").str.split("\n")).with_columns(
        line=pl.int_ranges(1, pl.col("text").list.len() + 1, dtype=pl.UInt32)
    )
    rows = lines.explode("text", "line", empty_as_null=False).filter(pl.col("text").str.strip_chars() != "")
    return rows.select("file", "line", pl.col("text").str.strip_chars_end()).head(MOST_SEARCHED)


QUESTIONS = (
    PageQuestion("source_files", source_files, is_of_time=True),
    PageQuestion("source_lines", source_lines, is_of_time=True),
    PageQuestion("source_calls", source_calls, is_of_time=True),
    PageQuestion("source_categories", source_categories, is_of_time=True),
    PageQuestion("source_reasons", source_reasons),
    PageQuestion("source", source, {"file": place}, required=("file",), exported=_every_file, is_of_time=True),
    PageQuestion("source_texts", source_texts),
)
