"""`wavewright capture clean`: remove what captures do not need."""

from __future__ import annotations

from pathlib import Path

import click

from wavewright.cli.kit.io import console, emit_json, json_option
from wavewright.cli.kit.request import ALL_ROWS, DEFAULT_TOP, top_option


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="FOLDER")
@click.option("--yes", "is_meant", is_flag=True, help="Remove it; without, it is only listed.")
@top_option
@json_option
def command(folder: Path, is_meant: bool, top: int | None, as_json: bool) -> None:
    """What of the captures below a folder is not needed, and with --yes: remove it.

    Raw data of attempts that a better one replaced, folders of dispatches of which nothing was recorded, and jobs that
    are no longer in the plan of the pool. Logs, manifests and results stay; so does everything of jobs that are not
    finished.

    \b
    wavewright capture clean JOBS-pool
    wavewright capture clean JOBS-pool --yes
    """
    from wavewright.capture.pool.cleaning import removable, remove

    parts = removable(folder)
    if is_meant:
        remove(parts)
    if as_json:
        chosen = parts[: top or None]
        rows = [{"path": str(part.path), "size_bytes": part.size_bytes, "reason": part.reason} for part in chosen]
        emit_json({"is_removed": is_meant, "part_count": len(parts), "parts": rows}, inputs=[folder])
        return
    from wavewright.report.capture.pool import clean_report

    limit = DEFAULT_TOP if top is None else top or ALL_ROWS
    out = console()
    for part in clean_report(parts, str(folder), is_done=is_meant, limit=limit):
        out.print(part)
