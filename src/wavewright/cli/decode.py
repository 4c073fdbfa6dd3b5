"""`wavewright decode`: raw thread traces into tables or a ui_output directory, and decoded ones into tables.

Each dispatch is a job: it is read, written and reported before the next one. A dispatch that cannot be read does not
keep the others from being written; its error ends the command.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from wavewright.analysis.trace.about.overview import Overview, overview
from wavewright.base.shown import quoted
from wavewright.base.words import counted
from wavewright.cli.kit.io import console, emit_json, progress, show_losses
from wavewright.errors import DamagedError, UsageError, WavewrightError
from wavewright.model.blocks import sentence
from wavewright.model.trace import ThreadTrace
from wavewright.readers.files.capture import find_capture
from wavewright.readers.files.dispatches import choose, named
from wavewright.readers.files.kinds import Kind, sniff
from wavewright.readers.opening import DECODED_KINDS, candidates_of, does_not_fit, open_trace, read_decoded
from wavewright.readers.trace.dispatches import decoded_dispatches, raw_dispatches


def command(
    paths: tuple[Path, ...],
    output: Path,
    file_format: str,
    code_objects: tuple[str, ...],
    shader_engines: tuple[int, ...],
    dispatch: str | None,
    threads: int | None,
    amd: bool,
    source_root: Path | None,
    schema: str,
    with_annotations: bool,
    strict: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Decode traces and write them."""
    options = {"threads": threads, "amd": amd, "source_root": source_root}
    needs_raw = bool(code_objects or shader_engines or any(options.values()))
    jobs = _conversions(paths, dispatch, file_format, needs_raw=needs_raw)
    if jobs is None:
        options["amd"] = amd or file_format == "ui_output"  # which is for AMD's viewer
        jobs = _decodings(paths, dispatch, file_format, code_objects, shader_engines, options)
    write = _writer(file_format, output, schema=schema, force=force, with_annotations=with_annotations)
    results: list[tuple[Overview, dict[str, Any]]] = []  # of each dispatch: its facts, and its fields in JSON
    problems: list[WavewrightError] = []
    for job in jobs:
        start = time.perf_counter()
        try:
            with progress(f"reading {job.title} ({job.byte_count / 1e6:,.1f} MB)"):
                trace = job.read()
            read_end = time.perf_counter()
            with progress(f"writing {job.title}"):
                written = write(trace)
                facts = overview(trace)
        except WavewrightError as error:
            problems.append(error)
            continue
        seconds = {"decode": read_end - start, "write": time.perf_counter() - read_end}
        summary = {"output": str(written), "seconds": seconds, "damaged": facts.damaged, "bytes": job.byte_count}
        results.append((facts, msgspec.to_builtins(facts) | summary))
        if not as_json:
            _show(facts, job.byte_count, written, seconds)
    if as_json and results:
        unreadable = [str(problem) for problem in problems]
        dispatches = [summary for _, summary in sorted(results, key=lambda item: item[0].dispatch or 0)]
        losses = [loss for summary in dispatches for loss in summary["losses"]]
        answer = {"format": file_format, "dispatches": dispatches, "unreadable": unreadable}
        emit_json(answer, inputs=paths, losses=losses)
    if problems:
        if results:
            problems[0].kept = f"{len(results)} of {counted(len(jobs), 'dispatches')} were written"
        raise problems[0]
    if strict and any(facts.damaged for facts, _ in results):
        what = "the input is incomplete (see the losses above)"
        raise DamagedError(what, kept="everything that could be decoded was written")


@dataclass(frozen=True)
class _Job:
    """One dispatch to read."""

    title: str
    byte_count: int  #: Of its files; 0 = not known.
    read: Callable[[], ThreadTrace]


def _conversions(
    paths: tuple[Path, ...], dispatch: str | None, file_format: str, *, needs_raw: bool
) -> list[_Job] | None:
    """The decoded traces that the only path leads to; None = it leads to raw traces.

    `needs_raw`: options are given that only raw traces can obey.
    """
    kind = sniff(paths[0]) if len(paths) == 1 else Kind.RAW_CAPTURE
    if kind in (Kind.RAW_CAPTURE, Kind.UNKNOWN):  # decoding says best why it cannot read something
        return None
    if kind not in (*DECODED_KINDS, Kind.SAMPLES):
        raise does_not_fit(kind, paths[0])
    where = str(paths[0])
    if file_format == "ui_output":
        raise UsageError(f"{kind.value}: decoded already", where=where, advice="--format parquet (or json) converts it")
    if needs_raw:
        what = "--code-object, --se, --threads, --amd and --source-root are for raw traces; this is decoded already"
        raise UsageError(what, where=where)
    if kind is Kind.SAMPLES:
        return [_Job("the PC samples", 0, partial(open_trace, paths[0], dispatch=dispatch))]
    candidates, losses = candidates_of(paths[0], kind)
    dispatches = decoded_dispatches(candidates, where)
    chosen = dispatches if dispatch is None else named(dispatches, dispatch)
    full = [each for each in chosen if not each.item.is_placeholder]
    if not full:  # `choose` has the errors about a wrong name
        choose(dispatches, dispatch, where=where)
        what = "only empty placeholders: there is nothing to convert"
        raise UsageError(what, where=where, advice=f"wavewright info {quoted(where)}")
    return [_Job(_title(each.key), each.item.byte_count, partial(read_decoded, each.item, losses)) for each in full]


def _decodings(
    paths: tuple[Path, ...],
    dispatch: str | None,
    file_format: str,
    code_objects: tuple[str, ...],
    shader_engines: tuple[int, ...],
    options: dict[str, Any],
) -> list[_Job]:
    """The dispatches of raw traces; `options` are those of `decode_window`."""
    from wavewright.readers.trace.att import decode_window

    capture = find_capture(paths, code_objects)
    top_folder = paths[0] if len(paths) == 1 else None
    dispatches = raw_dispatches(capture.only(shader_engines=shader_engines or None), top_folder)
    chosen = dispatches if dispatch is None else named(dispatches, dispatch)
    if not chosen:
        choose(dispatches, dispatch, where=", ".join(map(str, paths)))
    if file_format == "ui_output":  # its directories number their kernels in the order in which rocprofv3 decodes
        from wavewright.export.trace.ui_output.kernel_ids import decode_order

        order = decode_order(each.item.dispatch or 0 for each in chosen)
        chosen = sorted(chosen, key=lambda each: order.index(each.item.dispatch or 0))
    return [
        _Job(_title(each.key), each.item.byte_count, partial(decode_window, capture, each.item, **options))
        for each in chosen
    ]


def _title(key: str) -> str:
    return f"dispatch {key}" if key else "the trace"


def _writer(
    file_format: str, output: Path, *, schema: str, force: bool, with_annotations: bool
) -> Callable[[ThreadTrace], Path]:
    """The function that writes a trace in the format, and returns the path of what it wrote."""
    if with_annotations and file_format != "ui_output":
        raise UsageError("--annotations is for ui_output", advice="leave out --format")
    if file_format == "ui_output":
        from wavewright.export.trace.ui_output import write_ui_output
        from wavewright.export.trace.ui_output.kernel_ids import KernelIds

        kernel_ids = KernelIds()

        def write(trace: ThreadTrace) -> Path:
            findings = None
            if with_annotations:
                from wavewright.analysis.trace.diagnose import diagnose

                findings = diagnose(trace).findings if trace.instructions.height else ()
            return write_ui_output(trace, output, schema=schema, force=force, kernel_ids=kernel_ids, findings=findings)

        return write
    if file_format == "parquet":
        from wavewright.export.trace.tables import write_parquet

        return lambda trace: write_parquet(trace, output / f"wavewright_{_label(trace)}", force=force)
    from wavewright.export.trace.tables import write_json

    return lambda trace: write_json(trace, output / f"wavewright_{_label(trace)}.json", force=force)


def _label(trace: ThreadTrace) -> str:
    agent, dispatch = trace.source.agent or 0, trace.source.dispatch or 0
    return f"agent_{agent}_dispatch_{dispatch}"


def _show(facts: Overview, byte_count: int, written: Path, seconds: dict[str, float]) -> None:
    """Print what was decoded, its losses, and where it was written."""
    out = console()
    unresolved = f", {facts.unresolved:,} without PC" if facts.unresolved else ""
    name = "trace" if facts.dispatch is None else f"dispatch {facts.dispatch}"
    counts = (
        f": {counted(facts.waves, 'waves')}, {counted(facts.instructions, 'instructions')}{unresolved}, "
        f"{facts.shader_engines} SE, {byte_count / 1e6:,.2f} MB in {seconds['decode']:.2f} s"
    )
    out.print(sentence((name, "bold"), counts))
    show_losses(facts.losses, stderr=True)
    out.print(f"  -> {written}")
    sys.stdout.flush()
