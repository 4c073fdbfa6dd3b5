from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from wavewright.analysis.counters.plan import CapturePlan, plan_capture
from wavewright.capture.plans.counter_passes import commands, definitions, input_files, input_text, remarks, summary
from wavewright.errors import UsageError


def passes_of(text: str) -> list[list[str]]:
    return [job["pmc"] for job in json.loads(text)["jobs"]]


@pytest.fixture(scope="module")
def yaml() -> Any:
    return pytest.importorskip("yaml", reason="PyYAML reads what was written")


@pytest.fixture(scope="module")
def plan() -> CapturePlan:
    return plan_capture("MI300X", panels=["waves", "lds", "18.2"])


def test_every_pass_is_a_job(plan: CapturePlan) -> None:
    passes = passes_of(input_text(plan))
    assert len(passes) == plan.passes.height
    assert all(passes)


def test_what_the_collector_does_not_know_is_defined(plan: CapturePlan, yaml: Any) -> None:
    asked = {name for names in passes_of(input_text(plan)) for name in names}
    made = yaml.safe_load(definitions(plan))["rocprofiler-sdk"]
    assert made["counters-schema-version"] == 1
    expressions = {one["name"]: one["definitions"][0]["expression"] for one in made["counters"]}
    assert set(expressions) == {name for name in asked if "[" in name or name.endswith("_ACCUM")}
    assert expressions["SQ_LEVEL_WAVES_ACCUM"] == "accumulate(SQ_LEVEL_WAVES, HIGH_RES)"
    assert expressions["TCC_HIT[127]"] == "select(TCC_HIT,[DIMENSION_XCC=[7], DIMENSION_INSTANCE=[15]])"
    assert {one["definitions"][0]["architectures"][0] for one in made["counters"]} == {"gfx942"}


def test_plans_without_levels_and_channels_need_no_definitions() -> None:
    plain = plan_capture("gfx942", metrics=["17.1.2"])
    assert definitions(plain) == ""
    assert "-E" not in commands(plain)[0]


def test_kernels_become_a_pattern_that_finds_them() -> None:
    plain = plan_capture("gfx942", metrics=["17.1.2"])
    names = ["void gemm<float, 4>(float*, int)", "a\\b^c[0]"]
    job = json.loads(input_text(plain, kernels=names))["jobs"][0]
    for name in names:
        assert re.search(job["kernel_include_regex"], f"x {name} y")
    assert not re.search(job["kernel_include_regex"], "void gemm<float, 4>(float, int)")
    longer_first = json.loads(input_text(plain, kernels=["gemm", "gemm_fp8"]))["jobs"][0]["kernel_include_regex"]
    assert longer_first == ".*(gemm_fp8|gemm).*"


def test_files_are_named_by_their_form(plan: CapturePlan) -> None:
    texts = input_files(plan, Path("in.json"))
    assert [path.name for path in texts] == ["in.json", "in.counters.yaml"]
    with pytest.raises(UsageError, match="extension"):
        input_files(plan, Path("in.cfg"))


def test_nothing_to_count_is_no_job() -> None:
    nothing = plan_capture("gfx942", metrics=["VL1 Lat"])
    assert passes_of(input_text(nothing)) == []
    assert summary(nothing).startswith("0 passes")
    assert "TCP_TCP_LATENCY" in remarks(nothing)[0]
