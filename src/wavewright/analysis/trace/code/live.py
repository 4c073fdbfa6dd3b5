"""Registers that hold values which are still needed, at every row of the code of a trace."""

from __future__ import annotations

import polars as pl

from wavewright import _core
from wavewright.analysis.code.edits.kernel_rows import operand_rows
from wavewright.analysis.code.flow import flow_of
from wavewright.analysis.code.lane_mask import with_full_writes
from wavewright.analysis.code.live import ALWAYS_GIVEN, COUNTS, has_packed_ids
from wavewright.analysis.common.occupancy.architecture import architecture
from wavewright.analysis.common.occupancy.limits import Resources, limits
from wavewright.codeobj.registers import FIRST_VECTOR, SGPR_COUNT
from wavewright.errors import UsageError
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import empty_frame, packaged_spec
from wavewright.model.trace import ThreadTrace

LIVE_ROWS = packaged_spec(__package__, "live_rows")
_LONGEST_BYTES = 20  # no instruction is longer
_NO_START, _KERNEL_START, _FUNCTION_START = 0, 1, 2  # cpp/include/wavewright/live_registers.hpp: CodeRows::starts


@once_per_trace
def live_rows(trace: ThreadTrace) -> pl.DataFrame:
    """Live registers of the rows that kernels can reach (`LIVE_ROWS`), as `analysis.code.live` counts them.

    The registers are those of the texts. What a kernel is given is not recorded in every trace: all scalar registers
    and the ids of the work-item count as given, and no other vector register. Functions with an instruction whose
    registers are not known have no rows.
    """
    code = sized_code(trace)
    if not code.height or code["writes"].null_count() == code.height:
        return empty_frame(LIVE_ROWS)
    operands = operand_rows(code)
    rows = code.with_columns(pl.col("text").fill_null(""), pl.col("function").fill_null(""))
    flow = with_full_writes(flow_of(rows, operands), rows, operands)
    no_rows = pl.Series([], dtype=pl.Int32)  # lists single registers for no row: counts are enough
    counts = _core.live_registers(flow.to_dict(), operands.to_dict(), given_registers(trace), no_rows)
    if counts is None:
        return empty_frame(LIVE_ROWS)
    is_decoded = (pl.col("writes").is_not_null() | pl.col("text").is_null()).all().over("function", "code_object")
    live = pl.DataFrame(counts[0]).insert_column(0, code["row"])
    reached = live.filter(code.select(is_decoded).to_series() & (live["is_reached"] == 1)).select("row", *COUNTS)
    fits = _fitting(trace, reached.select("live_vgprs", "live_agprs").unique())
    joined = reached.join(fits, on=["live_vgprs", "live_agprs"], how="left", maintain_order="left")
    return joined.select(LIVE_ROWS.casts)


def sized_code(trace: ThreadTrace) -> pl.DataFrame:
    """The code table with sizes of all rows, and `starts`."""
    to_next = pl.col("address").shift(-1).cast(pl.Int64) - pl.col("address").cast(pl.Int64)
    size = pl.coalesce("size", to_next.clip(0, _LONGEST_BYTES))
    return trace.code.sort("row").with_columns(size=size, starts=_starts(trace))


def _starts(trace: ThreadTrace) -> pl.Expr:
    """The kind of start that each row is; where no function has the name of a kernel, all are taken for kernels."""
    names = trace.kernels["name"].unique()
    is_first = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in ("code_object", "function"))
    has_kernels = trace.code["function"].is_in(names.implode()).any()
    is_kernel = pl.col("function").is_in(names.implode()).fill_null(value=False) if has_kernels else pl.lit(value=True)
    is_padding = pl.col("function").is_null() if has_kernels else pl.lit(value=False)
    is_start = (is_first | (pl.int_range(pl.len()) == 0)) & ~is_padding
    kind = pl.when(is_kernel).then(_KERNEL_START).otherwise(_FUNCTION_START)
    return pl.when(is_start).then(kind).otherwise(_NO_START)


def given_registers(trace: ThreadTrace) -> pl.Series:
    """Registers that may hold values when a kernel starts."""
    try:
        packed = has_packed_ids(architecture(trace).facts.target)
    except UsageError:  # the GPU is not known
        packed = False
    ids = range(FIRST_VECTOR, FIRST_VECTOR + (1 if packed else 3))
    return pl.Series(sorted({*ALWAYS_GIVEN, *range(SGPR_COUNT), *ids}), dtype=pl.UInt16)


def _fitting(trace: ThreadTrace, counts: pl.DataFrame) -> pl.DataFrame:
    """Waves per SIMD that each pair of numbers of registers allows."""
    allowed: list[int | None] = []
    for vgprs, agprs in counts.iter_rows():
        try:
            limiters = limits(architecture(trace).facts, Resources(vgprs=vgprs, agprs=agprs)).limiters
            allowed.append(next(limiter.waves_per_simd for limiter in limiters if limiter.name == "VGPR"))
        except UsageError:  # the GPU is not recorded, or has no such kernels
            allowed.append(None)
    return counts.with_columns(waves_per_simd=pl.Series(allowed, dtype=pl.UInt32))
