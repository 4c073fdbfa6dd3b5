"""Zeros that cannot be true are no measurement; zeros that can be are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.counter_capture import CounterCapture, write_counters
from wavewright.model.counters import CounterSet
from wavewright.readers.counters import open_counters

FLOPS = ("SQ_INSTS_VALU_ADD_F32", "SQ_INSTS_VALU_MFMA_MOPS_F16", "SQ_LDS_IDX_ACTIVE", "TCC_ATOMIC_sum", "TCC_PROBE_sum")


def opened(folder: Path, **counters: float) -> CounterSet:
    head = "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp," + ",".join(counters)
    row = "k,10,20," + ",".join(str(value) for value in counters.values())
    file = folder / "pmc_perf.csv"
    file.write_text(f"{head}\n0,{row}\n1,{row}\n")
    return open_counters(file)


def silent(found: CounterSet) -> set[str]:
    return {name for name in found.measured[0].columns if found.measured[0][name].null_count()}


def test_a_kernel_may_do_nothing_of_a_kind(tmp_path: Path) -> None:
    found = opened(tmp_path, SQ_WAVES=4, SQ_INSTS_VALU=9, TCC_HIT_sum=3, TCC_MISS_sum=0, **dict.fromkeys(FLOPS, 0))
    assert silent(found) == set()
    assert found.losses.height == 0


def test_a_pass_of_one_kind_may_be_all_zero(tmp_path: Path) -> None:
    """Passes for a roofline collect floating-point instructions alone."""
    assert silent(opened(tmp_path, SQ_WAVES=4, **dict.fromkeys(FLOPS[:3], 0))) == set()
    assert silent(opened(tmp_path, TCC_ATOMIC_sum=0, TCC_PROBE_sum=0)) == set()


@pytest.mark.parametrize("name", ["GRBM_GUI_ACTIVE", "SQ_BUSY_CYCLES", "SQ_WAVE_CYCLES", "SQ_INSTS", "SQC_ICACHE_REQ"])
def test_a_wave_takes_time_and_instructions(name: str, tmp_path: Path) -> None:
    found = opened(tmp_path, **{"SQ_WAVES": 4, "SQ_INSTS_LDS": 0, name: 0, "TCC_HIT_sum": 3})
    assert silent(found) == {name}
    assert found.losses["kind"].to_list() == ["counter_silent"]
    assert name in found.losses["message"].item()


def test_an_idle_l2_takes_its_channels_along(tmp_path: Path) -> None:
    found = opened(
        tmp_path,
        **{
            "SQ_WAVES": 4,
            "TCC_HIT_sum": 0,
            "TCC_MISS_sum": 0,
            "TCC_HIT[0]": 0,
            "TCC_MISS[0]": 0,
            "TCP_GATE_EN1_sum": 0,
        },
    )
    assert silent(found) == {"TCC_HIT", "TCC_MISS", "TCC_HIT[0]", "TCC_MISS[0]"}


def test_only_waves_counted(tmp_path: Path) -> None:
    assert silent(opened(tmp_path, SQ_WAVES=4, SQ_INSTS_VALU=0, SQ_INSTS_LDS=0)) == {"SQ_INSTS_VALU", "SQ_INSTS_LDS"}


def test_nothing_ran(tmp_path: Path) -> None:
    assert silent(opened(tmp_path, SQ_WAVES=0, SQ_BUSY_CYCLES=0, TCC_HIT_sum=0, TCC_MISS_sum=0)) == set()


def test_requests_have_sizes(tmp_path: Path) -> None:
    reads = {
        "TCC_EA0_RDREQ_sum": 100,
        "TCC_EA0_RDREQ_32B_sum": 30,
        "TCC_EA0_RDREQ_64B_sum": 0,
        "TCC_EA0_RDREQ_128B_sum": 0,
    }
    assert silent(opened(tmp_path, **reads)) == {"TCC_EA0_RDREQ_64B", "TCC_EA0_RDREQ_128B"}
    assert silent(opened(tmp_path, **(reads | {"TCC_EA0_RDREQ_32B_sum": 100}))) == set()
    assert silent(opened(tmp_path, **(reads | {"TCC_EA0_RDREQ_64B_sum": 70}))) == set()


RDNA_READS = {
    "GL2C_EA_RDREQ_sum": 1_050_439,
    "GL2C_EA_RDREQ_32B_sum": 193,
    "GL2C_EA_RDREQ_64B_sum": 6,
    "GL2C_EA_RDREQ_128B_sum": 6,
}


def test_stray_counts_are_no_sizes(tmp_path: Path) -> None:
    sizes = {f"GL2C_EA_RDREQ_{size}B" for size in (32, 64, 128)}
    counters = opened(tmp_path, **RDNA_READS, FETCH_SIZE=7)
    assert silent(counters) == sizes | {"FETCH_SIZE"}
    assert any("do not add up to the requests" in message for message in counters.losses["message"])
    assert silent(opened(tmp_path, **(RDNA_READS | {"GL2C_EA_RDREQ_128B_sum": 1_050_240}))) == set()
    with_96 = RDNA_READS | {"GL2C_EA_RDREQ_96B_sum": 1_050_234}
    assert silent(opened(tmp_path, **with_96, FETCH_SIZE=98_467)) == set()
    reads = {"TCC_EA0_RDREQ_sum": 1000, "TCC_EA0_RDREQ_32B_sum": 0, "TCC_EA0_RDREQ_64B_sum": 3}
    assert silent(opened(tmp_path, **reads, TCC_EA0_RDREQ_128B_sum=0)) == {"TCC_EA0_RDREQ_64B", "TCC_EA0_RDREQ_128B"}


def test_stray_counts_of_another_pass_are_no_sizes(tmp_path: Path) -> None:
    head = "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,"
    names = list(RDNA_READS)
    for number, part in enumerate((names[:1], names[1:])):
        (tmp_path / f"pmc_perf_{number}.csv").write_text(
            head + ",".join(part) + "\n0,k,10,20," + ",".join(str(RDNA_READS[name]) for name in part) + "\n"
        )
    counters = open_counters(tmp_path)
    columns = {name: frame[name].null_count() for frame in counters.measured.values() for name in frame.columns}
    assert columns["GL2C_EA_RDREQ"] == 0
    assert columns["GL2C_EA_RDREQ_32B"] == columns["GL2C_EA_RDREQ_128B"] == 1


@pytest.mark.parametrize("target", ["gfx908", "gfx90a", "gfx942", "gfx950"])
def test_sound_captures_have_no_silent_counters(target: str, tmp_path: Path) -> None:
    assert open_counters(write_counters(tmp_path / "w", CounterCapture(target)).folder).losses.height == 0
