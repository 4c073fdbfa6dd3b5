"""Every plot by kind of document and name: what `wavewright plot` writes and reports contain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.errors import UsageError
from wavewright.report.counters.pictures import PLOTS as _COUNTERS
from wavewright.report.run.pictures import PLOTS as _RUN
from wavewright.report.trace.pictures import PLOTS as _TRACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from wavewright.report.kit.plot import Plot

#: Kind of document -> name -> plot.
PLOTS: dict[str, dict[str, Plot]] = {
    kind: {plot.name: plot for plot in plots}
    for kind, plots in (("run", _RUN), ("trace", _TRACE), ("counters", _COUNTERS))
}


def plot_of(kind: str, name: str) -> Plot:
    """The plot of that name of documents of this kind.

    Raises
    ------
    UsageError
        When there is none.
    """
    plot = PLOTS[kind].get(name)
    if plot is None:
        from wavewright.readers.files.kinds import DOCUMENTS

        raise UsageError(f"no plot {name[:40]!r} of {DOCUMENTS[kind]}", advice=f"plots: {', '.join(PLOTS[kind])}")
    return plot


def plots_report(plots: Sequence[Plot], reasons: Mapping[str, str]) -> Iterator[RenderableType]:
    """The list of plots for the terminal; `reasons`: name -> why a document cannot have it."""
    from rich.table import Table
    from rich.text import Text

    from wavewright.readers.files.kinds import DOCUMENTS
    from wavewright.report.kit.tables import printable

    for kind in dict.fromkeys(plot.kind for plot in plots):
        yield Text(f"of {DOCUMENTS[kind]}", style="bold")
        table = Table.grid(padding=(0, 2))
        for plot in (plot for plot in plots if plot.kind == kind):
            reason = reasons.get(plot.name)
            says = Text(f"{plot.title}: {plot.shows}") if reason is None else Text(f"not here: {printable(reason)}")
            table.add_row(Text(f"  {plot.name}"), says)
        yield table
