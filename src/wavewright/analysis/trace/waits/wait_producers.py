"""Every executed wait with the operations it waited for, every stall with its row: one native pass for all who ask.

`trace.waits` repeats AMD's matching; this one improves on its limits (`docs/explanation/waits.md`, "Resolved waits").
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright import _core
from wavewright.analysis.trace.parts import added, answers
from wavewright.analysis.trace.pipes import matrix_rows, pipe_cycles_of_rows
from wavewright.analysis.trace.selection import traced_waves, whole_of
from wavewright.codeobj.classes import classify, waits_of
from wavewright.codeobj.targets import family_of
from wavewright.facts.stall_classes import PRODUCER_OF_CLASS, PRODUCERS
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace


@once_per_trace
def port_rules(trace: ThreadTrace) -> dict[str, pl.Series]:
    """Code rows that are matrix instructions, and the time that each takes its port, as the native core takes them."""
    return {"is_matrix": matrix_rows(trace.code.sort("row")).cast(pl.UInt8), "port_cycles": pipe_cycles_of_rows(trace)}


def placed_waves(part: ThreadTrace) -> pl.DataFrame:
    """Waves with instructions, their CUs and SIMDs numbered, as the native core takes them."""
    number = pl.col("cu", "simd").rank("dense").cast(pl.UInt32) - 1
    return (
        traced_waves(part)
        .with_columns(cu=pl.struct("se", "cu"), simd=pl.struct("se", "cu", "simd"))
        .with_columns(number)
        .select("wave", "first_instruction", "instruction_count", "start_cycles", "end_cycles", "cu", "simd")
    )


def port_was_busy(part: ThreadTrace, rules: dict[str, pl.Series], issue_cycles: int) -> pl.Series:
    """True if the port of each instruction was taken for at least half of its stall (1) or not (0)."""
    names = ("time_cycles", "stall_cycles", "duration_cycles", "row", "category")
    instructions = {name: part.instructions[name] for name in names}
    waves = placed_waves(part).drop("wave").to_dict()
    return pl.DataFrame(_core.port_was_busy(instructions, waves, rules, issue_cycles)).to_series()


#: Hardware counters, in the order of the bits of the native pass. Others (xcnt) count what traces do not show.
COUNTERS = (
    *("vmcnt", "lgkmcnt", "vscnt", "expcnt"),  # up to gfx11
    *("loadcnt", "storecnt", "samplecnt", "bvhcnt", "dscnt", "kmcnt", "asynccnt", "tensorcnt"),  # gfx12
)

#: Bits of `groups.key`: the producers are candidates; an operation without a known PC may be among them.
UNCERTAIN, UNKNOWN = 1 << 31, 1 << 30

#: Bit of `groups.key` of an instruction that is no wait: its port was taken for at least half of its stall.
PORT_BUSY = 1 << 29

#: Frames of the native pass, and the keys of their rows.
_KEYS = {
    "groups": ["row", "is_wait", "key"],
    "edges": ["row", "producer_row", "counter"],
    "samples": ["row", "is_tight", "latency_cycles"],
    "idle": ["row"],
}

#: Columns of `Resolved.idle` that together are all idle cycles.
_IDLE_CAUSES = ("start", "cold_fetch", "fetch", "dependency", "drain")
IDLE_COLUMNS = tuple(f"{cause}_cycles_total" for cause in _IDLE_CAUSES)
#: A class of each kind of producer that writes memory: the end of a program waits for it.
_STORES = ("vmem_store", "vmem_atomic", "scratch_store")
_LINE_BYTES = 64  #: Line of code: instruction caches are filled by one or two of them at a time.
_NO_PRODUCER = len(PRODUCERS)  #: Kind of a classified instruction that adds to no counter.
_FREE_WAIT_CYCLES = {9: 4}  #: `gfxip` -> cycles of a wait that need not wait; 1 on the others.
#: Numbers of orders: operations of one number complete in order among themselves, and in any order against others of
#: their counter. _ANY_ORDER completes in any order, _MAIN_ORDER are all that are not named here.
_ANY_ORDER, _MAIN_ORDER = 0, 1
_ORDERS = {"image_sample": 2, "bvh": 3, "gws": 4, "export": 5, "lds_param": 6}
_UNKNOWN_KIND = 0  #: Kind of an instruction that `classify` does not know.


@dataclass(frozen=True)
class Resolved:
    """The frames of the native pass, small: they have one row per kind of event, not per instruction.

    `groups`: executions of a code row with the same reason (`key`: producer bits of a wait, else the category).
    `edges`: a wait row and a producer row. `samples`: how often an operation of a row took so many cycles. `idle`:
    idle cycles before a row by what came before. `cpp/include/wavewright/stalls.hpp` describes the columns.
    """

    groups: pl.DataFrame
    edges: pl.DataFrame
    samples: pl.DataFrame
    idle: pl.DataFrame
    free_wait_cycles: int  #: Length of a wait that need not wait.


@once_per_trace
def resolve(trace: ThreadTrace) -> Resolved:
    """Resolve all waits of a trace; of a selection those that it keeps, with producers from before it."""
    parts = answers(trace, resolved_in_part)
    frames = {name: added([part[name] for part in parts], keys) for name, keys in _KEYS.items()}
    counters = pl.Series(COUNTERS, dtype=pl.String)
    frames["edges"] = frames["edges"].with_columns(counters.gather(frames["edges"]["counter"]).alias("counter"))
    return Resolved(**frames, free_wait_cycles=free_wait_cycles(trace))


def resolved_in_part(part: ThreadTrace, trace: ThreadTrace) -> dict[str, pl.DataFrame]:
    """The frames of the native pass over a part (`parts`): waves wait for themselves only."""
    return _native(part, trace, keeps_each=False)


def each_instruction(part: ThreadTrace, trace: ThreadTrace) -> tuple[pl.DataFrame, pl.DataFrame]:
    """For every instruction of a part its group, the cause of the gap before it and its producer; and the groups."""
    frames = _native(part, trace, keeps_each=True)
    return frames["each"], frames["groups"]


def _native(part: ThreadTrace, trace: ThreadTrace, *, keeps_each: bool) -> dict[str, pl.DataFrame]:
    whole, counted = whole_of(part)
    names = ("wave", "time_cycles", "stall_cycles", "duration_cycles", "category", "row")
    columns: dict[str, object] = {name: whole.instructions[name] for name in names}
    columns["port_was_busy"] = port_was_busy(whole, port_rules(whole_of(trace)[0]), free_wait_cycles(trace))
    if counted is not None:
        columns["counted"] = counted.cast(pl.UInt8)
    unit = pl.struct("se", "cu").rank("dense").cast(pl.UInt32)  # the CU: its waves share an instruction cache
    placed = whole.waves.select("wave", "start_cycles", unit=unit)
    rules = wait_rules(whole_of(trace)[0])
    tables = _core.resolve_stalls(rules, placed.to_dict(), columns, free_wait_cycles(trace), keeps_each)
    return {name: pl.DataFrame(table) for name, table in tables.items()}


def free_wait_cycles(trace: ThreadTrace) -> int:
    """Cycles of a wait that need not wait, and of one issue."""
    return _FREE_WAIT_CYCLES.get(trace.gfxip, 1)


def family_of_trace(trace: ThreadTrace) -> str:
    """Family whose rules apply: that of the target, else of the stream's generation, else gfx9."""
    family = family_of(trace.source.target) if trace.source.target else None
    return family or (f"gfx{trace.gfxip}" if trace.gfxip in (9, 10, 11, 12) else "gfx9")


def producer_kinds(trace: ThreadTrace) -> pl.DataFrame:
    """`row` and `kind` of every code row: the name of its kind of producer, `unknown` for the others."""
    names = {name: PRODUCERS[number].name for name, number in PRODUCER_OF_CLASS.items()}
    kind = pl.col("class").replace_strict(list(names), list(names.values()), default="unknown", return_dtype=pl.String)
    return trace.code.select("row", kind=kind)


def code_lines(code: pl.DataFrame) -> pl.Series:
    """Number of the 64-byte line of code that holds the last byte of each row."""
    last = (pl.col("address") + pl.col("size").fill_null(4).clip(lower_bound=1) - 1) // _LINE_BYTES
    return code.select(line=pl.struct("code_object", last).rank("dense").cast(pl.Int64)).to_series()


@once_per_trace
def wait_rules(trace: ThreadTrace) -> dict[str, object]:
    """Columns of the native core: the counters that every code row adds to and waits for, from its text."""
    family = family_of_trace(trace)
    texts = trace.code["text"].fill_null("").unique(maintain_order=True)
    rules: list[tuple[int, int, int, bool, bool]] = []  # in the order of `schema`
    waits: list[tuple[str, int, int]] = []  # in the order of `wait_schema`
    for text in texts:
        instruction = classify(text, family)
        adds = sum(1 << COUNTERS.index(counter) for counter in instruction.counters)
        order = _ORDERS.get(instruction.name, _MAIN_ORDER) if instruction.in_order else _ANY_ORDER
        is_unknown = instruction.name == "unknown"
        kind = _UNKNOWN_KIND if is_unknown else PRODUCER_OF_CLASS.get(instruction.name, _NO_PRODUCER)
        rules.append((adds, order, kind, instruction.name == "wait", text.startswith("s_endpgm")))
        if instruction.name == "wait":
            counted_waits = [wait for wait in waits_of(text, family) if wait.counter in COUNTERS]
            waits += [(text, COUNTERS.index(wait.counter), wait.value) for wait in counted_waits]
    schema = {"adds": pl.UInt16, "order": pl.UInt8, "kind": pl.UInt8, "is_wait": pl.UInt8, "is_end": pl.UInt8}
    by_text = pl.DataFrame(rules, schema=schema, orient="row").with_columns(texts.alias("text"))
    of_code = trace.code.select("row", pl.col("text").fill_null("")).sort("row")
    by_row = of_code.join(by_text, on="text", how="left", maintain_order="left")
    wait_schema = {"text": pl.String, "wait_counter": pl.UInt8, "wait_value": pl.Int32}
    awaited = pl.DataFrame(waits, schema=wait_schema, orient="row").join(of_code, on="text", maintain_order="left")
    awaited = awaited.sort("row", maintain_order=True)
    columns: dict[str, object] = {name: by_row[name] for name in schema}
    return columns | {
        "line": code_lines(trace.code.sort("row")),
        "store_kinds": sum(1 << PRODUCER_OF_CLASS[name] for name in _STORES),
        "wait_row": awaited["row"],
        "wait_counter": awaited["wait_counter"],
        "wait_value": awaited["wait_value"],
    }
