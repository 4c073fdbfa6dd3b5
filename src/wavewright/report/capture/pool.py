"""Pools in words: how far the jobs are, and what happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from wavewright.base.words import counted
from wavewright.capture.pool.folder import State
from wavewright.report.kit.fitted_table import FittedTable
from wavewright.report.kit.tables import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from wavewright.capture.pool.folder import JobStatus, PoolStatus

#: The order of the table: what needs attention first.
_ORDER = (State.RUNNING, State.ERROR, State.INTERRUPTED, State.WAITING, State.FINISHED)
_STYLES = {State.RUNNING: "cyan", State.ERROR: "red", State.INTERRUPTED: "yellow", State.WAITING: "dim"}


def pool_report(status: PoolStatus, *, limit: int) -> Iterator[RenderableType]:
    """The state of a pool: one line for all, then a table of the jobs."""
    yield Text(headline(status), style="bold")
    order = {state: number for number, state in enumerate(_ORDER)}
    jobs = sorted(status.jobs, key=lambda job: (order[job.state], job.is_good))
    shown = jobs[:limit]
    more = f"showing {len(shown):,} of {len(jobs):,} jobs" if len(shown) < len(jobs) else ""
    table = FittedTable(more)
    table.add("job", [one_line(job.name) for job in shown], "words")
    table.add("kind", [job.kind for job in shown], "short")
    table.add("state", [_state(job) for job in shown], "short")
    table.add("tries", [str(job.attempt_count or "") for job in shown], "number")
    table.add("seconds", ["" if job.seconds is None else f"{job.seconds:,.1f}" for job in shown], "number")
    if any(job.gpu for job in shown):
        table.add("GPU", [one_line(job.gpu) for job in shown], "short")
    if any(job.reason for job in shown):
        table.add("why", [one_line(job.reason if not job.is_good else "") for job in shown], "rest")
    yield table


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


def _state(job: JobStatus) -> Text:
    if job.state is State.FINISHED:
        return Text(printable(job.verdict), "green" if job.is_good else "yellow" if job.is_kept else "red")
    return Text(job.state.value, _STYLES[job.state])


def event_line(event: str, facts: Mapping[str, Any]) -> str:
    """An event of a pool in a line; empty = not worth one."""
    name = facts.get("name", "")
    if event == "pool":
        gpus = f" on {counted(facts['gpus'], 'GPUs')}" if facts.get("gpus") else ""
        before = f", {facts['finished']:,} of them finished before" if facts.get("finished") else ""
        return f"{counted(facts['jobs'], 'jobs')}{gpus}{before}"
    if event == "started":
        return printable(f"GPU {facts['gpu']}: {name}")
    if event == "finished":
        seconds = "" if facts.get("seconds") is None else f" in {facts['seconds']:,.1f} s"
        reason = f": {facts['reason']}" if facts.get("reason") and facts.get("verdict") != "good" else ""
        return printable(f"[{facts['done']:,} of {facts['jobs']:,}] {name}: {facts['verdict']}{seconds}{reason}")
    if event == "progress":
        return f"{facts['done']:,} of {facts['jobs']:,} jobs"
    if event == "busy":
        return printable(f"GPU {facts['gpu']} is not free: {facts['reason']}")
    if event == "elsewhere":
        return printable(f"another process works on {name}; waiting for it")
    if event == "error":
        return printable(f"{name} could not be taken: {facts['reason']}")
    if event == "lost":
        what = "it is left for later" if facts["is_given_up"] else "it is tried again"
        return printable(f"the process of {name} ended with status {facts['status']}: {what}")
    return printable(str(facts.get("text", "")))
