"""The stall classes: name, meaning and first remedy of each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StallClass:
    """A reason to stall.

    `kind` is `wait` (for operations in flight), `issue` (the instruction itself could not be issued), `busy` (its pipe
    had other work: nothing is lost), `padding` (cycles that the code asks for) or `sync` (for other waves).
    """

    name: str
    kind: str
    meaning: str
    remedy: str


@dataclass(frozen=True)
class Producer:
    """A kind of operation that waits wait for: its classes of code, and the remedy."""

    name: str
    classes: tuple[str, ...]
    meaning: str
    remedy: str


#: Kinds of producers; their place in this list is their bit in the masks of the native pass.
PRODUCERS: tuple[Producer, ...] = (
    Producer("unknown", (), "operations whose instruction is not known", "give the code objects of the capture"),
    Producer(
        "LDS",
        ("lds_load", "lds_store", "lds_atomic", "lds_async_arrive", "lds_param"),
        "reads and writes of LDS",
        "issue LDS reads in batches before the arithmetic that needs them; look for bank conflicts; pad the layout",
    ),
    Producer(
        "vector load",
        ("vmem_load", "image_load"),
        "loads from memory into vector registers",
        "issue the loads earlier (prefetch the next tile before the arithmetic of this one), and in batches",
    ),
    Producer(
        "load to LDS",
        ("vmem_lds_load", "tensor_lds_load"),
        "loads from memory straight into LDS",
        "deepen the pipeline: one more LDS buffer, so that the copy of a tile runs during two tiles of arithmetic",
    ),
    Producer(
        "cross-lane",
        ("lds_cross_lane",),
        "exchanges between lanes through LDS hardware (ds_bpermute, ds_permute, ds_swizzle)",
        "use DPP or v_permlane instead of ds_bpermute, and interleave independent reductions",
    ),
    Producer(
        "scalar load",
        ("smem_load", "smem_time"),
        "scalar loads: kernel arguments, constants, descriptors",
        "load arguments and scales once, early, in one wide load; do not wait for them before they are needed",
    ),
    Producer(
        "store",
        ("vmem_store", "image_store", "smem_store", "vmem_lds_store", "tensor_lds_store", "flat_store"),
        "stores to memory",
        "do not wait for stores before the end; on gfx9 loads behind stores wait for them, too: store last",
    ),
    Producer(
        "atomic",
        (
            "vmem_atomic",
            "vmem_atomic_return",
            "flat_atomic",
            "flat_atomic_return",
            "image_atomic",
            "image_atomic_return",
            "smem_atomic",
        ),
        "atomic operations",
        "reduce in registers or LDS first; use atomics that return nothing",
    ),
    Producer(
        "flat load",
        ("flat_load",),
        "loads through flat addresses, which may be memory or LDS",
        "give the compiler the address space (global or LDS) so that it need not use flat loads",
    ),
    Producer(
        "scratch",
        ("scratch_load", "scratch_store"),
        "spilled registers and private arrays",
        "use fewer registers or allow more; index private arrays with constants only",
    ),
    Producer("sample", ("image_sample",), "texture samples", "sample earlier, or fewer texels"),
    Producer("ray", ("bvh",), "ray intersections", "keep more rays in flight"),
    Producer(
        "cache",
        ("vmem_invalidate", "vmem_writeback", "smem_cache"),
        "cache invalidations and write-backs",
        "use the smallest memory scope that is right; fence less often",
    ),
    Producer("message", ("message", "message_return"), "messages with an answer", "ask less often"),
    Producer("export", ("export",), "exports", "export later"),
    Producer("GWS", ("gws",), "global wave synchronisation", "synchronise less often"),
    Producer("prefetch", ("vmem_prefetch", "smem_prefetch"), "prefetches", "prefetch earlier"),
)

#: `code.class` -> place in PRODUCERS.
PRODUCER_OF_CLASS: dict[str, int] = {
    name: number for number, producer in enumerate(PRODUCERS) for name in producer.classes
}

CACHE_BIT = 1 << PRODUCER_OF_CLASS["vmem_invalidate"]  #: Mask of the producer kind `cache`.

UNRESOLVED = StallClass(
    "wait unresolved",
    "wait",
    "waits whose producer cannot be told: kinds that return in any order, or an instruction that is not known",
    "`wavewright waits` lists the candidates",
)
NOTHING = StallClass(
    "wait for nothing",
    "wait",
    "waits that found nothing in flight; they cost their issue slot only",
    "remove waits that can never wait",
)
BARRIER = StallClass(
    "barrier",
    "sync",
    "waiting for the other waves of the workgroup",
    "balance the work between the waves of a workgroup; split barriers; fewer, larger tiles per barrier",
)
MATRIX = StallClass(
    "matrix dependency",
    "issue",
    "matrix instructions that could not be issued although the matrix pipe was free: an operand was not ready",
    "interleave independent accumulators, so that no matrix instruction follows the one whose result it needs",
)
OTHER_ISSUE = StallClass("other issue", "issue", "instructions of other kinds that could not be issued", "")

_OWN = (
    (BARRIER, ("barrier", "barrier_wait", "barrier_signal")),
    (
        StallClass(
            "s_nop",
            "padding",
            "cycles that the code asks for with s_nop, to keep hazards apart",
            "give the compiler independent instructions to put there; unroll; interleave two tiles",
        ),
        ("nop",),
    ),
    (
        StallClass(
            "dependency hint",
            "padding",
            "cycles at hints about dependencies (s_delay_alu, s_wait_alu)",
            "interleave independent arithmetic",
        ),
        ("delay",),
    ),
    (StallClass("sleep", "padding", "s_sleep", "sleep shorter, or wait for a barrier instead"), ("sleep",)),
    (MATRIX, ("matrix",)),
    (
        StallClass(
            "scratch issue",
            "issue",
            "loads and stores of spilled registers and private arrays that could not be issued",
            "use fewer registers or allow more; index private arrays with constants only",
        ),
        ("scratch_load", "scratch_store"),
    ),
    (
        StallClass(
            "transcendental issue",
            "issue",
            "exponentials, logarithms, roots and the like, which issue at a quarter of the rate or less",
            "compute fewer of them: use exp2 with a folded scale, polynomials, or skip what does not change",
        ),
        ("valu_transcendental",),
    ),
)

_VALU = StallClass(
    "VALU issue",
    "issue",
    "vector arithmetic that could not be issued: an operand was not ready or another wave had the pipe",
    "more independent arithmetic per wave, packed instructions, or fewer waves that compute at the same time",
)
_MEMORY_REMEDY = (
    "fewer accesses (more bytes per lane, neighbouring lanes on neighbouring bytes) and loads issued earlier, both "
    "together; spread accesses between arithmetic"
)
_ISSUE = {
    1: StallClass("SMEM issue", "issue", "scalar memory operations that could not be issued", "fewer, wider loads"),
    2: StallClass("SALU issue", "issue", "scalar arithmetic that could not be issued", "move it out of the loop"),
    3: StallClass(
        "VMEM issue",
        "issue",
        "vector memory operations that could not be issued: the memory pipe or its queues were full",
        _MEMORY_REMEDY,
    ),
    4: StallClass(
        "FLAT issue",
        "issue",
        "flat and global memory operations that could not be issued: the memory pipe or its queues were full",
        _MEMORY_REMEDY,
    ),
    5: StallClass(
        "LDS issue",
        "issue",
        "LDS operations that could not be issued: the LDS pipe was busy",
        "wider LDS accesses (b128), a layout without bank conflicts, or fewer of them",
    ),
    6: _VALU,
    7: StallClass("branch issue", "issue", "branches that could not be issued", "unroll"),
    11: StallClass("message issue", "issue", "messages and the end of the program", ""),
    12: StallClass("ray issue", "issue", "ray intersections that could not be issued", "keep fewer rays in flight"),
}

_BUSY = _MATRIX_BUSY, _VALU_BUSY, _SCALAR_BUSY = tuple(
    StallClass(f"{pipe} pipe busy", "busy", f"the {pipe} pipe had other work: it does what it can", "")
    for pipe in ("matrix", "VALU", "scalar")
)

#: Stall class -> the class of the same instructions while their pipe has other work.
BUSY_OF: dict[str, str] = {
    MATRIX.name: _MATRIX_BUSY.name,
    "VALU issue": _VALU_BUSY.name,
    "transcendental issue": _VALU_BUSY.name,
    "SALU issue": _SCALAR_BUSY.name,
    "branch issue": _SCALAR_BUSY.name,
}


def busy_class(declared: StallClass) -> StallClass:
    """The class of a stall during which the port of the instruction was taken."""
    return next((busy for busy in _BUSY if busy.name == BUSY_OF.get(declared.name)), declared)


#: `code.class` -> what its own stall means, where the category does not decide.
OWN_CLASS: dict[str, StallClass] = {name: declared for declared, names in _OWN for name in names}

#: `instructions.category` -> pressure on which pipe.
ISSUE_OF_CATEGORY: dict[int, StallClass] = _ISSUE | {8: _ISSUE[7]}

#: Classes whose instructions would not be there at all if the cause were gone: padding and spills.
PADDING = frozenset(declared.name for declared, _ in _OWN if declared.kind == "padding") | {"scratch issue"}


def wait_class(mask: int) -> StallClass:
    """Class of the waits for the producers in `mask` (bit n = PRODUCERS[n]); several make a mixture.

    Examples
    --------
    >>> wait_class(0b10).name, wait_class(0b110).name, wait_class(0).name
    ('wait LDS', 'wait LDS + vector load', 'wait for nothing')
    """
    producers = [producer for number, producer in enumerate(PRODUCERS) if mask >> number & 1]
    if not producers:
        return NOTHING
    name = "wait " + " + ".join(producer.name for producer in producers)
    meaning = "waits for " + " and ".join(producer.meaning for producer in producers)
    if len(producers) > 1:
        meaning += "; which of them came last cannot be told"
    return StallClass(name, "wait", meaning, "; ".join(producer.remedy for producer in producers))


_SINGLE = [wait_class(1 << number) for number in range(1, len(PRODUCERS))]

#: Every class but the mixtures, by name.
CLASSES: dict[str, StallClass] = {
    declared.name: declared
    for declared in (
        *_SINGLE,
        UNRESOLVED,
        NOTHING,
        *(declared for declared, _ in _OWN),
        *_ISSUE.values(),
        OTHER_ISSUE,
        *_BUSY,
    )
}


def stall_class(name: str) -> StallClass:
    """The class of that name, mixtures included.

    Raises
    ------
    KeyError
        When there is no such class.

    Examples
    --------
    >>> stall_class("wait LDS + vector load").kind
    'wait'
    """
    if name in CLASSES:
        return CLASSES[name]
    numbers = {producer.name: number for number, producer in enumerate(PRODUCERS)}
    return wait_class(sum(1 << numbers[part] for part in name.removeprefix("wait ").split(" + ")))
