"""Answers about runs, by the options of their verbs."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from wavewright.base.shown import command_line
from wavewright.cli.kit.question_verb import Shown
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import polars as pl

    from wavewright.analysis.run.contents.regions import Regions
    from wavewright.analysis.run.contents.timed_events import Grouping
    from wavewright.analysis.run.graph.scenarios import Scenario
    from wavewright.analysis.run.kernels.top import TopGrouping
    from wavewright.cli.kit.picture import PictureRequest
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest
    from wavewright.questions.kit.question import Wording

_HANDLE = re.compile(r"k\d{1,9}")
#: Value of --table -> field of the answer.
_GAP_TABLES = {"gaps": "largest", "gpus": "gpus", "causes": "causes", "lengths": "histogram"}
_LAYER_LINES = 40  #: Lines of `--layers` without `--top`: a model has some dozens of equal layers.


def busy(request: RunRequest, bins: int) -> Shown:
    """Busy time of GPUs, in at most `bins` bins of time."""
    from wavewright.analysis.run.gpu_time.busy import combine_busy, partial_busy
    from wavewright.analysis.run.select.gpus import shared_gpus

    gathered = request.gather(partial(partial_busy, bins=bins))
    shared = shared_gpus(gathered.values)
    if shared:  # how work of several files overlaps is known from its times only
        gathered = request.gather(partial(partial_busy, bins=bins, shared=shared))
    return Shown(combine_busy(gathered.values), how=_window(request))


def _window(request: RunRequest) -> dict[str, bool]:
    return {"is_window": request.selection.has_window}


def collectives(request: RunRequest, with_calls: bool) -> Shown:
    """Collectives, or each of their calls."""
    from wavewright.analysis.run.ranks.collective_times import combine_collectives, partial_collectives

    answer = combine_collectives(request.gather(partial_collectives).values)
    return Shown(answer, answer.calls if with_calls else answer.collectives, {"with_calls": with_calls})


def diagnose(request: RunRequest, run: bool) -> Shown:
    """Causes of the time of a run, and first changes; `run` has chosen the verb."""
    from wavewright.analysis.run.diagnose import combine_diagnosis, partial_diagnosis

    answer = combine_diagnosis(request.gather(partial_diagnosis).values, path=command_line(request.paths))

    def words(wording: Wording) -> Parts:
        from wavewright.model.blocks import sentence
        from wavewright.words.run.diagnose import diagnosis_report

        yield from diagnosis_report(answer, limit=wording.limit)
        yield sentence(("next: ", "bold"), answer.next_command, style="advice")

    return Shown(answer, answer.finding_table(), words=words)


def gaps(request: RunRequest, by: str, table: str) -> Shown:
    """Gaps of GPUs or of streams."""
    from wavewright.analysis.run.gpu_time.gaps import busy_elsewhere, combine_gaps
    from wavewright.analysis.run.gpu_time.gaps.partial import partial_gaps
    from wavewright.analysis.run.select.gpus import partial_intervals, shared_gpus

    domains = request.selection.domains
    request = request.narrowed(domains=())  # other calls still tell why
    question = partial(partial_gaps, by_stream=by == "stream", keep=max(100, request.limit), domains=domains)
    gathered = request.gather(question)
    shared = shared_gpus(gathered.values) if by == "gpu" else None
    if shared:  # gaps of such a GPU are known only when all of its work is
        elsewhere = busy_elsewhere(gathered.values, request.gather(partial(partial_intervals, shared=shared)).values)
        gathered = request.gather(partial(question, elsewhere=elsewhere))
    answer = combine_gaps(gathered.values)
    return Shown(answer, getattr(answer, _GAP_TABLES[table]), _window(request))


def kernels(request: RunRequest, name: str) -> Shown:
    """Kernels of a name, or the one of a handle such as k0, by rank of time."""
    from wavewright.analysis.run.kernels import combine_kernels
    from wavewright.analysis.run.kernels.partial import partial_kernels

    chosen = name
    if _HANDLE.fullmatch(name):
        names = combine_kernels(request.gather(partial(partial_kernels, name="")).values).kernels["name"].to_list()
        rank = int(name[1:])
        if rank >= len(names):
            advice = f"k0 to k{len(names) - 1}; /{name}/ chooses by name" if names else "the run has none"
            raise UsageError(f"there is no kernel {name}", advice=advice)
        chosen = f"/^{re.escape(names[rank])}$/"
    answer = combine_kernels(request.gather(partial(partial_kernels, name=chosen)).values)
    if len(request.paths) == 1:
        from wavewright.analysis.beside import with_evidence

        answer = with_evidence(answer, str(request.paths[0]))
    return Shown(answer, how={"name": name}, facts={"name": name})


def memory(request: RunRequest, bins: int, picture: PictureRequest) -> Shown:
    """Memory in use over time, with `bins` points per curve."""
    from wavewright.analysis.run.memory.memory import combine_memory, partial_memory

    picture.check()
    answer = combine_memory(request.gather(partial(partial_memory, bins=bins)).values)

    def drawn(theme: str) -> str:
        from wavewright.words.run.pictures.memory import drawn_memory

        return drawn_memory(answer, theme).svg

    return Shown(answer, answer.sites, drawn=drawn)


def operators(request: RunRequest, name: str | None, models: tuple[Path, ...], target: str | None) -> Shown:
    """Operators by the shapes of their inputs."""
    from wavewright.analysis.run.kernels.operators import combine_operators, named_operators, partial_operators
    from wavewright.facts.metrics.operators import own_models

    question = partial(partial_operators, models=own_models(models), target=target)
    # Of an event that a window cuts, the operations would count whole and the time in part.
    answer = combine_operators(request.narrowed(domains=(), is_inside=True).gather(question).values)
    return Shown(answer if name is None else named_operators(answer, name))


def path(request: RunRequest, texts: tuple[str, ...], by_step: bool, marker: str | None, segments: bool) -> Shown:
    """The critical path, of each step too, and what changes would do to it."""
    from wavewright.analysis.run.graph import combine_graph, partial_graph
    from wavewright.analysis.run.graph.path import path_of, with_steps
    from wavewright.model.answer import to_builtins

    graph = combine_graph(request.gather(partial_graph).values)
    answer = path_of(graph)
    scenarios: list[Scenario] = []
    if texts:
        from wavewright.analysis.run.diagnose.bounds import bounds_of
        from wavewright.analysis.run.graph.scenarios import what_if

        bounds = bounds_of(texts, lambda part: request.gather(part).values, answer.groups["span_ns"])
        scenarios = what_if(graph, texts, answer, bounds)
    if by_step or marker is not None:
        answer = with_steps(answer, graph, _steps(request, marker))
    table = answer.segments if segments else answer.contributors
    return Shown(answer, table, {"scenarios": scenarios}, facts={"what_if": to_builtins(scenarios)})


def _steps(request: RunRequest, marker: str | None) -> pl.DataFrame:
    """The steps of all runs."""
    from wavewright.analysis.run.steps import combine_steps, partial_steps

    found_steps = combine_steps(request.gather(partial(partial_steps, marker=marker)).values).steps
    if not found_steps.height:
        what = "no steps were found" if marker is None else f"no marker range {marker!r}"
        raise UsageError(what, advice="wavewright summary --domain MARKER lists markers; --step MARKER names one")
    return found_steps


def regions(
    request: RunRequest, name: str | None, sort: str | None, layers: bool, stacks: bool, min_share: float, **view: Any
) -> Shown:
    """The tree of regions, of modules or of call stacks."""
    from wavewright.analysis.run.contents.regions import combine_regions, folded_layers, named_regions, partial_regions
    from wavewright.analysis.run.contents.stacks import partial_stacks

    domains = request.selection.domains
    request = request.narrowed(domains=())  # other calls still tell what they launched
    question = partial_stacks if stacks else partial(partial_regions, domains=domains, layers=layers)
    answer = combine_regions(request.gather(question).values, sort=sort)
    if stacks and not answer.tree.height:
        raise UsageError("no call stacks were recorded", advice="record with rocmProfileData and RPDT_STACKFRAMES=1")
    _check_regions(answer, domains, layers=layers)
    if name is not None:
        answer = named_regions(answer, name, sort=sort)
        if not answer.tree.height:
            raise UsageError(f"no region's name contains {name!r}", advice="`--csv` lists all names")

    def words(wording: Wording) -> Parts:
        from wavewright.words.run.regions import regions_report

        tree = answer if layers or name is not None else folded_layers(answer, sort=sort)
        limit = _LAYER_LINES if layers and request.top is None else wording.limit
        return regions_report(tree, limit=limit, sort=sort, min_share=min_share / 100, **view)

    return Shown(answer, words=words)


def _check_regions(answer: Regions, domains: tuple[str, ...], *, layers: bool) -> None:
    """An error that says what there is instead, where nothing is of the domain, or no module was recorded."""
    if answer.tree.height or not answer.domains.height:
        return
    if layers:
        what = "no module (nn.Module) was recorded"
        raise UsageError(what, advice="record with with_stack=True and with_modules=True of torch.profiler")
    if domains:
        listed = ", ".join(f"{domain} {count:,}" for domain, count in answer.domains.iter_rows())
        raise UsageError(f"no region of the domain {' or '.join(domains)}", advice=f"this run has {listed}")


def steps(request: RunRequest, marker: str | None) -> Shown:
    """Steps, by a marker or by repetition."""
    from wavewright.analysis.run.steps import combine_steps, partial_steps

    answer = combine_steps(request.gather(partial(partial_steps, marker=marker)).values)
    if marker is not None and not answer.steps.height and answer.processes.height:
        raise UsageError(f"no marker range {marker!r}", advice="wavewright summary --domain MARKER lists markers")
    return Shown(answer)


def summary(request: RunRequest, by: Grouping | None, rocpd_csv: Path | None) -> Shown:
    """Times of kernels, copies and calls, in groups; and as the files of `rocpd summary`."""
    from wavewright.analysis.run.contents.rocpd_summary import rocpd_summary
    from wavewright.analysis.run.contents.summary import combine_summary, partial_summary
    from wavewright.export.run.rocpd_summary import write_rocpd_summary

    if rocpd_csv is not None and by is not None:
        raise UsageError("the tables of `rocpd summary` are not grouped", advice="leave out --by, or --rocpd-csv")
    gathered = request.gather(partial(partial_summary, by=by or "all"))
    answer = combine_summary(gathered.values, by=by or "all")
    if rocpd_csv is not None:
        write_rocpd_summary(rocpd_summary(gathered.values), rocpd_csv)
    return Shown(answer, answer.things.select(answer.columns), _window(request))


def top(request: RunRequest, with_calls: bool, by: str) -> Shown:
    """Kernels and copies by time, in groups."""
    from wavewright.analysis.run.kernels.top import combine_top, partial_top

    grouping: TopGrouping = "file" if by == "file" else "all"
    gathered = request.gather(partial(partial_top, with_calls=with_calls, by=grouping))
    answer = combine_top(gathered.values, with_calls=with_calls, by=grouping)
    table = answer.categories if by == "category" else answer.things
    return Shown(answer, table if by == "file" else table.drop("path", strict=False), {"by": by})


#: Name of a question -> the function that answers it by the options of its verb.
ANSWERS: dict[str, Callable[..., Shown]] = {
    function.__name__: function
    for function in (
        *(busy, collectives, diagnose, gaps, kernels, memory),
        *(operators, path, regions, steps, summary, top),
    )
}
