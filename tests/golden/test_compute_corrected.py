"""Corrected averages against a plain restatement: formulas over sums of CSV columns, evaluated by Python itself."""

from __future__ import annotations

import csv
import math
import re
from typing import TYPE_CHECKING

import pytest

from wavewright.analysis.counters.choice import CounterChoice
from wavewright.analysis.counters.engine.evaluate import evaluate
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.readers.counters import open_counters

if TYPE_CHECKING:
    from pathlib import Path

FACTS = (
    *("cu_count", "se_count", "pipe_count", "sqc_count", "lds_bank_count", "waves_per_cu_max", "l2_channel_count"),
    *("wave_size", "xcd_count", "clock_mhz_max"),
)
LAUNCH = {
    "grid_size": "Grid_Size",
    "workgroup_size": "Workgroup_Size",
    "arch_vgprs": "Arch_VGPR",
    "accum_vgprs": "Accum_VGPR",
    "sgprs": "SGPR",
    "lds_bytes": "LDS_Per_Workgroup",
    "scratch_bytes": "Scratch_Per_Workitem",
}


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def plain_average(formula: str, sums: dict[str, float], facts: dict[str, float], count: int) -> float | None:
    """Over sums; an amount, which doubles when all sums do, is divided by the dispatches."""

    def at(factor: float) -> float:
        known = {name: factor * value for name, value in sums.items()} | facts
        text = re.sub(r"\b[A-Z][A-Z0-9_]*\b", lambda match: f"known[{match[0]!r}]", formula)
        scope = {"known": known, "max": max, "min": min} | {name: known[name] for name in known if name.islower()}
        return float(eval(text, scope))  # noqa: S307 - formulas of this package

    try:
        once, twice = at(1.0), at(2.0)
    except (KeyError, NameError, ZeroDivisionError):
        return None
    return once / count if math.isclose(twice, 2 * once, rel_tol=1e-9) and once else once


@pytest.mark.first_case
@pytest.mark.parametrize("name", ["path/MI100", "path/MI200", "path/MI300X_A1", "synthetic/gfx90a", "synthetic/gfx942"])
def test_averages_are_ratios_of_sums(shared: Path, name: str) -> None:
    folder = shared / "golden" / "compute" / "inputs" / name
    rows, said = rows_of(folder / "pmc_perf.csv"), rows_of(folder / "sysinfo.csv")[0]
    counters = open_counters(folder)
    facts = {name: getattr(counters.system, name) for name in FACTS}
    facts["memory_gb_per_second"] = float(said["max_mclk"]) / 1000 * 32 * float(said["num_hbm_channels"])
    sums: dict[str, float] = {"norm": float(len(rows))}
    for header in rows[0]:
        counter = header.removesuffix("_sum").replace("TCC_EA_", "TCC_EA0_")
        if counter.isupper() and "[" not in counter and (counter not in sums or header.startswith("TCC_EA_")):
            sums[counter] = sum(float(row[header] or 0) for row in rows)
    sums["duration_ns"] = sum(float(row["End_Timestamp"]) - float(row["Start_Timestamp"]) for row in rows)
    sums |= {ours: sum(float(row[theirs]) for row in rows) for ours, theirs in LAUNCH.items()}
    for ours, theirs in (("busy_cycles", "ACTIVE"), ("grbm_cycles", "COUNT"), ("spi_busy_cycles", "SPI_BUSY")):
        column = f"GRBM_{'GUI_' if theirs == 'ACTIVE' else ''}{theirs}"
        sums[ours] = sums[column] / facts["xcd_count"]
    answer = counter_panels(counters)
    formulas = {
        metric.id: metric.formula
        for panel in answer.panels
        for table in panel.tables
        for metric in table.metrics
        if metric.formula and not table.per_channel and not metric.level and "[" not in metric.formula
    }
    averages = dict(answer.rows.filter(answer.rows["channel"].is_null()).select("metric_id", "average").iter_rows())
    compared = 0
    for identity, formula in formulas.items():
        expected = plain_average(formula, sums, facts, len(rows))
        if expected is None or expected < 0:  # negative differences are cut off
            continue
        if averages[identity] is None:
            assert "DUPLICATE" in formula or expected == 0, identity
            continue
        compared += 1
        if not any("is negative" in caveat for caveat in answer.caveats) or "-" not in formula:
            assert averages[identity] == pytest.approx(expected, rel=1e-9), (identity, formula)
    assert compared > 180


def test_figures_of_the_index(shared: Path) -> None:
    counters = open_counters(shared / "data" / "pmc-mi300x-bmm")
    names = {"hit": "100 * TCC_HIT / (TCC_HIT + TCC_MISS)", "by_channel": "sum(TCC_HIT[:])", "whole": "TCC_HIT"}
    found = evaluate(counters, names | {"waves": "SQ_WAVES", "matrix": "SQ_INSTS_MFMA"})
    gemm, fill = found.frame.rows(named=True)
    assert (gemm["dispatch_count"], fill["dispatch_count"]) == (150, 151)
    assert (round(gemm["hit"], 2), round(fill["hit"], 2)) == (75.59, 50.82)
    assert gemm["waves"] * 150 == pytest.approx(1_228_800)
    assert gemm["matrix"] * 150 == pytest.approx(19_660_800)
    assert gemm["by_channel"] == pytest.approx(gemm["whole"])
    answer = counter_panels(counters, choice=CounterChoice(kernels=("batched",)), panels=["17.1"])
    rates = dict(answer.rows.select("name", "average").iter_rows())
    assert round(rates["Hit Rate"], 2) == 75.59
    channels = counter_panels(counters, choice=CounterChoice(kernels=("0",)), panels=["18.1", "18.4"]).rows
    assert round(channels["average"][0], 2) == 75.59
    assert channels.filter(channels["series"] == "L2 Read").height == 128
