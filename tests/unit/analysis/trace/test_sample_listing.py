"""The code with samples of the program counter."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import wavewright
from tests.kit.made_traces import CODE
from tests.kit.ui_directories import frame
from wavewright.analysis.trace.listing import SampleListing, sample_listing
from wavewright.model.trace import ThreadTrace, TraceSource


def sampled() -> ThreadTrace:
    samples = {"row": [1, 2], "issued_count": [1, 4], "stalled_count": [9, 0]}
    reasons = {"row": [1, 1, 1], "reason": ["barrier", "waitcnt", "pipe stall"], "count": [2, 7, 0]}
    tables = {"code": CODE, "samples": samples, "sample_reasons": reasons}
    return ThreadTrace({name: frame(name, columns) for name, columns in tables.items()}, TraceSource(path="made"))


def test_samples_and_their_most_frequent_reason() -> None:
    listing = sample_listing(sampled())
    assert (listing.sample_count, listing.stalled_count) == (14, 9)
    assert listing.rows.height == 6
    assert listing.rows["issued_count", "stalled_count", "reason", "reason_share"].rows()[:3] == [
        (0, 0, None, None),
        (1, 9, "waitcnt", 7 / 9),
        (4, 0, None, None),
    ]


def test_chosen_rows_only() -> None:
    listing = sample_listing(sampled(), rows=pl.Series([2], dtype=pl.Int32))
    assert (listing.sample_count, listing.rows["row"].to_list()) == (4, [2])


def test_the_tables_are_as_declared() -> None:
    (table,) = SampleListing.tables.values()
    assert dict(sample_listing(sampled()).rows.schema) == {c.name: getattr(pl, c.dtype) for c in table.columns}


def test_real_samples(shared: Path) -> None:
    listing = sample_listing(wavewright.open(shared / "data" / "pcsampling-rcv"))
    assert (listing.sample_count, listing.stalled_count) == (1306 + 3384, 3384)
    assert listing.rows.sort("stalled_count", descending=True)["text"][0] == "s_barrier"
