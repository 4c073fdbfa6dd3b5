"""Kernels that are made to be at one known limit, and a quiet one that is at none."""

from __future__ import annotations

from dataclasses import replace

from synth.counter_devices import DEVICES, CounterDevice
from synth.kernel_work import KernelWork, counters_of

DURATION_NS = 200_000


def quiet(device: CounterDevice, name: str = "quiet") -> KernelWork:
    """A kernel that keeps nothing busy, waits for little, and fills the GPU evenly."""
    work = KernelWork(
        name,
        dispatch_count=2,
        workgroups=device.cu_count * 80,
        duration_ns=DURATION_NS,
        fma_f32=20,
        loads=4,
        smem=0,
        l2_hit_rate=0.6,
        waves_per_cu=24,
    )
    made = counters_of(work, device)
    still = {
        "SQ_WAIT_ANY": 0.2 * made["SQ_WAVE_CYCLES"],
        "SQ_WAIT_INST_ANY": 0.05 * made["SQ_WAVE_CYCLES"],
        "TCP_PENDING_STALL_CYCLES": 0,
        "TCP_TCR_TCP_STALL_CYCLES": 0,
        "SQC_ICACHE_MISSES": 0,
        "TA_TA_BUSY": 0.1 * cu_cycles(device),
        "TD_TD_BUSY": 0.1 * cu_cycles(device),
    }
    return replace(work, counters=still)


def cycles(device: CounterDevice) -> float:
    """Busy cycles of a dispatch of `DURATION_NS`."""
    return DURATION_NS * device.clock_mhz_max / 1000 * 0.95


def cu_cycles(device: CounterDevice) -> float:
    """The same of all CUs."""
    return cycles(device) * device.cu_count


def limited(target: str = "gfx942") -> dict[str, KernelWork]:
    """Limiter -> a kernel for which it is the truth."""
    device = DEVICES[target]
    base = quiet(device)
    made = counters_of(base, device)
    all_cus, waves = cu_cycles(device), made["SQ_WAVE_CYCLES"]
    l2_peak = device.l2_channel_count * 128 * device.clock_mhz_max / 1000 * DURATION_NS
    memory_peak = device.memory_gb_per_second * DURATION_NS
    waiting = {"SQ_WAIT_ANY": 0.8 * waves}

    def of(name: str, work: KernelWork = base, /, **counters: float) -> KernelWork:
        return replace(work, name=name, counters={**work.counters, **counters})

    def short(name: str, duration_ns: int, **counters: float) -> KernelWork:
        one_each = replace(base, name=name, workgroups=device.cu_count, duration_ns=duration_ns)
        return replace(one_each, valu=4, fma_f32=4, loads=1, counters=counters)

    few = replace(base, waves_per_cu=6)
    few_waves = counters_of(few, device)["SQ_WAVE_CYCLES"]
    few_waiting = {"SQ_WAIT_ANY": 0.8 * few_waves, "SQ_WAIT_INST_ANY": 0.0}
    return {
        "memory bandwidth": of(
            "memory bandwidth",
            TCC_EA0_RDREQ=0.7 * memory_peak / 64,
            TCC_EA0_RDREQ_32B=0,
            TCC_EA0_RDREQ_64B=0.7 * memory_peak / 64,
            TCC_EA0_RDREQ_128B=0,
            TCC_EA0_RDREQ_DRAM=0.7 * memory_peak / 64,
            TCC_BUBBLE=1,
            TCC_EA0_WRREQ=0.2 * memory_peak / 64,
            TCC_EA0_WRREQ_64B=0.2 * memory_peak / 64,
            TCC_EA0_WRREQ_DRAM=0.2 * memory_peak / 64,
            TCC_TOO_MANY_EA_WRREQS_STALL=0.3 * made["TCC_BUSY"],
            **waiting,
        ),
        "scattered reads": of(
            "scattered reads",
            TCC_EA0_RDREQ=0.7 * memory_peak / 44.8,
            TCC_EA0_RDREQ_32B=0.6 * 0.7 * memory_peak / 44.8,
            TCC_EA0_RDREQ_64B=0.4 * 0.7 * memory_peak / 44.8,
            TCC_EA0_RDREQ_128B=0,
            TCC_EA0_RDREQ_DRAM=0.7 * memory_peak / 44.8,
            TCC_BUBBLE=1,
            TCC_EA0_WRREQ=0.2 * memory_peak / 64,
            TCC_EA0_WRREQ_64B=0.2 * memory_peak / 64,
            TCC_EA0_WRREQ_DRAM=0.2 * memory_peak / 64,
        ),
        "address translation": of(
            "address translation",
            TCP_UTCL1_TRANSLATION_HIT=0.5 * made["TCP_UTCL1_REQUEST"],
            TCP_UTCL1_TRANSLATION_MISS=0.5 * made["TCP_UTCL1_REQUEST"],
            **waiting,
        ),
        "L2 bandwidth": of(
            "L2 bandwidth",
            TCC_REQ=0.9 * l2_peak / 128,
            TCP_TCR_TCP_STALL_CYCLES=0.3 * all_cus,
        ),
        "L2 channel imbalance": replace(
            of("L2 channel imbalance", TCC_REQ=0.3 * l2_peak / 128),
            channel_imbalance=1.8 / (device.l2_channel_count - 1),
        ),
        "L2 and memory latency": of("L2 and memory latency", TCP_PENDING_STALL_CYCLES=0.5 * all_cus, **waiting),
        "L1 bandwidth": of(
            "L1 bandwidth",
            TCP_TOTAL_CACHE_ACCESSES=0.9 * device.cu_count * DURATION_NS * device.clock_mhz_max / 1000,
            TA_TA_BUSY=0.9 * all_cus,
        ),
        "uncoalesced access": of(
            "uncoalesced access",
            replace(base, coalescing=0.2),
            TA_TA_BUSY=0.9 * all_cus,
            TA_ADDR_STALLED_BY_TC_CYCLES=0.3 * all_cus,
            TCP_TOTAL_CACHE_ACCESSES=60 * made["TA_TOTAL_WAVEFRONTS"],
        ),
        "L1 tag conflicts": of(
            "L1 tag conflicts",
            TA_TA_BUSY=0.9 * all_cus,
            TCP_READ_TAGCONFLICT_STALL_CYCLES=0.4 * all_cus,
        ),
        "remote traffic": of("remote traffic", TCC_EA0_RDREQ_DRAM=0.2 * made["TCC_EA0_RDREQ"], **waiting),
        "LDS bandwidth": of("LDS bandwidth", SQ_LDS_IDX_ACTIVE=0.9 * all_cus, SQ_LDS_BANK_CONFLICT=0),
        "LDS bank conflicts": of(
            "LDS bank conflicts", SQ_LDS_IDX_ACTIVE=0.85 * all_cus, SQ_LDS_BANK_CONFLICT=0.5 * all_cus
        ),
        "matrix throughput": of("matrix throughput", SQ_VALU_MFMA_BUSY_CYCLES=4 * 0.9 * all_cus),
        "VALU throughput": of(
            "VALU throughput",
            SQ_ACTIVE_INST_VALU=0.9 * all_cus,
            SQ_THREAD_CYCLES_VALU=0.9 * all_cus * 64,
        ),
        "costly vector instructions": of(
            "costly vector instructions",
            SQ_ACTIVE_INST_VALU=0.9 * all_cus,
            SQ_THREAD_CYCLES_VALU=0.9 * all_cus * 64,
            SQ_INSTS_VALU_FMA_F32=0.1 * made["SQ_INSTS_VALU"],
            SQ_INSTS_VALU_TRANS_F32=0.5 * made["SQ_INSTS_VALU"],
        ),
        "divergence": of("divergence", SQ_ACTIVE_INST_VALU=0.9 * all_cus, SQ_THREAD_CYCLES_VALU=0.9 * all_cus * 20),
        "instruction issue": of(
            "instruction issue", SQ_INSTS=0.9 * 5 * made["SQ_BUSY_CU_CYCLES"], SQ_WAIT_INST_ANY=0.5 * waves
        ),
        "scalar or branch unit": of(
            "scalar or branch unit", SQ_ACTIVE_INST_SCA=0.9 * all_cus, SQ_WAIT_INST_ANY=0.5 * waves
        ),
        "instruction fetch": of(
            "instruction fetch",
            SQC_ICACHE_MISSES=0.4 * made["SQC_ICACHE_REQ"],
            SQC_ICACHE_HITS=0.6 * made["SQC_ICACHE_REQ"],
            **waiting,
        ),
        "scalar cache": of(
            "scalar cache",
            SQ_INSTS_SMEM=0.3 * made["SQ_INSTS"],
            SQC_DCACHE_REQ=1e6,
            SQC_DCACHE_HITS=5e5,
            SQC_DCACHE_MISSES=5e5,
            **waiting,
        ),
        "latency": of("latency", SQ_WAIT_ANY=0.9 * waves, SQ_WAIT_INST_ANY=0),
        "occupancy: VGPRs": of("occupancy: VGPRs", few, SPI_RA_VGPR_SIMD_FULL_CSN=0.5 * all_cus, **few_waiting),
        "occupancy: SGPRs": of("occupancy: SGPRs", few, SPI_RA_SGPR_SIMD_FULL_CSN=0.5 * all_cus, **few_waiting),
        "occupancy: LDS": of("occupancy: LDS", few, SPI_RA_LDS_CU_FULL_CSN=0.15 * all_cus, **few_waiting),
        "occupancy: workgroups and barriers": of(
            "occupancy: workgroups and barriers", few, SPI_RA_BAR_CU_FULL_CSN=0.15 * all_cus, **few_waiting
        ),
        "occupancy: wave slots": of("occupancy: wave slots", SPI_RA_WAVE_SIMD_FULL_CSN=0.5 * all_cus, **waiting),
        "too few workgroups": replace(base, name="too few workgroups", workgroups=device.cu_count // 4),
        "tail": replace(base, name="tail", workgroups=device.cu_count * 9),
        "short kernel": short("short kernel", 4_000),
        "scratch spills": of(
            "scratch spills",
            replace(base, scratch_bytes=256),
            TA_BUFFER_WAVEFRONTS=0.5 * made["TA_TOTAL_WAVEFRONTS"],
            SPI_RA_TMP_STALL_CSN=0.5 * cycles(device) * device.se_count,
            **waiting,
        ),
        "atomics": of(
            "atomics",
            TCC_ATOMIC=0.8 * made["TCC_REQ"],
            TCP_ATOMIC_TAGCONFLICT_STALL_CYCLES=0.4 * all_cus,
            **waiting,
        ),
        "clock": of("clock", GRBM_GUI_ACTIVE=0.4 * cycles(device) * device.xcd_count),
        "idle GPU": short("idle GPU", 4_000, GRBM_COUNT=1e8),
        "command processor": short("command processor", 2_000, CPC_CPC_STAT_STALL=1e6, CPC_CPC_STAT_BUSY=1.2e6),
    }
