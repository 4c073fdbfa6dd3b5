"""The quantities that limiters are judged by: metrics of the panels, formulas of our own, and facts about launches."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Quantity:
    """One number about one kernel."""

    name: str
    label: str
    unit: str
    #: Table and name of the metric whose formula it is; empty = `formula`, or computed elsewhere.
    metric: tuple[str, str] = ("", "")
    of_peak: bool = False  #: Whether it is the metric's share of its peak, in percent.
    formula: str = ""
    named: str = ""  #: Name of the auxiliary formula that it is (`wavewright.facts.metrics.formula_of`).
    #: Table and name of its metric on RDNA, where `formula` would read the counters of CDNA in a wrong way.
    on_rdna: tuple[str, str] = ("", "")
    #: Unit of the two counters of `formula` (100 * part / whole), which are shown with the share; empty = they are not.
    counts: str = ""
    #: Whether more than 100 % cannot be true: then the GPU, its partition or a counter is not what it seems.
    is_bounded: bool = False

    @property
    def digits(self) -> int:
        """Digits after the point that tell something."""
        return {"times": 2, "cycles": 0, "bytes": 0, "lookups": 0}.get(self.unit, 1)


_DECLARED = (
    # Throughput: shares of what a unit can do.
    Quantity("valu_busy", "VALU busy", "%", ("2.1", "VALU Utilization"), is_bounded=True),
    Quantity("valu_flops", "VALU FLOPs of peak", "%", ("2.1", "VALU FLOPs"), of_peak=True, is_bounded=True),
    Quantity("valu_iops", "VALU integer operations of peak", "%", ("2.1", "VALU IOPs"), of_peak=True, is_bounded=True),
    Quantity("mfma_busy", "matrix unit busy", "%", ("2.1", "MFMA Utilization"), is_bounded=True),
    Quantity("mfma_f16", "matrix F16 of peak", "%", ("2.1", "MFMA FLOPs (F16)"), of_peak=True, is_bounded=True),
    Quantity("mfma_bf16", "matrix BF16 of peak", "%", ("2.1", "MFMA FLOPs (BF16)"), of_peak=True, is_bounded=True),
    Quantity("mfma_f32", "matrix F32 of peak", "%", ("2.1", "MFMA FLOPs (F32)"), of_peak=True, is_bounded=True),
    Quantity("mfma_f64", "matrix F64 of peak", "%", ("2.1", "MFMA FLOPs (F64)"), of_peak=True, is_bounded=True),
    Quantity("mfma_f8", "matrix F8 of peak", "%", ("2.1", "MFMA FLOPs (F8)"), of_peak=True, is_bounded=True),
    Quantity("mfma_i8", "matrix I8 of peak", "%", ("2.1", "MFMA IOPs (Int8)"), of_peak=True, is_bounded=True),
    Quantity("salu_busy", "scalar ALU and scalar memory issue busy", "%", ("2.1", "SALU Utilization"), is_bounded=True),
    Quantity("branch_busy", "branch unit busy", "%", ("2.1", "Branch Utilization"), is_bounded=True),
    Quantity("ipc", "instructions per cycle of peak", "%", ("2.1", "IPC"), of_peak=True, is_bounded=True),
    Quantity("lds_busy", "LDS busy", "%", ("12.1", "Utilization"), is_bounded=True),
    Quantity(
        "lds_bandwidth", "LDS bandwidth of peak", "%", ("12.1", "Theoretical Bandwidth Utilization"), is_bounded=True
    ),
    Quantity("l1_bandwidth", "L1 bandwidth of peak", "%", ("2.1", "vL1D Cache BW"), of_peak=True, is_bounded=True),
    Quantity("l2_bandwidth", "L2 bandwidth of peak", "%", ("2.1", "L2 Cache BW"), of_peak=True, is_bounded=True),
    Quantity(
        "l1i_bandwidth", "instruction cache bandwidth of peak", "%", ("13.1", "Bandwidth Utilization"), is_bounded=True
    ),
    Quantity(
        "sl1d_bandwidth", "scalar cache bandwidth of peak", "%", ("14.1", "Bandwidth Utilization"), is_bounded=True
    ),
    # Where waves spend their time.
    Quantity(
        "dependency_wait",
        "wave cycles that wait for memory or results",
        "%",
        formula="100 * SQ_WAIT_ANY / SQ_WAVE_CYCLES",
        is_bounded=True,
        on_rdna=("2.1", "Dependency Wait"),
    ),
    Quantity(
        "issue_wait",
        "wave cycles that wait to issue",
        "%",
        formula="100 * SQ_WAIT_INST_ANY / SQ_WAVE_CYCLES",
        is_bounded=True,
        on_rdna=("2.1", "Issue Wait"),
    ),
    Quantity(
        "occupancy",
        "wave slots in use",
        "%",
        formula="400 * SQ_WAVE_CYCLES / (busy_cycles * cu_count * waves_per_cu_max)",
        is_bounded=True,
        on_rdna=("2.1", "Wavefront Occupancy"),
    ),
    Quantity("cu_busy", "cycles in which CUs have waves", "%", ("6.1", "SIMD Utilization"), is_bounded=True),
    # Address path and L1.
    Quantity(
        "lines_per_access",
        "lookups of L1 per memory instruction of a wave",
        "lookups",
        formula="TCP_TOTAL_CACHE_ACCESSES / TA_TOTAL_WAVEFRONTS",
    ),
    Quantity("coalescing", "coalescing", "%", ("16.1", "Coalescing")),
    Quantity("ta_busy", "address unit (TA) busy", "%", ("15.1", "Address Processing Unit Busy"), is_bounded=True),
    Quantity("ta_address_stall", "address unit stalled by L1", "%", ("15.1", "Address Stall"), is_bounded=True),
    Quantity("td_busy", "data-return unit (TD) busy", "%", ("15.4", "Data-Return Busy"), is_bounded=True),
    Quantity("l1_hit_rate", "L1 hit rate", "%", ("16.1", "Hit rate"), on_rdna=("16.1", "Cache Hit Rate")),
    Quantity(
        "l1_tag_stall",
        "L1 stalled by tag conflicts of reads and writes",
        "%",
        formula="100 * (TCP_READ_TAGCONFLICT_STALL_CYCLES + TCP_WRITE_TAGCONFLICT_STALL_CYCLES) / TCP_GATE_EN1",
        is_bounded=True,
    ),
    Quantity("translation_hits", "address translations that hit", "%", ("16.5", "Hit Ratio")),
    Quantity("l1_waits_for_l2_data", "L1 stalled on data of L2", "%", ("16.2", "Stalled on L2 Data"), is_bounded=True),
    Quantity(
        "l1_waits_for_l2_requests", "L1 stalled on requests to L2", "%", ("16.2", "Stalled on L2 Req"), is_bounded=True
    ),
    Quantity("l2_read_latency", "latency of reads from L2", "cycles", ("16.3", "L1-L2 Read Latency")),
    # L2 and what is behind it; hit rate, 32-byte reads and the share of the memory's peak are those of `wavewright l2`.
    Quantity("l2_hit_rate", "L2 hit rate", "%", ("17.1", "Hit Rate")),
    Quantity("read_32b", "reads of 32 bytes only", "%", named="fabric_read_32b_share"),
    Quantity("over_fetch", "bytes read from memory over bytes asked of L1", "times", named="fabric_bytes_per_l1_byte"),
    Quantity("memory_read", "reads from memory", "GB/s", ("2.1", "L2-Fabric Read BW")),
    Quantity("memory_write", "writes to memory", "GB/s", ("2.1", "L2-Fabric Write BW")),
    Quantity("memory_bandwidth", "memory bandwidth of peak", "%", is_bounded=True),
    Quantity(
        "memory_read_stall", "reads stalled by credits of HBM", "%", ("17.5", "Read - HBM Stall"), is_bounded=True
    ),
    Quantity(
        "memory_write_stall", "writes stalled by credits of HBM", "%", ("17.5", "Write - HBM Stall"), is_bounded=True
    ),
    Quantity(
        "write_starvation",
        "writes stalled by too many in flight",
        "%",
        ("17.5", "Write - Credit Starvation"),
        is_bounded=True,
    ),
    Quantity(
        "fabric_read_stall",
        "reads stalled by credits of other GPUs",
        "%",
        ("17.5", "Read - Infinity Fabric Stall"),
        is_bounded=True,
    ),
    Quantity(
        "fabric_write_stall",
        "writes stalled by credits of other GPUs",
        "%",
        ("17.5", "Write - Infinity Fabric Stall"),
        is_bounded=True,
    ),
    Quantity(
        "pcie_read_stall", "reads stalled by credits of PCIe", "%", ("17.5", "Read - PCIe Stall"), is_bounded=True
    ),
    Quantity(
        "pcie_write_stall", "writes stalled by credits of PCIe", "%", ("17.5", "Write - PCIe Stall"), is_bounded=True
    ),
    Quantity(
        "remote_reads", "reads that leave this GPU's memory", "%", ("17.2", "Remote Read Traffic"), is_bounded=True
    ),
    Quantity(
        "remote_writes",
        "writes that leave this GPU's memory",
        "%",
        ("17.2", "Remote Write and Atomic Traffic"),
        is_bounded=True,
    ),
    Quantity("fabric_read_latency", "latency of reads from memory", "cycles", ("17.2", "Read Latency")),
    Quantity("fabric_write_latency", "latency of writes to memory", "cycles", ("17.2", "Write and Atomic Latency")),
    Quantity("channel_imbalance", "busiest L2 channel over the mean", "times"),
    Quantity("busiest_channel", "bandwidth of the busiest L2 channel of peak", "%", is_bounded=True),
    # What rocprofv3 derives itself, and no metric of the panels is: see `derived.py`.
    Quantity("memory_unit_busy", "busiest address unit at work", "%", is_bounded=True),
    Quantity("memory_unit_stall", "memory unit stalled", "%", is_bounded=True),
    Quantity("write_unit_stall", "write unit stalled", "%", is_bounded=True),
    Quantity("alu_lds_stall", "ALUs stalled by LDS", "%", is_bounded=True),
    # LDS.
    Quantity(
        "lds_conflicts",
        "LDS cycles lost to bank conflicts",
        "%",
        formula="100 * SQ_LDS_BANK_CONFLICT / SQ_LDS_IDX_ACTIVE",
        is_bounded=True,
        on_rdna=("12.1", "Bank Conflict Rate"),
        counts="cycles",
    ),
    Quantity(
        "lds_conflict_time",
        "cycles of the CUs lost to bank conflicts",
        "%",
        formula="100 * SQ_LDS_BANK_CONFLICT / (cu_count * busy_cycles)",
        is_bounded=True,
    ),
    Quantity("lds_latency", "latency of LDS", "cycles", ("12.2", "LDS Latency")),
    # Instruction mix.
    Quantity("active_lanes", "lanes at work in vector instructions", "%", ("2.1", "VALU Active Threads"), of_peak=True),
    Quantity(
        "slow_valu",
        "vector instructions that are not adds, multiplies or FMAs",
        "%",
        formula=(
            "100 * max(SQ_INSTS_VALU - SQ_INSTS_MFMA"
            " - SQ_INSTS_VALU_ADD_F16 - SQ_INSTS_VALU_MUL_F16 - SQ_INSTS_VALU_FMA_F16"
            " - SQ_INSTS_VALU_ADD_F32 - SQ_INSTS_VALU_MUL_F32 - SQ_INSTS_VALU_FMA_F32"
            " - SQ_INSTS_VALU_ADD_F64 - SQ_INSTS_VALU_MUL_F64 - SQ_INSTS_VALU_FMA_F64, 0)"
            " / (SQ_INSTS_VALU - SQ_INSTS_MFMA)"
        ),
        is_bounded=True,
    ),
    Quantity(
        "transcendental",
        "transcendental instructions among vector instructions",
        "%",
        formula=(
            "100 * (SQ_INSTS_VALU_TRANS_F16 + SQ_INSTS_VALU_TRANS_F32 + SQ_INSTS_VALU_TRANS_F64)"
            " / (SQ_INSTS_VALU - SQ_INSTS_MFMA)"
        ),
        is_bounded=True,
    ),
    Quantity(
        "integer",
        "integer instructions among vector instructions",
        "%",
        formula="100 * (SQ_INSTS_VALU_INT32 + SQ_INSTS_VALU_INT64) / (SQ_INSTS_VALU - SQ_INSTS_MFMA)",
        is_bounded=True,
    ),
    Quantity(
        "conversions",
        "conversions among vector instructions",
        "%",
        formula="100 * SQ_INSTS_VALU_CVT / (SQ_INSTS_VALU - SQ_INSTS_MFMA)",
        is_bounded=True,
    ),
    Quantity(
        "spill_accesses",
        "memory instructions that go through buffers",
        "%",
        formula="100 * TA_BUFFER_WAVEFRONTS / TA_TOTAL_WAVEFRONTS",
        is_bounded=True,
    ),
    Quantity("atomics", "atomics among the requests to L2", "%", formula="100 * TCC_ATOMIC / TCC_REQ", is_bounded=True),
    Quantity(
        "atomic_tag_stall",
        "L1 stalled by tag conflicts of atomics",
        "%",
        ("16.2", "Tag RAM Stall (Atomic)"),
        is_bounded=True,
    ),
    Quantity("atomic_latency", "latency of atomics in memory", "cycles", ("17.2", "Atomic Latency")),
    # Front end.
    Quantity(
        "l1i_misses",
        "instruction fetches that miss",
        "%",
        formula="100 * (SQC_ICACHE_MISSES + SQC_ICACHE_MISSES_DUPLICATE) / SQC_ICACHE_REQ",
        is_bounded=True,
    ),
    Quantity("fetch_latency", "latency of instruction fetches", "cycles", ("13.2", "Instruction Fetch Latency")),
    Quantity(
        "sl1d_misses",
        "scalar loads that miss",
        "%",
        formula="100 * (SQC_DCACHE_MISSES + SQC_DCACHE_MISSES_DUPLICATE) / SQC_DCACHE_REQ",
        is_bounded=True,
    ),
    Quantity(
        "scalar_loads",
        "scalar loads among instructions",
        "%",
        formula="100 * SQ_INSTS_SMEM / SQ_INSTS",
        is_bounded=True,
    ),
    Quantity("smem_latency", "latency of scalar loads", "cycles", ("11.2", "SMEM Latency")),
    Quantity(
        "vgpr_full",
        "cycles in which no workgroup fits for want of VGPRs",
        "%",
        ("6.2", "Insufficient SIMD VGPRs"),
        is_bounded=True,
    ),
    Quantity(
        "sgpr_full",
        "cycles in which no workgroup fits for want of SGPRs",
        "%",
        ("6.2", "Insufficient SIMD SGPRs"),
        is_bounded=True,
    ),
    Quantity(
        "slots_full",
        "cycles in which no workgroup fits for want of wave slots",
        "%",
        ("6.2", "Insufficient SIMD Waveslots"),
        is_bounded=True,
    ),
    Quantity(
        "lds_full",
        "cycles in which no workgroup fits for want of LDS",
        "%",
        ("6.2", "Insufficient CU LDS"),
        is_bounded=True,
    ),
    Quantity(
        "barriers_full",
        "cycles in which no workgroup fits for want of barriers",
        "%",
        ("6.2", "Insufficient CU Barriers"),
        is_bounded=True,
    ),
    Quantity(
        "groups_full",
        "cycles at the limit of workgroups per CU",
        "%",
        ("6.2", "Reached CU Workgroup Limit"),
        is_bounded=True,
    ),
    Quantity(
        "waves_full", "cycles at the limit of waves per CU", "%", ("6.2", "Reached CU Wavefront Limit"), is_bounded=True
    ),
    Quantity(
        "scratch_stall",
        "cycles in which launches wait for scratch memory",
        "%",
        ("6.2", "Scratch Stall Rate"),
        is_bounded=True,
    ),
    Quantity("gpu_busy", "cycles in which the GPU is busy", "%", ("6.1", "Accelerator Utilization")),
    Quantity("clock", "clock of peak", "%", formula="100000 * busy_cycles / (duration_ns * clock_mhz_max)"),
    Quantity("cpc_stall", "packet processor stalled", "%", ("5.2", "CPC Stall Rate"), is_bounded=True),
    Quantity("cpf_stall", "packet fetcher stalled", "%", ("5.1", "CPF Stall"), is_bounded=True),
    # The launch itself: computed from the dispatches.
    Quantity("duration", "duration", "µs"),
    Quantity("idle_cus", "CUs without a workgroup", "%"),
    Quantity("tail", "time lost in a last round of workgroups that fills only a part of the GPU", "%"),
    Quantity("scratch", "scratch memory of a work-item", "bytes"),
    Quantity("fits_vgpr", "waves whose VGPRs fit on a SIMD, of the hardware's most", "%"),
    Quantity("fits_sgpr", "waves whose SGPRs fit on a SIMD, of the hardware's most", "%"),
    Quantity("fits_lds", "waves whose LDS fits on a CU, of the hardware's most", "%"),
    Quantity("fits_group", "waves that whole workgroups and barriers allow, of the hardware's most", "%"),
    # Made of others.
    Quantity("idle_lanes_time", "time of the VALU spent on idle lanes", "%"),
    Quantity("busiest_unit", "busiest unit of peak", "%"),
)

QUANTITIES: dict[str, Quantity] = {quantity.name: quantity for quantity in _DECLARED}  #: Every quantity, by name.
