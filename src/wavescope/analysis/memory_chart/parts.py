"""What a memory chart is made of: blocks with their values and the wires between them, declared once for every picture.

A value is named by the table and the name of its metric: `3.1 VL1 Hit`; ` + ` adds two of them up. What a target has
no metric for is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BLOCKS", "NEAR_PEAK", "WIRES", "Block", "Flow", "Value", "Wire"]

NEAR_PEAK = (50.0, 80.0)
"""Percent of a peak."""
_LOW_HITS = (80.0, 50.0)
_LOW_COALESCING = (80.0, 50.0)
_STALLS = (10.0, 30.0)


@dataclass(frozen=True)
class Value:
    """One number in a block.

    Examples
    --------
    >>> Value("hit rate", "3.1 L2 Hit").label
    'hit rate'
    """

    label: str
    metric: str
    is_rate: bool = False
    """Whether it is the traffic of the block, to be shown against its peak."""
    of: str = ""
    """The metric that it is a part of, which is then its peak."""
    hot: tuple[float, float] | None = None
    """Of shares in percent: from where on it is worth a look, and from where on it is much; falling = low is hot."""


@dataclass(frozen=True)
class Block:
    """One box.

    Examples
    --------
    >>> [block.title for block in BLOCKS["cdna"] if block.stage == 2]
    ['L2']
    """

    name: str
    title: str
    stage: int
    """Distance from the waves: 0 = the CUs, 1 = what each CU or a few of them have, 2 = L2, 3 = fabric, 4 = memory."""
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Flow:
    """What runs over a wire.

    Examples
    --------
    >>> Flow("read", "3.1 VL1 Rd").kind
    'read'
    """

    kind: str
    """read, write, atomic or request."""
    metric: str
    """Requests, per normalization."""
    rate: str = ""
    """Bytes per second, if some metric tells them."""


@dataclass(frozen=True)
class Wire:
    """A connection of two blocks; requests go from the source to the target.

    Examples
    --------
    >>> WIRES["cdna"][0].target
    'lds'
    """

    source: str
    target: str
    flows: tuple[Flow, ...]
    rate: str = ""
    """Bytes per second of all flows together."""


_COMPUTE = (
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
)

BLOCKS: dict[str, tuple[Block, ...]] = {
    "cdna": (
        *_COMPUTE,
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
                Value("hit rate", "3.1 VL1 Hit", hot=_LOW_HITS),
                Value("coalescing", "3.1 VL1 Coalesce", hot=_LOW_COALESCING),
                Value("stalled by L2", "3.1 VL1 Stall", hot=_STALLS),
                Value("latency", "3.1 VL1 Lat"),
            ),
        ),
        Block(
            "scalar_l1",
            "Scalar L1",
            1,
            (
                Value("traffic", "2.1 sL1D Cache BW", is_rate=True),
                Value("hit rate", "3.1 sL1D Hit", hot=_LOW_HITS),
                Value("latency", "3.1 sL1D Lat"),
            ),
        ),
        Block(
            "instruction_l1",
            "Instruction L1",
            1,
            (
                Value("traffic", "2.1 L1I BW", is_rate=True),
                Value("hit rate", "3.1 IL1 Hit", hot=_LOW_HITS),
                Value("latency", "3.1 IL1 Lat"),
            ),
        ),
        Block(
            "l2",
            "L2",
            2,
            (
                Value("traffic", "2.1 L2 Cache BW", is_rate=True),
                Value("hit rate", "3.1 L2 Hit", hot=_LOW_HITS),
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
    ),
    "rdna": (
        Block(
            "waves",
            "Waves",
            0,
            (
                Value("waves per CU", "7.2 Waves per CU"),
                Value("wave life", "7.2 Wave Life"),
                Value("waiting", "2.1 Dependency Wait"),
                Value("waiting to issue", "2.1 Issue Wait"),
                Value("waves", "7.1 Total Wavefronts"),
            ),
        ),
        Block(
            "instructions",
            "Instructions",
            0,
            tuple(
                Value(label, f"10.1 {name}")
                for label, name in (
                    ("VALU", "VALU"),
                    ("transcendental", "Trans"),
                    ("F64", "F64"),
                    ("LDS", "LDS"),
                    ("SALU", "SALU"),
                    ("SMEM", "SMEM"),
                    ("flat", "Flat"),
                    ("loads", "Load"),
                    ("stores", "Store"),
                )
            ),
        ),
        Block(
            "exec",
            "Execution",
            0,
            (
                Value("VGPRs", "7.1 VGPRs"),
                Value("SGPRs", "7.1 SGPRs"),
                Value("LDS", "7.1 LDS Allocation"),
                Value("scratch", "7.1 Scratch Allocation"),
            ),
        ),
        Block(
            "lds",
            "LDS",
            1,
            (
                Value("utilization", "12.1 Utilization", hot=NEAR_PEAK),
                Value("conflict rate", "12.1 Bank Conflict Rate", hot=_STALLS),
            ),
        ),
        Block(
            "vector_l1",
            "GL0",
            1,
            (
                Value("traffic", "16.1 Cache BW", is_rate=True),
                Value("hit rate", "16.1 Cache Hit Rate", hot=_LOW_HITS),
                Value("misses", "16.1 Misses"),
                Value("stalled by GL1", "16.2 Stalled on GL1", hot=_STALLS),
            ),
        ),
        Block(
            "scalar_l1",
            "Scalar cache",
            1,
            (
                Value("hit rate", "14.1 Cache Hit Rate", hot=_LOW_HITS),
                Value("hits", "14.1 Hits"),
                Value("misses", "14.1 Misses"),
            ),
        ),
        Block(
            "instruction_l1",
            "Instr. cache",
            1,
            (
                Value("hit rate", "13.1 Cache Hit Rate", hot=_LOW_HITS),
                Value("misses", "13.1 Misses"),
            ),
        ),
        Block(
            "gl1",
            "GL1",
            2,
            (
                Value("hit rate", "8.1 Hit Rate", hot=_LOW_HITS),
                Value("misses", "8.1 Misses"),
                Value("utilization", "8.1 Utilization", hot=NEAR_PEAK),
                Value("stalled by GL2", "8.2 Stalled on L2", hot=_STALLS),
            ),
        ),
        Block(
            "l2",
            "GL2",
            3,
            (
                Value("hit rate", "17.1 Hit Rate", hot=_LOW_HITS),
                Value("hits", "17.3 Hits"),
                Value("misses", "17.3 Misses"),
                Value("reads", "17.3 Read Req"),
                Value("writes", "17.3 Write Req"),
                Value("atomics", "17.3 Atomic Req"),
            ),
        ),
        Block(
            "memory",
            "Memory",
            4,
            (
                Value("traffic", "2.1 L2-Fabric Read BW + 2.1 L2-Fabric Write BW", is_rate=True),
                Value("peak", "17.1 Memory Bandwidth"),
                Value("write stall", "17.6 Write Stall", hot=_STALLS),
            ),
        ),
    ),
}
"""Family of targets -> its blocks."""

WIRES: dict[str, tuple[Wire, ...]] = {
    "cdna": (
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
    ),
    "rdna": (
        Wire("exec", "lds", (Flow("request", "12.1 LDS Instructions"),)),
        Wire("exec", "vector_l1", (Flow("read", "16.1 Read Req"), Flow("write", "16.1 Write Req"))),
        Wire("waves", "instruction_l1", (Flow("read", "13.1 Req"),), rate="13.1 Fetch BW"),
        Wire("vector_l1", "gl1", (Flow("read", "16.2 GL0-GL1 Read"), Flow("write", "16.2 GL0-GL1 Write"))),
        Wire(
            "gl1",
            "l2",
            (Flow("read", "8.2 GL1-L2 Read"), Flow("write", "8.2 GL1-L2 Write")),
            rate="8.2 GL1-L2 Read BW",
        ),
        Wire(
            "l2",
            "memory",
            (
                Flow("read", "17.6 Read", "2.1 L2-Fabric Read BW"),
                Flow("write", "17.6 Write and Atomic", "2.1 L2-Fabric Write BW"),
            ),
        ),
    ),
}
"""Family of targets -> its wires."""
