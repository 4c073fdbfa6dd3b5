"""Work of a kernel per dispatch, in a few numbers, and the hardware counters that follow from them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from synth.counter_devices import CounterDevice

__all__ = ["KernelWork", "counters_of", "typical_kernels"]

_LANES = 64
_MATRIX_UNIT = 512
"""Operations that one step of SQ_INSTS_VALU_MFMA_MOPS_* stands for."""
_FABRIC_LATENCY_CYCLES, _L2_LATENCY_CYCLES, _L1_LATENCY_CYCLES, _LDS_LATENCY_CYCLES = 900, 500, 120, 64


@dataclass(frozen=True)
class KernelWork:
    """One kernel; counts are per wave, rates are shares from 0 to 1.

    Examples
    --------
    >>> KernelWork("copy", workgroups=64).waves
    256
    """

    name: str
    dispatch_count: int = 3
    workgroups: int = 4096
    waves_per_workgroup: int = 4
    duration_ns: int = 20_000
    valu: int = 20
    fma_f32: int = 0
    """Of the VALU instructions."""
    matrix: int = 0
    """MFMA instructions on 16-bit floats, on top of the VALU instructions."""
    matrix_flops: int = 16_384
    """Operations of one of them."""
    salu: int = 6
    smem: int = 4
    branch: int = 1
    loads: int = 4
    stores: int = 1
    lds: int = 0
    lds_conflict_share: float = 0.0
    """Of the cycles in which the LDS is active."""
    coalescing: float = 1.0
    """1 = four lanes per access of L1; 0.25 = one."""
    l1_hit_rate: float = 0.0
    """Of the lines that loads need."""
    l2_hit_rate: float = 0.3
    small_read_share: float = 0.0
    """Of reads from memory: those of 32 bytes."""
    channel_imbalance: float = 0.0
    """Share of all requests that channel 0 takes on top of its part."""
    active_lane_share: float = 1.0
    waiting_share: float = 0.8
    """Of the cycles of waves: those in which they wait for memory or results."""
    waves_per_cu: int = 16
    """Resident at a time."""
    arch_vgprs: int = 32
    accum_vgprs: int = 0
    sgprs: int = 32
    lds_bytes: int = 0
    scratch_bytes: int = 0
    counters: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Counters that shall have other values; canonical names, totals over all instances."""

    @property
    def waves(self) -> int:
        """Waves of one dispatch.

        Examples
        --------
        >>> KernelWork("copy", workgroups=2, waves_per_workgroup=8).waves
        16
        """
        return self.workgroups * self.waves_per_workgroup


def typical_kernels(device: CounterDevice) -> tuple[KernelWork, ...]:
    """Three kernels at three limits: memory bandwidth (80 % of its peak), matrix units (70 %), scattered reads (30 %).

    Examples
    --------
    >>> from synth.counter_devices import DEVICES
    >>> [work.name.split("(")[0] for work in typical_kernels(DEVICES["gfx942"])]
    ['stream_copy', 'tile_gemm', 'gather_rows']
    """
    copy = KernelWork("stream_copy(float*, float const*, int)", workgroups=16_384, loads=8, stores=8, l2_hit_rate=0.02)
    gemm = KernelWork(
        "tile_gemm(_Float16*, _Float16 const*, _Float16 const*)",
        valu=300,
        matrix=400,
        lds=400,
        lds_conflict_share=0.1,
        loads=60,
        stores=8,
        l1_hit_rate=0.4,
        l2_hit_rate=0.8,
        waves_per_cu=8,
        waiting_share=0.3,
        arch_vgprs=128,
        accum_vgprs=128,
        lds_bytes=32_768,
    )
    gather = KernelWork(
        "gather_rows(float*, float const*, int const*)",
        dispatch_count=2,
        fma_f32=16,
        loads=16,
        coalescing=0.25,
        l2_hit_rate=0.1,
        small_read_share=0.6,
        active_lane_share=0.6,
    )
    flops = gemm.waves * gemm.matrix * gemm.matrix_flops
    rate = device.cu_count * device.matrix_flops_per_cycle * device.clock_mhz_max / 1000
    return (
        replace(copy, duration_ns=round(_memory_bytes(copy, device) / (0.8 * device.memory_gb_per_second))),
        replace(gemm, duration_ns=round(flops / (0.7 * rate))),
        replace(gather, duration_ns=round(_memory_bytes(gather, device) / (0.3 * device.memory_gb_per_second))),
    )


def _memory_bytes(work: KernelWork, device: CounterDevice) -> float:
    """Read and written by one dispatch."""
    counters = counters_of(work, device)
    whole = counters["TCC_EA0_RDREQ"] - counters["TCC_EA0_RDREQ_32B"] - counters["TCC_EA0_RDREQ_128B"]
    sizes = 32 * counters["TCC_EA0_RDREQ_32B"] + 64 * whole + 128 * counters["TCC_EA0_RDREQ_128B"]
    return sizes + 64 * counters["TCC_EA0_WRREQ"]


def counters_of(work: KernelWork, device: CounterDevice) -> dict[str, float]:
    """Every counter that the model knows, canonical name -> total of one dispatch; whole numbers.

    Examples
    --------
    >>> from synth.counter_devices import DEVICES
    >>> made = counters_of(KernelWork("copy"), DEVICES["gfx942"])
    >>> made["TCC_HIT"] + made["TCC_MISS"] == made["TCC_REQ"]
    True
    """
    cycles = work.duration_ns * device.clock_mhz_max / 1000 * 0.95
    counters = _front_end(work, device, cycles) | _instructions(work, device, cycles) | _memory(work, device, cycles)
    counters = {name: float(round(value)) for name, value in counters.items()}
    return counters | {name: float(value) for name, value in work.counters.items()}


def _front_end(work: KernelWork, device: CounterDevice, cycles: float) -> dict[str, float]:
    busy = cycles * device.xcd_count
    counters = {
        "GRBM_COUNT": busy * 1.05,
        "GRBM_GUI_ACTIVE": busy,
        "GRBM_SPI_BUSY": busy * 0.9,
        "CPC_CPC_STAT_BUSY": busy,
        "CPC_CPC_STAT_IDLE": busy * 0.1,
        "CPC_CPC_STAT_STALL": busy * 0.02,
        "CPC_CPC_TCIU_BUSY": busy * 0.1,
        "CPC_CPC_TCIU_IDLE": busy,
        "CPC_CPC_UTCL2IU_BUSY": busy * 0.05,
        "CPC_CPC_UTCL2IU_IDLE": busy,
        "CPC_ME1_BUSY_FOR_PACKET_DECODE": busy * 0.3,
        "CPC_ME1_DC0_SPI_BUSY": busy * 0.8,
        "CPF_CPF_STAT_BUSY": busy,
        "CPF_CPF_STAT_IDLE": busy * 0.1,
        "CPF_CPF_STAT_STALL": busy * 0.03,
        "CPF_CPF_TCIU_BUSY": busy * 0.1,
        "CPF_CPF_TCIU_IDLE": busy,
        "SPI_SWC_CSC_WR": 2 * work.waves,
    }
    if device.target == "gfx950":  # one scheduler pipe does all the work, as when counters are collected
        counters |= {"SPI_CS0_WAVE": work.waves, "SPI_CS0_NUM_THREADGROUPS": work.workgroups}
        counters |= {
            "SPI_CS0_BUSY": busy * device.se_count / device.xcd_count,
            "SPI_VWC0_VDATA_VALID_WR": 4 * work.waves,
        }
        return counters
    counters |= {"SPI_CSN_WAVE": work.waves, "SPI_CSN_NUM_THREADGROUPS": work.workgroups}
    return counters | {"SPI_CSN_BUSY": cycles * device.se_count, "SPI_VWC_CSC_WR": work.waves}


def _instructions(work: KernelWork, device: CounterDevice, cycles: float) -> dict[str, float]:
    waves = work.waves
    vmem = work.loads + work.stores
    valu = work.valu + work.matrix
    each = valu + work.salu + work.smem + work.branch + work.lds + vmem
    resident = min(work.waves_per_cu * device.cu_count, waves) * cycles
    fetched = min(8 * device.sqc_count, each * waves // 80)  # lines of code that each instruction cache fetches once
    lds_active = 4 * work.lds * waves / (1 - min(work.lds_conflict_share, 0.9))
    counters = {
        "SQ_WAVES": waves,
        "SQ_INSTS": each * waves,
        "SQ_INSTS_VALU": valu * waves,
        "SQ_INSTS_SALU": work.salu * waves,
        "SQ_INSTS_SMEM": work.smem * waves,
        "SQ_INSTS_BRANCH": work.branch * waves,
        "SQ_INSTS_LDS": work.lds * waves,
        "SQ_INSTS_VMEM": vmem * waves,
        "SQ_INSTS_VALU_FMA_F32": work.fma_f32 * waves,
        "SQ_INSTS_VALU_INT32": max(work.valu - work.fma_f32, 0) * waves,
        "SQ_INSTS_MFMA": work.matrix * waves,
        "SQ_INSTS_VALU_MFMA_F16": work.matrix * waves,
        "SQ_INSTS_VALU_MFMA_MOPS_F16": work.matrix * work.matrix_flops * waves / _MATRIX_UNIT,
        "SQ_VALU_MFMA_BUSY_CYCLES": 4 * work.matrix * work.matrix_flops * waves / device.matrix_flops_per_cycle,
        "SQ_ACTIVE_INST_ANY": each * waves,
        "SQ_ACTIVE_INST_VALU": valu * waves,
        "SQ_ACTIVE_INST_SCA": (work.salu + work.smem) * waves,
        "SQ_ACTIVE_INST_LDS": work.lds * waves,
        "SQ_ACTIVE_INST_VMEM": vmem * waves,
        "SQ_ACTIVE_INST_MISC": work.branch * waves,
        "SQ_THREAD_CYCLES_VALU": valu * waves * _LANES * work.active_lane_share,
        "SQ_BUSY_CYCLES": cycles * device.se_count,
        "SQ_BUSY_CU_CYCLES": cycles * min(device.cu_count, work.workgroups),
        "SQ_WAVE_CYCLES": resident / 4,
        "SQ_WAIT_ANY": resident / 4 * work.waiting_share,
        "SQ_WAIT_INST_ANY": resident / 4 * 0.05,
        "SQ_LEVEL_WAVES": resident,
        "SQ_INST_LEVEL_LDS": work.lds * waves * _LDS_LATENCY_CYCLES,
        "SQ_INST_LEVEL_VMEM": vmem * waves * _memory_latency(work),
        "SQ_INST_LEVEL_SMEM": work.smem * waves * 200,
        "SQ_IFETCH": each * waves / 8,
        "SQ_IFETCH_LEVEL": each * waves / 8 * 30,
        "SQ_LDS_IDX_ACTIVE": lds_active,
        "SQ_LDS_BANK_CONFLICT": lds_active * work.lds_conflict_share,
        "SQC_ICACHE_REQ": each * waves / 8,
        "SQC_ICACHE_HITS": each * waves / 8 - fetched,
        "SQC_ICACHE_MISSES": fetched,
        "SQC_TC_INST_REQ": fetched,
        "SQC_DCACHE_REQ": work.smem * waves,
        "SQC_DCACHE_HITS": work.smem * waves * 0.97,
        "SQC_DCACHE_MISSES": work.smem * waves * 0.03,
        "SQC_DCACHE_REQ_READ_4": work.smem * waves,
        "SQC_TC_DATA_READ_REQ": work.smem * waves * 0.03,
        "SQC_DCACHE_INFLIGHT_LEVEL": work.smem * waves * 100,
    }
    return {name: max(value, 0) for name, value in counters.items()}


def _memory_latency(work: KernelWork) -> float:
    beyond = _L2_LATENCY_CYCLES + (1 - work.l2_hit_rate) * _FABRIC_LATENCY_CYCLES
    return _L1_LATENCY_CYCLES + (1 - work.l1_hit_rate) * beyond


def _memory(work: KernelWork, device: CounterDevice, cycles: float) -> dict[str, float]:
    waves = work.waves
    accesses_per_wave = _LANES / 4 / max(work.coalescing, 0.01)
    reads, writes = work.loads * waves * accesses_per_wave, work.stores * waves * accesses_per_wave
    # Four lanes of four bytes are an access; a line serves several of them.
    lines = device.l1_line_bytes // 16
    read_lines, write_lines = round(reads / lines * (1 - work.l1_hit_rate)), round(writes / 4)
    requests = read_lines + write_lines
    hits = round(requests * work.l2_hit_rate)
    misses = requests - hits
    share = read_lines / requests if requests else 0
    fetched = round(misses * share) * device.l1_line_bytes // 64
    small = round(fetched * work.small_read_share)
    large = (fetched - small) // 2 if device.counts_large_reads else 0
    fabric_reads = fetched - large  # a read of 128 bytes is one request
    stored = round(misses * (1 - share)) + round(hits * (1 - share))
    busy = cycles * device.l2_channel_count
    gate = cycles * device.cu_count
    addressing = min((reads + writes) / gate, 1.0)  # an address unit takes an access per cycle
    pending = work.waiting_share * (1 - work.l1_hit_rate) * 0.6
    return {
        "TA_TA_BUSY": gate * min(0.2 + addressing, 1.0),
        "TA_ADDR_STALLED_BY_TC_CYCLES": gate * (1 - work.coalescing) * 0.4,
        "TA_TOTAL_WAVEFRONTS": (work.loads + work.stores) * waves,
        "TA_FLAT_WAVEFRONTS": (work.loads + work.stores) * waves,
        "TA_FLAT_READ_WAVEFRONTS": work.loads * waves,
        "TA_FLAT_WRITE_WAVEFRONTS": work.stores * waves,
        "TD_TD_BUSY": gate * 0.4,
        "TD_LOAD_WAVEFRONT": (work.loads + work.stores) * waves,
        "TD_STORE_WAVEFRONT": work.stores * waves,
        "TD_COALESCABLE_WAVEFRONT": work.loads * waves * work.coalescing,
        "TCP_GATE_EN1": gate,
        "TCP_GATE_EN2": gate * 0.8,
        "TCP_PENDING_STALL_CYCLES": gate * pending,
        "TCP_TCR_TCP_STALL_CYCLES": gate * 0.05,
        "TCP_TOTAL_ACCESSES": reads + writes,
        "TCP_TOTAL_READ": reads,
        "TCP_TOTAL_WRITE": writes,
        "TCP_TOTAL_CACHE_ACCESSES": reads + writes,
        "TCP_TCC_READ_REQ": read_lines,
        "TCP_TCC_WRITE_REQ": write_lines,
        "TCP_TCC_READ_REQ_LATENCY": read_lines * _L2_LATENCY_CYCLES,
        "TCP_TCC_WRITE_REQ_LATENCY": write_lines * _L2_LATENCY_CYCLES,
        "TCP_TCP_LATENCY": work.loads * waves * _memory_latency(work),
        "TCP_TA_TCP_STATE_READ": work.loads * waves,
        "TCP_TCC_NC_READ_REQ": read_lines,
        "TCP_TCC_NC_WRITE_REQ": write_lines,
        "TCP_UTCL1_REQUEST": reads + writes,
        "TCP_UTCL1_TRANSLATION_HIT": (reads + writes) * 0.99,
        "TCP_UTCL1_TRANSLATION_MISS": (reads + writes) * 0.01,
        "TCC_BUSY": busy * 0.7,
        "TCC_REQ": requests,
        "TCC_READ": read_lines,
        "TCC_WRITE": write_lines,
        "TCC_NC_REQ": requests,
        "TCC_HIT": hits,
        "TCC_MISS": misses,
        "TCC_NORMAL_EVICT": misses * 0.5,
        "TCC_READ_SECTORS": read_lines * device.l2_line_bytes // 32,
        "TCC_WRITE_SECTORS": write_lines * 2,
        "TCC_BUBBLE": large if device.counts_large_reads == "bubble" else 0,
        "TCC_EA0_RDREQ": fabric_reads,
        "TCC_EA0_RDREQ_32B": small,
        "TCC_EA0_RDREQ_64B": fabric_reads - small - large,
        "TCC_EA0_RDREQ_128B": large,
        "TCC_EA0_RDREQ_DRAM": fabric_reads,
        "TCC_EA0_RDREQ_DRAM_32B": small + 2 * (fabric_reads - small - large) + 4 * large,
        "TCC_EA0_RDREQ_LEVEL": fabric_reads * _FABRIC_LATENCY_CYCLES,
        "TCC_EA0_WRREQ": stored,
        "TCC_EA0_WRREQ_64B": stored,
        "TCC_EA0_WRREQ_DRAM": stored,
        "TCC_EA0_WRREQ_WRITE_DRAM": stored,
        "TCC_EA0_WRREQ_WRITE_DRAM_32B": 2 * stored,
        "TCC_EA0_WRREQ_LEVEL": stored * _FABRIC_LATENCY_CYCLES,
    }
