"""`wavewright states`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.base.bounds import BINS
from wavewright.base.shown import quoted
from wavewright.cli.kit.io import line_width
from wavewright.cli.kit.numbers import Whole
from wavewright.cli.kit.trace import TraceRequest, trace_totals_verb

if TYPE_CHECKING:
    from wavewright.analysis.trace.derived_counters import DerivedCounters
    from wavewright.analysis.trace.sampled_counters import SampledCounters
    from wavewright.cli.kit.request import Parts

_JSON_BINS = 60
_MAX_DEFINITIONS = 1 << 20


@trace_totals_verb
@click.option("--bins", type=Whole(BINS), help="Number of time bins; default: what fits the terminal.")
@click.option("--counters", "with_counters", is_flag=True, help="Show the counters in the trace and derived ones.")
@click.option("--counter-names", metavar="A,B,...", help="Names of the counters, which raw traces do not hold.")
@click.option(
    "--derived",
    "definitions",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Definitions of derived counters instead of the built-in ones.",
)
def command(
    request: TraceRequest, bins: int | None, with_counters: bool, counter_names: str | None, definitions: Path | None
) -> None:
    """Wave states (idle, exec, wait, stall) in all and per shader engine, how busy each pipe is, how often a SIMD
    issues nothing, and how many waves of each kernel are resident. The clocks of the shader engines are aligned.
    """
    from wavewright.analysis.trace.costs.activity import issue_share
    from wavewright.analysis.trace.costs.row_totals import totals_of_part
    from wavewright.analysis.trace.parts import ask
    from wavewright.analysis.trace.pipes.utilization import pipe_questions, utilization
    from wavewright.analysis.trace.waves.kernel_residency import kernel_residency
    from wavewright.analysis.trace.waves.states import state_questions, states

    trace, width = request.trace, line_width()
    if not (trace.waves.height or trace.occupancy.height or trace.sampled_counters.height):
        request.require_instructions()
    count = bins or (_JSON_BINS if request.as_json else max(20, width - 8))
    sampled = None
    if with_counters or counter_names or definitions:
        sampled = _sampled(request, counter_names, definitions, count)
    ask(trace, [*state_questions(count), *pipe_questions(request.rows, count), (totals_of_part,)])  # one pass for all
    waves = states(trace, bins=count)
    pipes = utilization(trace, rows=request.rows, bins=count)
    residency = kernel_residency(trace, bins=count)
    issued = None if request.rows is not None else issue_share(trace)

    def report() -> Parts:
        from wavewright.model.blocks import GAP, Sentence
        from wavewright.words.trace.sampled_counters import sampled_counters_report
        from wavewright.words.trace.states import states_report

        yield from states_report(waves, pipes, residency, issue_share=issued, width=width, limit=request.limit)
        if sampled:
            yield GAP
            yield from sampled_counters_report(*sampled, width=width, limit=request.limit)
        elif trace.sampled_counters.height:
            yield GAP
            yield Sentence(f"the trace also has counters: wavewright states {quoted(request.path)} --counters")

    answer: dict[str, Any] = {"states": waves, "utilization": pipes, "residency": residency}
    answer |= {"sampled_counters": sampled[0], "derived": sampled[1]} if sampled else {}
    request.give(answer, waves.over_time, report, trace.losses)


def _sampled(
    request: TraceRequest, names: str | None, definitions: Path | None, bins: int
) -> tuple[SampledCounters, DerivedCounters]:
    from wavewright.analysis.trace.derived_counters import derived_counters
    from wavewright.analysis.trace.sampled_counters import sampled_counters

    named = tuple(name.strip() for name in names.split(",")) if names else ()
    text = _text_of(definitions) if definitions else None
    return (
        sampled_counters(request.trace, names=named, bins=bins),
        derived_counters(request.trace, names=named, definitions=text, bins=bins),
    )


def _text_of(path: Path) -> str:
    from wavewright.base.files import open_regular
    from wavewright.errors import UsageError

    try:
        with open_regular(path) as file:
            return file.read(_MAX_DEFINITIONS + 1).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = f"the definitions cannot be read: {error}"
        raise UsageError(what, where=str(path), advice="give a text file with lines NAME := EXPRESSION") from error
