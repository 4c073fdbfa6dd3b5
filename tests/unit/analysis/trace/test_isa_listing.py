"""The listing: costs per row, arrows from producers to waits, taken branches, single executions."""

from __future__ import annotations

import polars as pl
import pytest

from tests.kit.made_traces import CODE, made, one_wave
from tests.kit.ui_directories import frame
from wavewright.analysis.trace.listing import IsaListing, isa_listing
from wavewright.errors import UsageError
from wavewright.model.trace import ThreadTrace, TraceSource

LOOP = {
    "begin": 0,
    "end": 400,
    "instructions": [
        (10, 0, 4, 1, 0),
        (14, 20, 24, 9, 1),
        (40, 0, 4, 7, 4),  # a jump back to row 0
        (50, 2, 6, 1, 0),
        (56, 90, 94, 9, 1),
        (150, 0, 4, 8, 4),  # on to the next row
        (154, 0, 8, 11, 5),
    ],
    "waits": [(1, 0, "lgkmcnt"), (4, 3, "lgkmcnt")],
}


def by_row(listing: IsaListing) -> dict[int, dict[str, object]]:
    return {row["row"]: row for row in listing.rows.iter_rows(named=True)}


def test_costs_of_all_waves() -> None:
    rows = by_row(isa_listing(made([LOOP, one_wave()])))
    assert len(rows) == 6
    wait = rows[1]
    assert (wait["hit_count"], wait["latency_cycles_total"], wait["stall_cycles_total"]) == (3, 218, 210)
    assert (wait["latency_cycles_max"], wait["stall_cycles_max"]) == (100, 100)
    assert wait["latency_cycles_mean"] == pytest.approx(218 / 3)
    never = rows[3]
    assert (never["hit_count"], never["latency_cycles_total"], never["exposed_cycles_total"]) == (0, 0, 0)
    assert never["latency_cycles_mean"] is None


def test_arrows_count_how_often_a_row_waited_for_another() -> None:
    listing = isa_listing(made([LOOP, one_wave()]))
    assert listing.arrows.rows() == [(1, 0, "lgkmcnt", 3)]


def test_branches_are_taken_ones_within_a_wave() -> None:
    jumps_last = {"begin": 0, "end": 9, "instructions": [(0, 0, 4, 7, 4)]}
    listing = isa_listing(made([LOOP, jumps_last, one_wave()]))
    assert listing.branches.rows() == [(4, 0, 1)]


def test_blocks_and_loops() -> None:
    jump = {"text": [*CODE["text"][:4], "s_cbranch_scc1 65534", "s_nop 1"], "function": ["f"] * 6}
    listing = isa_listing(made([LOOP], code=frame("code", CODE | jump)))
    assert listing.rows["block"].to_list() == [0, 0, 0, 1, 1, 2]
    assert listing.loops["first_row", "last_row", "taken_count"].rows() == [(0, 4, 1)]


def test_one_execution_of_one_wave() -> None:
    listing = isa_listing(made([one_wave(), LOOP]), iteration=1)
    assert (listing.wave, listing.iteration) == (1, 1)  # the wave with the most instructions
    rows = by_row(listing)
    assert (rows[0]["latency_cycles_total"], rows[0]["stall_cycles_total"], rows[0]["idle_cycles_total"]) == (6, 2, 6)
    assert (rows[1]["latency_cycles_total"], rows[1]["idle_cycles_total"]) == (94, 0)
    assert rows[1]["exposed_cycles_total"] is None
    assert rows[5]["hit_count"] == 0  # executed once only
    assert by_row(isa_listing(made([one_wave(), LOOP]), wave=0, iteration=0))[1]["stall_cycles_total"] == 100


def test_the_two_records_of_a_barrier_are_one_execution() -> None:
    barriers = [(0, 0, 4, 11, 2), (10, 2, 6, 1, 2), (20, 1, 4, 11, 2), (30, 3, 8, 1, 2)]  # arrival, release, twice
    trace = made([{"begin": 0, "end": 40, "instructions": barriers}])
    second = by_row(isa_listing(trace, iteration=1))[2]
    assert (second["hit_count"], second["latency_cycles_total"], second["stall_cycles_total"]) == (1, 12, 4)
    assert second["idle_cycles_total"] == (20 - 16) + (30 - 24)
    assert by_row(isa_listing(trace))[2]["hit_count"] == 2
    with pytest.raises(UsageError, match="executions 0 to 1"):
        isa_listing(trace, iteration=2)


def test_an_execution_that_never_was() -> None:
    with pytest.raises(UsageError, match="executions 0 to 1"):
        isa_listing(made([LOOP]), iteration=2)
    with pytest.raises(UsageError):
        isa_listing(made([{"begin": 0, "end": 9, "instructions": [(0, 0, 4, 7, -1)]}]), iteration=0)


def test_idle_of_the_executions_adds_up() -> None:
    trace = made([LOOP])
    total = by_row(isa_listing(trace))
    parts = [by_row(isa_listing(trace, iteration=n)) for n in range(2)]
    for row in range(6):
        assert sum(part[row]["idle_cycles_total"] for part in parts) == total[row]["idle_cycles_total"]  # type: ignore[misc]


def test_chosen_rows_keep_the_arrows_at_their_ends() -> None:
    listing = isa_listing(made([LOOP]), rows=pl.Series([1, 4], dtype=pl.Int32))
    assert listing.rows["row"].to_list() == [1, 4]
    assert listing.arrows.height == 1
    assert listing.branches.height == 1
    assert isa_listing(made([LOOP]), rows=pl.Series([2], dtype=pl.Int32)).arrows.height == 0


def test_nothing_and_strangers() -> None:
    nothing = ThreadTrace({}, TraceSource(path="nothing"))
    assert isa_listing(nothing).rows.height == 0
    with pytest.raises(UsageError):
        isa_listing(nothing, iteration=0)
    with pytest.raises(UsageError):
        isa_listing(made([LOOP]), wave=7)
    unknown = {"begin": 0, "end": 9, "instructions": [(0, 0, 4, 7, -1), (4, 0, 4, 2, -1)]}
    assert isa_listing(made([unknown])).branches.height == 0


def test_the_tables_are_as_declared() -> None:
    listing = isa_listing(made([LOOP]))
    for name, table in IsaListing.tables.items():
        found = getattr(listing, name)
        assert dict(found.schema) == {column.name: getattr(pl, column.dtype) for column in table.columns}
