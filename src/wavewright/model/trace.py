"""`ThreadTrace`: one dispatch window of a thread trace as a handful of tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from wavewright.base.once import once
from wavewright.errors import UsageError
from wavewright.model.display import WithTables
from wavewright.model.schema import THREAD_TRACE, empty_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping

    import polars as pl

    from wavewright.model.launch import Launch


@dataclass(frozen=True)
class TraceSource:
    """The origin of a trace."""

    path: str
    agent: int | None = None
    dispatch: int | None = None
    target: str | None = None  #: GPU the code was built for (gfx942, ...); None = unknown.
    target_origin: str = ""  #: File that names the target, where the trace itself does not.
    #: What `--dispatch` and `open(dispatch=...)` take for this one: its number, and where several of the input have it,
    #: what tells them apart (`3@run_b`).
    dispatch_key: str = ""
    other_dispatches: tuple[str, ...] = ()  #: Keys of the other dispatches of the input.
    format: str = "raw capture"  #: What was read: raw capture, ui_output, PC sampling or parquet.
    amd: bool = False  #: Whether raw traces and hidden latency follow AMD's rules, defects included.


@dataclass(frozen=True)
class Executed:
    """Totals of the traced waves."""

    instruction_count: int  #: Executions: the two records of a gfx9 barrier are one (docs/reference/glossary.md).
    unresolved_count: int  #: Instructions with an unknown PC.
    rows: tuple[int, ...]  #: Code rows that occur, in order.
    categories: frozenset[int]  #: Values of `instructions.category` that occur.
    state_cycles: Mapping[int, int]  #: Cycles of all traced waves by `states.state`, for those that occur.


@dataclass
class ThreadTrace(WithTables):
    """Every instruction of every traced wave of one dispatch window, as polars frames.

    The tables and their columns are documented in `docs/reference/tables.md`; `trace.waves` and
    `trace.table("waves")` are the same frame. Tables that cost time are made on first use.

    Examples
    --------
    >>> from wavewright.model.schema import THREAD_TRACE, empty_frame
    >>> trace = ThreadTrace({}, TraceSource(path="nothing"))
    >>> trace.waves.height
    0
    """

    specs = THREAD_TRACE

    tables: dict[str, pl.DataFrame]
    source: TraceSource
    lazy_tables: Mapping[str, Callable[[], pl.DataFrame]] = field(default_factory=dict, repr=False)
    #: Lazy tables whose reading can add losses. They are read before `losses`, which is complete at any time.
    lossy_tables: tuple[str, ...] = field(default=(), repr=False, compare=False)
    #: What `once_per_trace` keeps.
    answers: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)
    #: For a selection: the trace it was made from, and which of its instructions are selected (Boolean).
    part_of: tuple[ThreadTrace, pl.Series] | None = field(default=None, repr=False, compare=False)
    #: What a reader counted without making the tables of instructions and states; None = they are there.
    counted: Executed | None = field(default=None, repr=False, compare=False)
    #: Makes what `each_part` gives; None = the trace is in memory as a whole.
    parts: Callable[[], Iterator[ThreadTrace]] | None = field(default=None, repr=False, compare=False)
    #: Looks for the traced dispatch in the runs beside the trace; None = there is nowhere to look.
    find_launch: Callable[[ThreadTrace], Launch | None] | None = field(default=None, repr=False, compare=False)
    #: Gives the compiled kernel (`codeobj.Kernel`) at a code object and address; None = there is no code object.
    find_kernel: Callable[[int, int], Any] | None = field(default=None, repr=False, compare=False)

    @property
    def gfxip(self) -> int:
        """Generation of the GPU: 9, 10, 11 or 12; 0 = unknown."""
        return max(self.shader_engines["gfxip"].drop_nulls().to_list(), default=0)

    @property
    def launch(self) -> Launch | None:
        """The traced dispatch in the run recorded beside the trace, which is read on first use; None = not found."""
        if self.part_of is not None:
            return self.part_of[0].launch
        find = self.find_launch
        return None if find is None else once(self.answers, "launch", lambda: find(self))

    def compiled_kernel(self, kernel: int) -> Any:
        """`codeobj.Kernel` of a number of `kernels`: descriptor and arguments; None = no code object has it."""
        if self.part_of is not None:
            return self.part_of[0].compiled_kernel(kernel)
        rows = self.kernels.filter(self.kernels["kernel"] == kernel).select("code_object", "address").rows()
        if self.find_kernel is None or not rows or None in rows[0]:
            return None
        return self.find_kernel(*rows[0])

    @property
    def executed(self) -> Executed:
        """Totals of the traced waves; reads no instructions where a reader has counted them."""
        return self.counted or once(self.answers, "executed", self._executed)

    def _executed(self) -> Executed:
        import polars as pl

        rows = self.instructions["row"]
        cycles = self.states.group_by("state").agg(pl.col("duration_cycles").cast(pl.Int64).sum()).sort("state")
        code_rows, categories = rows.filter(rows >= 0), frozenset(self.instructions["category"].unique())
        unknown, known_rows = rows.len() - code_rows.len(), tuple(code_rows.unique().sort())
        return Executed(self.instruction_count, unknown, known_rows, categories, dict(cycles.iter_rows()))

    @property
    def instruction_count(self) -> int:
        """Executions of instructions; asks for no instruction where a reader has counted them.

        A gfx9 `s_barrier` leaves two records, arrival and release: `instructions` has both, they are one execution.
        """
        if self.counted is not None:
            return self.counted.instruction_count
        from wavewright.model.executions import is_execution

        count: int = once(self.answers, "count", lambda: self.instructions.select(is_execution().sum()).item())
        return count

    def each_part(self) -> Iterator[ThreadTrace]:
        """The trace in parts that are in memory one after the other: its shader engines, or the trace itself.

        A part is a trace with the instructions, states and waves of its shader engine; waves keep their numbers. A
        trace that is in memory as a whole is its only part. Drop each part before asking for the next.
        """
        if self.parts is None:
            yield self
            return
        for part in self.parts():
            part.source = self.source
            yield part
            del part

    def table(self, name: str) -> pl.DataFrame:
        """The table `name`; empty when the trace has no such rows. Raises `UsageError` for a name that no trace has."""
        for lossy in self.lossy_tables if name == "losses" else ():
            self.table(lossy)
        if name not in self.tables:
            spec = THREAD_TRACE.get(name)
            if spec is None:
                raise UsageError(f"no table {name!r}", advice=f"tables: {', '.join(THREAD_TRACE)}")
            maker = self.lazy_tables.get(name) or partial(empty_frame, spec)
            return once(self.tables, name, maker)
        return self.tables[name]

    def sql(self, query: str) -> pl.DataFrame:
        """Run a SQL query over the tables (polars' SQL; reads only). Raises `UsageError` when it cannot be run."""
        import polars as pl

        context = pl.SQLContext({name: self.table(name) for name in THREAD_TRACE if name in query}, eager=True)
        try:
            answer: pl.DataFrame = context.execute(query)
        except (pl.exceptions.PolarsError, ValueError) as error:
            problem = f"the query cannot be run: {error}"
            raise UsageError(problem, advice=f"tables: {', '.join(THREAD_TRACE)}") from error
        return answer
