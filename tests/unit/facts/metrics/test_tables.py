"""The declared tables are sound: every formula parses, every difference from the reference is declared."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.kit.together import together
from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.families import METRIC_TARGETS
from wavewright.facts.metrics.metric import COLUMNS, Metric
from wavewright.facts.metrics.names import QUANTITIES, names_of
from wavewright.facts.metrics.panels import formula_of, formulas_of, panels_of

UNITS = {
    "%", "Accesses/N", "Bytes", "Bytes/work item", "CUs", "Cachelines/N", "Conflicts/access", "Cycles", "Cycles/N",
    "Cycles/instr", "Cycles/wave", "GB/s", "GFLOP/s", "GIOP/s", "GOP/s", "Hits/N", "Instr/N", "Instr/cycle",
    "Misses/N", "Ops/N", "Registers", "Req/N", "Threads", "Wavefronts", "Wavefronts/CU", "Work items", "Workgroups",
    "Instr/wave", "ns",
}  # fmt: skip
DEFECTS = re.compile(r"[TU]\d+(, [TU]\d+)*")


def metrics_of(target: str, *, amd: bool = False) -> list[tuple[str, Metric]]:
    return [
        (metric.id, metric)
        for panel in panels_of(target, amd=amd)
        for table in panel.tables
        for metric in table.metrics
    ]


@together("amd", [False, True])
@together("target", METRIC_TARGETS)
def test_every_formula_is_of_counters_and_known_quantities(target: str, amd: bool) -> None:
    for key, metric in metrics_of(target, amd=amd):
        for formula in (metric.formula, metric.peak):
            if formula is not None:
                assert set(parse(formula).quantities) <= set(QUANTITIES), key
        if metric.peak is not None:
            assert not parse(metric.peak).counters, key
        assert (metric.level != "") == ("accumulated" in (metric.formula or "")) or metric.defect, key


@together("target", METRIC_TARGETS)
def test_every_metric_says_its_unit_its_meaning_and_where_it_comes_from(target: str) -> None:
    for key, metric in metrics_of(target):
        assert metric.unit in UNITS, key
        assert metric.source, key
        assert metric.about.endswith("."), key
        assert 8 < len(metric.about) < 300, key
        assert metric.zero == "blank", key
        assert metric.fabric_prefix == "", key
        assert metric.maximum == "maximum", key


@together("target", METRIC_TARGETS)
def test_ids_are_unique(target: str) -> None:
    keys = [key for key, _ in metrics_of(target)]
    assert len(keys) == len(set(keys))
    for panel in panels_of(target):
        for table in panel.tables:
            assert table.id.startswith(f"{panel.number}.")
            assert table.layout in COLUMNS
            assert table.per_channel == any("[i]" in (metric.formula or "") for metric in table.metrics) or all(
                metric.formula is None for metric in table.metrics
            )


@together("target", METRIC_TARGETS)
def test_differences_from_the_reference_are_those_declared(target: str) -> None:
    ours, theirs = dict(metrics_of(target)), dict(metrics_of(target, amd=True))
    assert list(ours) == list(theirs)
    for key, metric in ours.items():
        other = theirs[key]
        assert metric.name == other.name
        differs = (metric.formula, metric.peak, metric.level, metric.maximum) != (
            other.formula,
            other.peak,
            other.level,
            other.maximum,
        )
        assert differs == bool(metric.defect), key
        assert metric.defect == other.defect
        assert not metric.defect or DEFECTS.fullmatch(metric.defect), key


def test_the_reference_repeats_its_defects() -> None:
    def of(target: str, identity: str, *, amd: bool = False) -> Metric:
        return next(metric for _, metric in metrics_of(target, amd=amd) if metric.id == identity)

    assert of("gfx90a", "2.1.21").peak == "128 * l2_channel_count * clock_mhz_max / 1000"
    assert of("gfx90a", "2.1.21", amd=True).peak == "0.064 * l2_channel_count * clock_mhz_max"
    assert of("gfx950", "2.1.7", amd=True).peak == "16.834 * cu_count * clock_mhz_max"
    assert "[28]" in str(of("gfx908", "18.1.0", amd=True).formula)
    assert of("gfx908", "18.1.0").formula == "100 * sum(TCC_HIT[:]) / (sum(TCC_HIT[:]) + sum(TCC_MISS[:]))"
    assert of("gfx90a", "15.2.8", amd=True).maximum == "minimum"
    assert of("gfx90a", "17.2.4", amd=True).fabric_prefix == "TCC_EA0_"
    assert of("gfx90a", "17.2.0", amd=True).fabric_prefix == "TCC_EA_"
    assert of("gfx908", "17.2.0", amd=True).unit == "Bytes/N"
    assert of("gfx942", "3.1.39").level == "SQ_IFETCH_LEVEL"
    assert of("gfx942", "3.1.39", amd=True).level == ""


def test_rates_of_peaks_come_from_the_facts_of_the_hardware() -> None:
    for target in METRIC_TARGETS:
        rates = gpus.of(target).rates
        assert {name[5:]: int(rate) for name, rate in names_of(target).items() if name.startswith("rate_")} == rates
        assert rates.get("l2_bytes", gpus.of(target).l2_line_bytes) == gpus.of(target).l2_line_bytes


def test_formulas_by_name() -> None:
    assert formula_of("gfx942", "roofline_l1_bytes") == "128 * TCP_TOTAL_CACHE_ACCESSES"
    assert formula_of("gfx942", "roofline_l1_bytes", amd=True) == "64 * TCP_TOTAL_CACHE_ACCESSES"
    assert formula_of("gfx90a", "roofline_mall_bytes") is None
    assert formula_of("gfx908", "mfma_f64_peak") is None
    assert formula_of("gfx1201", "fabric_bytes_per_l1_byte") is None
    assert formula_of("gfx700", "roofline_flops") is None
    with pytest.raises(UsageError, match="no formula 'hbm'"):
        formula_of("gfx942", "hbm")
    for target in METRIC_TARGETS:
        for name, formula in formulas_of(target).items():
            assert set(parse(formula).quantities) <= set(QUANTITIES), name


def test_rdna_says_only_what_its_counters_can() -> None:
    ids = {target: {metric.name for _, metric in metrics_of(target)} for target in ("gfx1030", "gfx1151", "gfx1201")}
    assert all("Hit Rate" in names for names in ids.values())
    assert "Read (96B)" in ids["gfx1030"]
    assert "Read (96B)" not in ids["gfx1201"]
    assert "GL1 Hit Rate" in ids["gfx1151"] - ids["gfx1201"]
    assert formula_of("gfx1201", "roofline_hbm_bytes") == "(256 * GL2C_EA_RDREQ) + (256 * GL2C_EA_WRREQ)"
    assert all(not any("FLOP" in name for name in names) for names in ids.values())


def test_unknown_targets_have_no_panels(tmp_path: Path) -> None:
    assert panels_of("gfx700") == ()
