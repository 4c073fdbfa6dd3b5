"""Own and inclusive costs of source lines."""

from __future__ import annotations

import polars as pl

from tests.kit.made_traces import CODE, made
from tests.kit.small_traces import small_trace
from tests.kit.ui_directories import frame
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.listing.line_costs import line_costs
from wavewright.analysis.trace.listing.source_lines import source_listing
from wavewright.model.trace import ThreadTrace

CHAINS = ["/a.py:2", "/h.h:9 -> /a.py:2", "/m.h:3 -> /h.h:9 -> /a.py:2", "/h.h:9 -> /a.py:3", "/a.py:?", None]
WAVE = {
    "begin": 0,
    "end": 99,
    "instructions": [(time, time // 10, 8, 2, row) for row, time in enumerate(range(0, 60, 10))],
}


def trace(**tables: pl.DataFrame) -> ThreadTrace:
    sources = frame("sources", {"file": ["/a.py"], "text": ["one\ntwo\nthree"]})
    return made([WAVE], code=frame("code", {**CODE, "inline_chain": CHAINS}), sources=sources, **tables)


def test_own_costs_are_those_of_the_innermost_line_and_inclusive_ones_of_the_whole_chain() -> None:
    lines = line_costs(trace()).lines
    stalls = {
        row[:2]: row[2:] for row in lines["file", "line", "stall_cycles_total", "inclusive_stall_cycles_total"].rows()
    }
    assert stalls == {
        ("/a.py", 2): (0, 0 + 1 + 2),
        ("/a.py", 3): (0, 3),
        ("/a.py", None): (4, 4),
        ("/h.h", 9): (1 + 3, 1 + 2 + 3),
        ("/m.h", 3): (2, 2),
    }


def test_files_and_the_rows_without_a_line_add_up_to_the_whole() -> None:
    answer = line_costs(trace())
    files = answer.files
    assert files["file"].to_list()[-1] is None
    assert files["stall_cycles_total"].sum() == 0 + 1 + 2 + 3 + 4 + 5
    assert dict(files["file", "has_text"].iter_rows()) == {"/a.py": True, "/h.h": False, "/m.h": False, None: False}
    assert dict(files["file", "inclusive_row_count"].iter_rows()) == {"/a.py": 5, "/h.h": 3, "/m.h": 1, None: 1}
    for column in ("latency_cycles_total", "idle_cycles_total", "hit_count"):
        assert files[column].sum() == row_costs(trace())[column].sum()


def test_own_costs_equal_those_of_the_listing_by_innermost_lines() -> None:
    columns = [
        "file",
        "line",
        "row_count",
        "hit_count",
        "latency_cycles_total",
        "exposed_stall_cycles_total",
        "stall_class",
    ]
    listed = source_listing(trace(), attribution="innermost").lines.filter(pl.col("row_count") > 0)
    assert line_costs(trace()).lines.filter(pl.col("row_count") > 0)[columns].equals(listed[columns])


def test_calls_are_pairs_of_neighbours_in_chains() -> None:
    calls = line_costs(trace()).calls
    assert sorted(calls["file", "line", "inlined_file", "inlined_line", "row_count"].rows()) == [
        ("/a.py", 2, "/h.h", 9, 2),
        ("/a.py", 3, "/h.h", 9, 1),
        ("/h.h", 9, "/m.h", 3, 1),
    ]


def test_a_chain_that_names_a_line_twice_counts_once() -> None:
    recursive = small_trace(["s_nop 0"], [(0, "IMMED", 0, 4, 8)], places=["/a.h:1 -> /a.h:1 -> /k.hip:5"])
    lines = line_costs(recursive).lines
    assert lines["line", "latency_cycles_total", "inclusive_latency_cycles_total"].rows() == [(1, 8, 8), (5, 0, 8)]


def test_samples_are_given_to_lines_by_reason() -> None:
    samples = frame("samples", {"row": [1, 3], "issued_count": [2, 3], "stalled_count": [5, 7]})
    reasons = frame("sample_reasons", {"row": [1, 3, 3], "reason": ["WAITCNT", "WAITCNT", "ALU"], "count": [5, 4, 3]})
    answer = line_costs(trace(samples=samples, sample_reasons=reasons))
    at = answer.lines.filter(pl.col("file") == "/h.h")
    assert at["issued_count", "stalled_count"].row(0) == (5, 12)
    found = {row[:3]: row[3:] for row in answer.reasons.rows()}
    assert found["/h.h", 9, "WAITCNT"] == (9, 9)
    assert found["/a.py", 3, "ALU"] == (0, 3)


def test_of_samples_alone_the_most_frequent_reason_stands_for_the_stall() -> None:
    code = frame("code", {**CODE, "inline_chain": CHAINS})
    reasons = frame("sample_reasons", {"row": [1, 3, 3], "reason": ["WAITCNT", "WAITCNT", "ALU"], "count": [1, 4, 6]})
    lines = line_costs(made([], code=code, sample_reasons=reasons)).lines
    assert lines.filter(pl.col("file") == "/h.h")["stall_class"].to_list() == ["ALU"]


def test_categories_add_up_to_the_latency_of_their_line() -> None:
    places = ["/a.h:1 -> /k.hip:5", "/k.hip:5"]
    texts = ["v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", "v_add_f32 v0, v1, v2"]
    mixed = small_trace(texts, [(0, "VALU", 0, 4, 8), (1, "VALU", 10, 0, 4), (1, "VALU", 20, 0, 6)], places=places)
    found = line_costs(mixed).categories
    assert found.rows() == [("/a.h", 1, 15, 8, 8), ("/k.hip", 5, 6, 10, 10), ("/k.hip", 5, 15, 0, 8)]
