"""The rows of a kernel's listing: text, class, loop, live registers and source line."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.code.flow import flow_rows
from wavewright.analysis.code.live import COUNTS, LiveRegisters
from wavewright.analysis.code.machine_code import MachineCode
from wavewright.codeobj.classes import classify_frame
from wavewright.codeobj.code_object import CodeObject
from wavewright.codeobj.lines import line_table
from wavewright.model.schema import packaged_spec

ROWS = packaged_spec(__package__, "rows")


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
