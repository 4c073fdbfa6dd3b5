"""The kinds of operations and the levels of memory of a roofline, and the sources of their rates."""

from __future__ import annotations

from collections.abc import Mapping

from wavewright.errors import UsageError
from wavewright.facts.loader import Fact, FactTable, packaged


class Kind(Fact, frozen=True):
    """Operations of one precision on one pipe."""

    name: str
    precision: str
    pipe: str  #: VALU, MFMA or WMMA; those of one pipe cannot overlap.
    work: str  #: flop or iop.
    #: Name of the rate in `arch`: operations per cycle and CU. Counters see a packed instruction as one, and so does
    #: the rate of the vector ALU.
    rate: str
    #: Names in `ceilings` of benchmarks that measure it; the fastest counts, because a roof is an upper bound.
    benchmarks: tuple[str, ...] = ()
    formula: str = ""  #: What counts them, per dispatch: a formula, or its name; empty = no counter does.
    stored: str = ""  #: Name of their rate among the metrics that ROCm Compute Profiler stores; empty = none.
    #: Names of its rate on RDNA, whose types differ and which issues two instructions at once from RDNA 3 on; the first
    #: that the GPU has counts.
    on_rdna: tuple[str, ...] = ()

    def rate_of(self, rates: Mapping[str, int]) -> str:
        """The name of its rate among those of a GPU; empty = it cannot do it."""
        is_rdna = "valu_lanes" in rates  # of which no gfx9 has one: its counters tell operations
        names = self.on_rdna if is_rdna and self.on_rdna else (self.rate,)
        return next((name for name in names if name in rates), "")


class Level(Fact, frozen=True):
    """A level of memory."""

    name: str
    mark: str  #: One character, never a capital, for pictures without colours.
    benchmark: str
    formula: str  #: Name of the formula for the bytes moved per dispatch.
    stored: str = ""  #: As of `Kind`.


_FILE = "counters/roofline.toml"
KINDS = FactTable(_FILE, Kind, "kinds")  #: Kinds of operations that counters tell apart, by name.
#: Levels of memory, the slowest first. What L2 asks the fabric for may come from HBM or from MALL (Infinity Cache).
LEVELS = FactTable(_FILE, Level, "levels")
#: Levels that are shown unless others are asked for: the bytes of MALL are those of HBM.
SHOWN_LEVELS = tuple(name for name in LEVELS if name != "MALL")
PRECISIONS = tuple(dict.fromkeys(kind.precision for kind in KINDS.values()))


def chosen_precisions(words: str) -> tuple[str, ...]:
    """Precisions from a list such as `fp16,i8`; empty = none chosen. Raises `UsageError` when a word is none."""
    name_by_word = dict(zip(PRECISIONS, PRECISIONS, strict=True)) | packaged(_FILE)["other_precisions"]
    return _chosen(words, name_by_word, "precision", PRECISIONS)


def chosen_levels(words: str) -> tuple[str, ...]:
    """Levels of memory from a list such as `hbm,l2`; empty = none chosen. Raises `UsageError` when a word is none."""
    name_by_word = {name.lower(): name for name in LEVELS} | packaged(_FILE)["other_levels"]
    return _chosen(words, name_by_word, "level", tuple(name.lower() for name in LEVELS))


def _chosen(words: str, name_by_word: dict[str, str], what: str, names: tuple[str, ...]) -> tuple[str, ...]:
    parts = [word.strip().lower() for word in words.split(",") if word.strip()]
    for word in parts:
        if word not in name_by_word:
            raise UsageError(f"no {what} {word[:40]!r}", advice=f"there are {', '.join(names)}")
    return tuple(dict.fromkeys(name_by_word[word] for word in parts))
