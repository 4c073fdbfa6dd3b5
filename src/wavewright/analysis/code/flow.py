"""Effects of every row of machine code on control and on the mask of lanes, and the loops that its branches make.

They are told by patterns of the texts, and have the numbers of cpp/include/wavewright/live_registers.hpp, whose data
flow reads them.
"""

from __future__ import annotations

import polars as pl

from wavewright.analysis.code.control_flow import BRANCH as BRANCHES
from wavewright.analysis.code.control_flow import branch_targets, nest
from wavewright.analysis.code.machine_code import MachineCode
from wavewright.codeobj.registers import EXEC, WRITES
from wavewright.model.schema import empty_frame, packaged_spec

#: wavewright::Flow: what follows a row.
NEXT, BRANCH, JUMP, END, CALL, BACK, ANYWHERE = range(7)

#: Pattern of the text -> what follows; the first that fits counts.
_FLOWS = (
    (r"^s_endpgm|^s_code_end", END),
    (r"^s_branch\b", JUMP),
    (r"^s_cbranch_(g_fork|i_fork|join)|^s_add_pc_|^s_rfe", ANYWHERE),
    (r"^s_cbranch|^s_subvector_loop", BRANCH),
    (r"^s_(call|swappc|swap_pc)_", CALL),
    (r"^s_(setpc_b64|set_pc_i64) s\[30:31\]", BACK),  # where calls of LLVM's convention put the return address
    (r"^s_(setpc|set_pc)_", ANYWHERE),
)

_NO_CHANGE, _NARROWS, _WIDENS, _ANY = range(4)  #: wavewright::MaskChange.
_EXEC = r"exec(?:_lo)?"
#: Of rows that write the mask. The and of it with something has no more lanes, the or no fewer; v_cmpx clears lanes.
_MASK_CHANGES = (
    (r"^v_cmpx", _NARROWS),
    (r"^s_(and|andn1|and_not0)_(saveexec|wrexec)_", _NARROWS),
    (rf"^s_(and|andn2|and_not1)_b(32|64) {_EXEC}, {_EXEC},", _NARROWS),
    (rf"^s_and_b(32|64) {_EXEC}, [^,]+, {_EXEC}$", _NARROWS),
    (r"^s_or_saveexec_", _WIDENS),
    (rf"^s_or_b(32|64) {_EXEC}, (.*, )?{_EXEC}(,|$)", _WIDENS),
    (rf"^s_mov_b(32|64) {_EXEC}, -1$", _WIDENS),
    (rf"^s_wqm_b(32|64) {_EXEC}, {_EXEC}$", _WIDENS),
)

#: wavewright::RowHabit, bits: how a row treats vector registers.
WRITES_ALL, _READS_ALL, _MAY_NOT_WRITE, _READS_ANY = 1, 2, 4, 8
_MATRIX = r"^v_(mfma|smfmac|wmma|swmmac)"  #: They ignore the mask (AMD's ISA documents, "MFMA", "WMMA").
_HABITS = (  #: Pattern of the text -> habit; all that fit count.
    (_MATRIX, WRITES_ALL),
    (rf"{_MATRIX}|^v_(readlane|readfirstlane|permlane)|\bfi:1\b", _READS_ALL),
    # A condition, one lane, one half, or a register that is chosen while it runs.
    (
        r"^s_cmov|^v_writelane|^[sv]_movreld|^v_movrelsd|UNUSED_PRESERVE|^v_[^p].* op_sel:\[[01],[01,]*1\]",
        _MAY_NOT_WRITE,
    ),
    (r"^v_movrels|^v_swaprel", _READS_ANY),
)
#: Between s_set_gpr_idx_on and _off, operands of gfx8 and gfx9 are relative to m0.
_INDEXED_HABITS = _READS_ANY | _MAY_NOT_WRITE
SPANS = packaged_spec(__package__, "spans")
_MOST_LOOPS = 1000  #: More loops are left out, the shortest first.


def flow_rows(code: MachineCode) -> pl.DataFrame:
    """One row per row of the code: `flow`, `target_row`, `mask_change`, `habits`, `starts`; see live_registers.hpp."""
    return flow_of(rows_with_starts(code), code.operands)


def rows_with_starts(code: MachineCode) -> pl.DataFrame:
    """The rows of a kernel with `code_object` and `starts`: 1 = start of the kernel, 2 = of another function."""
    numbers = {function.address: 1 if function.address == code.kernel.address else 2 for function in code.functions}
    starts = code.rows["address"].replace_strict(numbers, default=0, return_dtype=pl.UInt8)
    return code.rows.with_columns(code_object=pl.lit(0), starts=starts)


def flow_of(rows: pl.DataFrame, operands: pl.DataFrame) -> pl.DataFrame:
    """As `flow_rows`, of rows of one or more code objects, with `starts`: 1 = start of a kernel, 2 = of a function."""
    text = pl.col("text")
    targets = branch_targets(rows, rf"{BRANCHES}|^s_call_").drop_nulls()
    overlaps_mask = (pl.col("register") <= EXEC + 1) & (pl.col("register") + pl.col("count") > EXEC)
    mask_writers = operands.filter((pl.col("role") & WRITES != 0) & overlaps_mask)["row"].unique()
    # Where the next row is not right behind this one, nothing is known to follow it.
    end_address = pl.col("address") + pl.col("size").cast(pl.UInt64)
    is_other_object = pl.col("code_object").ne_missing(pl.col("code_object").shift(1))
    is_before_gap = (end_address.shift(1).ne_missing(pl.col("address")) | is_other_object).shift(-1, fill_value=True)
    flow = _first(_FLOWS, text, NEXT)
    flow = pl.when((flow == NEXT) & is_before_gap).then(END).otherwise(flow)
    on, off = (text.str.starts_with(f"s_set_gpr_idx_{word}").cast(pl.Int32) for word in ("on", "off"))
    is_indexed = (on - off).cum_sum().over("function") > 0
    habits = sum((text.str.contains(pattern).cast(pl.UInt8) * bit for pattern, bit in _HABITS), pl.lit(0, pl.UInt8))
    return (
        rows.join(targets, on="row", how="left", maintain_order="left")
        .with_columns(writes_mask=pl.col("row").cast(pl.UInt32).is_in(mask_writers.implode()))
        .select(
            flow=flow.cast(pl.UInt8),
            target_row=pl.col("target_row").fill_null(-1).cast(pl.Int32),
            mask_change=pl.when("writes_mask")
            .then(_first(_MASK_CHANGES, text, _ANY))
            .otherwise(_NO_CHANGE)
            .cast(pl.UInt8),
            habits=pl.when(is_indexed).then(_INDEXED_HABITS).otherwise(habits).cast(pl.UInt8),
            starts=pl.col("starts").cast(pl.UInt8),
        )
    )


def _first(rules: tuple[tuple[str, int], ...], text: pl.Expr, otherwise: int) -> pl.Expr:
    """The number of the first rule whose pattern the text has; `otherwise` where there is none."""
    value = pl.lit(otherwise)
    for pattern, number in reversed(rules):
        value = pl.when(text.str.contains(pattern)).then(number).otherwise(value)
    return value


def loop_spans(code: MachineCode, flow: pl.DataFrame, is_reached: pl.Series) -> pl.DataFrame:
    """The loops (`SPANS`): a branch back to a row makes the rows from there to the branch a loop.

    Branches to the same row make one loop. At most a thousand, the longest.
    """
    rows = code.rows.select("row", "function").with_columns(flow.select("flow", "target_row"), is_reached=is_reached)
    goes_back = pl.col("target_row").is_between(0, pl.col("row"))
    back = rows.filter("is_reached", pl.col("flow").is_in([BRANCH, JUMP]), goes_back)
    back = back.with_columns(target_function=rows["function"].gather(back["target_row"]))
    spans = (
        back.filter(pl.col("function") == pl.col("target_function"))
        .group_by(first_row="target_row")
        .agg(last_row=pl.col("row").max())
        .top_k(_MOST_LOOPS, by=pl.col("last_row") - pl.col("first_row"))
        .sort("first_row", "last_row", descending=[False, True])
        .select("first_row", "last_row")
        .rows()
    )
    if not spans:
        return empty_frame(SPANS)
    parents, depths = nest(spans)
    firsts, lasts = zip(*spans, strict=True)
    columns = {"loop": range(len(spans)), "first_row": firsts, "last_row": lasts, "parent": parents, "depth": depths}
    return pl.DataFrame(columns, schema=SPANS.dtypes)


def innermost_loops(spans: pl.DataFrame, row_count: int) -> list[int | None]:
    """The innermost loop around every row; None = none."""
    loops: list[int | None] = [None] * row_count
    ordered = spans.select("first_row", "last_row", "loop").rows()
    for first, last, loop in sorted(ordered, key=lambda span: span[0] - span[1]):  # longest first
        loops[first : last + 1] = [loop] * (last + 1 - first)
    return loops
