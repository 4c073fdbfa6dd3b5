from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from wavewright.analysis.counters.plan import CapturePlan, plan_capture
from wavewright.capture.inputs.counter_input import command_without_file, commands, input_files, input_text
from wavewright.capture.plans.counter_passes import definitions, remarks, summary
from wavewright.errors import UsageError


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
    asked = {name for names in as_rocprofv3_reads(input_text(plan, "txt")) for name in names}
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
        assert re.search(job["kernel_include_regex"], f"x {name} y")
    assert not re.search(job["kernel_include_regex"], "void gemm<float, 4>(float, int)")
    assert "--kernel-include-regex" not in commands(plain, kernels=names)[0]
    assert "--kernel-include-regex" in commands(plain, "txt", kernels=names)[0]
    longer_first = json.loads(input_text(plain, kernels=["gemm", "gemm_fp8"]))["jobs"][0]["kernel_include_regex"]
    assert longer_first == ".*(gemm_fp8|gemm).*"


def test_files_are_named_by_their_form(plan: CapturePlan) -> None:
    texts = input_files(plan, Path("in.yaml"))
    assert [path.name for path in texts] == ["in.yaml", "in.counters.yaml"]
    assert texts[Path("in.yaml")].count("  - pmc:") == plan.passes.height
    with pytest.raises(UsageError, match="extension"):
        input_files(plan, Path("in.cfg"))


def test_one_command_needs_a_release_that_takes_several_pmc() -> None:
    plain = plan_capture("gfx942", panels=["l2"])
    assert command_without_file(plain) == ""
    assert command_without_file(plain, rocm="7.11") == ""
    assert command_without_file(plain, rocm="7.13").count("--pmc ") == plain.passes.height
    single = plan_capture("gfx942", metrics=["17.1.2"])
    assert command_without_file(single, rocm="6.3").count("--pmc ") == 1


def test_nothing_to_count_is_no_job() -> None:
    nothing = plan_capture("gfx942", metrics=["VL1 Lat"])
    assert as_rocprofv3_reads(input_text(nothing, "txt")) == []
    assert json.loads(input_text(nothing, "json"))["jobs"] == []
    assert input_text(nothing, "yaml").endswith("jobs: []\n")
    assert summary(nothing).startswith("0 passes")
    assert "TCP_TCP_LATENCY" in remarks(nothing)[0]
