"""Costs of source lines and of what was inlined into them."""

from __future__ import annotations

import polars as pl

from tests.kit.made_traces import CODE, made
from tests.kit.ui_directories import frame
from wavewright.analysis.trace.listing.source_lines import SourceListing, source_listing
from wavewright.model.trace import ThreadTrace, TraceSource

CHAINS = ["/a.py:2", "/h.h:9 -> /a.py:2", "/m.h:3 -> /h.h:9 -> /a.py:2", "/h.h:9 -> /a.py:3", "/a.py:?", None]
WAVE = {
    "begin": 0,
    "end": 99,
    "instructions": [(time, time // 10, 8, 2, row) for row, time in enumerate(range(0, 60, 10))],
}


def trace(text: str | None = "one\ntwo\nthree") -> ThreadTrace:
    sources = frame("sources", {"file": ["/a.py", "/unused.py"], "text": [text, "never"]})
    return made([WAVE], code=frame("code", {**CODE, "inline_chain": CHAINS}), sources=sources)


def stalls(listing: SourceListing) -> dict[tuple[str, int | None], int]:
    used = listing.lines.filter(pl.col("row_count") > 0)
    return {(file, line): stall for file, line, stall in used["file", "line", "stall_cycles_total"].iter_rows()}


def test_rows_belong_to_the_outermost_line() -> None:
    listing = source_listing(trace())
    assert stalls(listing) == {("/a.py", 2): 0 + 1 + 2, ("/a.py", 3): 3, ("/a.py", None): 4}
    assert listing.lines["text"].to_list() == ["one", "two", "three", None]
    assert listing.has_text


def test_or_to_the_innermost() -> None:
    listing = source_listing(trace(), attribution="innermost")
    assert stalls(listing) == {("/a.py", 2): 0, ("/a.py", None): 4, ("/h.h", 9): 1 + 3, ("/m.h", 3): 2}
    assert listing.inlined.height == 0
    assert dict(listing.files["file", "has_text"].iter_rows()) == {"/a.py": True, "/h.h": False, "/m.h": False}


def test_or_to_the_first_that_is_mine() -> None:
    listing = source_listing(trace(), attribution="mine", mine=["/h.h"])
    assert stalls(listing) == {("/a.py", 2): 0, ("/a.py", None): 4, ("/h.h", 9): 1 + 2 + 3}
    assert listing.inlined["file", "line", "path"].rows() == [("/h.h", 9, "/m.h:3")]


def test_what_was_inlined_is_a_tree_below_its_line() -> None:
    inlined = source_listing(trace()).inlined
    assert inlined["line", "path", "depth", "row_count", "stall_cycles_total"].rows() == [
        (2, "/h.h:9", 1, 2, 1 + 2),
        (2, "/h.h:9 -> /m.h:3", 2, 1, 2),
        (3, "/h.h:9", 1, 1, 3),
    ]
    assert inlined["inlined_file"].to_list() == ["/h.h", "/m.h", "/h.h"]
    assert inlined["inlined_line"].to_list() == [9, 3, 9]


def test_costs_are_conserved() -> None:
    for attribution in ("innermost", "outermost", "mine"):
        listing = source_listing(trace(), attribution=attribution)
        latency = listing.lines["latency_cycles_total"].sum() + listing.lines["idle_cycles_total"].sum()
        assert latency == listing.files["latency_cycles_total"].sum() + listing.files["idle_cycles_total"].sum()
        assert (listing.unmapped_row_count, latency + listing.unmapped_cycles_total) == (1, 6 * 8 + 5 * 2)


def test_without_texts_only_lines_with_rows_are_listed() -> None:
    listing = source_listing(trace(text=None))
    assert listing.lines["line"].to_list() == [2, 3, None]
    assert not listing.has_text


def test_chosen_rows_only() -> None:
    listing = source_listing(trace(), rows=pl.Series([1], dtype=pl.Int32))
    assert stalls(listing) == {("/a.py", 2): 1}
    assert listing.unmapped_row_count == 0


def test_nothing() -> None:
    listing = source_listing(ThreadTrace({}, TraceSource(path="nothing")))
    assert (listing.lines.height, listing.files.height, listing.has_text) == (0, 0, False)


def test_the_tables_are_as_declared() -> None:
    listing = source_listing(trace())
    for name, table in SourceListing.tables.items():
        made_frame = getattr(listing, name)
        assert dict(made_frame.schema) == {column.name: getattr(pl, column.dtype) for column in table.columns}
