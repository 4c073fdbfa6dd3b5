"""Source lines with samples of the program counter."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import wavewright
from tests.kit.made_traces import CODE
from tests.kit.ui_directories import frame
from wavewright.analysis.trace.listing.source_lines import SampleLines, sample_lines
from wavewright.model.trace import ThreadTrace, TraceSource

CHAINS = ["/a.py:2", "/h.h:9 -> /a.py:2", "/a.py:3", None, None, None]


def sampled() -> ThreadTrace:
    tables = {
        "code": {**CODE, "inline_chain": CHAINS},
        "samples": {"row": [0, 1, 2, 3], "issued_count": [1, 2, 3, 4], "stalled_count": [9, 8, 0, 1]},
        "sample_reasons": {"row": [0, 0, 1], "reason": ["barrier", "waitcnt", "barrier"], "count": [2, 7, 8]},
        "sources": {"file": ["/a.py"], "text": ["one\ntwo\nthree"]},
    }
    return ThreadTrace({name: frame(name, columns) for name, columns in tables.items()}, TraceSource(path="made"))


def test_samples_of_lines_and_of_what_was_inlined() -> None:
    listing = sample_lines(sampled())
    assert listing.lines["line", "text", "issued_count", "stalled_count", "reason", "reason_share"].rows() == [
        (1, "one", 0, 0, None, None),
        (2, "two", 3, 17, "barrier", 10 / 17),
        (3, "three", 3, 0, None, None),
    ]
    assert listing.inlined["path", "stalled_count"].rows() == [("/h.h:9", 8)]
    assert (listing.unmapped_row_count, listing.unmapped_sample_count) == (3, 5)
    assert listing.has_text


def test_innermost_lines() -> None:
    files = sample_lines(sampled(), attribution="innermost").files
    assert dict(files["file", "stalled_count"].iter_rows()) == {"/a.py": 9, "/h.h": 8}


def test_the_tables_are_as_declared() -> None:
    listing = sample_lines(sampled())
    for name, table in SampleLines.tables.items():
        found = getattr(listing, name)
        assert dict(found.schema) == {column.name: getattr(pl, column.dtype) for column in table.columns}


def test_real_samples(shared: Path) -> None:
    listing = sample_lines(wavewright.open(shared / "data" / "pcsampling-rcv"))
    counts = listing.files.select(pl.col("issued_count", "stalled_count").sum()).row(0)
    assert counts == (1306, 3384)
