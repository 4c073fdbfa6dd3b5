"""Units of code of several traces side by side: cost per wave, how sure it is, and what changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from wavewright.analysis.common.noise import MANY_UNITS_FACTOR, MEAN_TAIL, t_bound
from wavewright.analysis.trace.compare.spread import traced_waves, unit_costs, units_of_rows
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.model.schema import packaged_spec
from wavewright.model.trace import ThreadTrace

UNITS = packaged_spec(__package__, "units")

#: What a unit costs: summed (`*_total`) in the tables of one trace, here per wave (`*_per_wave`).
_AMOUNTS = ("hit_count", *(f"{part}_cycles" for part in ("latency", "stall", "idle", "exposed", "cost")))


def measured(trace: ThreadTrace, unit_of_row: Sequence[int], costs: pl.DataFrame) -> pl.DataFrame:
    """Cost of each unit per wave (`*_per_wave`) and per execution (`rate`), with bounds of both.

    `costs` are the `batch_costs` of the trace and its units.
    """
    waves = max(traced_waves(trace).height, 1)
    exposed = row_costs(trace).select("row", "exposed_cycles_total").join(units_of_rows(unit_of_row), on="row")
    totals = unit_costs(trace, costs).join(
        exposed.group_by("unit", maintain_order=True).agg(pl.col("exposed_cycles_total").sum()), on="unit", how="left"
    )
    sums = {name: name if name == "hit_count" else f"{name}_total" for name in _AMOUNTS}
    per_wave = {f"{name}_per_wave": pl.col(total) / waves for name, total in sums.items()}
    return totals.with_columns(**per_wave).select("unit", *per_wave, "rate", "wave_noise", "rate_noise")


def with_repeats(runs: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The first run, with the noise that it and its repeats show: Student's t times their standard deviation.

    Few repeats can agree by chance: the noise never gets smaller than what the waves of the first run show.
    """
    if len(runs) < 2:
        return runs[0]
    count = len(runs)
    cost, rate = pl.col("cost_cycles_per_wave"), pl.col("rate")
    absent = count - pl.len()  # a run that never ran the unit spent nothing on it
    mean = cost.sum() / count
    deviation = ((((cost - mean) ** 2).sum() + absent * mean**2) / (count - 1)).sqrt()
    bound = t_bound(MEAN_TAIL, count - 1)
    noise = (
        pl.concat([run.select("unit", cost, rate) for run in runs])
        .group_by("unit", maintain_order=True)
        .agg(run_noise=bound * deviation, run_rate_noise=bound * rate.std())
    )
    both = runs[0].join(noise, on="unit", how="left", maintain_order="left")
    return both.with_columns(
        wave_noise=pl.max_horizontal("wave_noise", "run_noise"),
        rate_noise=pl.max_horizontal("rate_noise", "run_rate_noise"),
    ).drop("run_noise", "run_rate_noise")


def with_noise_of(base: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Another trace with the noise of the first, for when only that one was repeated."""
    noise = base.select("unit", "wave_noise", "rate_noise")
    return other.drop("wave_noise", "rate_noise").join(noise, on="unit", how="left", maintain_order="left")


@dataclass(frozen=True)
class Side:
    """The units of one trace."""

    costs: pl.DataFrame  #: What `measured` gives, with the noise of repeats.
    labels: Sequence[str | None]  #: What each unit is called; None = the trace does not have it.
    unit_of_row: Sequence[int]
    addresses: pl.Series  #: Of the code rows.
    is_same_code: bool  #: Whether its code is that of the first trace.
    are_instructions: bool  #: Whether units are instructions, which may differ in names of registers only.


def compared_units(sides: Sequence[Side]) -> pl.DataFrame:
    """The table UNITS: every trace against the first."""
    base = _named(sides[0])
    tables = [
        _with_renaming(_difference_to_base(number, base, side), sides[0], side)
        for number, side in enumerate(sides[1:], start=1)
    ]
    return pl.concat(tables)


def _named(side: Side) -> pl.DataFrame:
    """All units that the trace has, executed or not, with label, first row and its address."""
    first: dict[int, int] = {}
    for row, unit in enumerate(side.unit_of_row):
        first.setdefault(unit, row)
    present = [(unit, label, first[unit]) for unit, label in enumerate(side.labels) if unit in first]
    names = pl.DataFrame(present, schema={"unit": pl.Int32, "label": pl.String, "row": pl.Int32}, orient="row")
    names = names.with_columns(address=side.addresses.gather(names["row"]))
    return names.join(side.costs, on="unit", how="left", maintain_order="left")


def _difference_to_base(number: int, base: pl.DataFrame, side: Side) -> pl.DataFrame:
    """The rows of the table UNITS for one trace; `base` has the units of the first."""
    base_columns = base.rename({name: f"base_{name}" for name in base.columns if name != "unit"})
    both = base_columns.join(_named(side), on="unit", how="full", coalesce=True)
    amounts = [f"{before}{name}_per_wave" for before in ("", "base_") for name in _AMOUNTS]
    both = both.with_columns(pl.col(amounts).fill_null(0.0))
    hits, base_hits = pl.col("hit_count_per_wave"), pl.col("base_hit_count_per_wave")
    delta = pl.col("cost_cycles_per_wave") - pl.col("base_cost_cycles_per_wave")
    # Speed: executions times the change of the cycles per execution; 0 where only one trace executes the unit.
    # Work is the rest of the delta: more or fewer executions, each at the cycles it had in the first trace.
    speed = (hits * (pl.col("rate") - pl.col("base_rate"))).fill_null(0.0)
    change = (
        pl.when(pl.col("base_label").is_null())
        .then(pl.lit("new"))
        .when(pl.col("label").is_null())
        .then(pl.lit("gone"))
        .when(pl.col("label") == pl.col("base_label"))
        .then(pl.lit("same"))
        .otherwise(pl.lit("text"))
    )
    both = both.with_columns(
        trace=pl.lit(number, pl.UInt32),
        change=change,
        base_cost_cycles_per_execution="base_rate",
        cost_cycles_per_execution="rate",
        delta_cycles_per_wave=delta,
        delta_share=delta / max(float(both["base_cost_cycles_per_wave"].sum()), 1e-9),
        work_cycles_per_wave=delta - speed,
        speed_cycles_per_wave=speed,
        noise_cycles_per_wave=MANY_UNITS_FACTOR * _noise_of_difference("wave_noise"),
        speed_noise_cycles_per_wave=MANY_UNITS_FACTOR * hits * _noise_of_difference("rate_noise"),
    )
    both = both.with_columns(stands_out=pl.lit(value=False) if side.is_same_code else _exceeds_noise())
    both = both.filter((base_hits > 0) | (hits > 0) | pl.col("change").is_in(["new", "gone"]))
    ordered = both.sort(pl.col("delta_cycles_per_wave").abs(), pl.col("unit"), descending=[True, False])
    return ordered.select(UNITS.casts)


def _with_renaming(units: pl.DataFrame, base: Side, other: Side) -> pl.DataFrame:
    """Change `text` to `registers` for instructions that differ in the names of registers only."""
    if not other.are_instructions or other.is_same_code:
        return units
    units_of_both = renamed(base.unit_of_row, base.labels, other.unit_of_row, other.labels)
    is_renamed = pl.col("unit").is_in(pl.Series(units_of_both, dtype=pl.Int32).implode())
    return units.with_columns(change=pl.when(is_renamed).then(pl.lit("registers")).otherwise("change"))


def _noise_of_difference(noise: str) -> pl.Expr:
    """Noise of a difference; a trace that does not have the unit adds none."""
    squares = (pl.col(name).fill_null(0.0) ** 2 for name in (f"base_{noise}", noise))
    return pl.sum_horizontal(squares).sqrt()


def _exceeds_noise() -> pl.Expr:
    """True where the delta or its speed part exceeds its noise; null = the noise is not known.

    Of what only one trace ran, the speed part is 0, so the delta decides.
    """
    has_noise = pl.col("base_wave_noise").is_not_null() | pl.col("wave_noise").is_not_null()
    total = pl.col("delta_cycles_per_wave").abs() > pl.col("noise_cycles_per_wave")
    speed = pl.col("speed_cycles_per_wave").abs() > pl.col("speed_noise_cycles_per_wave")
    return pl.when(has_noise).then(total | speed)


_REGISTERS = re.compile(r"\b([vsa])(?:\[(\d{1,4})(?::(\d{1,4}))?\]|(\d{1,4}))(?!\w)")
_MOST_REGISTERS = 64  #: A longer register range of an operand is cut off.
#: Mnemonics that write no register, that write two, and that read their result; all others write their first operand.
_WRITES_NONE = re.compile(r"\w+_store|ds_write|s_(cmp|bitcmp|cbranch|setreg|wait|barrier|branch|setprio|sleep|nop)")
_WRITES_TWO = re.compile(r"v_\w*_co_|v_div_scale|v_mad_[iu]64|v_swap")
_READS_RESULT = re.compile(r"v_\w*(mac|dot\d+c)_|v_writelane|v_swap|s_(addk|mulk|cmov)")

#: Where a value comes from: the unit that wrote it, and which of its registers; None = nothing wrote it before.
_Origin = tuple[int, int] | None


def renamed(
    base_units: Sequence[int], base_texts: Sequence[str | None], units: Sequence[int], texts: Sequence[str | None]
) -> list[int]:
    """The units that read differently but only name other registers.

    `units` are those of the code rows, `texts` what each unit reads; None = that side does not have it. Such an
    instruction is equal to its partner but for the numbers of registers, and everything that it reads was last
    written, in the order of the code, by partners too, or on both sides by what has none.
    """
    shared_units = {unit for unit, pair in enumerate(zip(base_texts, texts, strict=True)) if None not in pair}
    before, after = _described(base_units, base_texts, shared_units), _described(units, texts, shared_units)
    return [
        unit
        for unit in sorted(before.keys() & after.keys())
        if base_texts[unit] != texts[unit] and before[unit] == after[unit]
    ]


def _described(
    units: Sequence[int], texts: Sequence[str | None], shared_units: set[int]
) -> dict[int, tuple[str, tuple[_Origin, ...]]]:
    """Unit -> its text without the numbers of registers, and the origins of the registers that it reads."""
    writers: dict[tuple[str, int], _Origin] = {}
    shapes = {}
    for unit in units:
        text = texts[unit] if unit >= 0 else None
        if text is None:
            continue
        parsed = _parsed(text)
        origins = tuple(writers.get(register) for operand in parsed.sources for register in operand)
        shapes[unit] = (parsed.shape, origins)
        results = (register for operand in parsed.results for register in operand)
        for number, register in enumerate(results):
            writers[register] = (unit, number) if unit in shared_units else None
    return shapes


class _Parsed(NamedTuple):
    """An instruction by its registers: those of one operand together, each as letter and number."""

    shape: str  #: The text with widths in place of registers.
    results: list[list[tuple[str, int]]]
    sources: list[list[tuple[str, int]]]


def _parsed(text: str) -> _Parsed:
    operands: list[list[tuple[str, int]]] = []

    def width(match: re.Match[str]) -> str:
        first = int(match[2] or match[4])
        last = min(int(match[3] or first), first + _MOST_REGISTERS - 1)
        operands.append([(match[1], number) for number in range(first, last + 1)])
        return f"{match[1]}[{last - first + 1}]"

    mnemonic, space, operand_text = text.partition(" ")
    shape = mnemonic + space + _REGISTERS.sub(width, operand_text)
    written_count = 0 if _WRITES_NONE.match(mnemonic) else 2 if _WRITES_TWO.match(mnemonic) else 1
    count = sum(bool(_REGISTERS.match(result)) for result in operand_text.split(", ")[:written_count])
    return _Parsed(shape, operands[:count], operands if _READS_RESULT.match(mnemonic) else operands[count:])
