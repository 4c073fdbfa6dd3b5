"""GPUs of the driver's topology: figures of real machines, and files that cannot be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.rooted_machine import RootedMachine
from wavewright.capture.gpus.topology import Gpu, gpus_of, nodes_of, topology_folder
from wavewright.capture.machines.machine import Machine

#: One XCC of an MI300X in CPX, shortened.
PROPERTIES = """simd_count 152
max_waves_per_simd 8
wave_front_size 64
array_count 4
simd_arrays_per_engine 1
simd_per_cu 4
gfx_target_version 90402
vendor_id 4098
device_id 29857
location_id 1280
domain 0
drm_render_minor 128
max_engine_clk_fcompute 2100
fw_version 177
unique_id 16404946649897475633
num_xcc 1
"""


def _gpus(root: Path, **nodes: str) -> tuple[Gpu, ...]:
    for name, text in nodes.items():
        folder = root / "sys/class/kfd/kfd/topology/nodes" / name.removeprefix("node")
        folder.mkdir(parents=True)
        (folder / "properties").write_text(text, encoding="utf-8")
    return gpus_of(RootedMachine(str(root)))


def _real(shared: Path, name: str) -> tuple[Gpu, ...]:
    folder = shared / "data/kfd-topology" / name / "topology/nodes"
    if not folder.is_dir():
        pytest.skip("../shared/data/kfd-topology is not here")
    return gpus_of(Machine(variables={"ROCPROFILER_KFD_TOPOLOGY": str(folder)}))


def test_mi210(shared: Path) -> None:
    first, second = _real(shared, "mi210")
    assert (first.index, first.node, second.index, second.node) == (0, 2, 1, 3)
    assert (first.target, first.product, first.cu_count, first.se_count, first.xcc_count) == (
        "gfx90a",
        "MI210",
        104,
        8,
        1,
    )
    assert (first.waves_per_simd, first.wave_size, first.simds_per_cu, first.clock_mhz_max) == (8, 64, 4, 1700)
    assert (first.pci, second.pci) == ("0000:63:00.0", "0000:43:00.0")
    assert (first.render_node, second.render_node) == ("/dev/dri/renderD128", "/dev/dri/renderD129")
    assert first.unique_id == f"GPU-{1801979520617338022:016x}"
    assert (first.firmware, first.memory_bytes, first.gpu_id) == (92, None, 0)


def test_mi300_in_cpx(shared: Path) -> None:
    (gpu,) = _real(shared, "mi300-cpx")
    assert (gpu.target, gpu.product, gpu.cu_count, gpu.se_count, gpu.xcc_count) == ("gfx942", "MI300X", 38, 4, 1)
    assert (gpu.pci, gpu.firmware, gpu.clock_mhz_max) == ("0000:05:00.0", 177, 2100)


def test_partitions_of_an_mi308_share_address_and_id_but_not_the_key(shared: Path) -> None:
    first, second = _real(shared, "mi308-cpx")
    assert {gpu.pci for gpu in (first, second)} == {"0000:0a:00.0"}
    assert (first.unique_id, second.unique_id) == ("", "")
    assert first.key != second.key
    assert (first.gpu_id, second.gpu_id) == (24248, 41657)
    assert (first.target, first.product, first.cu_count, first.se_count) == ("gfx942", "MI308X", 20, 4)
    assert (second.memory_bytes, second.memory_used_bytes) == (51_539_607_552, 2_907_979_776)


def test_two_vegas_of_a_driver_that_tells_no_target(shared: Path) -> None:
    first, second = _real(shared, "two-vega")
    assert (first.target, first.product) == ("", "")
    assert (first.cu_count, first.se_count, first.waves_per_simd) == (64, 4, 10)
    assert (first.memory_bytes, first.firmware) == (17_163_091_968, 392)
    assert (first.pci, first.gpu_id) == ("0000:19:00.0", 13261)
    assert first.key != second.key


def test_nodes_are_ordered_by_number_and_hidden_ones_are_skipped(tmp_path: Path) -> None:
    gpus = _gpus(tmp_path, node10=PROPERTIES, node9=PROPERTIES, node1="", node0="cpu_cores_count 64\nsimd_count 0\n")
    assert [(gpu.index, gpu.node) for gpu in gpus] == [(0, 9), (1, 10)]
    assert [node.number for node in nodes_of(RootedMachine(str(tmp_path)))] == [0, 9, 10]


def test_variables_name_other_folders_in_the_order_of_the_sdk(tmp_path: Path) -> None:
    _gpus(tmp_path, node1=PROPERTIES)
    (tmp_path / "model").mkdir()
    (tmp_path / "file").write_text("", encoding="utf-8")
    names = {"HSA_MODEL_TOPOLOGY": "/model", "AMD_KFD_TOPOLOGY": "/file", "ROCPROFILER_KFD_TOPOLOGY": "/nowhere"}
    assert topology_folder(RootedMachine(str(tmp_path), names)) == "/model"
    assert gpus_of(RootedMachine(str(tmp_path), names)) == ()
    names["AMD_KFD_TOPOLOGY"] = "/sys/class/kfd/kfd/topology/nodes/"
    assert topology_folder(RootedMachine(str(tmp_path), names)) == "/sys/class/kfd/kfd/topology/nodes"


def test_the_card_is_found_by_address_and_says_partition_and_product(tmp_path: Path) -> None:
    device = tmp_path / "sys/devices/pci0000:00/0000:05:00.0"
    (device / "drm/card7").mkdir(parents=True)
    (device / "drm/renderD128").mkdir()
    (device / "current_compute_partition").write_text("CPX\n", encoding="utf-8")
    (device / "product_name").write_text("AMD Instinct MI325X OAM\n", encoding="utf-8")
    for link in ("sys/bus/pci/devices/0000:05:00.0", "sys/class/drm/card7/device", "sys/class/drm/renderD128/device"):
        (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / link).symlink_to("/sys/devices/pci0000:00/0000:05:00.0")
    (gpu,) = _gpus(tmp_path, node1=PROPERTIES)
    assert (gpu.card, gpu.partition, gpu.product) == ("/sys/class/drm/card7/device", "CPX", "MI325X")
    (tmp_path / "sys/bus/pci/devices/0000:05:00.0").unlink()
    assert gpus_of(RootedMachine(str(tmp_path)))[0].card == "/sys/class/drm/card7/device"


@pytest.mark.parametrize("device, target, simds, product", [
    (0, 90010, 440, "MI250X"),  # 110 CUs: no other product of gfx90a
    (0, 90010, 416, ""),  # MI210 or a die of an MI250
    (29772, 110000, 192, ""),  # 96 CUs of gfx1100: a gaming card or a workstation card
    (0x74A1, 90402, 1216, "MI300X"),
])  # fmt: skip
def test_a_product_is_named_only_where_it_is_certain(
    tmp_path: Path, device: int, target: int, simds: int, product: str
) -> None:
    text = PROPERTIES.replace("device_id 29857", f"device_id {device}").replace("90402", str(target))
    text = text.replace("simd_count 152", f"simd_count {simds}").replace(
        "simd_per_cu 4", f"simd_per_cu {4 - 2 * (target > 99999)}"
    )
    (gpu,) = _gpus(tmp_path, node1=text)
    assert gpu.product == product


@pytest.mark.parametrize("line", [
    "simd_count -4", "simd_count 99999999999", "simd_count 99999999999999999999999999999", "simd_count many",
])  # fmt: skip
def test_a_node_without_a_believable_count_of_simds_is_no_gpu(tmp_path: Path, line: str) -> None:
    assert _gpus(tmp_path, node1=PROPERTIES.replace("simd_count 152", line)) == ()


def test_figures_that_cannot_be_right_are_unknown(tmp_path: Path) -> None:
    text = "\n".join((
        "simd_count 8", "simd_per_cu 0", "array_count -1", "simd_arrays_per_engine 0", "num_xcc 70000",
        "gfx_target_version 99999999", "location_id -3", "domain -1", "drm_render_minor -1", "unique_id -1",
        "fw_version -1", "max_engine_clk_fcompute 99999999", "\0\0", "x" * 1_000_000,
    ))  # fmt: skip
    (gpu,) = _gpus(tmp_path, node1=text)
    assert (gpu.cu_count, gpu.se_count, gpu.xcc_count, gpu.target, gpu.pci) == (0, 0, 1, "", "")
    assert (gpu.unique_id, gpu.firmware, gpu.render_node, gpu.clock_mhz_max) == ("", None, "", None)
    assert nodes_of(RootedMachine(str(tmp_path)))[0].problem == "array_count is -1"


def test_a_machine_without_a_driver_has_no_gpus(tmp_path: Path) -> None:
    assert gpus_of(RootedMachine(str(tmp_path))) == ()
    assert topology_folder(RootedMachine(str(tmp_path))) == ""
