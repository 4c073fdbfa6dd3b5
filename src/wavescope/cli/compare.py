"""`wavescope compare`: what changed between traces of the same kernel?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wavescope.cli._io import console, emit_json, json_option
from wavescope.cli._trace import DEFAULT_TOP, open_trace, selection_options

if TYPE_CHECKING:
    from wavescope.analysis.selection import Selection
    from wavescope.model import ThreadTrace

_MOST_SIBLINGS = 8
_SPARE = 1 << 62


@click.command()
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--by",
    type=click.Choice(["instruction", "line", "block", "function"]),
    help="What to match. Default: line if both have source lines, else instruction.",
)
@click.option("--top", type=click.IntRange(0, 10**9), metavar="N", help="Rows to show; 0 = all. Default: 20.")
@click.option("--all", "everything", is_flag=True, help="Show differences within noise too.")
@selection_options
@click.option(
    "--dispatch",
    "dispatches",
    type=int,
    multiple=True,
    help="Which dispatch: once for all, or once for each PATH; several of one PATH are compared with each other.",
)
@click.option(
    "--repeat",
    "repeats",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A repeated run of the first PATH, to measure the noise; may be repeated.",
)
@click.option("--force", is_flag=True, help="Compare even if the kernels have different names.")
@json_option
def command(
    paths: tuple[Path, ...],
    by: str | None,
    top: int | None,
    everything: bool,
    selection: Selection,
    dispatches: tuple[int, ...],
    repeats: tuple[Path, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Compare thread traces PATHS of the same kernel with the first one: instructions, lines, blocks or functions.

    Code that changed is matched all the same. Other dispatches of the same kernel and code in the same folder show
    how much runs differ by themselves; only larger differences are reported.
    """
    from wavescope.analysis.compare import compare
    from wavescope.analysis.selection import select, selected_rows
    from wavescope.report.compare import compare_report

    asked = _asked(paths, dispatches)
    whole = [open_trace(path, dispatch=dispatch) for path, dispatch in asked]
    traces = [select(trace, selection) for trace in whole]
    again = [[select(trace, selection) for trace in more] for more in _repeats(asked, whole, repeats)]
    rows = [selected_rows(trace, selection) for trace in traces]
    labels = [chr(ord("A") + number % 26) for number in range(len(traces))]
    answer = compare(traces, by=by or _best_kind(traces), labels=labels, repeats=again, rows=rows, force=force)
    if as_json:
        from wavescope.model import to_builtins

        verdicts = [answer.verdict(number) for number in range(1, len(traces))]
        losses = [trace.losses.to_dicts() for trace in traces]
        body = to_builtins(answer, top=top or None)
        emit_json({"inputs": [str(path) for path in paths], "verdicts": verdicts, **body, "losses": losses})
        return
    out = console()
    for part in compare_report(answer, limit=DEFAULT_TOP if top is None else top or _SPARE, everything=everything):
        out.print(part)
    _warn(traces, labels)


def _asked(paths: tuple[Path, ...], dispatches: tuple[int, ...]) -> list[tuple[Path, int | None]]:
    """Which dispatch of which path."""
    from wavescope.errors import UsageError

    if len(paths) == 1 and len(dispatches) > 1:
        return [(paths[0], dispatch) for dispatch in dispatches]
    if len(dispatches) in (0, 1, len(paths)):
        chosen: tuple[int | None, ...] = dispatches or (None,)
        return list(zip(paths, chosen * len(paths) if len(chosen) == 1 else chosen, strict=True))
    what = f"{len(dispatches)} dispatches for {len(paths)} paths"
    raise UsageError(what, advice="give --dispatch once, or once for each PATH")


def _repeats(
    asked: list[tuple[Path, int | None]], traces: list[ThreadTrace], named: tuple[Path, ...]
) -> list[list[ThreadTrace]]:
    """For every trace the repeated runs that are known: those named, and dispatches of the same code beside it."""
    from wavescope.analysis.compare.alignment import align_rows
    from wavescope.errors import UsageError, WavescopeError

    found: list[list[ThreadTrace]] = [[] for _ in traces]
    for path in named:
        trace = open_trace(path)
        if not align_rows([traces[0], trace]).same_code:
            what = "this is no repeated run: its code is not that of the first trace"
            raise UsageError(what, where=str(path), advice="compare it as another PATH instead")
        found[0].append(trace)
    used = {(path, trace.source.dispatch) for (path, _), trace in zip(asked, traces, strict=True)}
    for (path, _), trace, more in zip(asked, traces, found, strict=True):
        for dispatch in trace.source.other_dispatches[:_MOST_SIBLINGS]:
            if (path, dispatch) in used:
                continue
            used.add((path, dispatch))
            try:
                sibling = open_trace(path, dispatch=dispatch)
            except WavescopeError:
                continue  # what cannot be read repeats nothing
            if sibling.instructions.height and align_rows([trace, sibling]).same_code:
                more.append(sibling)
    return found


def _best_kind(traces: list[ThreadTrace]) -> str:
    """Lines, if every trace has them for most of its instructions and they are not too coarse; else instructions."""
    from wavescope.analysis.mapping import mapping

    mapped = [mapping(trace) for trace in traces]
    fine = all(one.mapped_share > 0.5 and one.effective_line_count >= 3 for one in mapped)
    return "line" if fine else "instruction"


def _warn(traces: list[ThreadTrace], labels: list[str]) -> None:
    """Doubts that matter for a comparison, one line each."""
    from rich.text import Text

    from wavescope.analysis.doubts import doubts
    from wavescope.report.tables import printable

    out = console()
    for trace, label in zip(traces, labels, strict=True):
        for doubt in doubts(trace):
            if doubt.severity != "note" and doubt.name != "coarse_lines":
                out.print(Text.assemble((f"{label}:", "bold yellow"), printable(f" {doubt.sentence}")))
