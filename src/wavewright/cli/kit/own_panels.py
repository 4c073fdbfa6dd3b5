"""The panels of `wavewright counters` without metrics: kernels and dispatches, the machine, the counters themselves."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from wavewright.model.blocks import GAP, AnyBlock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from wavewright.analysis.counters.engine.answer import CounterPanels
    from wavewright.analysis.counters.raw import RawCounters
    from wavewright.cli.kit.counters import CounterRequest
    from wavewright.model.counters import System

_TOP, _SYSTEM, RAW = ("top", "0"), ("system", "1"), ("raw",)
OWN_PANELS = (*_TOP, *_SYSTEM, *RAW)  #: Words for them.


@dataclass(frozen=True)
class OwnPanels:
    """Those that were asked for; None = not."""

    dispatches: pl.DataFrame | None = None  #: The chosen ones.
    system: System | None = None
    raw: RawCounters | None = None

    def described(self, top: int | None) -> dict[str, Any]:
        """What JSON says."""
        from wavewright.model.answer import to_builtins

        tables = {"dispatches": self.dispatches, "raw": self.raw and self.raw.counters}
        body = {name: to_builtins(table, top=top) for name, table in tables.items() if table is not None}
        return body | ({} if self.system is None else {"system": to_builtins(self.system)})

    def table(self, answer: CounterPanels) -> pl.DataFrame:
        """What CSV holds: metrics, else the first of these."""
        if answer.rows.height:
            return answer.rows
        if self.dispatches is not None:
            return self.dispatches
        if self.system is not None:
            return _facts(self.system)
        return answer.rows if self.raw is None else self.raw.counters

    def parts(self, answer: CounterPanels, *, limit: int, decimals: int | None) -> Iterator[AnyBlock]:
        """What text shows, each after an empty line; kernels too where there are several."""

        from wavewright.words.counters.summary import kernel_table
        from wavewright.words.counters.system import dispatch_table, raw_table, system_table

        if answer.kernels.height > 1 or self.dispatches is not None:
            yield GAP
            yield kernel_table(answer.kernels, limit=limit)
        if self.dispatches is not None:
            yield GAP
            yield dispatch_table(self.dispatches, limit=limit)
        if self.system is not None:
            yield GAP
            yield system_table(self.system)
        if self.raw is not None:
            yield GAP
            yield raw_table(self.raw, limit=limit, decimals=decimals)


def own_panels(request: CounterRequest, words: Sequence[str]) -> OwnPanels:
    """The panels that these words of `OWN_PANELS` name."""
    from wavewright.analysis.counters.choice import chosen_dispatches
    from wavewright.analysis.counters.raw import raw_counters

    chosen = set(words)
    return OwnPanels(
        dispatches=chosen_dispatches(request.counters, request.choice) if chosen & set(_TOP) else None,
        system=request.counters.system if chosen & set(_SYSTEM) else None,
        raw=raw_counters(request.counters, choice=request.choice) if chosen & set(RAW) else None,
    )


def _facts(system: System) -> pl.DataFrame:
    import polars as pl

    names = [field.name for field in fields(system) if field.name not in ("said_by", "described")]
    facts = [(name, getattr(system, name), system.said_by.get(name, "")) for name in names]
    rows = [(name, None if value is None else str(value), source) for name, value, source in facts]
    rows += [(name, text, "") for name, text in system.described.items()]
    return pl.DataFrame(rows, schema={"fact": pl.String, "value": pl.String, "said_by": pl.String}, orient="row")
