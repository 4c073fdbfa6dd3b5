"""`wavewright info`: what paths are, how complete, and what to ask next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import polars as pl

from wavewright.base.files import listed, open_regular
from wavewright.base.shown import command_line, quoted, shown
from wavewright.base.words import counted
from wavewright.cli.kit.form import is_about
from wavewright.cli.kit.io import console, emit_json, progress, show_losses
from wavewright.cli.kit.request import Parts, Report
from wavewright.errors import UsageError, WavewrightError
from wavewright.model.answer import to_builtins
from wavewright.model.blocks import Sentence, sentence
from wavewright.model.losses import Loss
from wavewright.model.run import run_losses
from wavewright.readers.files.archive import is_archive
from wavewright.readers.files.capture import Capture, find_capture
from wavewright.readers.files.decoded_traces import DecodedTrace, survey
from wavewright.readers.files.dispatches import Dispatch, choose
from wavewright.readers.files.inventory import Inventory
from wavewright.readers.files.kinds import COUNTER_CAPTURES, Kind, advice_for, sniff, title_of
from wavewright.readers.files.runs import refused_in
from wavewright.readers.opening import DECODED_KINDS, beside_capture, candidates_of, does_not_fit, open_decoded
from wavewright.readers.run.inputs import find_runs, holds_run

if TYPE_CHECKING:
    from wavewright.analysis.trace.about.overview import Overview

# What only one kind of input needs is imported where that is described: what traces need costs a run a third more time.

Asked = tuple[str | None, str | None]  #: Dispatch and kernel.

_SHOWN = 50  #: Text lists at most so many decoded dispatches.
_ALSO = "also here: "  #: Start of the line about runs beside a trace.


class _About(NamedTuple):
    """Description of a path, for JSON and for text."""

    subject: str  #: Kind of document, for a brief; empty = none.
    body: Callable[[], dict[str, Any]]
    losses: Sequence[object]
    parts: Report
    told_losses: Any = ()  #: Losses that text prints below the parts; `losses` are those of JSON.
    #: True for sentences that stay on a line: a command that is cut into lines cannot be copied.
    is_uncut: Callable[[str], bool] = lambda _: True


def command(paths: tuple[str, ...], as_json: bool, **reading: Any) -> None:
    """Say what paths are."""
    named = _named(paths)
    if len(named) > 1 and all(map(holds_run, named)):
        _tell(_run(named, f"{len(named):,} runs", command_line(paths)), named, as_json=as_json)
        return
    if len(named) > 1 and as_json:
        raise UsageError("several inputs, and not all are runs", advice="ask about one of them, or leave out --json")
    for path in named:
        _tell(_about(path, **reading), [path], as_json=as_json)


def _tell(about: _About, paths: Sequence[Path], *, as_json: bool) -> None:
    if about.subject:
        is_about(about.subject)
    if as_json:
        emit_json(about.body(), inputs=paths, losses=about.losses)
        return
    out = console()
    for part in about.parts():
        out.print(part, soft_wrap=isinstance(part, Sentence) and about.is_uncut(part.text))
    show_losses(about.told_losses)


def _named(paths: tuple[str, ...]) -> list[Path]:
    """The files and folders that paths and patterns name, each once."""
    named: list[Path] = []
    for path in paths:
        if Path(path).exists() or not has_magic(path):
            named.append(Path(path))
            continue
        matches = [Path(match) for match in sorted(glob(path, recursive=True))]  # noqa: PTH207 - absolute patterns
        if not matches:
            raise UsageError("no file matches this pattern", where=path)
        named += matches
    return list(dict.fromkeys(named))


def _about(
    path: Path,
    dispatch: str | None,
    kernel: str | None,
    code_objects: tuple[str, ...],
    resources: tuple[Path, ...],
    amd: bool,
) -> _About:
    """Describe one path by the kind of what is there."""
    kind, asked = sniff(path), (dispatch, kernel)
    if kind in COUNTER_CAPTURES:
        return _counters(path, kind)
    if holds_run(path):
        return _run([path], title_of(kind, path), str(path))
    if kind is Kind.RAW_CAPTURE:
        return _raw_capture(path, asked, code_objects, amd=amd)
    if kind in DECODED_KINDS:
        return _decoded(path, kind, asked, resources)
    if kind is Kind.SAMPLES:
        return _samples(path, kind, dispatch, code_objects)
    if kind is Kind.CODE_OBJECT:
        return _code_object(path)
    if kind is Kind.UNKNOWN:
        raise does_not_fit(kind, path)
    return _other(path, kind)


def _other(path: Path, kind: Kind) -> _About:
    """Describe a kind that other verbs analyse, and list the files below the path that were not opened."""
    refused, advice = refused_in(path), advice_for(kind, path)
    losses = run_losses([Loss("not_followed", len(refused), listed(refused))] if refused else [], str(path))
    parts = (sentence((str(path), "bold"), f": {kind.value}"), Sentence(f"  next: {advice}"))
    return _About("", lambda: {"kind": kind.value, "next": advice}, losses.to_dicts(), lambda: parts, losses)


def _counters(path: Path, kind: Kind) -> _About:
    from wavewright.analysis.counters.contents import counter_contents, counter_next_steps
    from wavewright.analysis.trace.about.overview import losses_of
    from wavewright.readers.counters import open_counters

    with progress(f"reading {path.name}"):
        counters = open_counters(path)
    answer = counter_contents(counters)

    def report() -> Parts:
        from wavewright.words.counters.contents import contents_parts

        return contents_parts(str(path), kind.value, answer)

    return _About(
        "counters",
        lambda: {"kind": kind.value, **to_builtins(answer), "next": counter_next_steps(str(path), answer)},
        counters.losses.to_dicts(),
        report,
        losses_of(counters),
        lambda text: str(path) in text,
    )


def _run(paths: Sequence[Path], called: str, written: str) -> _About:
    """The runs at paths: how to call them, and how they are written on the command line."""
    from wavewright.analysis.run.select.recording import combine_recording, next_steps, partial_recording
    from wavewright.cluster.executor_choice import executor_for
    from wavewright.cluster.gather import gather

    inputs = find_runs(paths, with_passes=True)
    with progress(f"reading {paths[0].name}"):
        gathered = gather(partial_recording, inputs, executor=executor_for(len(inputs)))
    answer = combine_recording(gathered.values)

    def report() -> Parts:
        from wavewright.words.run.data.origin import recording_report

        return recording_report(written, called, answer)

    return _About(
        "run",
        lambda: {"kind": called, **to_builtins(answer), "next": next_steps(written, answer)},
        gathered.losses.to_dicts(),
        report,
        gathered.losses,
    )


def _decoded(path: Path, kind: Kind, asked: Asked, resources: tuple[Path, ...]) -> _About:
    from wavewright.analysis.trace.about.overview import contents
    from wavewright.readers.trace.dispatches import decoded_dispatches

    with progress(f"looking into {path.name}"):
        candidates, losses = candidates_of(path, kind)
        dispatches = decoded_dispatches(candidates, str(path))
        chosen = choose(dispatches, *asked, where=str(path))
    with progress(f"reading {chosen.item.folder.name}"):
        facts = contents(open_decoded(chosen, dispatches, losses, resources, is_asked=asked != (None, None)))
    body = {"kind": kind.value, **to_builtins(facts), "damaged": facts.overview.damaged}

    def parts() -> Parts:
        from wavewright.words.trace.input.trace_facts import contents_report, dispatches_report

        is_listed = len(dispatches) > 1
        if is_listed:
            shown = dispatches[:_SHOWN] if chosen in dispatches[:_SHOWN] else [chosen, *dispatches[: _SHOWN - 1]]
            more = f"; showing {_SHOWN} of {len(dispatches):,}, --json has all" if len(dispatches) > _SHOWN else ""
            yield from dispatches_report(f"{path}: {kind.value}{more}", _decoded_rows(shown, chosen, str(path)))
        called, command = _CALLED.get(facts.format, facts.format), _command_path(path, dispatches, chosen)
        label = chosen.item.folder.label
        yield from contents_report(label, command, called, facts, key=chosen.key, is_listed=is_listed)

    def with_dispatches() -> dict[str, Any]:
        rows = _decoded_rows(dispatches, chosen, str(path)).to_dicts()
        return {"kind": kind.value, "dispatches": rows, **body}

    return _About("trace", with_dispatches, body["overview"]["losses"], parts)


def _samples(path: Path, kind: Kind, dispatch: str | None, code_objects: tuple[str, ...]) -> _About:
    """PC samples of rocprofv3, and the run beside them."""
    from wavewright.analysis.trace.about.overview import contents
    from wavewright.cli.kit.trace import open_trace

    trace = open_trace(path, dispatch=dispatch, code_objects=code_objects)
    facts = contents(trace)
    beside = _runs_beside(path)
    body = {"kind": kind.value, **to_builtins(facts), "damaged": facts.overview.damaged, "profiles": beside}

    def parts() -> Parts:
        from wavewright.words.trace.input.trace_facts import contents_report

        yield from contents_report(trace.source.path, str(path), kind.value, facts)
        yield from _run_lines(path, beside)

    return _About("trace", lambda: body, body["overview"]["losses"], parts)


def _command_path(path: Path, dispatches: list[Dispatch[DecodedTrace]], chosen: Dispatch[DecodedTrace]) -> str:
    """Words of the command line for the chosen one."""
    if len(dispatches) == 1:
        return str(path)
    file, inside, _ = chosen.item.folder.label.partition("!")
    # A label is ARCHIVE!FOLDER inside an archive: where it holds several dispatches, its path alone does not say which.
    in_archive_count = sum(dispatch.item.folder.label.startswith(f"{file}!") for dispatch in dispatches)
    needs_number = inside and in_archive_count > 1 and chosen.number is not None
    return f"{file} --dispatch {chosen.number}" if needs_number else file


#: Format of a decoded trace -> what text calls it.
_CALLED = {
    "ui_output": "decoded thread trace (ui_output)",
    "PC sampling": "PC samples in the form of a decoded trace",
    "parquet": "wavewright Parquet directory",
}


def _decoded_rows(dispatches: list[Dispatch[DecodedTrace]], chosen: Dispatch[DecodedTrace], top: str) -> pl.DataFrame:
    """One row per dispatch; the kernels are looked up."""
    rows = []
    for dispatch in dispatches:
        decoded, kernels = dispatch.item, dispatch.contents.kernels
        rows.append(
            {
                "key": shown(dispatch.key),
                "dispatch": dispatch.number,
                "agent": dispatch.agent,
                "kernel": kernels[0][1] if kernels else None,
                "kernel_count": len(kernels),
                "folder": shown(decoded.folder.label.removeprefix(top).lstrip("/!") or decoded.folder.name),
                "form": decoded.form,
                "wave_count": decoded.wave_count,
                "byte_count": decoded.byte_count,
                "is_placeholder": decoded.is_placeholder,
                "is_chosen": dispatch is chosen,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _raw_capture(path: Path, asked: Asked, code_objects: tuple[str, ...], *, amd: bool) -> _About:
    from wavewright.analysis.trace.about.overview import overview, subject
    from wavewright.readers.launches import look_beside
    from wavewright.readers.trace.att import decode_window
    from wavewright.readers.trace.dispatches import raw_dispatches

    inventory = Inventory()
    capture = find_capture([path], code_objects, inventory)
    dispatches = raw_dispatches(capture, path)
    chosen = choose(dispatches, *asked, where=str(path))
    rows: list[dict[str, Any]] = []
    facts: list[Overview] = []
    problems: list[WavewrightError] = []
    for dispatch in [chosen] if asked != (None, None) else dispatches:
        with progress(f"decoding dispatch {dispatch.key} ({dispatch.item.byte_count / 1e6:,.1f} MB)"):
            try:
                trace = decode_window(capture, dispatch.item, amd=amd, rows_up_to=0)  # instructions only when asked for
                look_beside(trace, beside_capture(trace, inventory))
                facts.append(overview(trace))
            except WavewrightError as error:
                problems.append(error)
                continue
        about = subject(trace)
        row = {"key": dispatch.key, "kernel": about.kernel, "kernel_count": about.kernel_count, "gpu": about.gpu}
        rows.append(row | {"folder": dispatch.path, "is_chosen": dispatch is chosen})
    if problems and not rows:
        raise problems[0]

    def body() -> dict[str, Any]:
        described = [msgspec.to_builtins(seen) | {"damaged": seen.damaged} for seen in facts]
        return {
            "kind": Kind.RAW_CAPTURE.value,
            "code_objects": [{"id": code.id, "file": code.path.name} for code in capture.code_objects],
            "dispatches": [row | fields for row, fields in zip(rows, described, strict=True)],
            "unreadable": [str(problem) for problem in problems],
            "profiles": _runs_beside(path),
        }

    return _About(
        "trace",
        body,
        [loss for each in facts for loss in each.losses],
        lambda: _raw_parts(path, capture, rows, facts, problems),
        is_uncut=lambda text: text.startswith(_ALSO),
    )


#: Fields of `Overview` that become columns of the table of dispatches.
_COUNTS = ("agent", "shader_engines", "waves", "waves_complete", "instructions", "unresolved", "span_cycles")


def _raw_parts(
    path: Path,
    capture: Capture,
    rows: list[dict[str, Any]],
    facts: list[Overview],
    problems: list[WavewrightError],
) -> Parts:
    from wavewright.words.trace.input.raw_capture import capture_report

    table = pl.DataFrame(
        [
            row
            | {"key": shown(row["key"]), "folder": shown(row["folder"]), "byte_count": each.bytes}
            | {name: getattr(each, name) for name in _COUNTS}
            for row, each in zip(rows, facts, strict=True)
        ],
        infer_schema_length=None,
    )
    trace_count = sum(len(window.files) for window in capture.windows)
    decoded = len(survey(path).decoded) if path.is_dir() else 0
    beside = f", and {counted(decoded, 'decoded directories')} beside them" if decoded else ""
    files = f"{counted(trace_count, 'trace files')}, {counted(len(capture.code_objects), 'code objects')}{beside}"
    yield from capture_report(str(path), files, facts, table, problems)
    yield from _run_lines(path, _runs_beside(path))


def _run_lines(path: Path, beside: list[str]) -> Iterator[Sentence]:
    if beside:
        many = len(beside) > 1
        subject = f"{len(beside):,} runs: " if many else "the run: "
        command = f"wavewright summary {quoted(path if many or path.is_file() else beside[0])}"
        yield Sentence(f"{_ALSO}{subject}{command}", "advice")  # a brief has other next steps


def _runs_beside(path: Path) -> list[str]:
    """Runs in the folder of a capture: rocprofv3 writes one beside its thread traces."""
    try:
        inputs = find_runs([path], with_passes=True) if path.is_dir() or is_archive(path) else []
        return [each.label for each in inputs if not each.refused]
    except WavewrightError:
        return []


def _code_object(path: Path) -> _About:
    from wavewright.codeobj.code_object import CodeObject
    from wavewright.codeobj.containers import code_objects_in, is_contained

    with open_regular(path) as stream:
        is_container = is_contained(stream.read(64))
    if is_container and len((container := code_objects_in(path)).objects) > 1:
        names = ("number", "target", "settings", "entry", "place", "size_bytes", "packing")
        objects = [{name: getattr(each, name) for name in names} for each in container.objects]
        lost = [loss.message for loss in container.losses]
        body = {"kind": "code_objects", "objects": objects}

        def report() -> Parts:
            from wavewright.words.trace.input.raw_capture import code_objects_report

            return code_objects_report(str(path), container)

        return _About("", lambda: body, lost, report)
    code_object = CodeObject.read(path)
    target, kernels, losses = code_object.target, code_object.kernels, code_object.losses

    def report_of_one() -> Parts:
        from wavewright.words.trace.input.raw_capture import code_object_report

        return code_object_report(str(path), target, kernels, losses)

    return _About(
        "",
        lambda: {"kind": "code_object", "target": target, "kernels": list(map(msgspec.to_builtins, kernels))},
        [loss.message for loss in losses],
        report_of_one,
        is_uncut=lambda _: False,
    )
