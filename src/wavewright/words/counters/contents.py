"""Contents of a capture of hardware counters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wavewright.analysis.counters.contents import CounterContents, counter_next_steps
from wavewright.base.shown import printable
from wavewright.base.words import counted
from wavewright.model.blocks import GAP, AnyBlock, Sentence, Table, sentence
from wavewright.words.kit.declared_tables import declared_table

_MOST_PASSES = 12  #: Passes of a capture that are listed.


def contents_parts(path: str, called: str, answer: CounterContents) -> Iterator[AnyBlock]:
    """Blocks of the contents of a capture, and what to ask next."""
    yield sentence((path, "bold"), f": {called}")
    yield Sentence(f"  {_amounts(answer)}")
    yield Sentence(f"  {_gpu(answer)}")
    for table in _tables(answer, _MOST_PASSES):
        yield GAP
        yield table
    yield GAP
    for step in counter_next_steps(path, answer):
        yield Sentence(f"  next: {step}", "advice")


def about_parts(answer: CounterContents, *, limit: int = _MOST_PASSES) -> Iterator[AnyBlock]:
    """Blocks of the contents of a capture, without its path and without commands."""
    yield Sentence(_amounts(answer), "headline")
    yield Sentence(_gpu(answer))
    yield from _tables(answer, limit)


def _tables(answer: CounterContents, limit: int) -> Iterator[Table]:
    if answer.passes.height:
        yield declared_table("counters/contents/passes", answer.passes, limit=limit)
    if answer.blocks.height:
        yield declared_table("counters/contents/blocks", answer.blocks)
    if answer.panels.height:
        yield declared_table("counters/contents/panels", answer.panels, metrics=_share)


def _amounts(answer: CounterContents) -> str:
    amounts = [counted(answer.dispatch_count, "dispatches"), f"of {counted(answer.kernel_count, 'kernels')}"]
    if answer.gpu_count > 1:
        amounts.append(f"on {answer.gpu_count} GPUs")
    if answer.blocks.height:
        amounts.append(f"with {counted(int(answer.blocks['counter_count'].sum()), 'counters')}")
        amounts.append(f"in {counted(answer.passes.height, 'passes')}")
    if answer.stored_metric_count:
        amounts.append(f"with {answer.stored_metric_count:,} stored metrics instead of counters")
    if answer.ceiling_count:
        amounts.append(f"and {answer.ceiling_count:,} benchmark ceilings")
    return " ".join(amounts)


def _gpu(answer: CounterContents) -> str:
    if not answer.target:
        return "the GPU is not said: give --target NAME for metrics and peaks"
    name = f"{answer.product} ({answer.target})" if answer.product else answer.target
    if not answer.assumed:
        return f"GPU: {printable(name)}"
    sources = ", ".join(dict.fromkeys(answer.assumed.values()))
    return f"GPU: {printable(name)}; {', '.join(answer.assumed)} not said: {sources}"


def _share(row: dict[str, Any]) -> str:
    if row["measured_count"] == row["metric_count"]:
        return f"all {row['metric_count']}"
    return f"{row['measured_count']} of {row['metric_count']}" if row["measured_count"] else "none"
