"""`wavewright capture status`: how far captures are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.cli.kit.io import console, emit_json, json_option
from wavewright.cli.kit.request import ALL_ROWS, DEFAULT_TOP, top_option

if TYPE_CHECKING:
    from wavewright.capture.pool.folder import PoolStatus


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="FOLDER")
@top_option
@json_option
def command(folder: Path, top: int | None, as_json: bool) -> None:
    """How far the captures below a folder are: of a pool, or of a single capture.

    It is read from the folder alone, so that it works on any machine that sees it. Status 0: all are good; 1: some are
    not, or not yet.

    \b
    wavewright capture status JOBS-pool
    watch wavewright capture status JOBS-pool
    """
    from wavewright.capture.pool.folder import status_of

    status = status_of(folder)
    if as_json:
        emit_json(_as_json(status, top or None), inputs=[folder])
    else:
        from wavewright.words.capture.pool import pool_report

        out = console()
        for part in pool_report(status, limit=DEFAULT_TOP if top is None else top or ALL_ROWS):
            out.print(part)
    sys.exit(status.exit_code)


def _as_json(status: PoolStatus, most: int | None) -> dict[str, Any]:
    from dataclasses import asdict

    from wavewright.capture.pool.folder import State

    counts = {state.value: status.count(state) for state in State}
    return {
        "folder": status.folder,
        "counts": counts,
        "verdicts": status.verdicts,
        "job_count": len(status.jobs),
        "jobs": list(map(asdict, status.jobs[:most])),
    }
