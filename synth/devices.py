"""The agents of a synthetic node as rocprofiler-sdk describes them."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["CPUS", "Agent", "agents"]

CPUS = 2
"""CPU agents of a node; GPUs are numbered after them."""

_NUMBERS = """
    cpu_cores_count simd_count mem_banks_count caches_count io_links_count cpu_core_id_base simd_id_base
    max_waves_per_simd lds_size_in_kb gds_size_in_kb num_gws wave_front_size num_xcc cu_count array_count
    num_shader_banks simd_arrays_per_engine cu_per_simd_array simd_per_cu max_slots_scratch_cu gfx_target_version
    vendor_id device_id location_id domain drm_render_minor num_sdma_engines num_sdma_xgmi_engines
    num_sdma_queues_per_engine num_cp_queues max_engine_clk_ccompute max_engine_clk_fcompute cu_per_engine
    max_waves_per_cu family_id workgroup_max_size grid_max_size local_mem_size hive_id gpu_id
"""

_GPU = {
    "num_gws": 64, "max_slots_scratch_cu": 32, "vendor_id": 4098, "num_sdma_engines": 2, "max_waves_per_cu": 32,
    "workgroup_max_size": 1024, "grid_max_size": 4294967295, "simd_id_base": 2147487744,
}  # fmt: skip
_CDNA = {
    "max_waves_per_simd": 8, "wave_front_size": 64, "num_xcc": 8, "array_count": 32, "num_shader_banks": 32,
    "simd_arrays_per_engine": 1, "simd_per_cu": 4, "num_sdma_xgmi_engines": 14, "num_sdma_queues_per_engine": 8,
    "num_cp_queues": 24, "max_engine_clk_ccompute": 3800, "family_id": 141,
}  # fmt: skip
_TARGETS: dict[str, tuple[str, dict[str, int]]] = {
    "gfx942": ("AMD Instinct MI300X", _CDNA | {
        "simd_count": 1216, "lds_size_in_kb": 64, "cu_count": 304, "cu_per_simd_array": 10, "cu_per_engine": 9,
        "gfx_target_version": 90402, "device_id": 29857, "max_engine_clk_fcompute": 2100,
        "local_mem_size": 206141652992,
    }),
    "gfx950": ("AMD Instinct MI350X", _CDNA | {
        "simd_count": 1024, "lds_size_in_kb": 160, "cu_count": 256, "cu_per_simd_array": 9, "cu_per_engine": 8,
        "gfx_target_version": 90500, "device_id": 30112, "max_engine_clk_fcompute": 2200,
        "local_mem_size": 309220868096,
    }),
    "gfx1201": ("AMD Radeon RX 9070 XT", {
        "simd_count": 128, "max_waves_per_simd": 16, "lds_size_in_kb": 64, "wave_front_size": 32, "num_xcc": 1,
        "cu_count": 64, "array_count": 8, "num_shader_banks": 4, "simd_arrays_per_engine": 2, "cu_per_simd_array": 8,
        "simd_per_cu": 2, "gfx_target_version": 120001, "device_id": 30032, "num_sdma_queues_per_engine": 6,
        "num_cp_queues": 4, "max_engine_clk_ccompute": 4673, "max_engine_clk_fcompute": 2460, "cu_per_engine": 16,
        "family_id": 152, "local_mem_size": 17095983104,
    }),
}  # fmt: skip


class Agent(NamedTuple):
    """One CPU or GPU of a node."""

    number: int
    kind: str
    type_index: int
    name: str
    product: str
    model: str
    vendor: str
    device_id: int
    properties: dict[str, Any]


def agents(target: str, gpus: int) -> list[Agent]:
    """The agents of a node: its CPUs, then its GPUs.

    Examples
    --------
    >>> [agent.name for agent in agents("gfx950", gpus=1)][-1]
    'gfx950'
    """
    cpu = "AMD EPYC 9575F 64-Core Processor"
    numbers = {"cpu_cores_count": 64, "cu_count": 64, "num_xcc": 1, "max_engine_clk_ccompute": 5000, "family_id": 26}
    rows = [_agent(index, "CPU", index, cpu, cpu, numbers) for index in range(CPUS)]
    product, numbers = _TARGETS[target]
    for gpu in range(gpus):
        place = {"location_id": 1280 + 256 * gpu, "drm_render_minor": 128 + 8 * gpu, "gpu_id": 30001 + gpu}
        rows.append(_agent(CPUS + gpu, "GPU", gpu, target, product, _GPU | numbers | place))
    return rows


def _agent(index: int, kind: str, type_index: int, name: str, product: str, numbers: dict[str, int]) -> Agent:
    is_gpu = kind == "GPU"
    model, vendor = ("ip discovery", "AMD") if is_gpu else ("", "CPU")
    most = {"x": 2147483647, "y": 65535, "z": 65535} if is_gpu else {"x": 0, "y": 0, "z": 0}
    properties: dict[str, Any] = {
        "size": 312,
        "id": {"handle": 13712 + index},
        "type": 2 if is_gpu else 1,
        **dict.fromkeys(_NUMBERS.split(), 0),
        **numbers,
        "sdma_fw_version": {"uCodeSDMA": 24 if is_gpu else 0, "uCodeRes": 0},
        "fw_version": {"uCode": 185 if is_gpu else 0, "Major": 0, "Minor": 0, "Stepping": 0},
        "capability": {"HotPluggable": 0, "DebugTrapSupported": int(is_gpu), "ASICRevision": int(is_gpu)},
        "workgroup_max_dim": dict.fromkeys("xyz", 1024 if is_gpu else 0),
        "grid_max_dim": most,
        "name": name,
        "vendor_name": vendor,
        "product_name": product,
        "model_name": model,
        "node_id": index,
        "logical_node_id": index,
        "logical_node_type_id": type_index,
        "runtime_visibility": {"hsa": 1, "hip": 1, "rccl": 1, "rocdecode": 1},
        "gpu_index": type_index if is_gpu else -1,
    }
    return Agent(index, kind, type_index, name, product, model, vendor, numbers.get("device_id", 0), properties)
