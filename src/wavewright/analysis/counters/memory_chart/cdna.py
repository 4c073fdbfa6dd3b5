"""The memory chart of CDNA."""

from __future__ import annotations

from wavewright.analysis.counters.memory_chart.parts import (
    LOW_COALESCING,
    LOW_HITS,
    NEAR_PEAK,
    STALLS,
    Block,
    Flow,
    Value,
    Wire,
)

BLOCKS: tuple[Block, ...] = (
    Block(
        "waves",
        "Waves",
        0,
        (
            Value("waves per CU", "3.1 Wavefront Occupancy"),
            Value("wave life", "3.1 Wave Life"),
            Value("waves", "3.1 Wavefronts"),
            Value("workgroups", "3.1 Workgroups"),
        ),
    ),
    Block(
        "instructions",
        "Instructions",
        0,
        tuple(
            Value(label, f"3.1 {name}")
            for label, name in (
                ("VALU", "VALU"),
                ("MFMA", "MFMA"),
                ("VMEM", "VMEM"),
                ("LDS", "LDS"),
                ("SALU", "SALU"),
                ("SMEM", "SMEM"),
                ("branch", "BR"),
                ("GWS", "GWS"),
            )
        ),
    ),
    Block(
        "exec",
        "Execution",
        0,
        (
            Value("active CUs", "3.1 Active CUs", of="3.1 Num CUs"),
            Value("VGPRs", "3.1 VGPR"),
            Value("SGPRs", "3.1 SGPR"),
            Value("LDS", "3.1 LDS Allocation"),
            Value("scratch", "3.1 Scratch Allocation"),
        ),
    ),
    Block(
        "lds",
        "LDS",
        1,
        (
            Value("traffic", "2.1 Theoretical LDS Bandwidth", is_rate=True),
            Value("utilization", "3.1 LDS Util", hot=NEAR_PEAK),
            Value("conflicts", "2.1 LDS Bank Conflicts/Access"),
            Value("latency", "3.1 LDS Latency"),
        ),
    ),
    Block(
        "vector_l1",
        "Vector L1",
        1,
        (
            Value("traffic", "2.1 vL1D Cache BW", is_rate=True),
            Value("hit rate", "3.1 VL1 Hit", hot=LOW_HITS),
            Value("coalescing", "3.1 VL1 Coalesce", hot=LOW_COALESCING),
            Value("stalled by L2", "3.1 VL1 Stall", hot=STALLS),
            Value("latency", "3.1 VL1 Lat"),
        ),
    ),
    Block(
        "scalar_l1",
        "Scalar L1",
        1,
        (
            Value("traffic", "2.1 sL1D Cache BW", is_rate=True),
            Value("hit rate", "3.1 sL1D Hit", hot=LOW_HITS),
            Value("latency", "3.1 sL1D Lat"),
        ),
    ),
    Block(
        "instruction_l1",
        "Instruction L1",
        1,
        (
            Value("traffic", "2.1 L1I BW", is_rate=True),
            Value("hit rate", "3.1 IL1 Hit", hot=LOW_HITS),
            Value("latency", "3.1 IL1 Lat"),
        ),
    ),
    Block(
        "l2",
        "L2",
        2,
        (
            Value("traffic", "2.1 L2 Cache BW", is_rate=True),
            Value("hit rate", "3.1 L2 Hit", hot=LOW_HITS),
            Value("reads", "3.1 L2 Rd"),
            Value("writes", "3.1 L2 Wr"),
            Value("atomics", "3.1 L2 Atomic"),
            Value("read latency", "3.1 L2 Rd Lat"),
            Value("write latency", "3.1 L2 Wr Lat"),
        ),
    ),
    Block(
        "fabric",
        "Fabric",
        3,
        (
            Value("traffic", "2.1 L2-Fabric Read BW + 2.1 L2-Fabric Write BW", is_rate=True),
            Value("read latency", "3.1 Fabric Rd Lat"),
            Value("write latency", "3.1 Fabric Wr Lat"),
            Value("atomic latency", "3.1 Fabric Atomic Lat"),
        ),
    ),
    Block(
        "remote",
        "xGMI, PCIe",
        4,
        (
            Value("of reads", "17.2 Remote Read Traffic"),
            Value("of writes", "17.2 Remote Write and Atomic Traffic"),
        ),
    ),
    Block(
        "memory",
        "HBM",
        4,
        (
            Value("peak", "17.1 HBM Bandwidth"),
            Value("of reads", "17.2 HBM Read Traffic"),
            Value("of writes", "17.2 HBM Write and Atomic Traffic"),
        ),
    ),
)

WIRES: tuple[Wire, ...] = (
    Wire("exec", "lds", (Flow("request", "3.1 LDS Req"),)),
    Wire(
        "exec",
        "vector_l1",
        (Flow("read", "3.1 VL1 Rd"), Flow("write", "3.1 VL1 Wr"), Flow("atomic", "3.1 VL1 Atomic")),
    ),
    Wire("exec", "scalar_l1", (Flow("read", "3.1 sL1D Rd"),)),
    Wire("waves", "instruction_l1", (Flow("read", "3.1 IL1 Fetch"),)),
    Wire(
        "vector_l1",
        "l2",
        (Flow("read", "3.1 VL1_L2 Rd"), Flow("write", "3.1 VL1_L2 Wr"), Flow("atomic", "3.1 VL1_L2 Atomic")),
        rate="16.3 L1-L2 BW",
    ),
    Wire(
        "scalar_l1",
        "l2",
        (Flow("read", "3.1 sL1D_L2 Rd"), Flow("write", "3.1 sL1D_L2 Wr"), Flow("atomic", "3.1 sL1D_L2 Atomic")),
        rate="14.3 sL1D-L2 BW",
    ),
    Wire("instruction_l1", "l2", (Flow("read", "3.1 IL1_L2 Rd"),), rate="13.3 L1I-L2 Bandwidth"),
    Wire(
        "l2",
        "fabric",
        (
            Flow("read", "3.1 Fabric_L2 Rd", "2.1 L2-Fabric Read BW"),
            Flow("write", "3.1 Fabric_L2 Wr", "2.1 L2-Fabric Write BW"),
            Flow("atomic", "3.1 Fabric_L2 Atomic"),
        ),
    ),
    Wire(
        "fabric",
        "remote",
        (Flow("read", "17.6 Remote Read"), Flow("write", "17.6 Remote Write and Atomic")),
    ),
    Wire("fabric", "memory", (Flow("read", "3.1 HBM Rd"), Flow("write", "3.1 HBM Wr"))),
)
