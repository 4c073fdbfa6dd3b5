"""The GPU of a capture: what its files say, what is known about the product, and what the user says."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.counter_capture import write_counter_csv
from tests.kit.together import together
from wavewright.errors import UsageError
from wavewright.model.counters import System
from wavewright.model.losses import Loss
from wavewright.readers.counters import open_counters
from wavewright.readers.counters.ceilings import ceilings_of_rows
from wavewright.readers.counters.system import system_of_agents, system_of_row, with_facts

GPU = {"Node_Id": "4", "Agent_Type": "GPU", "Name": "gfx942", "Product_Name": "AMD Instinct MI300X", "Cu_Count": "304"}


@together("word", ["", "0", "NA", "N/A", "nan", "-5", "inf", "much"])
def test_fields_that_say_nothing(word: str) -> None:
    found = system_of_row({"gpu_arch": "gfx950", "max_sclk": word, "cu_per_gpu": "256"}, "sysinfo.csv")
    assert found.clock_mhz_max is None
    assert "clock_mhz_max" not in found.said_by
    assert found.described["max_sclk"] == word


def test_what_is_missing_comes_from_the_product_and_says_so() -> None:
    found = with_facts(
        system_of_row({"gpu_arch": "gfx942", "gpu_model": "MI300X_A1", "cu_per_gpu": "304"}, "sysinfo.csv")
    )
    assert (found.clock_mhz_max, found.memory_gb_per_second) == (2100, 5324.8)
    assert found.said_by["clock_mhz_max"] == "facts of MI300X"
    assert found.said_by["cu_count"] == "sysinfo.csv"


def test_a_part_of_a_product_has_not_its_bandwidth() -> None:
    found = with_facts(system_of_row({"gpu_arch": "gfx950", "gpu_model": "MI350", "cu_per_gpu": "128"}, "sysinfo.csv"))
    assert found.memory_gb_per_second is None
    assert found.l2_channel_count is None
    assert found.said_by["clock_mhz_max"] == "facts of MI350X, assumed for MI350"


def test_memory_clock_and_channels_give_the_bandwidth() -> None:
    row = {"gpu_arch": "gfx90a", "gpu_model": "MI200", "max_mclk": "1600", "num_hbm_channels": "32"}
    assert with_facts(system_of_row(row, "sysinfo.csv")).memory_gb_per_second == 1638.4


def test_names_of_omniperf_before_2_0() -> None:
    row = {
        "gpu_soc": "gfx90a",
        "name": "mi200",
        "numCU": "104",
        "sclk": "1700",
        "maxWavesPerCU": "32",
        "hbmBW": "1638.4",
    }
    found = system_of_row(row, "sysinfo.csv")
    assert (found.target, found.product, found.cu_count, found.clock_mhz_max) == ("gfx90a", "mi200", 104, 1700)
    assert (found.memory_gb_per_second, found.said_by["memory_gb_per_second"]) == (1638.4, "sysinfo.csv")


@pytest.mark.parametrize("product", ["MI210", "MI200"])
@pytest.mark.parametrize(("said", "cus", "is_kept"), [(1200, 104, False), (1600, 104, True), (1200, 64, True)])
def test_a_bandwidth_that_its_product_does_not_have(product: str, said: float, cus: int, is_kept: bool) -> None:
    losses: list[Loss] = []
    row = {"gpu_soc": "gfx90a", "name": product, "numCU": str(cus), "hbmBW": str(said)}
    found = with_facts(system_of_row(row, "sysinfo.csv"), losses=losses)
    assert found.memory_gb_per_second == (said if is_kept else 1638.4)
    assert [loss.kind for loss in losses] == [] if is_kept else ["implausible_fact"]


@together("partition", ["SPX", "CPX"])
def test_a_whole_gpu_has_more_than_the_bandwidth_of_one_die(partition: str) -> None:
    """As ROCm Compute Profiler writes of an MI308X: 1300 MHz x 16 channels x 32 bytes, those of one of its dies."""
    row = {"gpu_arch": "gfx942", "gpu_model": "MI300", "cu_per_gpu": "80", "hbm_bw": "665.6"}
    modes = {"compute_partition": partition, "memory_partition": "NPS1" if partition == "SPX" else "NPS4"}
    losses: list[Loss] = []
    found = with_facts(system_of_row(row | modes, "sysinfo.csv"), losses=losses)
    assert found.memory_gb_per_second == (None if partition == "SPX" else 665.6)
    assert [loss.kind for loss in losses] == (["implausible_fact"] if partition == "SPX" else [])


def test_a_target_without_products_has_no_usual_bandwidth() -> None:
    row = {"gpu_arch": "gfx940", "hbm_bw": "665.6", "compute_partition": "SPX", "memory_partition": "NPS1"}
    losses: list[Loss] = []
    assert with_facts(system_of_row(row, "sysinfo.csv"), losses=losses).memory_gb_per_second == 665.6
    assert losses == []


def test_unknown_gpus_stay_unknown() -> None:
    found = with_facts(System(target="gfx9999", product="XYZ", cu_count=7))
    assert (found.cu_count, found.clock_mhz_max, found.said_by) == (7, None, {})


def test_the_user_names_the_gpu(tmp_path: Path) -> None:
    made = write_counter_csv(tmp_path / "r")
    for file in made.folder.rglob("*agent_info.csv"):
        file.unlink()
    assert open_counters(made.folder).system.target is None
    found = open_counters(made.folder, target="MI300A")
    assert (found.system.target, found.system.product, found.system.cu_count) == ("gfx942", "MI300A", 228)
    assert found.system.said_by["target"] == "--target"
    with pytest.raises(UsageError, match="no facts"):
        open_counters(made.folder, target="nothing")


def test_agents_that_differ_name_no_gpu() -> None:
    other = GPU | {"Node_Id": "5", "Name": "gfx90a"}
    assert system_of_agents([GPU, other], ["5"], "a").target == "gfx90a"
    assert system_of_agents([GPU, other], [], "a").target is None
    assert system_of_agents([GPU, other], ["4", "5"], "a").target is None


def test_irregular_names_of_ceilings() -> None:
    row = {
        "device": "1",
        "HBMBw": "1",
        "hbmBwHigh": "2",
        "MFMAI8Ops": "3",
        "MFMAFI8OpsLow": "4",
        "FP32Flops": "",
        "x": "5",
    }
    assert ceilings_of_rows([row, {"device": "?", "L2Bw": "6", "L1BwLow": "1"}]).rows() == [
        (1, "HBMBw", 1.0, None, 2.0),
        (1, "MFMAI8Ops", 3.0, 4.0, None),
        (1, "L2Bw", 6.0, None, None),
    ]


def test_of_two_products_under_one_name_the_one_with_as_many_cus_is_meant() -> None:
    both = "AMD Instinct MI250X/MI250"
    small = with_facts(System(target="gfx90a", product=both, cu_count=104.0))
    assert (small.memory_gb_per_second, small.l2_channel_count) == (1638.4, 32)
    assert small.said_by["memory_gb_per_second"] == "facts of MI250"
    assert with_facts(System(target="gfx90a", product=both, cu_count=110.0)).said_by["se_count"] == "facts of MI250X"
    assert with_facts(System(target="gfx90a", product=both, cu_count=20.0)).memory_gb_per_second is None


@together(
    "named", [("Agent 2", "gfx1036"), ("GPU 0", "gfx1100"), ("2", "gfx1100"), ("agent_1", "gfx1100"), ("3", "gfx1036")]
)
def test_the_gpu_that_the_rows_name(named: tuple[str, str]) -> None:
    """In a container nodes have gaps: `Agent 2` is the second one after the CPU, and node 3."""
    rows = [("0", "0", "CPU", "EPYC"), ("2", "1", "GPU", "gfx1100"), ("3", "2", "GPU", "gfx1036")]
    agents = [dict(zip(("Node_Id", "Logical_Node_Id", "Agent_Type", "Name"), row, strict=True)) for row in rows]
    assert system_of_agents(agents, [named[0]], "agent_info.csv").target == named[1]
