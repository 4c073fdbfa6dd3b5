"""The tables of a `Run`; `tables/run.toml` declares every column with its type, unit and meaning.

Times are nanoseconds of the clock of the node the process ran on; clocks of different nodes are not aligned. Columns
named like a table of numbered things (`process`, `agent`, ...) hold the number of its row; null = not recorded.
`docs/reference/run-tables.md` is generated from that file.
"""

from __future__ import annotations

from wavewright.base.toml import packaged
from wavewright.model.schema import packaged_specs

#: Every event is shorter (52 days): longer ones are damage, and sums of a thousand of the longest still fit.
LONGEST_NS = 1 << 52
RUN = packaged_specs(__package__, "tables/run.toml")  #: The tables of a `Run`, by name.
_ROW_NUMBERS = packaged("tables/row_numbers.toml", __package__)
NUMBERED: dict[str, str] = _ROW_NUMBERS["numbered"]  #: Table -> its column that numbers the rows 0, 1, 2, ...
#: Column with a row number -> the table of that row.
REFERENCES: dict[str, str] = {key: table for table, key in NUMBERED.items()} | _ROW_NUMBERS["references"]
