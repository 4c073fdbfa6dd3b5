"""PC samples of rocprofv3 on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from synth import compiled
from synth.pc_samples import SampledRun, sampled, write_samples

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

TWO_KERNELS = SampledRun(kernels=(compiled("saxpy", "gfx942"), compiled("divergent", "gfx942")), dispatches=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stochastic samples as CSV and JSON, host-trap samples as CSV."""
    folder = tmp_path_factory.mktemp("samples")
    write_samples(TWO_KERNELS, folder / "csv")
    write_samples(TWO_KERNELS, folder / "json", form="json", with_code=True)
    write_samples(SampledRun(method="host_trap"), folder / "trap")
    return folder


def test_info_names_the_samples_and_the_run_beside_them(run: Run, folder: Path) -> None:
    text = run("info", folder / "trap").stdout
    assert "600 PC samples (host trap) of 6 dispatches" in text
    assert "kernel: saxpy: 8 VGPRs" in text
    assert "also here: the run: wavewright summary" in text
    assert "wavewright stalls" not in text
    answer = json.loads(run("info", folder / "csv", "--json").stdout)
    assert (answer["pc_samples"], answer["sampling_method"], answer["sampled_dispatches"]) == (600, "stochastic", 3)
    assert "600 PC samples are in this file, too" in run("info", folder / "json").stdout


def test_run_verbs_read_the_run_of_the_same_folder(run: Run, folder: Path) -> None:
    assert run("summary", folder / "csv").returncode == run("summary", folder / "json").returncode == 0


def test_hotspots(run: Run, folder: Path) -> None:
    made = json.loads(run("hotspots", folder / "csv", "--by", "kernel", "--json").stdout)
    assert {row["unit"]: row["sample_count"] for row in made["units"]["rows"]} == {"saxpy": 400, "divergent": 200}
    text = run("hotspots", folder / "trap").stdout
    assert text.splitlines()[1].startswith(
        "600 samples; host-trap samples tell where waves were, not whether they issued or stalled"
    )
    assert "stalled" not in text.splitlines()[2]
    refused = run("hotspots", folder / "csv", "--by", "loop")
    assert refused.returncode == 2
    assert "only the sampled instructions are known" in refused.stderr
    assert run("hotspots", folder / "json", "--by", "loop").returncode == 0


def test_stalls(run: Run, folder: Path) -> None:
    text = run("stalls", folder / "csv").stdout
    moments = len({(sample.dispatch, sample.time_ns) for sample in sampled(TWO_KERNELS).samples})
    assert text.splitlines()[1].startswith(f"2 kernels: 600 samples, 3 dispatches, {moments} sampling moments")
    assert "wait lgkmcnt" in text
    refused = run("stalls", folder / "trap")
    assert refused.returncode == 2
    assert "host-trap PC samples record where waves were" in refused.stderr
    assert "--pc-sampling-method stochastic" in refused.stderr


@pytest.mark.parametrize("form", ["csv", "json"])
def test_diagnose(run: Run, folder: Path, form: str) -> None:
    text = run("diagnose", folder / form).stdout
    assert "400 of 600 samples, 2 dispatches" in text.splitlines()[0] + text.splitlines()[1]
    assert "1. wait lgkmcnt" in text
    assert "trust" not in text
    assert "not of the kernel" in text
    answer = json.loads(run("diagnose", folder / form, "--json").stdout)
    first = answer["findings"][0]
    assert first["share_min"] < first["share"] < first["share_max"]
    other = json.loads(run("diagnose", folder / form, "--kernel", "divergent", "--json").stdout)
    assert other["scope"]["sample_count"] == 200


def test_diagnose_in_other_forms(run: Run, folder: Path) -> None:
    assert "up to two instructions late" in run("diagnose", folder / "trap", "--brief").stdout
    table = run("diagnose", folder / "trap", "--csv").stdout
    assert table.splitlines()[0] == "name,verdict,remedy,sample_count,share,share_min,share_max,row_count"
    refused = run("diagnose", folder / "trap", "--counters", folder)
    assert refused.returncode == 2


def test_too_few_samples_give_no_finding(run: Run, tmp_path: Path) -> None:
    write_samples(SampledRun(sample_count=60, waves_per_moment=3, dispatches=1), tmp_path)
    text = run("diagnose", tmp_path).stdout
    assert "too few samples for findings: 20 independent observations" in text
    assert "1." not in text


def test_the_source_listing_without_addresses(run: Run, folder: Path) -> None:
    text = run("source", folder / "trap", "--isa").stdout
    assert "hottest: s_waitcnt lgkmcnt(0): 312 samples" in text
    assert "▒ sampled" in text


def test_one_dispatch(run: Run, folder: Path) -> None:
    answer = json.loads(run("hotspots", folder / "csv", "--dispatch", 2, "--json").stdout)
    assert answer["sample_count"] == 200
    assert answer["source"]["dispatch"] == 2


def test_real_samples(run: Run, shared: Path) -> None:
    place = shared / "data" / "gfx1201-counters-pcsampling" / "pcs_control" / "o_1000"
    assert "11,252 PC samples (host trap) of 95 dispatches" in run("info", place).stdout
    answer = json.loads(run("hotspots", place, "--json").stdout)
    assert answer["units"]["row_count"] == 23
    first = answer["units"]["rows"][0]
    assert (first["text"], first["sample_count"]) == ("v_add_f32_e32 v0, v0, v2", 10828)
    few = shared / "data" / "rocprofv3-doc-samples" / "pc_sampling_host_trap.csv"
    assert "too few samples" in run("diagnose", few).stdout
    decoded = shared / "data" / "pcsampling-rcv"
    assert "1. barrier" in run("diagnose", decoded).stdout
    assert "did not issue" in run("stalls", decoded).stdout
