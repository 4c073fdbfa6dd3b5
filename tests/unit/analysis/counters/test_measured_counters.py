"""What is measured of made captures is what they were made to say, in every form and on every target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from synth.counter_capture import CounterCapture, write_counter_csv, write_counters
from wavewright.analysis.counters.engine.evaluate import evaluate
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.readers.counters import open_counters

if TYPE_CHECKING:
    from pathlib import Path

FORMULAS = {
    "waves": "SQ_WAVES",
    "hit_rate": "TCC_HIT / (TCC_HIT + TCC_MISS)",
    "per_wave": "SQ_INSTS_VALU / SQ_WAVES",
    "requests": "TCC_REQ",
}


@pytest.mark.first_case
@pytest.mark.parametrize("target", ["gfx908", "gfx90a", "gfx942", "gfx950"])
@pytest.mark.parametrize("writer", [write_counters, write_counter_csv])
def test_totals_of_kernels(tmp_path: Path, target: str, writer: object) -> None:
    how = (
        {"passes": (("SQ_WAVES", "SQ_INSTS_VALU", "TCC_HIT", "TCC_MISS"), ("TCC_REQ",))}
        if writer is write_counter_csv
        else {}
    )
    made = writer(tmp_path / "capture", CounterCapture(target, seed=5), **how)  # type: ignore[operator]
    found = evaluate(open_counters(tmp_path / "capture"), FORMULAS).frame
    assert set(found["kernel_name"]) == set(made.totals)
    assert found["dispatch_count"].sum() == made.dispatch_count
    for row in found.iter_rows(named=True):
        totals = made.totals[row["kernel_name"]]
        count = row["dispatch_count"]
        assert row["waves"] == pytest.approx(totals["SQ_WAVES"] / count)
        assert row["requests"] == pytest.approx(totals["TCC_REQ"] / count)
        assert row["hit_rate"] == pytest.approx(totals["TCC_HIT"] / (totals["TCC_HIT"] + totals["TCC_MISS"]))
        assert row["per_wave"] == pytest.approx(totals["SQ_INSTS_VALU"] / totals["SQ_WAVES"])


@pytest.mark.first_case
@pytest.mark.parametrize("target", ["gfx908", "gfx90a", "gfx942", "gfx950"])
def test_nothing_is_infinite_and_what_is_blank_has_a_reason(tmp_path: Path, target: str) -> None:
    write_counters(tmp_path / "capture", CounterCapture(target, seed=6))
    for normalization in ("kernel", "wave", "cycle", "second"):
        rows = counter_panels(open_counters(tmp_path / "capture"), normalization=normalization).rows
        blank = rows.filter(rows["average"].is_null())
        assert (blank["reason"] != "").all()
        assert rows["average"].drop_nulls().is_finite().all()
        assert rows["peak_share"].drop_nulls().is_finite().all()
        assert rows["maximum"].drop_nulls().is_finite().all()
