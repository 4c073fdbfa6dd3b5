"""The pipe that each instruction goes through on a SIMD, how long it occupies it, and the busy cycles of pipes."""

from __future__ import annotations

import polars as pl

from wavewright import _core
from wavewright.analysis.common.occupancy.architecture import possible_targets
from wavewright.analysis.common.time_bins import TimeBins
from wavewright.base.toml import packaged
from wavewright.facts.gpus import Arch
from wavewright.model.schema import CATEGORIES
from wavewright.model.trace import ThreadTrace

_FACTS = packaged("pipes.toml", __package__)
#: Pipe -> categories of the instructions that go through it. MATRIX takes VALU instructions by their mnemonic.
PIPES: dict[str, tuple[str, ...]] = {pipe: tuple(categories) for pipe, categories in _FACTS["categories"].items()}

#: Kinds of cycles besides issues to pipes, as wavewright/timeline.hpp numbers them; BUSY + number of a pipe.
ANY_PIPE, RESIDENT, BUBBLE, BUSY = 16, 17, 18, 32
MATRIX = 15  #: Our category of matrix instructions, which the hardware reports as VALU (wave_spans.hpp).
_NO_PIPE, _BY_CATEGORY = 255, 254  #: Instead of the number of a pipe: none, or that of the category.
_MATRIX_MNEMONICS = r"^v_s?(mfma|wmma)"


def base_clock(gfxip: int) -> int:
    """Cycles between two issues to a pipe, the shortest time that is recorded: 4 on gfx9, 1 later."""
    return 4 if gfxip == 9 else 1


def pipe_cycles(
    waves: pl.DataFrame,
    instructions: pl.DataFrame,
    pipes: pl.Series,
    busy: pl.Series,
    bins: TimeBins,
    *,
    base_clock: int,
    counts_unknown_rows: bool = True,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Cycles per unit and kind; per group, kind and bin; and issues per unit and pipe.

    The first two have the columns `group`, `kind`, `bin`, `cycles`, the third `unit`, `pipe`, `issue_count` and
    `phase_cycles`. `waves` needs `unit` (what has pipes), `group` (what bins are added up by), `offset` (cycles to add
    to times), start and end, and where its rows lie in `instructions`. `pipes` is made by `pipes_of_rows`, `busy` by
    `passes.pipe_cycles_of_rows`; an empty one counts issues only.
    """
    places = (waves["unit"], waves["group"], waves["offset"], waves["start_cycles"], waves["end_cycles"])
    spans = (waves["first_instruction"].fill_null(0), waves["instruction_count"].fill_null(0))
    times = (instructions["time_cycles"], instructions["stall_cycles"], instructions["duration_cycles"])
    kinds = (instructions["category"], instructions["row"])
    rules = _rules(pipes, base_clock)
    per_unit, per_bin, issues = _core.pipe_use(
        *places, *spans, *times, *kinds, rules, busy, counts_unknown_rows, bins.numbers
    )
    return pl.DataFrame(per_unit), pl.DataFrame(per_bin), pl.DataFrame(issues)


def pipe_rules(code: pl.DataFrame, base_clock: int) -> _core.PipeRules:
    """The pipe of each instruction and its busy time, as the native core takes them."""
    return _rules(pipes_of_rows(code), base_clock)


def _rules(of_row: pl.Series, base_clock: int) -> _core.PipeRules:
    # A bit for each pipe whose issues take one base clock, however long an instruction is recorded.
    short = sum(1 << list(PIPES).index(pipe) for pipe in _FACTS["short"])
    of_category = _pipes_of_categories()
    return _core.PipeRules(of_category=of_category, of_row=of_row, short_pipes=short, issue_cycles=base_clock)


def _pipes_of_categories() -> bytes:
    """The number of the pipe of each category, one byte each."""
    numbers = {category: number for number, category in CATEGORIES.items()}
    of_category = bytearray([_NO_PIPE] * 256)
    for pipe, categories in enumerate(PIPES.values()):
        for category in categories:
            of_category[numbers[category]] = pipe
    return bytes(of_category)


def matrix_rows(code: pl.DataFrame) -> pl.Series:
    """True where a code row is a matrix instruction (v_mfma, v_smfmac, v_wmma, v_swmmac), in the order of the frame."""
    return code["text"].fill_null("").str.contains(_MATRIX_MNEMONICS)


def pipes_of_rows(code: pl.DataFrame, rows: pl.Series | None = None) -> pl.Series:
    """Number of the pipe of every code row: MATRIX, none for rows that are not requested, else by category."""
    by_category, none = pl.lit(_BY_CATEGORY, pl.UInt8), pl.lit(_NO_PIPE, pl.UInt8)
    code = code.sort("row")
    pipe = pl.when(matrix_rows(code)).then(pl.lit(list(PIPES).index("MATRIX"), pl.UInt8)).otherwise(by_category)
    if rows is not None:
        pipe = pl.when(pl.col("row").is_in(rows.implode())).then(pipe).otherwise(none)
    return code.select(pipe.alias("pipe")).to_series()


def pipe_cycles_of_rows(trace: ThreadTrace) -> pl.Series:
    """Cycles that the instruction of each code row occupies its pipe; 0 = not declared: as long as it issues.

    A matrix instruction occupies the matrix pipe for its passes, a transcendental one on gfx9 the VALU at a quarter of
    the rate. Where the GPU is not known for sure, the shortest time on the targets that it may be. One value per code
    row, in the order of rows.
    """
    texts = trace.code.sort("row")["text"].fill_null("")
    targets = possible_targets(trace)
    if not targets:
        return pl.Series("pipe_cycles", [0] * texts.len(), pl.Int32)
    by_text = pl.DataFrame({"text": texts.unique()})
    shortest = pl.min_horizontal(declared_cycles(target) for target in targets)
    by_text = by_text.with_columns(pipe_cycles=shortest.fill_null(0).cast(pl.Int32))
    return pl.DataFrame({"text": texts}).join(by_text, on="text", how="left", maintain_order="left")["pipe_cycles"]


def declared_cycles(facts: Arch) -> pl.Expr:
    """Cycles on one target, from the column `text`; null = not declared."""
    fits = (
        pl.when(pl.col("text").str.contains(f"^(?:{text})")).then(pl.lit(cycles, pl.Int32))
        for text, cycles in facts.pipe_cycles.items()
    )
    return pl.coalesce(*fits, pl.lit(None, pl.Int32))
