"""Workloads: what a synthetic run of an application does, on which GPUs, in how many processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from wavewright.errors import UsageError

__all__ = ["COLLECTIVE", "COUNTERS", "HOSTILE", "KERNELS", "TARGETS", "Counter", "Kernel", "Workload"]


class Kernel(NamedTuple):
    """A kernel that the run dispatches; durations are log-normal."""

    name: str
    median_us: float
    sigma: float
    weight: int
    workgroup: tuple[int, int, int]
    grid: tuple[int, int, int]
    lds_bytes: int
    scratch_bytes: int
    sgprs: int
    vgprs: int
    accum_vgprs: int


class Counter(NamedTuple):
    """A hardware counter; `per_wave` is its value for each wave of a dispatch."""

    name: str
    block: str
    description: str
    expression: str
    per_wave: int


KERNELS = (
    Kernel(
        "Cijk_Ailk_Bljk_HHS_BH_MT256x256x64_MI32x32x8_SE_1LDSB0",
        290.0,
        0.15,
        6,
        (256, 1, 1),
        (65536, 1, 1),
        65536,
        0,
        96,
        256,
        256,
    ),
    Kernel(
        "Cijk_Alik_Bljk_BBS_BH_MT64x64x128_MI16x16x16_SE_1LDSB1",
        41.0,
        0.2,
        9,
        (256, 1, 1),
        (16384, 4, 1),
        32768,
        0,
        80,
        128,
        64,
    ),
    Kernel(
        "void flash_forward<half, 128, 64>(half const*, half const*, half const*, half*, int)",
        165.0,
        0.25,
        4,
        (256, 1, 1),
        (32768, 16, 1),
        49152,
        0,
        100,
        224,
        96,
    ),
    Kernel(
        "void elementwise_kernel<4, AddFunctor<float> >(int, AddFunctor<float>, float**)",
        6.1,
        0.4,
        16,
        (256, 1, 1),
        (262144, 1, 1),
        0,
        0,
        32,
        24,
        0,
    ),
    Kernel(
        "void reduce_kernel<512, SumOp<float> >(SumOp<float>, float const*, float*)",
        11.5,
        0.3,
        7,
        (512, 1, 1),
        (65536, 1, 1),
        8192,
        0,
        40,
        48,
        0,
    ),
    Kernel(
        "void rms_norm<half>(half*, half const*, half const*, float, int)",
        5.0,
        0.25,
        10,
        (1024, 1, 1),
        (131072, 1, 1),
        4096,
        0,
        32,
        32,
        0,
    ),
    Kernel(
        "void rotary_embedding<half, true>(long const*, half*, half*, int)",
        4.2,
        0.25,
        8,
        (32, 16, 1),
        (65536, 16, 1),
        0,
        0,
        32,
        28,
        0,
    ),
    Kernel(
        "void silu_and_mul<half>(half*, half const*, int)", 8.8, 0.3, 8, (1024, 1, 1), (131072, 1, 1), 0, 0, 32, 26, 0
    ),
    Kernel(
        "triton_red_fused_add_mul_native_layer_norm_7", 8.1, 0.3, 6, (256, 1, 1), (65536, 1, 1), 2048, 16, 48, 44, 0
    ),
    Kernel(
        "void (anonymous namespace)::concatenate<float, 2, 64>(float*, float const**, unsigned int)",
        7.7,
        0.3,
        4,
        (512, 1, 1),
        (32768, 1, 1),
        0,
        0,
        36,
        40,
        0,
    ),
    Kernel(
        "void radix_sort_onesweep<unsigned int, float>(unsigned int*, float*, unsigned int)",
        92.0,
        0.25,
        1,
        (256, 1, 1),
        (16384, 1, 1),
        49152,
        512,
        80,
        96,
        0,
    ),
    Kernel("__amd_rocclr_fillBufferAligned", 2.2, 0.2, 5, (256, 1, 1), (4096, 1, 1), 0, 0, 24, 16, 0),
)
"""What is dispatched between collectives."""

COLLECTIVE = Kernel(
    "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)",
    60.0,
    0.2,
    0,
    (256, 1, 1),
    (7168, 1, 1),
    30720,
    0,
    100,
    128,
    64,
)
"""The kernel of an all-reduce: it begins when its rank is ready and ends when the last rank has come and sent."""

COUNTERS = (
    Counter("SQ_WAVES", "SQ", "waves that began", "", 1),
    Counter("SQ_INSTS_VALU", "SQ", "vector instructions", "", 190),
    Counter("TCC_HIT_sum", "TCC", "hits in the L2 cache, all channels", "reduce(TCC_HIT,sum)", 77),
    Counter("TCC_MISS_sum", "TCC", "misses in the L2 cache, all channels", "reduce(TCC_MISS,sum)", 21),
)

HOSTILE = (
    "'; DROP TABLE rocpd_kernel_dispatch; --",
    "<script>alert(document.cookie)</script><img src=x onerror=alert(1)>",
    "\x1b]0;owned\x07\x1b[31mred\x1b[2J",
    '=HYPERLINK("http://localhost/","click")',
    '+1+cmd|" /C calc"!A0',
    'comma, "quoted", back\\slash, {brace}, {"json": [1]}, %s %n ${HOME} `id`',
    "line one\nline two\ttab\rreturn",
    "RTL \u202egnp.exe \u00e9 \u4e2d\u6587 \U0001f680 zero\u200bwidth",
    "long " + "n" * 20_000,
    " ",
)
"""Names that try to be something else: SQL, HTML, terminal escapes, formulas, separators, endless."""

TARGETS = ("gfx942", "gfx950", "gfx1201")


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A training run: every rank repeats iterations of ROCTx phases that launch kernels. Equal workloads give equal
    rows.

    `dispatches` is of all ranks together. Ranks are placed on nodes in turn; each rank uses its share of the node's
    `gpus`. Iterations alternate between the `threads` of a rank, kernels between its `streams`. With more than one
    rank every iteration has an all-reduce, in which early ranks wait for the last. `imbalance` makes the kernels of
    the last rank longer by that share, those of others in proportion; `slow` makes kernels whose name contains a text
    slower by a factor; `clock_offset_ns` lies between the clocks of two nodes. Shares say how many launches have HSA
    calls inside, recorded arguments or a call stack; counters are collected on every `counter_every`-th dispatch, one
    row for each of `counter_instances`.

    Raises
    ------
    UsageError
        The parts do not fit together.

    Examples
    --------
    >>> Workload(dispatches=500, ranks=4, nodes=2).gpus
    2
    """

    dispatches: int = 1000
    ranks: int = 1
    nodes: int = 1
    gpus: int = 2
    target: str = "gfx942"
    threads: int = 2
    streams: int = 4
    phase_dispatches: int = 24
    seed: int = 0
    imbalance: float = 0.0
    slow: tuple[tuple[str, float], ...] = ()
    clock_offset_ns: int = 0
    same_pids: bool = False
    hostile_names: bool = False
    graphs: bool = False
    hsa_share: float = 0.5
    argument_share: float = 0.02
    call_stack_share: float = 0.01
    counters: int = 2
    counter_every: int = 10
    counter_instances: int = 2

    def __post_init__(self) -> None:
        wrong = [
            (min(self.ranks, self.nodes, self.gpus, self.threads) < 1, "counts must be at least 1"),
            (self.dispatches < self.ranks, "every rank needs a dispatch"),
            (self.nodes > self.ranks, "every node needs a rank"),
            (self.streams < self.threads, "every thread needs a stream"),
            (self.phase_dispatches < 2, "phase_dispatches must be at least 2"),
            (not 0 <= self.counters <= len(COUNTERS), f"counters must be 0 to {len(COUNTERS)}"),
            (min(self.counter_every, self.counter_instances) < 1, "counts must be at least 1"),
            (self.target not in TARGETS, f"target must be one of {', '.join(TARGETS)}"),
        ]
        for is_wrong, message in wrong:
            if is_wrong:
                raise UsageError(message)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels of the run, the collective last; slowed and renamed as asked."""
        kernels = [*KERNELS, COLLECTIVE]
        if self.hostile_names:
            kernels[: len(HOSTILE)] = [
                kernel._replace(name=name) for kernel, name in zip(kernels, HOSTILE, strict=False)
            ]
        for part, factor in self.slow:
            kernels = [
                kernel._replace(median_us=kernel.median_us * factor) if part in kernel.name else kernel
                for kernel in kernels
            ]
        return tuple(kernels)
