"""`wavescope counters`: how near is each unit to its limit, and what do the counters say about it?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavescope.cli._counters import counter_verb
from wavescope.cli._io import console, progress
from wavescope.cli._plan import plannable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from wavescope.analysis.metrics import CounterPanels
    from wavescope.cli._counters import AskedCounters

__all__ = ["command"]

_REFERENCE = "rocprof-compute-3.3"
_SUMMARY = "2"
_SUMMARY_KERNELS = 5
_TOP, _SYSTEM = ("top", "0"), ("system", "1")
_OWN_PANELS = (*_TOP, *_SYSTEM)
"""Panels without metrics."""


def _with(options: Iterable[Callable[[Any], Any]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(list(options)):
            verb = option(verb)
        return verb

    return decorate


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--panel",
        "panels",
        multiple=True,
        metavar="WORD",
        help="Show this panel: its word (l2), number (17) or one of its tables (17.1); may be repeated.",
    ),
    click.option("--all", "everything", is_flag=True, help="Show every panel."),
    click.option(
        "--metric", "metrics", multiple=True, metavar="NAME", help="Show metrics by id or part of the name; repeatable."
    ),
    click.option(
        "--per",
        "normalization",
        type=click.Choice(["kernel", "wave", "cycle", "second"]),
        default="kernel",
        help="What amounts are divided by. Default: kernel, which is the amount of one dispatch.",
    ),
    click.option(
        "--by",
        type=click.Choice(["kernel", "dispatch"]),
        help="One column for each kernel, or one row for each dispatch, with outliers.",
    ),
    click.option("--explain", is_flag=True, help="Show formula and meaning of each metric."),
    click.option("--all-channels", is_flag=True, help="Show each L2 channel, not statistics over them."),
    click.option("--decimals", type=click.IntRange(0, 12), metavar="N", help="Write all digits, N after the point."),
    click.option(
        "--compat",
        type=click.Choice([_REFERENCE]),
        help="Follow the rules of this tool, its defects included. Default: corrected rules.",
    ),
    click.option(
        "--more",
        type=click.Path(path_type=Path),
        multiple=True,
        metavar="FILE",
        help="TOML file with metrics of your own; may be repeated.",
    ),
)


@partial(counter_verb, is_path_needed=False)
@plannable
@_with(_OPTIONS)
def command(
    asked: AskedCounters,
    panels: tuple[str, ...],
    everything: bool,
    metrics: tuple[str, ...],
    normalization: str,
    by: str | None,
    explain: bool,
    all_channels: bool,
    decimals: int | None,
    compat: str | None,
    more: tuple[Path, ...],
) -> None:
    """How near is each unit of the GPU to its limit: speed of light, and the panels behind it.

    PATH is a counter capture: a workload folder of ROCm Compute Profiler, *_counter_collection.csv of rocprofv3 or a
    folder of its passes, a ROCpd database with counters, a CSV of rocprof, or an analysis database. Without options a
    summary is shown; `wavescope metrics` explains each metric.

    \b
    wavescope counters workloads/gemm/MI300X
    wavescope counters run/ --panel l2 --kernel gemm --per wave
    wavescope counters run/ --metric 'Hit Rate' --by dispatch --csv > hits.csv
    wavescope counters --plan --panel l2 --target MI300X -o l2.txt
    """
    how: dict[str, Any] = {"normalization": normalization, "rules": compat or "corrected", "more": more}
    own = [word for word in map(str.lower, panels) if word in _OWN_PANELS]
    panels = tuple(word for word in panels if word.lower() not in _OWN_PANELS)
    if by:
        _by(asked, by, panels, metrics, how, everything=everything, decimals=decimals, all_channels=all_channels)
        return
    is_summary = not (panels or metrics or everything or own)
    answer = _answer(asked, _summary_panels(asked, how["rules"]) if is_summary else panels, metrics, how)
    width = console().width

    def report() -> Iterable[RenderableType]:
        if is_summary and not explain:
            return _summary(asked, answer, how, width, decimals)
        return _panels(asked, answer, own, width, decimals, explain=explain, all_channels=all_channels)

    asked.give(answer, answer.rows, report, panels=_described(answer, explain=explain))


def _answer(asked: AskedCounters, panels: Sequence[str], metrics: Sequence[str], how: dict[str, Any]) -> CounterPanels:
    from wavescope.analysis.metrics import counter_panels

    with progress("computing metrics"):
        return counter_panels(asked.counters, choice=asked.choice, panels=panels, metrics=metrics, **how)


def _summary_panels(asked: AskedCounters, rules: str) -> tuple[str, ...]:
    """Speed of light; all panels of a GPU that has no such panel."""
    from wavescope.metrics import panels_of

    target = asked.counters.system.target
    known = panels_of(target, rules=rules) if target else ()
    return (_SUMMARY,) if any(str(panel.number) == _SUMMARY for panel in known) else ()


def _summary(
    asked: AskedCounters, answer: CounterPanels, how: dict[str, Any], width: int, decimals: int | None
) -> Iterator[RenderableType]:
    from dataclasses import replace

    from wavescope.analysis.metrics import counter_panels
    from wavescope.report.counter_summary import shown_kernels, summary_parts

    by_kernel = []
    for rank in shown_kernels(answer.kernels):
        choice = replace(asked.choice, kernels=(str(rank),))
        by_kernel.append((rank, counter_panels(asked.counters, choice=choice, panels=(_SUMMARY,), **how)))
    limit = _SUMMARY_KERNELS if asked.top is None else asked.limit
    return summary_parts(
        answer, asked.counters, by_kernel, path=str(asked.path), width=width, limit=limit, decimals=decimals
    )


def _panels(
    asked: AskedCounters,
    answer: CounterPanels,
    own: Sequence[str],
    width: int,
    decimals: int | None,
    *,
    explain: bool,
    all_channels: bool,
) -> Iterator[RenderableType]:
    from rich.text import Text

    from wavescope.report.counter_panels import panel_parts
    from wavescope.report.counter_summary import capture_lines, doubt_lines, kernel_table
    from wavescope.report.counter_system import dispatch_table, system_table

    yield from capture_lines(answer, asked.counters)
    if answer.kernels.height > 1 or set(own) & set(_TOP):
        yield Text()
        yield kernel_table(answer.kernels, width=width, limit=asked.limit)
    if set(own) & set(_TOP):
        yield Text()
        yield dispatch_table(asked.counters.dispatches, width=width, limit=asked.limit)
    if set(own) & set(_SYSTEM):
        yield Text()
        yield system_table(asked.counters.system)
    yield from panel_parts(answer, width=width, decimals=decimals, explain=explain, all_channels=all_channels)
    yield Text()
    yield from doubt_lines(answer.doubts)


def _by(
    asked: AskedCounters,
    by: str,
    panels: tuple[str, ...],
    metrics: tuple[str, ...],
    how: dict[str, Any],
    *,
    everything: bool,
    decimals: int | None,
    all_channels: bool,
) -> None:
    """One column per kernel or one row per dispatch; of speed of light, unless something else is asked for."""
    from wavescope.analysis.metric_values import metric_values
    from wavescope.report.counter_values import values_report

    if not (panels or metrics or everything):
        panels = _summary_panels(asked, how["rules"])
    with progress("computing metrics"):
        answer = metric_values(
            asked.counters, by=by, choice=asked.choice, panels=panels, metrics=metrics, all_channels=all_channels, **how
        )
    asked.give(
        answer,
        answer.named(),
        lambda: values_report(answer, width=console().width, limit=asked.limit, decimals=decimals),
    )


def _described(answer: CounterPanels, *, explain: bool) -> list[dict[str, Any]]:
    """The panels for JSON: their tables, and with `explain` the metrics with formulas."""
    from wavescope.model import to_builtins

    described: list[dict[str, Any]] = to_builtins(answer.panels)
    for panel in described:
        for table in panel["tables"]:
            if not explain:
                del table["metrics"]
    return described
