"""`wavescope decode`: raw thread traces into tables or a ui_output directory."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavescope.cli._io import code_object_option, console, emit_json, json_option, progress
from wavescope.errors import DamagedError, WavescopeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wavescope.analysis.overview import Overview
    from wavescope.model.thread_trace import ThreadTrace
    from wavescope.readers.capture import Window

FORMATS = ("ui_output", "parquet", "json")


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    metavar="DIR",
    help="Folder to write into (created if missing); default: here.",
)
@click.option(
    "--format",
    "file_format",
    type=click.Choice(FORMATS),
    default="ui_output",
    show_default=True,
    help="ui_output opens in AMD's viewer; parquet and json hold all tables.",
)
@code_object_option
@click.option("--se", "shader_engines", type=int, multiple=True, help="Only this shader engine; may be repeated.")
@click.option("--dispatch", type=int, help="Only this dispatch; default: all.")
@click.option("--threads", type=click.IntRange(min=1), help="Shader engines to decode at once; default: all cores.")
@click.option("--corrected", is_flag=True, help="Repair what AMD's decoder gets wrong instead of being equal to it.")
@click.option(
    "--source-root",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="Copy source files that debug lines name, from below this folder only.",
)
@click.option(
    "--schema",
    type=click.Choice(("3.0", "3.1")),
    default="3.0",
    show_default=True,
    help="Version of the ui_output layout.",
)
@click.option("--strict", is_flag=True, help="Leave with status 4 when anything was lost.")
@click.option("-f", "--force", is_flag=True, help="Replace output that exists.")
@json_option
def command(
    paths: tuple[Path, ...],
    output: Path,
    file_format: str,
    code_objects: tuple[str, ...],
    shader_engines: tuple[int, ...],
    dispatch: int | None,
    threads: int | None,
    corrected: bool,
    source_root: Path | None,
    schema: str,
    strict: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Decode raw thread traces: a capture folder, or single .att files.

    \b
    wavescope decode capture/ -o decoded/
    wavescope decode se0.att se1.att --code-object kernel.elf@0x200001008000:0 --format parquet
    """
    from wavescope.analysis.overview import overview
    from wavescope.readers.att import decode_window
    from wavescope.readers.capture import find_capture

    capture = find_capture(paths, code_objects)
    windows = capture.only(dispatch=dispatch, shader_engines=shader_engines or None).windows
    write = _writer(file_format, output, schema=schema, force=force)
    done: list[tuple[Overview, dict[str, Any]]] = []
    problems: list[WavescopeError] = []
    for window in _ordered(windows, file_format):
        label = "" if window.dispatch is None else f" dispatch {window.dispatch}"
        began = time.perf_counter()
        try:
            with progress(f"decoding{label} ({window.byte_count / 1e6:,.1f} MB)"):
                trace = decode_window(capture, window, threads=threads, corrected=corrected, source_root=source_root)
            decoded = time.perf_counter()
            with progress(f"writing{label}"):
                written = write(trace)
                facts = overview(trace)
        except WavescopeError as error:
            problems.append(error)
            continue
        seconds = {"decode": decoded - began, "write": time.perf_counter() - decoded}
        done.append((facts, _summary(facts, written, seconds)))
        if not as_json:
            _show(facts, written, seconds)
    if as_json and done:
        unreadable = [str(problem) for problem in problems]
        dispatches = [summary for _, summary in sorted(done, key=lambda item: item[0].dispatch or 0)]
        answer = {"input": [str(path) for path in paths], "format": file_format}
        emit_json(answer | {"dispatches": dispatches, "unreadable": unreadable})
    if problems:
        problems[0].kept = f"{len(done)} of {len(windows)} dispatches were written" if done else problems[0].kept
        raise problems[0]
    if strict and any(facts.damaged for facts, _ in done):
        what = "the input is incomplete (see the losses above)"
        raise DamagedError(what, kept="everything that could be decoded was written")


def _ordered(windows: Sequence[Window], file_format: str) -> Sequence[Window]:
    """ui_output directories number their kernels in the order in which rocprofv3 decodes."""
    if file_format != "ui_output":
        return windows
    from wavescope.export.ui_output import decode_order

    dispatches = decode_order(window.dispatch or 0 for window in windows)
    place = {dispatch: number for number, dispatch in enumerate(dispatches)}
    return sorted(windows, key=lambda window: place[window.dispatch or 0])


def _writer(file_format: str, output: Path, *, schema: str, force: bool) -> Callable[[ThreadTrace], Path]:
    if file_format == "ui_output":
        from wavescope.export.ui_output import KernelIds, write_ui_output

        kernel_ids = KernelIds()
        return lambda trace: write_ui_output(trace, output, schema=schema, force=force, kernel_ids=kernel_ids)
    if file_format == "parquet":
        from wavescope.export.parquet import write_parquet

        return lambda trace: write_parquet(trace, output / f"wavescope_{_label(trace)}", force=force)
    from wavescope.export.json import write_json

    return lambda trace: write_json(trace, output / f"wavescope_{_label(trace)}.json", force=force)


def _label(trace: ThreadTrace) -> str:
    agent, dispatch = trace.source.agent or 0, trace.source.dispatch or 0
    return f"agent_{agent}_dispatch_{dispatch}"


def _summary(facts: Overview, written: Path, seconds: dict[str, float]) -> dict[str, Any]:
    import msgspec

    summary: dict[str, Any] = msgspec.to_builtins(facts)
    return summary | {"output": str(written), "seconds": seconds, "damaged": facts.damaged}


def _show(facts: Overview, written: Path, seconds: dict[str, float]) -> None:
    from wavescope.report.losses import loss_lines

    out = console()
    share = "" if not facts.unresolved else f", {facts.unresolved:,} without PC"
    name = "trace" if facts.dispatch is None else f"dispatch {facts.dispatch}"
    out.print(
        f"[bold]{name}[/]: {facts.waves:,} waves, {facts.instructions:,} instructions{share}, "
        f"{facts.shader_engines} SE, {facts.bytes / 1e6:,.2f} MB in {seconds['decode']:.2f} s"
    )
    for line in loss_lines(facts.losses):
        console(stderr=True).print(line)
    out.print(f"  -> {written}")
    sys.stdout.flush()
