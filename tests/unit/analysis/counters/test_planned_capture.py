"""A capture that is taken as planned gives the metrics that it was planned for."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from synth.counter_capture import CounterCapture, write_counters
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.analysis.counters.plan import CapturePlan, plan_capture
from wavewright.capture.plans.counter_passes import input_text
from wavewright.model.counters import CounterSet
from wavewright.readers.counters import open_counters

HEADER = (
    *("Dispatch_Id", "Kernel_Name", "Grid_Size", "Workgroup_Size", "LDS_Block_Size", "Scratch_Size", "VGPR_Count"),
    *("Accum_VGPR_Count", "SGPR_Count", "Counter_Name", "Counter_Value", "Start_Timestamp", "End_Timestamp"),
)
PRODUCTS = {"gfx908": "MI100", "gfx90a": "MI210", "gfx942": "MI300X", "gfx950": "MI350X"}
LAUNCH = ("dispatch_id", "kernel_name", "grid_size", "workgroup_size", "lds_bytes", "scratch_bytes", "arch_vgprs",
          "accum_vgprs", "sgprs")  # fmt: skip


def values_of(whole: CounterSet, name: str) -> list[float]:
    """What the whole capture says of a counter under the name that the plan uses for it."""
    levels = dict(whole.passes.select("name", "pass").iter_rows())
    if name.endswith("_ACCUM"):
        return whole.measured[levels[name.removesuffix("_ACCUM")]]["SQ_ACCUM_PREV_HIRES"].to_list()
    column = name.replace("_sum", "").replace("TCC_EA_", "TCC_EA0_")
    for number in sorted(whole.measured):
        if column in whole.measured[number].columns:
            return whole.measured[number][column].to_list()
    pytest.fail(f"the whole capture has no {name}")


def take(plan: CapturePlan, whole: CounterSet, folder: Path) -> CounterSet:
    """Write what rocprofv3 would leave for the plan, from the values of a capture of everything."""
    passes = [job["pmc"] for job in json.loads(input_text(plan))["jobs"]]
    dispatches = whole.dispatches.sort("dispatch").to_dicts()
    for number, names in enumerate(passes, start=1):
        file = folder / f"pmc_{number}" / "1_counter_collection.csv"
        file.parent.mkdir(parents=True)
        with file.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(HEADER)
            for name in names:
                for row, value in zip(dispatches, values_of(whole, name), strict=True):
                    launch = [row[column] for column in LAUNCH]
                    writer.writerow([*launch, name, value, int(row["start_ns"]), int(row["end_ns"])])
    taken = open_counters(folder, target=plan.product)
    taken.system = whole.system  # what is known of the product may differ from the machine
    return taken


@pytest.mark.first_case
@pytest.mark.parametrize("target", PRODUCTS)
def test_planned_metrics_are_those_of_a_capture_of_everything(target: str, tmp_path: Path) -> None:
    write_counters(tmp_path / "whole", CounterCapture(target))
    whole = open_counters(tmp_path / "whole")
    plan = plan_capture(PRODUCTS[target], panels=["sol", "memory", "lds", "l2", "18.2"])
    taken = take(plan, whole, tmp_path / "taken")
    chosen = {"panels": ["sol", "memory", "lds", "l2", "18.2"]}
    ours, theirs = (counter_panels(capture, **chosen).rows for capture in (taken, whole))
    both = theirs.join(ours, on=["metric_id", "name", "series"], suffix="_taken", how="left", maintain_order="left")
    assert both.height == theirs.height
    planned = dict(plan.metrics.select("metric_id", "is_measured").iter_rows())
    for row in both.iter_rows(named=True):
        key = row["metric_id"] if row["channel"] is None else "18.2.0"
        if planned[key] and row["average"] is not None:
            assert row["average_taken"] == pytest.approx(row["average"], rel=1e-9), row["name"]
    assert both.filter(pl.col("average_taken").is_not_null()).height > 80
