"""`CounterSet`: hardware counters per dispatch, from one or several runs of a program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wavescope.errors import UsageError
from wavescope.model.schema import THREAD_TRACE, empty_frame, table_spec

if TYPE_CHECKING:
    import polars as pl

    from wavescope.model.schema import TableSpec

__all__ = ["COUNTER_SET", "CounterSet"]

_TABLES = (
    table_spec(
        "runs",
        "one file of counters: one run of the program",
        """
        run        UInt32   -  | number of the run
        file       String   -  | path of the file
        form       String   -  | long (one row per counter) or wide (one column per counter)
        is_joined  Boolean  -  | whether the file joins passes so that they cannot be told apart
        target     String   -  | GPU, from a file beside it; null = not known
        product    String   -  | name of the product, likewise
        """,
    ),
    table_spec(
        "dispatches",
        "one dispatch in one pass of one run",
        """
        dispatch        UInt32  -      | number of this row
        run             UInt32  -      | runs.run
        pass            UInt32  -      | pass within the run: the same dispatch, measured again with other counters
        dispatch_id     Int64   -      | id of the dispatch in its run; equal in all passes of the run
        process_id      Int64   -      | process; null = not said
        agent           String  -      | GPU as the file names it
        kernel_name     String  -      | name of the kernel, without suffixes of tools
        begin_ns        Int64   ns     | start; null = not said
        end_ns          Int64   ns     | end; null = not said
        grid_size       Int64   lanes  | work-items
        workgroup_size  Int64   lanes  | work-items per workgroup
        """,
    ),
    table_spec(
        "values",
        "one value of one counter",
        """
        dispatch  UInt32   -  | dispatches.dispatch
        counter   String   -  | name as in the file, without a channel
        channel   UInt16   -  | hardware instance; null = sum over all of them, or the only one
        value     Float64  -  | the value
        """,
    ),
    THREAD_TRACE["losses"],
)

COUNTER_SET: dict[str, TableSpec] = {table.name: table for table in _TABLES}
"""The tables of a `CounterSet`, by name."""


@dataclass
class CounterSet:
    """Values of hardware counters per dispatch; runs and passes are kept apart, because they are different executions.

    Examples
    --------
    >>> CounterSet({}).values.columns
    ['dispatch', 'counter', 'channel', 'value']
    """

    tables: dict[str, pl.DataFrame] = field(default_factory=dict)

    def table(self, name: str) -> pl.DataFrame:
        """The table `name`; empty when there are no such rows.

        Raises
        ------
        UsageError
            When no counter set has a table of that name.

        Examples
        --------
        >>> CounterSet({}).table("runs").height
        0
        """
        if name not in self.tables:
            spec = COUNTER_SET.get(name)
            if spec is None:
                what = f"no table {name!r}"
                raise UsageError(what, advice=f"tables: {', '.join(COUNTER_SET)}")
            self.tables[name] = empty_frame(spec)
        return self.tables[name]

    def __getattr__(self, name: str) -> pl.DataFrame:
        if name in COUNTER_SET:
            return self.table(name)
        raise AttributeError(name)
