"""`wavewright store`: add captures to a store, list them, trend of a quantity, blame of a change, SQL."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click
import polars as pl

from wavewright.analysis.common.store.blame import blame_of_change
from wavewright.analysis.common.store.sql import store_query
from wavewright.analysis.common.store.trend import TrendAnswer, newest_captures
from wavewright.base.shown import command_line
from wavewright.base.words import counted
from wavewright.cli.kit.io import emit_json, line_width, progress, show_losses
from wavewright.cli.kit.picture import PictureRequest
from wavewright.cli.kit.request import Parts, Request, form_of
from wavewright.cli.kit.run import file_progress
from wavewright.cluster.executor import Executor
from wavewright.cluster.executor_choice import executor_for
from wavewright.cluster.stores import CaptureMeasuring, spread_over
from wavewright.errors import UsageError
from wavewright.export.gate.store import Added, add_captures, make_store, pack
from wavewright.model.baseline import OF_CAPTURE, Baseline, CaptureLabels
from wavewright.model.blocks import sentence
from wavewright.model.losses import loss_frame
from wavewright.readers.baseline import is_baseline
from wavewright.readers.store import Store, open_store


@dataclass(frozen=True)
class _Workers:
    """The options that say who reads."""

    jobs: int | None
    scheduler: str | None
    dask: bool
    wait_workers: float

    def executor(self, item_count: int) -> Executor:
        options = {"jobs": self.jobs, "scheduler": self.scheduler, "dask": self.dask, "wait_seconds": self.wait_workers}
        return executor_for(item_count, **options, say=partial(click.echo, err=True))  # type: ignore[arg-type]

    def open(self, store: str) -> Store:
        """The store, read on threads where nothing else is asked for."""
        if not (self.jobs or self.scheduler or self.dask):
            return open_store(store)
        address = store if "://" in store else os.path.abspath(store)  # noqa: PTH100 - keeps links
        return open_store(address, spread_over(self.executor(self.jobs or os.cpu_count() or 1), address))


def _workers(options: dict[str, Any]) -> _Workers:
    """The workers that options name, taken out of them."""
    return _Workers(**{field.name: options.pop(field.name) for field in fields(_Workers)})


def add_command(
    store: str,
    paths: tuple[str, ...],
    commit: str,
    series: str,
    labels: tuple[str, ...],
    date_text: str | None,
    as_json: bool,
    **measures: Any,
) -> None:
    """Add captures."""
    workers = _workers(measures)
    taken_ns = _taken_ns(date_text)
    for label in labels:
        if not label.partition("=")[1] or "\n" in label:
            raise UsageError(f"--label {label[:40]!r} is not KEY=VALUE")
    capture_labels = CaptureLabels(series, commit, taken_ns, labels)
    make_store(store)
    additions: list[Added] = []
    kinds = set()
    failures: dict[str, str] = {}
    for path, baseline in zip(paths, _measured(paths, measures, workers), strict=True):
        if isinstance(baseline, str):
            failures[path] = baseline
            continue
        location = "" if is_baseline(Path(path)) else os.path.abspath(path)  # noqa: PTH100 - keeps links
        additions += add_captures(store, baseline, capture_labels, path=location, newest_ns=_newest_ns(Path(path)))
        kinds.add(baseline.kind)
    for kind in sorted(kinds):
        pack(store, kind)
    new = [added for added in additions if added.is_new]
    if as_json:
        emit_json({"store": store, "added": additions, "new_count": len(new), "failures": failures}, inputs=paths)
    else:
        repeats_text = f", {len(additions) - len(new):,} there already" if len(new) < len(additions) else ""
        quantities = sum(added.quantity_count for added in new)
        click.echo(f"{counted(len(new), 'captures')} added with {counted(quantities, 'quantities')}{repeats_text}")
        for path, reason in failures.items():
            click.echo(f"not added: {path}: {reason}", err=True)
    if failures:
        raise UsageError(f"{counted(len(failures), 'captures')} of {len(paths):,} could not be added", where=store)


def _measured(paths: Sequence[str], measures: Any, workers: _Workers) -> Sequence[Baseline | str]:
    """The measurements of each capture; the reason, where it cannot be read."""
    executor = workers.executor(len(paths))
    addresses = [os.path.abspath(path) if executor.is_elsewhere else path for path in paths]  # noqa: PTH100 - keeps links
    task = CaptureMeasuring(**measures, is_one_of_many=len(paths) > 1, is_elsewhere=executor.is_elsewhere)
    with file_progress(paths) as progress:
        outcomes = executor.run(task, addresses, progress)
    return [outcome.lost if outcome.value is None else outcome.value for outcome in outcomes]


def _newest_ns(path: Path) -> int:
    """The time of the newest change of the files of a capture, in ns since 1970; 0 = there is no file."""
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    return max((file.lstat().st_mtime_ns for file in files if file.is_file() and not file.is_symlink()), default=0)


def _taken_ns(text: str | None) -> int | None:
    """The time of --taken in ns since 1970; without a time zone it is UTC."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        problem = f"--taken {text[:40]!r} is not a date"
        raise UsageError(problem, advice="write it as 2026-11-18 or 2026-11-18T20:15") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(moment.timestamp() * 1_000_000) * 1000  # whole microseconds: a float has no more digits


def list_command(store: str, **form: Any) -> None:
    """List captures."""
    capture_store = open_store(store)
    with progress(f"reading {store}"):
        newest = newest_captures(capture_store.read(columns=OF_CAPTURE))
    request = Request(paths=(store,), **form)

    def report() -> Parts:
        from wavewright.words.store import captures_report

        return captures_report(newest, store, limit=request.limit)

    request.give({"captures": newest, "capture_count": newest.height}, newest, report, ())
    _tell(capture_store, request)


def trend_command(store: str, quantity: str, output: Path | None, theme: str, force: bool, **options: Any) -> None:
    """Show a trend."""
    picture = PictureRequest(output, theme, force)
    picture.check()
    request = Request(paths=(store,), **form_of(options))
    capture_store = _workers(options).open(store)
    answer, _ = _trend_of(capture_store, quantity, options)
    if output is not None:
        from wavewright.words.store import trend_picture

        picture.write(lambda chosen: trend_picture(answer, chosen).svg)

    def report() -> Parts:
        from wavewright.words.store import trend_report

        yield from trend_report(answer, limit=request.limit)
        yield from picture.lines()

    request.give(answer, answer.points, report, (), headline=answer.headline(), plot=picture.told.get("output"))
    _tell(capture_store, request)


def blame_command(store: str, quantity: str, at: str | None, **options: Any) -> None:
    """Blame a change."""
    request = Request(paths=(store,), **form_of(options))
    capture_store = _workers(options).open(store)
    trend, rows = _trend_of(capture_store, quantity, options)
    answer = blame_of_change(capture_store.read, trend, rows, _place(trend, at))
    # Of each side the first capture that is where it was when it was added.
    sides = (answer.before_paths, answer.after_paths)
    compared_paths = [next((path for path in paths if path and Path(path).exists()), None) for paths in sides]

    def report() -> Parts:
        from wavewright.words.store import blame_report

        yield from blame_report(answer, limit=request.limit)
        if all(compared_paths):
            paths = command_line([str(path) for path in compared_paths])
            yield sentence(("compare them: ", "dim"), f"wavewright compare {paths}")
        else:
            gone = "captures of one side are gone from where they were: only what is stored is compared"
            yield sentence((gone, "dim"))

    compared = compared_paths if all(compared_paths) else None
    request.give(answer, answer.parts, report, (), headline=answer.headline(), compare=compared)
    _tell(capture_store, request)


def query_command(store: str, sql: str, **form: Any) -> None:
    """Answer SQL."""
    capture_store = open_store(store)
    with progress(f"reading {store}"):
        rows = capture_store.read()
    table = store_query(rows, sql)
    request = Request(paths=(store,), **form)
    shown = table.head(request.limit)

    def report() -> Parts:
        from wavewright.words.run.data.query import query_report

        return query_report(shown, table.height, width=line_width())

    request.give({"columns": table.columns, "rows": table}, table, report, ())
    _tell(capture_store, request)


def _trend_of(capture_store: Store, quantity: str, options: dict[str, Any]) -> tuple[TrendAnswer, pl.DataFrame]:
    """The trend of a quantity, and the rows of the store that it was made of (`trend.COLUMNS`)."""
    from wavewright.analysis.common.store.trend import COLUMNS, of_quantity, trend

    with progress(f"reading {capture_store.address}"):
        rows = capture_store.read(of_quantity(quantity), columns=COLUMNS)
    return trend(rows, quantity, **options), rows


def _place(trend: TrendAnswer, at: str | None) -> int:
    """The number of the first value behind the change that is asked for."""
    if not trend.changes.height:
        raise UsageError(f"{trend.title} has no change of its level", advice="wavewright store trend shows its values")
    if at is None:
        return int(trend.changes["place"][-1])
    for row in trend.changes.to_dicts():
        if at in (row["commit_id"], row["label"], str(row["place"])):
            return int(row["place"])
    names = ", ".join(row["commit_id"] or row["label"] for row in trend.changes.tail(5).to_dicts())
    raise UsageError(f"no change at {at[:80]!r}", advice=f"changes are at {names}")


def _tell(capture_store: Store, request: Request) -> None:
    """Say what could not be read."""
    if capture_store.losses:
        show_losses(loss_frame(capture_store.losses), stderr=request.as_json or request.as_csv)
