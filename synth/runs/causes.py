"""Training runs of ranks with one planted cause, and their twins without it.

The first step never has the cause, so that answers about all steps and about all but the first agree. Everything else
about a run and its twin is the same: durations depend on seed, rank, step and position alone.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

from synth.random_numbers import seeded
from synth.runs.program import (
    Allocate,
    Call,
    Collective,
    Copy,
    Free,
    Graph,
    Host,
    Launch,
    Machine,
    Operation,
    Program,
    Range,
    Rank,
    Record,
    Synchronise,
    Wait,
)

__all__ = ["CAUSES", "LOADER", "Planted", "planted", "straggler_of"]

CAUSES = (
    "straggler",
    "data loader stall",
    "launch-bound phase",
    "small copies",
    "readbacks",
    "unoverlapped all-reduce",
    "allocation in the loop",
)
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

_GEMM = "Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB0"
_KERNELS = (
    (_GEMM, "aten::mm", 470_000),
    ("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float)",
     "aten::native_layer_norm", 260_000),
    ("attn_fwd", "aten::_scaled_dot_product_flash_attention", 560_000),
    ("Cijk_Alik_Bljk_BBS_BH_MT128x128x64_MI32x32x8_SE_1LDSB1", "aten::addmm", 420_000),
    ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(at::native::ReduceOp<float>)", "aten::sum",
     310_000),
)  # fmt: skip
_OPTIMISER = ("void multi_tensor_apply_kernel<TensorListMetadata<4>, FusedAdamMathFunctor<float> >(long)",
              "Optimizer.step#AdamW.step", 520_000)  # fmt: skip
_TINY = "void decode_step<float, 4>(float const*, float*, int)"
_FORWARD, _BACKWARD, _STEPS = 8, 10, 12
_BUCKETS = (2, 4, 6)
"""After these kernels of the backward pass a bucket of gradients is reduced."""
_BUCKET_BYTES = 30_000_000
_TINY_KERNELS, _SMALL_COPIES = 150, 48
_READ = (3, 7, 11, 15)
"""Kernels of a step before which the host reads back."""
_ALLOCATED = (1, 3, 5, 7)
"""Kernels of a step before which the host releases and allocates: before gradients are reduced, since a release waits
for these, too."""


class Planted(NamedTuple):
    """A program with a cause, and its twin without."""

    program: Program
    twin: Program


def planted(cause: str, seed: int, ranks: int = 8) -> Planted:
    """A run with a cause of `CAUSES`, and its twin without; seeds differ in durations, sizes, clocks and variants.

    Raises
    ------
    ValueError
        When there is no such cause.

    Examples
    --------
    >>> from synth.runs import simulate
    >>> program, twin = planted("readbacks", seed=1, ranks=2)
    >>> simulate(program).span_ns > simulate(twin).span_ns
    True
    """
    if cause not in CAUSES:
        raise ValueError(cause)
    return Planted(_program(cause, seed, ranks, is_planted=True), _program(cause, seed, ranks, is_planted=False))


def straggler_of(seed: int, ranks: int = 8) -> int:
    """The rank that is late in runs with the cause straggler."""
    return seeded(seed, "straggler").randrange(ranks)


def _program(cause: str, seed: int, ranks: int, *, is_planted: bool) -> Program:
    nodes = 2 if seed % 5 >= 3 and ranks > 1 else 1
    shift = seeded(seed, "clock").randrange(-3_000_000, 3_000_000)
    processes = []
    for rank in range(ranks):
        training = _Training(cause, seed, rank, ranks, is_planted, rank == straggler_of(seed, ranks))
        start = seeded(seed, "start", rank).randrange(20_000)
        processes.append(Rank((training.body(),), rank * nodes // ranks, start))
    return Program(tuple(processes), Machine(kernel_gap_ns=200), (0, shift)[:nodes])


def _fraction(*key: object) -> float:
    """A number from 0 to 1 that depends on nothing but the key."""
    digest = hashlib.blake2b("/".join(map(str, key)).encode(), digest_size=4).digest()
    return int.from_bytes(digest, "little") / 2**32


@dataclass(frozen=True)
class _Training:
    """The training loop of a rank."""

    cause: str
    seed: int
    rank: int
    ranks: int
    is_planted: bool
    is_late: bool

    def body(self) -> tuple[Operation, ...]:
        steps = 8 if self.cause == "launch-bound phase" else _STEPS
        begin: tuple[Operation, ...] = (
            Call("hipSetDevice", self._ns(3_000, "set")),
            Call("ncclCommInitRank", self._ns(9_000, "init"), (
                ("ncclComm_t*", "comm", hex(0x7E10_0000_0000 + 4096 * self.rank)), ("int", "nranks", str(self.ranks)),
                ("ncclUniqueId", "commId", "0x1234"), ("int", "myrank", str(self.rank)),
            ), "RCCL"),
            Allocate("weights", 1 << 30, self._ns(300_000, "weights")),
            Allocate("scratch", 1 << 26, self._ns(90_000, "scratch")),
        )  # fmt: skip
        loop = tuple(Range(f"ProfilerStep#{step}", self._step(step)) for step in range(steps))
        return (*begin, *loop, Synchronise())

    @property
    def _is_pipelined(self) -> bool:
        """True if the host is a step ahead of the GPU; else it waits at the end of every step."""
        return self.cause == "data loader stall" and self.seed % 2 == 1

    def _ns(self, mean: int, *key: object, spread: float = 0.003) -> int:
        """A duration near the mean, in tens of nanoseconds."""
        return 10 * round(mean * (1 - spread + 2 * spread * _fraction(self.seed, self.rank, *key)) / 10)

    def _scaled(self, mean: int, *key: object) -> int:
        """Another mean for every seed, the same for all ranks."""
        return round(mean * (0.75 + 0.6 * _fraction(self.seed, *key)))

    def _call_ns(self, *key: object) -> int:
        return self._ns(5_000, "call", *key, spread=0.1)

    def _lag_ns(self, *key: object) -> int:
        return self._ns(7_500, "lag", *key, spread=0.1)

    def _has(self, cause: str, step: int) -> bool:
        return self.is_planted and self.cause == cause and step > 0

    def _step(self, step: int) -> tuple[Operation, ...]:
        ops: list[Operation] = [self._load(step)]
        if self.cause == "straggler" and self.seed % 2 == 1 and self.is_late and self._has("straggler", step):
            ops.append(Host(self._ns(self._scaled(1_600_000, "late"), "late", step), "augment"))
        ops += self._copies(step)
        ops += self._tiny(step)
        forward: list[Operation] = []
        for position in range(_FORWARD):
            forward += [*self._stall(step, position), self._kernel(step, position)]
        ops.append(Range("forward", tuple(forward)))
        backward: list[Operation] = []
        for position in range(_BACKWARD):
            backward += [*self._stall(step, _FORWARD + position), self._kernel(step, _FORWARD + position)]
            if position in _BUCKETS:
                backward += self._reduce(step, position)
        ops.append(Range("backward", tuple(backward)))
        ops.append(Wait("reduced", 0, self._call_ns("wait", step)))
        ops.append(self._launch(step, _FORWARD + _BACKWARD, _OPTIMISER))
        ops += self._end(step)
        return tuple(ops)

    def _load(self, step: int) -> Range:
        mean = 60_000
        if self._has("data loader stall", step):
            mean = self._scaled(1_800_000, "load") + (self._kernels_ns() if self._is_pipelined else 0)
        return Range(LOADER, (Host(self._ns(mean, "load", step), "default_collate"),))

    def _kernels_ns(self) -> int:
        """About how long the kernels of a step take."""
        means = [self._mean_ns(position) for position in range(_FORWARD + _BACKWARD)]
        return sum(means) + _OPTIMISER[2]

    def _mean_ns(self, position: int) -> int:
        number = position % len(_KERNELS)
        return self._scaled(_KERNELS[number][2], "mean", number)

    def _copies(self, step: int) -> list[Operation]:
        """The batch: a pinned copy, or many small blocking ones."""
        sizes = [1024 * seeded(self.seed, "size", step, copy).randrange(4, 32) for copy in range(_SMALL_COPIES)]
        if self._has("small copies", step):
            return [
                Range("aten::copy_", (
                    Copy("HtoD", size, self._ns(4_000 + size // 25, "copy", step, copy), is_blocking=True,
                         call_ns=6_000, lag_ns=self._lag_ns("copy", step, copy),
                         return_ns=self._ns(6_000, "return", step, copy, spread=0.1)),
                ), "OPERATOR")
                for copy, size in enumerate(sizes)
            ]  # fmt: skip
        total = sum(sizes)
        copy = Copy("HtoD", total, self._ns(4_000 + total // 25, "copy", step), lag_ns=self._lag_ns("copy", step))
        return [Range("aten::copy_", (copy,), "OPERATOR")]

    def _tiny(self, step: int) -> list[Operation]:
        """A phase of tiny kernels, as a graph or launched one by one."""
        if self.cause != "launch-bound phase":
            return []
        durations = [self._ns(3_000, "tiny", step, kernel, spread=0.1) for kernel in range(_TINY_KERNELS)]
        if not self._has("launch-bound phase", step):
            return [Graph(tuple((_TINY, duration) for duration in durations), lag_ns=self._lag_ns("graph", step))]
        mean = self._scaled(9_500, "tiny call")
        return [
            Range("aten::decode", (
                Launch(_TINY, duration, call_ns=self._ns(mean, "tiny call", step, kernel, spread=0.05),
                       lag_ns=self._lag_ns("tiny", step, kernel)),
            ), "OPERATOR")
            for kernel, duration in enumerate(durations)
        ]  # fmt: skip

    def _stall(self, step: int, position: int) -> list[Operation]:
        """Operations of the host before some kernels."""
        if self.cause == "readbacks" and position in _READ:
            decision = Host(self._ns(self._scaled(220_000, "decide"), "decide", step, position), "clip_or_skip")
            if not self._has("readbacks", step):
                return [decision]
            copy = Copy("DtoH", 4, self._ns(3_000, "item", step, position), is_blocking=True,
                        lag_ns=self._lag_ns("item", step, position))  # fmt: skip
            scalar = Range("aten::_local_scalar_dense", (copy,), "OPERATOR")
            return [Range("aten::item", (scalar,), "OPERATOR"), decision]
        if self._has("allocation in the loop", step) and position in _ALLOCATED:
            free, malloc = self._scaled(110_000, "free"), self._scaled(170_000, "malloc")
            return [
                Free("scratch", self._ns(free, "free", step, position, spread=0.02)),
                Allocate("scratch", 1 << 26, self._ns(malloc, "malloc", step, position, spread=0.02)),
            ]
        return []

    def _kernel(self, step: int, position: int) -> Range:
        name, operator, _ = _KERNELS[position % len(_KERNELS)]
        return self._launch(step, position, (name, operator, self._mean_ns(position)))

    def _launch(self, step: int, position: int, kernel: tuple[str, str, int]) -> Range:
        name, operator, mean = kernel
        is_slow = self.seed % 2 == 0 and self.is_late and self._has("straggler", step)
        mean += self._scaled(mean // 4, "slow") if is_slow else 0
        duration = self._ns(mean, "kernel", step, position)
        key = (step, position)
        launch = Launch(name, duration, call_ns=self._call_ns(*key), lag_ns=self._lag_ns(*key))
        return Range(operator, (launch,), "OPERATOR")

    def _reduce(self, step: int, position: int) -> list[Operation]:
        """A bucket of gradients: reduced beside the backward pass, or waited for at once."""
        key = ("reduce", step, position)
        size = self._scaled(_BUCKET_BYTES // 4, "bucket") // 1024 * 4096
        is_exposed = self._has("unoverlapped all-reduce", step)
        lag, call = self._lag_ns(*key), self._ns(9_000, *key, spread=0.1)
        if is_exposed and self.seed % 2 == 0:  # on the stream of the kernels
            return [Collective("allreduce", size, stream=0, call_ns=call, lag_ns=lag)]
        ops: list[Operation] = [
            Record("gradients", 0, self._call_ns("record", *key)),
            Wait("gradients", 1, self._call_ns("wait", *key)),
            Collective("allreduce", size, call_ns=call, lag_ns=lag),
            Record("reduced", 1, self._call_ns("record after", *key)),
        ]
        return [*ops, Wait("reduced", 0, self._call_ns("wait after", *key))] if is_exposed else ops

    def _end(self, step: int) -> list[Operation]:
        if not self._is_pipelined:
            return [Synchronise(return_ns=self._ns(5_000, "return", step, spread=0.1))]
        record = Record(f"step {step}", 0, self._call_ns("step", step))
        return [record, Synchronise(event=f"step {step - 1}")] if step else [record]
