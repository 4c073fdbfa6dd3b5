from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from wavescope.analysis.counters.plan import CapturePlan, plan_capture
from wavescope.errors import UsageError
from wavescope.export.counters.rocprofv3_input import commands, definitions, input_text, remarks, summary, write_input


def as_rocprofv3_reads(text: str) -> list[list[str]]:
    """Lines with `pmc:` in them, up to a #, cut at blanks: as rocprofv3 reads its text inputs."""
    lines = [line.partition("#")[0] for line in text.splitlines() if "pmc:" in line]
    return [line.replace("pmc:", "").split() for line in lines]


@pytest.fixture(scope="module")
def yaml() -> Any:
    return pytest.importorskip("yaml", reason="PyYAML reads what was written")


@pytest.fixture(scope="module")
def plan() -> CapturePlan:
    return plan_capture("MI300X", panels=["waves", "lds", "18.2"])


def test_all_forms_tell_the_same_passes(plan: CapturePlan, yaml: Any) -> None:
    passes = as_rocprofv3_reads(input_text(plan, "txt"))
    jobs = [job["pmc"] for job in json.loads(input_text(plan, "json"))["jobs"]]
    same = [job["pmc"] for job in yaml.safe_load(input_text(plan, "yaml"))["jobs"]]
    assert passes == jobs == same
    assert len(passes) == plan.passes.height
    assert all(passes)


def test_what_the_collector_does_not_know_is_defined(plan: CapturePlan, yaml: Any) -> None:
    asked = {name for names in as_rocprofv3_reads(input_text(plan)) for name in names}
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
    job = json.loads(input_text(plain, "json", kernels=names))["jobs"][0]
    for name in names:
        assert re.fullmatch(job["kernel_include_regex"], f"x {name} y")
    assert not re.fullmatch(job["kernel_include_regex"], "void gemm<float, 4>(float, int)")
    assert "--kernel-include-regex" in commands(plain, kernels=names)[0]


def test_files_are_written_whole_or_not_at_all(plan: CapturePlan, tmp_path: Path) -> None:
    written = write_input(plan, tmp_path / "in.yaml")
    assert [path.name for path in written] == ["in.yaml", "in.counters.yaml"]
    assert written[0].read_text().count("  - pmc:") == plan.passes.height
    with pytest.raises(UsageError, match="exists"):
        write_input(plan, tmp_path / "in.yaml")
    write_input(plan, tmp_path / "in.yaml", force=True)
    with pytest.raises(UsageError, match="extension"):
        write_input(plan, tmp_path / "in.cfg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.counters.yaml", "in.yaml"]


def test_nothing_to_count_is_no_job() -> None:
    nothing = plan_capture("gfx942", metrics=["VL1 Lat"])
    assert as_rocprofv3_reads(input_text(nothing)) == []
    assert json.loads(input_text(nothing, "json"))["jobs"] == []
    assert input_text(nothing, "yaml").endswith("jobs: []\n")
    assert summary(nothing).startswith("0 passes")
    assert "TCP_TCP_LATENCY" in remarks(nothing)[0]
