"""`wavewright counters`: metrics of a counter capture, and with --plan the passes of one that is still to be taken."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import polars as pl

from wavewright.analysis.counters.choice import chosen_dispatches, ranked_kernels
from wavewright.analysis.counters.contents import counter_contents
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.analysis.counters.raw import raw_counters
from wavewright.base.words import counted
from wavewright.cli.kit.counters import counter_request
from wavewright.cli.kit.io import console, emit_json, line_width, progress
from wavewright.cli.kit.request import Parts
from wavewright.errors import UsageError
from wavewright.model.answer import to_builtins
from wavewright.model.blocks import GAP, Sentence
from wavewright.questions.counters.composed import summary_panels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wavewright.analysis.counters.engine.answer import CounterPanels
    from wavewright.analysis.counters.raw import RawCounters
    from wavewright.cli.kit.counters import CounterRequest
    from wavewright.model.blocks import AnyBlock
    from wavewright.model.counters import System

#: Options that a plan has no use for.
_OF_CAPTURES = ("by", "explain", "all_channels", "decimals", "amd", "csv_dir")


def command(*, is_plan: bool, max_passes: int | None, output: Path | None, force: bool, **options: Any) -> None:
    """Show metrics of a counter capture, or plan one."""
    request = counter_request(options)
    if is_plan:
        if unused := [f"--{name.replace('_', '-')}" for name in _OF_CAPTURES if options[name]]:
            what = f"{', '.join(unused)} is about a capture that exists, not about a plan"
            raise UsageError(what, advice="leave it away, or leave --plan away")
        panels = ("all",) if options["everything"] else options["panels"]
        choice = {"panels": panels, "metrics": options["metrics"], "more": options["more"], "max_passes": max_passes}
        _give_plan(request, choice, output=output, force=force)
    elif output or max_passes or (force and not options["csv_dir"]):
        what = "--max-passes, -o and --force are about the input that --plan makes"
        raise UsageError(what, advice="add --plan, or use --json, --csv or --csv-dir")
    else:
        _show(request, force=force, **options)


def _give_plan(request: CounterRequest, choice: Mapping[str, Any], *, output: Path | None, force: bool) -> None:
    """Plan for the target, or for the GPU of the capture where there is one; print or write the input."""
    from wavewright.analysis.counters.plan import plan_capture
    from wavewright.capture.plans.counter_passes import commands, definitions, input_files, input_text, remarks, summary
    from wavewright.export.kit.staging import staged

    plan = plan_capture(_planned_gpu(request), **choice)
    kernels = _planned_kernels(request)
    files = input_files(plan, output, kernels=kernels) if output else {}
    if files:
        with staged(list(files), force=force) as twins:
            for twin, content in zip(twins, files.values(), strict=True):
                twin.write_text(content, encoding="utf-8")
    run, look = commands(plan, output)
    lines = (summary(plan), *remarks(plan), f"capture: {run}")
    text = input_text(plan, kernels=kernels)
    if request.as_json:
        texts = {"input": text, "definitions": definitions(plan)}
        facts = {"capture_command": run, "look_command": look, "files": texts, "written": list(map(str, files))}
        emit_json({**to_builtins(plan), **facts}, inputs=request.paths)
    elif request.as_csv:
        from wavewright.base.csv import write_csv

        click.echo(write_csv(plan.counters), nl=False)
    elif output:
        for line in (*(f"wrote {path}" for path in files), *lines, f"look: {look}"):
            click.echo(line)
    else:
        click.echo(text, nl=False)
        for line in lines:
            click.echo(line, err=True)


def _planned_gpu(request: CounterRequest) -> str:
    """The name of the GPU to plan for: --target, else the most specific name in the capture that is known."""
    if request.target:
        return request.target
    if request.path is None:
        what = "for which GPU is the capture to be planned?"
        raise UsageError(what, advice="--target gfx942 or --target MI300X; or the PATH of an earlier capture of it")
    from wavewright.facts import gpus

    system = request.counters.system
    for name in (system.product, (system.product or "").split("_")[0], system.target):  # MI300X_A1, MI300X, gfx942
        with suppress(UsageError):
            if name and gpus.of(name).target == (system.target or gpus.of(name).target):
                return name
    what = f"the capture is of {system.target or 'a GPU that it does not name'}, about which nothing is known"
    raise UsageError(what, where=str(request.path), advice="name a GPU with --target gfx942 or --target MI300X")


def _planned_kernels(request: CounterRequest) -> tuple[str, ...]:
    """Parts of names; a rank is the kernel of that rank in the capture, where one is given."""
    if not any(name.isdigit() for name in request.kernels):
        return request.kernels
    if request.path is None:
        what = "a kernel's rank is known in a capture only"
        raise UsageError(what, advice="give a part of the kernel's name to --kernel, or the PATH of an earlier capture")
    ranked = ranked_kernels(request.counters.dispatches)["kernel_name"].to_list()
    for name in request.kernels:
        if name.isdigit() and name not in map(str, range(len(ranked))):
            advice = f"there are {len(ranked):,} kernels; 0 is the longest"
            raise UsageError(f"no kernel of rank {name}", where=str(request.path), advice=advice)
    return tuple(ranked[int(name)] if name.isdigit() else name for name in request.kernels)


#: Words for panels that are no metrics: kernels, facts of the node, counters. Numbers are those of AMD's tool.
_TOP, _SYSTEM, _RAW = ("top", "0"), ("system", "1"), ("raw",)
_OWN_PANELS = (*_TOP, *_SYSTEM, *_RAW)
_SPEED_OF_LIGHT = "2"  #: The panel with the share of peak of every hardware unit.
_SUMMARY_KERNELS = 5  #: The summary lists at most so many kernels, unless --top asks for more.


@dataclass(frozen=True, kw_only=True)
class _View:
    """Options that say how metrics are computed and shown."""

    rules: dict[str, Any]  #: Arguments of `counter_panels`: normalization, amd, more.
    decimals: int | None
    explain: bool
    all_channels: bool


def _show(
    request: CounterRequest,
    *,
    panels: tuple[str, ...],
    everything: bool,
    metrics: tuple[str, ...],
    by: str | None,
    csv_dir: Path | None,
    force: bool,
    explain: bool,
    all_channels: bool,
    decimals: int | None,
    **rules: Any,
) -> None:
    view = _View(rules=rules, decimals=decimals, explain=explain, all_channels=all_channels)
    builtin = [word for word in map(str.lower, panels) if word in _OWN_PANELS]
    panels = tuple(word for word in panels if word.lower() not in _OWN_PANELS)
    chooses_metrics = bool(panels or metrics or everything)
    if csv_dir is not None:
        if by:
            what = "--by is about one table, --csv-dir writes those of all chosen dispatches"
            raise UsageError(what, advice="leave one of them away; --by prints CSV with --csv")
        _write(request, _answer(request, view, panels, metrics), csv_dir, decimals, force=force)
    elif by:
        chosen = (panels, metrics) if chooses_metrics else None
        _show_values(request, by, chosen, view, is_raw=bool(set(builtin) & set(_RAW)))
    elif chooses_metrics:
        _show_panels(request, _answer(request, view, panels, metrics), builtin, view)
    else:
        target_panels = summary_panels(request.counters, amd=rules["amd"], more=rules["more"])
        answer = _answer(request, view, target_panels, metrics)
        if builtin:
            answer = replace(answer, panels=(), rows=answer.rows.clear())
        elif not answer.rows.height:  # a GPU without panels: what was measured says more than nothing
            builtin = list(_RAW)
        _show_panels(request, answer, builtin, view, is_summary=not builtin)


def _answer(request: CounterRequest, view: _View, panels: Sequence[str], metrics: Sequence[str] = ()) -> CounterPanels:
    with progress("computing metrics"):
        return counter_panels(request.counters, choice=request.choice, panels=panels, metrics=metrics, **view.rules)


def _show_panels(
    request: CounterRequest, answer: CounterPanels, builtin: Sequence[str], view: _View, *, is_summary: bool = False
) -> None:
    """Print panels of metrics, and those of `_OWN_PANELS`."""
    own = _own_panels(request, builtin)

    def report() -> Parts:
        if is_summary and not view.explain:
            return _summary(request, answer, view)
        return _panels(request, answer, own, view)

    tables = {name: value.counters if name == "raw" else value for name, value in own.items()}
    facts = {"panels": _described(answer, explain=view.explain), **to_builtins(tables, top=request.top or None)}
    request.give(answer, _own_table(own, answer), report, request.counters.losses, **facts)


def _summary(request: CounterRequest, answer: CounterPanels, view: _View) -> Iterator[AnyBlock]:
    from wavewright.words.counters.speed import shown_kernels
    from wavewright.words.counters.summary import summary_parts

    by_kernel = []
    for rank in shown_kernels(answer.kernels) if answer.rows.height else ():
        choice = replace(request.choice, kernels=(str(rank),))
        panels = counter_panels(request.counters, choice=choice, panels=(_SPEED_OF_LIGHT,), **view.rules)
        by_kernel.append((rank, panels))
    measured = counter_contents(request.counters).panels.filter(pl.col("measured_count") > 0)
    if measured.height and answer.rows["average"].null_count() == answer.rows.height:
        # Nothing of the speed of light was measured: the panel of which most was measured says more.
        word = measured.sort("measured_count", descending=True)["word"][0]
        answer = _answer(request, view, (_SPEED_OF_LIGHT, word))
    return summary_parts(
        answer,
        request.counters,
        by_kernel,
        path=str(request.path),
        words=[_measured_part(row) for row in measured.iter_rows(named=True)],
        raw=_beside_metrics(request, is_alone=not measured.height),
        width=console().width,
        limit=_SUMMARY_KERNELS if request.top is None else request.limit,
        decimals=view.decimals,
    )


def _beside_metrics(request: CounterRequest, *, is_alone: bool) -> RawCounters | None:
    """Values that the profiler derived itself, which no metric repeats; every counter if no metric can be computed."""
    from wavewright.facts.metrics.names import is_derived

    names = request.counters.counters["counter"].unique().to_list()
    shown = names if is_alone else [name for name in names if is_derived(name)]
    if not shown:
        return None
    raw = raw_counters(request.counters, choice=request.choice)
    return replace(raw, counters=raw.counters.filter(pl.col("counter").is_in(shown)))


def _measured_part(panel: dict[str, Any]) -> str:
    """The word of a panel, and how much of it was measured if that is not all."""
    if panel["measured_count"] == panel["metric_count"]:
        return str(panel["word"])
    return f"{panel['word']} ({panel['measured_count']} of {panel['metric_count']})"


def _panels(request: CounterRequest, answer: CounterPanels, own: dict[str, Any], view: _View) -> Iterator[AnyBlock]:
    from wavewright.words.counters.panels import panel_parts
    from wavewright.words.counters.summary import capture_lines, caveat_lines

    form: dict[str, Any] = {"decimals": view.decimals, "explain": view.explain, "all_channels": view.all_channels}
    yield from capture_lines(answer, request.counters)
    yield from _own_parts(own, answer, limit=request.limit, decimals=view.decimals)
    yield from panel_parts(answer, width=console().width, **form)
    yield GAP
    yield from caveat_lines(answer.caveats)


def _show_values(
    request: CounterRequest, by: str, chosen: tuple[Sequence[str], Sequence[str]] | None, view: _View, *, is_raw: bool
) -> None:
    """Print one column per kernel or one row per dispatch: of the chosen panels and metrics, else of speed of light."""
    from wavewright.analysis.counters.values import metric_values, raw_values
    from wavewright.facts.metrics.panels import panels_of

    counters, choice, target = request.counters, request.choice, request.counters.system.target
    rules = {"amd": view.rules["amd"], "more": view.rules["more"]}
    if is_raw or (chosen is None and counters.measured and not (target and panels_of(target, **rules))):
        answer = raw_values(counters, by=by, choice=choice)
    else:
        panels, metrics = chosen or (summary_panels(counters, **rules), ())
        how = {**view.rules, "all_channels": view.all_channels}
        with progress("computing metrics"):
            answer = metric_values(counters, by=by, choice=choice, panels=panels, metrics=metrics, **how)

    def report() -> Parts:
        from wavewright.words.counters.values import values_report

        return values_report(answer, width=line_width(), limit=request.limit, decimals=view.decimals)

    request.give(answer, answer.named(), report, counters.losses)


def _write(request: CounterRequest, answer: CounterPanels, folder: Path, decimals: int | None, *, force: bool) -> None:
    """Write the tables as files, then say what was written."""
    from wavewright.base.shown import printable
    from wavewright.export.counters.compute_csv import write_compute_csv

    with progress(f"writing {folder.name}"):
        files = write_compute_csv(answer, request.counters, folder, decimals=decimals, force=force)
    if request.as_json:
        request.emit({"written": [str(file) for file in files]}, request.counters.losses)
        return
    summary = f"{counted(len(files), 'tables')} written to {printable(str(folder))}"
    if not (answer.caveats or request.counters.losses.height or request.as_csv):
        click.echo(summary)  # nothing to style: importing rich takes longer than the evaluation
        return

    def report() -> Parts:
        from wavewright.words.counters.summary import caveat_lines

        return [Sentence(summary), *caveat_lines(answer.caveats)]

    request.give(answer, answer.rows, report, request.counters.losses)


def _described(answer: CounterPanels, *, explain: bool) -> list[dict[str, Any]]:
    """The panels for JSON: their tables, and with `explain` the metrics with formulas."""
    described: list[dict[str, Any]] = to_builtins(answer.panels)
    for table in (table for panel in described for table in panel["tables"] if not explain):
        del table["metrics"]
    return described


def _own_panels(request: CounterRequest, words: Sequence[str]) -> dict[str, Any]:
    """The panels that these words of `_OWN_PANELS` name, with the keys `dispatches`, `raw` (counters) and `system`."""
    counters, choice, chosen = request.counters, request.choice, set(words)
    panels: dict[str, Any] = {"dispatches": chosen_dispatches(counters, choice)} if chosen & set(_TOP) else {}
    panels |= {"raw": raw_counters(counters, choice=choice)} if chosen & set(_RAW) else {}
    return panels | ({"system": counters.system} if chosen & set(_SYSTEM) else {})


def _own_table(own: dict[str, Any], answer: CounterPanels) -> pl.DataFrame:
    """The table of CSV: metrics; without any, dispatches, else facts of the node, else counters."""
    if not answer.rows.height and "dispatches" in own:
        return cast("pl.DataFrame", own["dispatches"])
    if not answer.rows.height and "system" in own:
        return _facts(own["system"])
    return answer.rows if answer.rows.height or "raw" not in own else own["raw"].counters


def _own_parts(own: dict[str, Any], answer: CounterPanels, *, limit: int, decimals: int | None) -> Iterator[AnyBlock]:
    """Parts of text, each after an empty line; kernels too where there are several."""
    from wavewright.words.counters.summary import kernel_table
    from wavewright.words.counters.system import dispatch_table, raw_table, system_table

    if answer.kernels.height > 1 or "dispatches" in own:
        yield from (GAP, kernel_table(answer.kernels, limit=limit))
    if "dispatches" in own:
        yield from (GAP, dispatch_table(own["dispatches"], limit=limit))
    if "system" in own:
        yield from (GAP, system_table(own["system"]))
    if "raw" in own:
        yield from (GAP, raw_table(own["raw"], limit=limit, decimals=decimals))


def _facts(system: System) -> pl.DataFrame:
    """One row per fact: its name, its value as text, and the file that says it."""
    names = [field.name for field in fields(system) if field.name not in ("said_by", "described")]
    facts = [(name, getattr(system, name), system.said_by.get(name, "")) for name in names]
    rows = [(name, None if value is None else str(value), source) for name, value, source in facts]
    rows += [(name, text, "") for name, text in system.described.items()]
    return pl.DataFrame(rows, schema={"fact": pl.String, "value": pl.String, "said_by": pl.String}, orient="row")
