"""The memory chart of RDNA, whose L1 stands between the caches of the CUs and L2 where a target has one."""

from __future__ import annotations

from wavewright.analysis.counters.memory_chart.parts import LOW_HITS, NEAR_PEAK, STALLS, Block, Flow, Value, Wire

BLOCKS: tuple[Block, ...] = (
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
            Value("conflict rate", "12.1 Bank Conflict Rate", hot=STALLS),
        ),
    ),
    Block(
        "vector_l1",
        "GL0",
        1,
        (
            Value("traffic", "16.1 Cache BW", is_rate=True),
            Value("hit rate", "16.1 Cache Hit Rate", hot=LOW_HITS),
            Value("misses", "16.1 Misses"),
            Value("stalled by GL1", "16.2 Stalled on GL1", hot=STALLS),
        ),
    ),
    Block(
        "scalar_l1",
        "Scalar cache",
        1,
        (
            Value("hit rate", "14.1 Cache Hit Rate", hot=LOW_HITS),
            Value("hits", "14.1 Hits"),
            Value("misses", "14.1 Misses"),
        ),
    ),
    Block(
        "instruction_l1",
        "Instr. cache",
        1,
        (
            Value("hit rate", "13.1 Cache Hit Rate", hot=LOW_HITS),
            Value("misses", "13.1 Misses"),
        ),
    ),
    Block(
        "gl1",
        "GL1",
        2,
        (
            Value("hit rate", "8.1 Hit Rate", hot=LOW_HITS),
            Value("misses", "8.1 Misses"),
            Value("utilization", "8.1 Utilization", hot=NEAR_PEAK),
            Value("stalled by GL2", "8.2 Stalled on L2", hot=STALLS),
        ),
    ),
    Block(
        "l2",
        "GL2",
        3,
        (
            Value("hit rate", "17.1 Hit Rate", hot=LOW_HITS),
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
            Value("write stall", "17.6 Write Stall", hot=STALLS),
        ),
    ),
)

WIRES: tuple[Wire, ...] = (
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
)
