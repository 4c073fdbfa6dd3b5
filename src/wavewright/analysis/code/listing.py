"""The rows of a kernel's listing: text, class, loop, live registers and source line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright.analysis.code.flow import flow_rows
from wavewright.analysis.code.live import COUNTS
from wavewright.codeobj.classes import classify_frame
from wavewright.codeobj.lines import line_table
from wavewright.model.schema import table_spec

if TYPE_CHECKING:
    from wavewright.analysis.code.live import LiveRegisters
    from wavewright.analysis.code.machine_code import MachineCode
    from wavewright.codeobj.code_object import CodeObject

ROWS = table_spec(
    "rows",
    "one instruction, by address",
    """
    row           Int32    -      | number of the row
    address       UInt64   -      | ELF address in the code object
    size          UInt8    bytes  | length of the encoding
    text          String   -      | disassembly
    class         String   -      | what kind of instruction it is (codeobj/classes)
    function      String   -      | symbol that contains the address
    is_reached    Boolean  -      | whether control can come here from the start of the kernel
    loop          UInt32   -      | the innermost loop around it (loops.loop); null = none
    depth         UInt32   -      | loops around it
    target_row    Int32    -      | row that it branches to or calls; null = no branch, or not in these rows
    live_vgprs    UInt16   -      | live vector registers; null = not known, here and below
    live_agprs    UInt16?  -      | live accumulation registers
    live_sgprs    UInt16?  -      | live scalar registers, s0 to s105
    live_vectors  UInt16?  -      | live vector and accumulation registers at the same time
    file          String   -      | innermost source file; null = no debug line
    line          UInt32   -      | innermost source line; null = unknown
    inline_chain  String   -      | `file:line` innermost first, call sites behind ` -> `; null = no debug line
    """,
)


def listing_rows(
    code_object: CodeObject,
    code: MachineCode,
    live: LiveRegisters | None,
    loops: list[int | None],
    spans: pl.DataFrame,
) -> pl.DataFrame:
    """The rows of machine code (`ROWS`) with what is known about each."""
    names = pl.Series([each.name for each in code.functions], dtype=pl.String)
    flow = live.flow if live else flow_rows(code)
    depths = dict(spans.select("loop", pl.col("depth") + 1).iter_rows())
    target = pl.when(flow["target_row"] >= 0).then(flow["target_row"])
    rows = classify_frame(code.rows, code.target).with_columns(
        function=names.gather(code.rows["function"]),
        is_reached=live.rows["is_reached"] if live else pl.lit(value=True),
        loop=pl.Series(loops, dtype=pl.UInt32),
        depth=pl.Series([depths.get(loop, 0) for loop in loops], dtype=pl.UInt32),
        target_row=target,
    )
    if live:
        rows = rows.with_columns(live.rows.select(COUNTS))
    else:
        rows = rows.with_columns(pl.lit(None, pl.UInt16).alias(name) for name in COUNTS)
    rows = rows.with_columns(_source_columns(code_object, rows["address"].to_list()))
    return rows.select(pl.col(name).cast(dtype) for name, dtype in ROWS.dtypes.items())


def _source_columns(code_object: CodeObject, addresses: list[int]) -> pl.DataFrame:
    table = line_table(code_object)
    files: list[str | None] = []
    lines: list[int | None] = []
    chains: list[str | None] = []
    for address in addresses:
        chain = table.chain_at(address) if len(table) else ()
        files.append(chain[0].file if chain else None)
        lines.append(chain[0].line or None if chain else None)
        chains.append(" -> ".join(map(str, chain)) if chain else None)
    schema = {"file": pl.String, "line": pl.UInt32, "inline_chain": pl.String}
    return pl.DataFrame({"file": files, "line": lines, "inline_chain": chains}, schema=schema)
