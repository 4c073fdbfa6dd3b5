"""`wavewright stalls`: its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.samples import give_sample_stalls, has_only_samples
from wavewright.cli.kit.trace import trace_totals_verb

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.trace import TraceRequest


@trace_totals_verb
@click.option(
    "--classic",
    "as_classic",
    is_flag=True,
    help="The types of the classic analyzer script, from mnemonics alone, for comparing with old reports.",
)
def command(request: TraceRequest, as_classic: bool) -> None:
    """Every wait counts by what it waited for, every other stall by its pipe.

    Of PC samples: the recorded reasons for which waves did not issue.
    """
    if as_classic:
        _classic(request)
        return
    if has_only_samples(request):
        give_sample_stalls(request)
        return
    from wavewright.analysis.trace.stalls import stalls

    answer = stalls(request.require_instructions(), rows=request.rows)

    def report() -> Parts:
        from wavewright.words.trace.stalls import stalls_report

        return stalls_report(answer, limit=request.limit)

    request.give(answer, answer.classes, report, request.trace.losses)


def _classic(request: TraceRequest) -> None:
    from wavewright.analysis.trace.stalls.classic import classic

    has_sums = request.trace.stored_totals["hit_count"].sum()
    answer = classic(request.trace if has_sums else request.require_instructions(), rows=request.rows)

    def report() -> Parts:
        from wavewright.words.trace.stalls import classic_report

        return classic_report(answer, limit=request.limit)

    request.give(answer, answer.types, report, request.trace.losses)
