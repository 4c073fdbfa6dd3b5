"""Pools in words: how far the jobs are, and what happens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wavewright.base.shown import printable
from wavewright.base.words import counted
from wavewright.capture.pool.folder import JobStatus, PoolStatus, State
from wavewright.facts.loader import packaged
from wavewright.model.blocks import AnyBlock, Cell, Sentence, Table
from wavewright.words.kit.declared_tables import block_columns

#: The order of the table: what needs attention first.
_ORDER = (State.RUNNING, State.ERROR, State.INTERRUPTED, State.WAITING, State.FINISHED)
_STYLES = {State.RUNNING: "cyan", State.ERROR: "red", State.INTERRUPTED: "yellow", State.WAITING: "dim"}
_COLUMNS = block_columns("capture/pool/jobs")
_EVENTS: dict[str, str] = packaged("texts.toml", __package__)["pool_events"]


def pool_report(status: PoolStatus, *, limit: int) -> Iterator[AnyBlock]:
    """Blocks of how far a pool is: one line for all, then a table of the jobs."""
    yield Sentence(headline(status), "headline")
    order = {state: number for number, state in enumerate(_ORDER)}
    jobs = sorted(status.jobs, key=lambda job: (order[job.state], job.is_good))
    shown = jobs[:limit]
    table = Table("", _COLUMNS, tuple(map(_row, shown)), len(jobs) if len(shown) < len(jobs) else None, "jobs")
    lacks = {_COLUMNS[-2]: not any(job.gpu for job in shown), _COLUMNS[-1]: not any(job.reason for job in shown)}
    yield table.with_columns(place for place, column in enumerate(_COLUMNS) if not lacks.get(column))


def _row(job: JobStatus) -> tuple[str, ...]:
    seconds = "" if job.seconds is None else f"{job.seconds:,.1f}"
    why = "" if job.is_good else job.reason
    return job.name, job.kind, _state(job), str(job.attempt_count or ""), seconds, job.gpu, why


def headline(status: PoolStatus) -> str:
    """All jobs in a line."""
    parts = [counted(len(status.jobs), "jobs")]
    parts += [f"{count:,} {verdict or 'without a verdict'}" for verdict, count in status.verdicts.items()]
    for state in (State.RUNNING, State.WAITING, State.INTERRUPTED):
        if count := status.count(state):
            parts.append(f"{count:,} {state}")
    if count := status.count(State.ERROR):
        parts.append(f"{count:,} could not be taken")
    return printable(f"{parts[0]}: {', '.join(parts[1:])}" if len(parts) > 1 else parts[0])


def _state(job: JobStatus) -> Cell:
    if job.state is State.FINISHED:
        return Cell(printable(job.verdict), "green" if job.is_good else "yellow" if job.is_kept else "red")
    return Cell(job.state.value, _STYLES[job.state])


def event_line(event: str, facts: Mapping[str, Any]) -> str:
    """An event of a pool in a line; empty = not worth one."""
    name = facts.get("name", "")
    if event == "pool":
        gpus = f" on {counted(facts['gpus'], 'GPUs')}" if facts.get("gpus") else ""
        before = f", {facts['finished']:,} of them finished before" if facts.get("finished") else ""
        return f"{counted(facts['jobs'], 'jobs')}{gpus}{before}"
    if event == "finished":
        seconds = "" if facts.get("seconds") is None else f" in {facts['seconds']:,.1f} s"
        reason = f": {facts['reason']}" if facts.get("reason") and facts.get("verdict") != "good" else ""
        return printable(f"[{facts['done']:,} of {facts['jobs']:,}] {name}: {facts['verdict']}{seconds}{reason}")
    if event == "lost":
        what = "it is left for later" if facts["is_given_up"] else "it is tried again"
        return printable(f"the process of {name} ended with status {facts['status']}: {what}")
    return printable(_EVENTS[event].format_map(facts)) if event in _EVENTS else ""
