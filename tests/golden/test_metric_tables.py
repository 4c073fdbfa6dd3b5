"""Under the reference's rules our tables are its tables: ids, names, units, guards, and the value of every formula."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.families import METRIC_TARGETS
from wavewright.facts.metrics.metric import Metric, MetricTable
from wavewright.facts.metrics.panels import panels_of

CDNA = [target for target in METRIC_TARGETS if target.startswith("gfx9")]
WORDS = {
    "dt": "duration_ns", "cyc": "busy_cycles", "cnt": "grbm_cycles", "spi": "spi_busy_cycles", "N": "norm",
    "CU": "cu_count", "SE": "se_count", "PIPES": "pipe_count", "SQC": "sqc_count", "BANKS": "lds_bank_count",
    "WAVES": "waves_per_cu_max", "CH": "l2_channel_count", "W": "wave_size", "XCD": "xcd_count", "fs": "clock_mhz_max",
    "HBM": "memory_gb_per_second", "ACU": "active_cus", "ACCUM": "accumulated", "Grid_Size": "grid_size",
    "Workgroup_Size": "workgroup_size", "Arch_VGPR": "arch_vgprs", "Accum_VGPR": "accum_vgprs", "SGPR": "sgprs",
    "LDS_Per_Workgroup": "lds_bytes", "Scratch_Per_Workitem": "scratch_bytes",
}  # fmt: skip
REQUESTS = " + ".join(f"TCP_TCC_{word}_REQ" for word in ("READ", "WRITE", "ATOMIC_WITH_RET", "ATOMIC_WITHOUT_RET"))


@pytest.fixture(scope="module")
def declared(shared: Path) -> list[dict[str, Any]]:
    path = shared / "spec" / "compute_metrics.json"
    if not path.is_file():
        pytest.skip("../shared has no compute_metrics.json")
    metrics: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["metrics"]
    return metrics


def in_our_notation(formula: str) -> str:
    """A formula of the specification, symbol by symbol; means of linear expressions are the expressions."""
    text = re.sub(r"^round\((.*), 0\)$", r"\1", formula.replace("·", "*"))
    text = re.sub(r"\{(.*) if .*?\}", r"\1", text).replace("?0", "").replace("?", "").replace("mean", "")
    text = re.sub(r"Σ\[0\.\.(\d+)\](\w+)", lambda hit: f"sum({hit[2]}[0:{int(hit[1]) + 1}])", text)
    text = re.sub(r"\bEA_", "TCC_EA0_", text).replace("L1L2", f"({REQUESTS})")
    for kind in ("F16", "F32", "F64"):
        parts = " + ".join(f"SQ_INSTS_VALU_{word}_{kind}" for word in ("ADD", "MUL", "TRANS"))
        text = text.replace(f"v{kind}", f"({parts} + 2 * SQ_INSTS_VALU_FMA_{kind})")
    return re.sub(r"[A-Za-z_]\w*", lambda hit: WORDS.get(hit[0], hit[0]), text)


def value(formula: str) -> float:
    known = {"wave_size": 64.0, "lds_bank_count": 32.0}
    found = parse(formula)
    values = {leaf.text: known.get(leaf.text, random.Random(leaf.text).uniform(1, 1000)) for leaf in found.leaves}
    return float(found.evaluate(values))


def shown(unit: str) -> str:
    """A unit as the reference prints it: anything with `ns` in it becomes ns (T4), the rest is capitalized (T5)."""
    text = unit.replace("/N", " per kernel")
    return "ns" if "ns" in text else text.capitalize()


@pytest.mark.first_case
@pytest.mark.parametrize("target", CDNA)
def test_tables_of_the_reference(target: str, declared: list[dict[str, Any]]) -> None:
    ours: dict[str, list[tuple[Metric, MetricTable]]] = {}
    for panel in panels_of(target, amd=True):
        for table in panel.tables:
            for metric in table.metrics:
                identity = f"{table.id}.0" if table.per_channel else metric.id  # theirs has the channel as its index
                ours.setdefault(identity, []).append((metric, table))
    theirs = {entry["ids"][target]: entry for entry in declared if target in entry["ids"]}
    assert set(ours) == set(theirs)
    for identity, entry in theirs.items():
        formulas = [entry["formula"]]
        if entry["metric"] == "channel i":
            formulas = [part.split("=", 1)[-1].strip() for part in entry["formula"].split(";")]
        else:
            assert ours[identity][0][0].name == entry["metric"]
        for (metric, table), formula in zip(ours[identity], formulas, strict=True):
            assert table.title == entry["table_title"]
            assert metric.level == entry["level"]
            assert not entry["unit"] or shown(metric.unit) == shown(entry["unit"]), identity
            assert (metric.peak is None) == (entry["peak"] in ("", "—")), identity
            if metric.peak is not None:
                assert value(metric.peak) == pytest.approx(value(in_our_notation(entry["peak"])), rel=1e-12), identity
            if formula == "—":
                assert metric.formula is None
                continue
            assert metric.formula is not None
            assert value(metric.formula) == pytest.approx(value(in_our_notation(formula)), rel=1e-12), identity
            if "/" in formula:
                guard = "zero" if "?0" in formula else "blank" if "?" in formula or "≠ 0" in formula else "infinity"
                assert metric.zero == guard, identity
