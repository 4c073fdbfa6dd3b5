"""`wavewright capture status`: how far captures are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.base.bounds import Bounds
from wavewright.cli.kit.io import console, emit_json, json_option
from wavewright.cli.kit.numbers import Real
from wavewright.cli.kit.request import ALL_ROWS, DEFAULT_TOP, top_option

if TYPE_CHECKING:
    from wavewright.capture.pool.status import PoolStatus

_PERIOD_SECONDS = Bounds(0.1, 3600)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="FOLDER")
@click.option("--watch", "is_watched", is_flag=True, help="Show it again and again, until nothing is left to do.")
@click.option("--every", type=Real(_PERIOD_SECONDS), default=2.0, show_default=True, help="With --watch: seconds.")
@top_option
@json_option
def command(folder: Path, is_watched: bool, every: float, top: int | None, as_json: bool) -> None:
    """How far the captures below a folder are: of a pool, or of a single capture.

    It is read from the folder alone, so that it works on any machine that sees it. Status 0: all are good; 1: some are
    not, or not yet.

    \b
    wavewright capture status JOBS-pool
    wavewright capture status JOBS-pool --watch
    """
    from wavewright.capture.pool.status import status_of

    status = status_of(folder)
    limit = DEFAULT_TOP if top is None else top or ALL_ROWS
    if as_json:
        most = top or None
        _watch_json(folder, status, every) if is_watched else emit_json(_as_json(status, most), inputs=[folder])
    elif is_watched:
        status = _watch(folder, status, every, limit)
    else:
        from wavewright.report.capture.pool import pool_report

        out = console()
        for part in pool_report(status, limit=limit):
            out.print(part)
    sys.exit(status.exit_code)


def _as_json(status: PoolStatus, most: int | None = None) -> dict[str, Any]:
    from dataclasses import asdict

    from wavewright.capture.pool.status import State

    counts = {state.value: status.count(state) for state in State}
    return {
        "folder": status.folder,
        "counts": counts,
        "verdicts": status.verdicts,
        "job_count": len(status.jobs),
        "jobs": list(map(asdict, status.jobs[:most])),
    }


def _watch_json(folder: Path, status: PoolStatus, every: float) -> None:
    """One object per line, whenever something has changed."""
    import time

    from wavewright.base.shown import json_bytes
    from wavewright.capture.pool.status import status_of

    before = None
    while True:
        if status != before:
            click.echo(json_bytes(_as_json(status)).decode())
            before = status
        if not _is_under_way(status):
            return
        time.sleep(every)
        status = status_of(folder)


def _watch(folder: Path, status: PoolStatus, every: float, limit: int) -> PoolStatus:
    import time

    from rich.console import Group
    from rich.live import Live

    from wavewright.capture.pool.status import status_of
    from wavewright.report.capture.pool import headline, pool_report

    out = console()
    if not out.is_terminal:
        before = ""
        while True:
            if (line := headline(status)) != before:
                click.echo(line)
                before = line
            if not _is_under_way(status):
                return status
            time.sleep(every)
            status = status_of(folder)
    with Live(console=out, auto_refresh=False) as live:
        while True:
            live.update(Group(*pool_report(status, limit=limit)), refresh=True)
            if not _is_under_way(status):
                return status
            time.sleep(every)
            status = status_of(folder)


def _is_under_way(status: PoolStatus) -> bool:
    from wavewright.capture.pool.status import State

    return status.count(State.RUNNING, State.WAITING, State.INTERRUPTED) > 0
