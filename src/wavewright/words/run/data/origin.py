"""The recorded processes and GPUs, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from wavewright.analysis.run.select.recording import Recording, next_steps
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration
from wavewright.facts.loader import packaged
from wavewright.model.blocks import GAP, AnyBlock, Block, Sentence, sentence
from wavewright.words.kit.declared_tables import declared_table
from wavewright.words.run.place_names import node_name, place_words

_COUNTS: dict[str, str] = packaged("texts.toml", "wavewright.words.run")["counts"]
_KINDS = 3  #: Products of GPUs that are named.


def recording_report(path: str, called: str, answer: Recording, *, limit: int = 12) -> Iterator[AnyBlock]:
    """The report of `wavewright info` about runs."""
    yield sentence((path, "bold"), f": {called}")
    yield Sentence(f"  {_counts(answer)}")
    yield Sentence(f"  {_where(answer)}")
    if answer.processes.height:
        yield GAP
        yield _process_table(answer, limit)
    yield GAP
    for number, step in enumerate(next_steps(path, answer)):
        yield Sentence(f"  next: {step.replace(path, 'PATH') if number else step}", "advice")


def about_parts(answer: Recording, *, limit: int = 12) -> Iterator[AnyBlock | Block]:
    """The recording for a report: no path and no commands."""
    yield Sentence(_counts(answer), "headline")
    yield Sentence(_where(answer))
    if answer.processes.height:
        yield _process_table(answer, limit)


def _counts(answer: Recording) -> str:
    counts = []
    for name, words in _COUNTS.items():
        count = int(answer.processes[name].sum())
        if count:
            counts.append(counted(count, words))
    if not counts:
        return "no events"
    row = answer.processes.select(
        span=pl.col("end_ns").max() - pl.col("start_ns").min(),
        is_one_clock=(pl.col("path").n_unique() == 1)
        | ((pl.col("node").n_unique() == 1) & pl.col("node").is_not_null().all()),
    ).row(0, named=True)
    span = f" in {duration(row['span'])}" if row["span"] is not None and row["is_one_clock"] else ""
    return ", ".join(counts) + span


def _where(answer: Recording) -> str:
    gpus = answer.gpus
    processes = answer.processes.filter(pl.any_horizontal(pl.col(name) > 0 for name in _COUNTS))
    silent = answer.processes.height - processes.height
    used = gpus.filter(gpus["kernel_count"] > 0)
    kinds = sorted({row["product"] or row["target"] or "" for row in used.iter_rows(named=True)} - {""})
    sentence = counted(processes.height, "processes") + place_words(processes["node"], processes["path"].n_unique())
    sentence += f"; {counted(silent, 'more processes')} without events" if silent else ""
    unused = gpus.height - used.height
    if used.height:
        named = f" ({', '.join(map(printable, kinds[:_KINDS]))})" if kinds else ""
        sentence += f"; {counted(used.height, 'GPUs')} had work{named}"
    if unused:
        sentence += f"; {counted(unused, 'more GPUs' if used.height else 'GPUs')} visible without dispatches"
    return sentence


def _process_table(answer: Recording, limit: int) -> AnyBlock:
    return declared_table(
        "run/data_origin/process",
        answer.processes,
        limit=limit,
        file=lambda row: node_name(row["path"]),
        several=answer.processes["path"].n_unique() > 1,
        time=lambda row: duration(None if row["end_ns"] is None else row["end_ns"] - row["start_ns"]),
        format=lambda row: f"{row['format']} {row['version']}".strip(),
    )
