from __future__ import annotations

import warnings
from typing import Any

import pytest

from tests.kit.made_runs import run as made
from wavewright.export.run.pipit import to_pipit

pandas = pytest.importorskip("pandas", reason="pandas is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

REGIONS = [
    {"name": "outer", "start_ns": 10, "end_ns": 100, "domain": "MARKER"},
    {"name": "inner", "start_ns": 10, "end_ns": 40, "domain": "HIP"},
    {"name": "next", "start_ns": 40, "end_ns": 100, "domain": "HIP"},
    {"name": "empty", "start_ns": 50, "end_ns": 50, "domain": "HIP"},
]


def events() -> Any:
    return to_pipit(
        made(
            regions=REGIONS,
            dispatches=[{"name": "k", "start_ns": 60, "end_ns": 80}],
            copies=[{"name": "H2D", "start_ns": 70, "end_ns": 75, "dst_agent": 1}],
            samples=[{"name": "mark", "time_ns": 45, "domain": "MARKER"}],
        )
    )


def test_rows_are_entered_and_left_in_order() -> None:
    frame = events()
    cpu = frame[frame["Thread"] == 0]
    assert list(zip(cpu["Timestamp (ns)"], cpu["Event Type"], cpu["Name"], strict=True)) == [
        (10, "Enter", "outer"),
        (10, "Enter", "inner"),
        (40, "Leave", "inner"),
        (40, "Enter", "next"),
        (45, "Instant", "mark"),
        (50, "Enter", "empty"),
        (50, "Leave", "empty"),
        (100, "Leave", "next"),
        (100, "Leave", "outer"),
    ]
    gpu = frame[frame["Thread"] >= 1_000_000]
    assert set(zip(gpu["Name"], gpu["Thread"], gpu["Domain"], strict=True)) == {
        ("k", 1_000_000, "KERNEL"),
        ("H2D", 1_000_001, "COPY"),
    }
    assert set(frame["Process"]) == {1}


def test_rows_name_their_partners() -> None:
    frame = events()
    for row in frame.itertuples(index=True):
        kind, partner = row[2], row[7]
        if kind == "Instant":
            assert pandas.isna(partner)
            continue
        other = frame.loc[partner]
        assert other["_matching_event"] == row[0]
        assert other["Name"] == row[3]
        assert {kind, other["Event Type"]} == {"Enter", "Leave"}
        assert row[8] == other["Timestamp (ns)"]


def test_an_empty_run() -> None:
    frame = to_pipit(made())
    assert len(frame) == 0
    assert list(frame.columns)[:3] == ["Timestamp (ns)", "Event Type", "Name"]


def test_pipit_itself_works_with_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipit = pytest.importorskip("pipit", reason="pipit is not installed")
        if not hasattr(pipit, "Trace"):
            pytest.skip("this pipit is not the one of hpcgroup")
        theirs = pipit.Trace(None, events().drop(columns=["_matching_event", "_matching_timestamp"]))
        theirs._match_events()
        ours = pipit.Trace(None, events())
        left = theirs.events["_matching_event"].astype("Int64")
        assert left.equals(ours.events["_matching_event"])
        run = ours.flat_profile(metrics=["time.inc"])
    assert run.loc["outer", "time.inc"] == 90
    assert run.loc["k", "time.inc"] == 20
