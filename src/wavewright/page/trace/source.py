"""Source files and lines with what they cost, and the texts that are part of the capture."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.trace.about.overview import unknown_code
from wavewright.analysis.trace.listing.line_costs import LineCosts, line_costs
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.protocol.serialize import doubles
from wavewright.questions.kit.parameters import place

MOST_LINES = 100_000  #: Longer files are shown up to here.
LONGEST_LINE = 2_000  #: Characters of a line that are sent.
MOST_COSTED = 50_000  #: Lines, and pairs of lines, that are sent with their costs: the costliest of them.
LONGEST_GLIMPSE = 160  #: Characters of a line in the table of all lines.
NO_TEXT = "the source text is not part of this capture"
ADVICE = "`wavewright open PATH --source-root DIR` reads it from below DIR; without the option it looks below PATH/src"


def source_files(document: Document) -> pl.DataFrame:
    """The source files with their costs, costliest first; one without a name represents rows without a debug line."""
    return doubles(_costs(document).files.with_row_index("number"))


def source_lines(document: Document) -> pl.DataFrame:
    """The source lines that debug lines name, with their costs and the first characters of their texts.

    `file` is the number of the file; line 0 = the compiler gave no line. There are at most `MOST_COSTED`: what
    `source_files` counts beyond them cost least.
    """
    lines = _numbered(document, _costliest(_costs(document).lines, "inclusive_"))
    texts = [
        pl.DataFrame(
            {"file": number, "line": line, "text": text},
            schema={"file": pl.UInt32, "line": pl.UInt32, "text": pl.String},
        )
        for number, line, text in _glimpses(document, lines)
    ]
    glimpses = (
        pl.concat(texts) if texts else pl.DataFrame(schema={"file": pl.UInt32, "line": pl.UInt32, "text": pl.String})
    )
    return doubles(lines.join(glimpses, on=["file", "line"], how="left", maintain_order="left"))


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
    """The text of one file of `source_files`, by its number, or the reason why it is not here.

    Nothing is read from disk for it but what the trace itself names, from where the trace was opened with.
    """
    files = _costs(document).files
    if not 0 <= file < files.height:
        raise UsageError(f"there is no source file {file}")
    name = files["file"][file]
    if name is None:
        unknown = unknown_code(document.trace)
        reason, advice = (unknown, "") if unknown else ("these instructions have no debug line", "compile with -g")
        return {"file": None, "lines": None, "line_count": 0, "reason": reason, "advice": advice}
    lines = _text_lines(document, name)
    if lines is None:
        return {"file": name, "lines": None, "line_count": 0, "reason": NO_TEXT, "advice": ADVICE}
    texts = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines[:MOST_LINES]]
    return {"file": name, "lines": texts, "line_count": len(lines), "reason": "", "advice": ""}


def _costs(document: Document) -> LineCosts:
    return line_costs(document.trace)


def _costliest(frame: pl.DataFrame, prefix: str = "") -> pl.DataFrame:
    """The rows that cost most, in their order."""
    if frame.height <= MOST_COSTED:
        return frame
    weights = pl.sum_horizontal(
        pl.col(name)
        for name in (
            f"{prefix}latency_cycles_total",
            f"{prefix}idle_cycles_total",
            f"{prefix}issued_count",
            f"{prefix}stalled_count",
            f"{prefix}unknown_count",
        )
        if name in frame.columns
    )
    rows = frame.with_row_index("order").sort(weights, descending=True, maintain_order=True)
    return rows.head(MOST_COSTED).sort("order").drop("order")


def _numbered(document: Document, frame: pl.DataFrame, *, file: str = "file", line: str = "line") -> pl.DataFrame:
    """The frame with numbers of files instead of their names, and 0 where there is no line."""
    names = _costs(document).files["file"].drop_nulls()
    numbers = pl.Series(range(names.len()), dtype=pl.UInt32)
    return frame.with_columns(
        pl.col(file).replace_strict(names, numbers, default=None, return_dtype=pl.UInt32), pl.col(line).fill_null(0)
    )


def _text_lines(document: Document, file: str) -> list[str] | None:
    texts = document.trace.sources.filter(pl.col("file") == file)["text"].drop_nulls()
    return None if not texts.len() else texts[0].replace("\r\n", "\n").split("\n")


def _glimpses(document: Document, lines: pl.DataFrame) -> list[tuple[int, list[int], list[str]]]:
    """File, numbers and first characters of the lines in the table whose text is here."""
    glimpses = []
    for (number,), group in lines.select("file", "line").group_by("file", maintain_order=True):
        text = _text_lines(document, _costs(document).files["file"][number])
        if text is not None:
            there = [line for line in group["line"].to_list() if 0 < line <= len(text)]
            glimpses.append((number, there, [text[line - 1].strip()[:LONGEST_GLIMPSE] for line in there]))
    return glimpses


def _every_file(document: Document) -> list[dict[str, int]]:
    return [{"file": number} for number in range(_costs(document).files.height)]


_MOST_SEARCHED = 200_000  #: Lines that are passed to the page; later lines are not found.


def source_texts(document: Document) -> pl.DataFrame:
    """The lines of all source texts that are not blank: file, line, text."""
    with_text = document.trace.sources.filter(pl.col("text").is_not_null())
    lines = with_text.with_columns(pl.col("text").str.split("\n")).with_columns(
        line=pl.int_ranges(1, pl.col("text").list.len() + 1, dtype=pl.UInt32)
    )
    rows = lines.explode("text", "line", empty_as_null=False).filter(pl.col("text").str.strip_chars() != "")
    return rows.select("file", "line", pl.col("text").str.strip_chars_end()).head(_MOST_SEARCHED)


QUESTIONS = (
    PageQuestion("source_files", source_files, is_of_time=True),
    PageQuestion("source_lines", source_lines, is_of_time=True),
    PageQuestion("source_calls", source_calls, is_of_time=True),
    PageQuestion("source_categories", source_categories, is_of_time=True),
    PageQuestion("source_reasons", source_reasons),
    PageQuestion("source", source, {"file": place}, ("file",), _every_file, is_of_time=True),
    PageQuestion("source_texts", source_texts),
)
