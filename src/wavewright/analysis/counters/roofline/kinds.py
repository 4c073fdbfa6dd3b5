"""The kinds of operations and the levels of memory of a roofline, and the sources of their rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wavewright.errors import UsageError


@dataclass(frozen=True)
class Kind:
    """Operations of one precision on one pipe."""

    name: str
    precision: str
    pipe: str  #: VALU, MFMA or WMMA; those of one pipe cannot overlap.
    work: str  #: flop or iop.
    formula: str  #: What counts them, per dispatch: a formula, or its name; empty = no counter does.
    #: Name of the rate in `arch`: operations per cycle and CU. Counters see a packed instruction as one, and so does
    #: the rate of the vector ALU.
    rate: str
    #: Names in `ceilings` of benchmarks that measure it; the fastest counts, because a roof is an upper bound.
    benchmarks: tuple[str, ...]
    #: Names of its rate on RDNA, whose types differ and which issues two instructions at once from RDNA 3 on; the first
    #: that the GPU has counts.
    on_rdna: tuple[str, ...] = ()

    def rate_of(self, rates: Mapping[str, int]) -> str:
        """The name of its rate among those of a GPU; empty = it cannot do it.

        Examples
        --------
        >>> KINDS["VALU FP32"].rate_of({"valu_lanes": 64, "valu_f32": 128, "valu_f32_dual": 256})
        'valu_f32_dual'
        """
        is_rdna = "valu_lanes" in rates  # of which no gfx9 has one: its counters tell operations
        names = self.on_rdna if is_rdna and self.on_rdna else (self.rate,)
        return next((name for name in names if name in rates), "")


@dataclass(frozen=True)
class Level:
    """A level of memory."""

    name: str
    mark: str  #: One character, never a capital, for pictures without colours.
    benchmark: str
    formula: str  #: Name of the formula for the bytes moved per dispatch.


_VALU_F16, _VALU_F32 = (("valu_f16_dual", "valu_f16"), ("valu_f32_dual", "valu_f32"))
_KINDS = (
    Kind("VALU FP16", "fp16", "VALU", "flop", "valu_flops_f16", "valu_flops", ("FP16Flops",), _VALU_F16),
    Kind("VALU FP32", "fp32", "VALU", "flop", "valu_flops_f32", "valu_flops", ("FP32Flops",), _VALU_F32),
    Kind("VALU FP64", "fp64", "VALU", "flop", "valu_flops_f64", "valu_flops", ("FP64Flops",), ("valu_f64",)),
    Kind(
        "MFMA FP4/6",
        "fp6f4",
        "MFMA",
        "flop",
        "mfma_flops_f6f4",
        "mfma_f6f4",
        ("MFMAF6F4Flops", "MFMAF4Flops", "MFMAF6Flops"),
    ),
    Kind("MFMA FP8", "fp8", "MFMA", "flop", "mfma_flops_f8", "mfma_f8", ("MFMAF8Flops",)),
    Kind("MFMA FP16", "fp16", "MFMA", "flop", "mfma_flops_f16", "mfma_f16", ("MFMAF16Flops",)),
    Kind("MFMA BF16", "bf16", "MFMA", "flop", "mfma_flops_bf16", "mfma_bf16", ("MFMABF16Flops",)),
    Kind("MFMA FP32", "fp32", "MFMA", "flop", "mfma_flops_f32", "mfma_f32", ("MFMAF32Flops",)),
    Kind("MFMA FP64", "fp64", "MFMA", "flop", "mfma_flops_f64", "mfma_f64", ("MFMAF64Flops",)),
    Kind("VALU INT32", "i32", "VALU", "iop", "64 * SQ_INSTS_VALU_INT32", "valu_iops", ("I32Ops",)),
    Kind("VALU INT64", "i64", "VALU", "iop", "64 * SQ_INSTS_VALU_INT64", "valu_iops", ("I64Ops",)),
    Kind("MFMA INT8", "i8", "MFMA", "iop", "mfma_iops_i8", "mfma_i8", ("MFMAI8Ops",)),
    Kind("WMMA FP16", "fp16", "WMMA", "flop", "", "wmma_f16", ()),
    Kind("WMMA BF16", "bf16", "WMMA", "flop", "", "wmma_bf16", ()),
    Kind("WMMA INT8", "i8", "WMMA", "iop", "", "wmma_i8", ()),
)
KINDS = {kind.name: kind for kind in _KINDS}  #: Kinds of operations that counters tell apart, by name.

_LEVELS = (
    Level("HBM", "h", "HBMBw", "roofline_hbm_bytes"),
    Level("MALL", "m", "MALLBw", "roofline_mall_bytes"),
    Level("L2", "2", "L2Bw", "roofline_l2_bytes"),
    Level("L1", "1", "L1Bw", "roofline_l1_bytes"),
    Level("LDS", "s", "LDSBw", "roofline_lds_bytes"),
)
#: Levels of memory, the slowest first. What L2 asks the fabric for may come from HBM or from MALL (Infinity Cache).
LEVELS = {level.name: level for level in _LEVELS}

#: Levels that are shown unless others are asked for: the bytes of MALL are those of HBM.
SHOWN_LEVELS = tuple(name for name in LEVELS if name != "MALL")
PRECISIONS = tuple(dict.fromkeys(kind.precision for kind in _KINDS))
_OTHER_NAMES = {
    "f16": "fp16", "f32": "fp32", "f64": "fp64", "f8": "fp8", "fp4": "fp6f4", "fp6": "fp6f4", "f6f4": "fp6f4",
    "int8": "i8", "int32": "i32", "int64": "i64",
}  # fmt: skip


def chosen_precisions(words: str) -> tuple[str, ...]:
    """Precisions from a list such as `fp16,i8`; empty = none chosen.

    Raises
    ------
    UsageError
        When a word is no precision.

    Examples
    --------
    >>> chosen_precisions("FP16, int8")
    ('fp16', 'i8')
    """
    return _chosen(words, {name: name for name in PRECISIONS} | _OTHER_NAMES, "precision", PRECISIONS)


def chosen_levels(words: str) -> tuple[str, ...]:
    """Levels of memory from a list such as `hbm,l2`; empty = none chosen.

    Raises
    ------
    UsageError
        When a word is no level.

    Examples
    --------
    >>> chosen_levels("hbm,vL1D")
    ('HBM', 'L1')
    """
    name_by_word = {name.lower(): name for name in LEVELS} | {"vl1d": "L1", "l0": "L1", "tcp": "L1", "tcc": "L2"}
    return _chosen(words, name_by_word, "level", tuple(name.lower() for name in LEVELS))


def _chosen(words: str, name_by_word: dict[str, str], what: str, names: tuple[str, ...]) -> tuple[str, ...]:
    parts = [word.strip().lower() for word in words.split(",") if word.strip()]
    for word in parts:
        if word not in name_by_word:
            raise UsageError(f"no {what} {word[:40]!r}", advice=f"there are {', '.join(names)}")
    return tuple(dict.fromkeys(name_by_word[word] for word in parts))
