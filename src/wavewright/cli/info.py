"""`wavewright info`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.base.shown import command_line, quoted
from wavewright.base.words import counted
from wavewright.cli.kit.form import is_about
from wavewright.cli.kit.io import (
    console,
    emit_json,
    progress,
    show_losses,
)
from wavewright.cli.kit.options import declared_command
from wavewright.model.blocks import Sentence, sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from wavewright.analysis.trace.about.subject import Subject
    from wavewright.analysis.trace.overview import Overview
    from wavewright.cli.kit.request import Parts
    from wavewright.codeobj.embedded_objects import Contents
    from wavewright.errors import WavewrightError
    from wavewright.readers.files.capture import Capture, Window
    from wavewright.readers.files.decoded_traces import DecodedTrace
    from wavewright.readers.files.dispatches import Dispatch
    from wavewright.readers.files.kinds import Kind

    Asked = tuple[str | None, str | None]  #: Dispatch and kernel.
    _Raw = tuple[Dispatch[Window], Overview, Subject]

_SHOWN = 50  #: Decoded dispatches that text lists.


@declared_command("info")
def command(
    paths: tuple[str, ...],
    dispatch: str | None,
    kernel: str | None,
    code_objects: tuple[str, ...],
    resources: tuple[Path, ...],
    amd: bool,
    as_json: bool,
) -> None:
    """Say what paths are."""
    named = _named(paths)
    if len(named) == 1:
        _tell(named[0], (dispatch, kernel), code_objects, resources, amd=amd, as_json=as_json)
        return
    from wavewright.readers.run.inputs import holds_run

    if all(map(holds_run, named)):
        is_about("run")
        _run(named, f"{len(named):,} runs", command_line(paths), as_json=as_json)
        return
    if as_json:
        from wavewright.errors import UsageError

        raise UsageError("several inputs, and not all are runs", advice="ask about one of them, or leave out --json")
    for path in named:
        _tell(path, (dispatch, kernel), code_objects, resources, amd=amd, as_json=False)


def _named(paths: tuple[str, ...]) -> list[Path]:
    """The files and folders that paths and patterns name, each once."""
    from glob import glob, has_magic

    from wavewright.errors import UsageError

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


def _tell(
    path: Path,
    asked: Asked,
    code_objects: tuple[str, ...],
    resources: tuple[Path, ...],
    *,
    amd: bool,
    as_json: bool,
) -> None:
    """Say what one path is."""
    from wavewright.readers.files.kinds import COUNTER_CAPTURES, Kind, sniff, title_of
    from wavewright.readers.opening import DECODED_KINDS
    from wavewright.readers.run.inputs import holds_run

    kind = sniff(path)
    if kind in COUNTER_CAPTURES:
        is_about("counters")
        _counters(path, kind, as_json=as_json)
    elif holds_run(path):
        is_about("run")
        _run([path], title_of(kind, path), str(path), as_json=as_json)
    elif kind is Kind.RAW_CAPTURE:
        is_about("trace")
        _raw_capture(path, asked, code_objects, amd=amd, as_json=as_json)
    elif kind in DECODED_KINDS:
        is_about("trace")
        _decoded(path, kind, asked, resources, as_json=as_json)
    elif kind is Kind.SAMPLES:
        is_about("trace")
        _samples(path, kind, asked[0], code_objects, as_json=as_json)
    elif kind is Kind.CODE_OBJECT:
        _code_object(path, as_json=as_json)
    elif kind is Kind.UNKNOWN:
        raise _unknown(path)
    else:
        _other(path, kind, as_json=as_json)


def _unknown(path: Path) -> WavewrightError:
    """The error for what wavewright does not read: of a folder, whether anything is in it."""
    from wavewright.errors import NotATraceError
    from wavewright.readers.files.kinds import Kind, advice_for
    from wavewright.readers.files.runs import refused_below

    what = Kind.UNKNOWN.value
    if path.is_dir():
        has_files = any(path.iterdir())
        what = f"nothing in this folder{refused_below(path) or ' is of a format that wavewright reads'}"
        what = what if has_files else "this folder is empty"
    return NotATraceError(what, where=str(path), advice=advice_for(Kind.UNKNOWN, path))


def _other(path: Path, kind: Kind, *, as_json: bool) -> None:
    """Say what is not analysed here, and what of it was not looked at."""
    from wavewright.base.files import listed
    from wavewright.model.losses import Loss
    from wavewright.model.run import run_losses
    from wavewright.readers.files.kinds import advice_for
    from wavewright.readers.files.runs import refused_in

    refused = refused_in(path)
    losses = run_losses([Loss("not_followed", len(refused), listed(refused))] if refused else [], str(path))
    if as_json:
        answer = {"kind": kind.value, "next": advice_for(kind, path)}
        emit_json(answer, inputs=[path], losses=losses.to_dicts())
        return

    console().print(sentence((str(path), "bold"), f": {kind.value}"), soft_wrap=True)
    console().print(Sentence(f"  next: {advice_for(kind, path)}"), soft_wrap=True)
    show_losses(losses)


def _counters(path: Path, kind: Kind, *, as_json: bool) -> None:
    from wavewright.analysis.counters.contents import counter_contents, counter_next_steps
    from wavewright.analysis.trace.overview import losses_of
    from wavewright.model.answer import to_builtins
    from wavewright.readers.counters import open_counters

    with progress(f"reading {path.name}"):
        counters = open_counters(path)
    answer = counter_contents(counters)
    if as_json:
        steps = counter_next_steps(str(path), answer)
        body = {"kind": kind.value, **to_builtins(answer), "next": steps}
        emit_json(body, inputs=[path], losses=counters.losses.to_dicts())
        return

    from wavewright.words.counters.contents import contents_parts

    out = console()
    for part in contents_parts(str(path), kind.value, answer):
        # A command that is cut into lines cannot be copied.
        out.print(part, soft_wrap=isinstance(part, Sentence) and str(path) in part.text)
    show_losses(losses_of(counters))


def _run(paths: Sequence[Path], called: str, written: str, *, as_json: bool) -> None:
    """The runs at paths: how to call them, and how they are written on the command line."""
    from wavewright.analysis.run.select.recording import combine_recording, next_steps, partial_recording
    from wavewright.cluster.executor_choice import executor_for
    from wavewright.cluster.gather import gather
    from wavewright.model.answer import to_builtins
    from wavewright.readers.run.inputs import find_runs

    inputs = find_runs(paths, with_passes=True)
    with progress(f"reading {paths[0].name}"):
        gathered = gather(partial_recording, inputs, executor=executor_for(len(inputs)))
    answer = combine_recording(gathered.values)
    if as_json:
        body = {"kind": called, **to_builtins(answer), "next": next_steps(written, answer)}
        emit_json(body, inputs=paths, losses=gathered.losses.to_dicts())
        return
    from wavewright.words.run.data.origin import recording_report

    _print_uncut(recording_report(written, called, answer))
    show_losses(gathered.losses)


def _decoded(path: Path, kind: Kind, asked: Asked, resources: tuple[Path, ...], *, as_json: bool) -> None:
    from wavewright.analysis.trace.about.contents import contents
    from wavewright.model.answer import to_builtins
    from wavewright.readers.files.dispatches import choose
    from wavewright.readers.opening import candidates_of, open_decoded
    from wavewright.readers.trace.dispatches import decoded_dispatches

    with progress(f"looking into {path.name}"):
        candidates, losses = candidates_of(path, kind)
        dispatches = decoded_dispatches(candidates, str(path))
        chosen = choose(dispatches, *asked, where=str(path))
    is_asked = asked != (None, None)
    with progress(f"reading {chosen.item.folder.name}"):
        facts = contents(open_decoded(chosen, dispatches, losses, resources, is_asked=is_asked))
    if as_json:
        rows = _decoded_rows(dispatches, chosen, str(path))
        body = {"kind": kind.value, "dispatches": rows.to_dicts(), **to_builtins(facts)}
        losses = body["overview"]["losses"]
        emit_json(body | {"damaged": facts.overview.damaged}, inputs=[path], losses=losses)
        return
    from wavewright.words.trace.input.trace_facts import contents_report, dispatches_report

    is_listed = len(dispatches) > 1
    if is_listed:
        shown = dispatches[:_SHOWN] if chosen in dispatches[:_SHOWN] else [chosen, *dispatches[: _SHOWN - 1]]
        more = f"; showing {_SHOWN} of {len(dispatches):,}, --json has all" if len(dispatches) > _SHOWN else ""
        rows = _decoded_rows(shown, chosen, str(path))
        _print_uncut(dispatches_report(f"{path}: {kind.value}{more}", rows))
    called = _CALLED.get(facts.format, facts.format)
    label, command = chosen.item.folder.label, _command_path(path, dispatches, chosen)
    _print_uncut(contents_report(label, command, called, facts, key=chosen.key, is_listed=is_listed))


def _samples(path: Path, kind: Kind, dispatch: str | None, code_objects: tuple[str, ...], *, as_json: bool) -> None:
    """PC samples of rocprofv3, and the run beside them."""
    from wavewright.analysis.trace.about.contents import contents
    from wavewright.cli.kit.trace import open_trace
    from wavewright.model.answer import to_builtins

    trace = open_trace(path, dispatch=dispatch, code_objects=code_objects)
    facts = contents(trace)
    beside = _runs_beside(path)
    if as_json:
        body = {"kind": kind.value, **to_builtins(facts), "damaged": facts.overview.damaged, "profiles": beside}
        emit_json(body, inputs=[path], losses=body["overview"]["losses"])
        return
    from wavewright.words.trace.input.trace_facts import contents_report

    _print_uncut(contents_report(trace.source.path, str(path), kind.value, facts))
    _print_runs(path, beside)


def _print_uncut(parts: Parts) -> None:
    """Print tables and sentences; a command that is cut into lines cannot be copied."""

    out = console()
    for part in parts:
        out.print(part, soft_wrap=isinstance(part, Sentence))


def _command_path(path: Path, dispatches: list[Dispatch[DecodedTrace]], chosen: Dispatch[DecodedTrace]) -> str:
    """Words of the command line for the chosen one."""
    if len(dispatches) == 1:
        return str(path)
    file, inside, _ = chosen.item.folder.label.partition("!")
    beside = sum(d.item.folder.label.startswith(f"{file}!") for d in dispatches)
    return f"{file} --dispatch {chosen.number}" if inside and beside > 1 and chosen.number is not None else file


_CALLED = {
    "ui_output": "decoded thread trace (ui_output)",
    "PC sampling": "PC samples in the form of a decoded trace",
    "parquet": "wavewright Parquet directory",
}


def _decoded_rows(dispatches: list[Dispatch[DecodedTrace]], chosen: Dispatch[DecodedTrace], top: str) -> pl.DataFrame:
    """One row per dispatch; the kernels are looked up."""
    import polars as pl

    from wavewright.base.shown import shown

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


def _raw_capture(path: Path, asked: Asked, code_objects: tuple[str, ...], *, amd: bool, as_json: bool) -> None:
    from wavewright.analysis.trace.about.subject import subject
    from wavewright.analysis.trace.overview import overview
    from wavewright.errors import WavewrightError
    from wavewright.readers.files.capture import find_capture
    from wavewright.readers.files.dispatches import choose
    from wavewright.readers.files.inventory import Inventory
    from wavewright.readers.launches import look_beside
    from wavewright.readers.opening import beside_capture
    from wavewright.readers.trace.att import decode_window
    from wavewright.readers.trace.dispatches import raw_dispatches

    inventory = Inventory()
    capture = find_capture([path], code_objects, inventory)
    dispatches = raw_dispatches(capture, path)
    chosen = choose(dispatches, *asked, where=str(path))
    traces: list[_Raw] = []
    problems: list[WavewrightError] = []
    for each in [chosen] if asked != (None, None) else dispatches:
        with progress(f"decoding dispatch {each.key} ({each.item.byte_count / 1e6:,.1f} MB)"):
            try:
                trace = decode_window(capture, each.item, amd=amd, rows_up_to=0)
                look_beside(trace, beside_capture(trace, inventory))
                traces.append((each, overview(trace), subject(trace)))
            except WavewrightError as error:
                problems.append(error)
    if problems and not traces:
        raise problems[0]
    if as_json:
        _emit_raw(path, capture, traces, chosen, problems)
    else:
        _show_raw(path, capture, traces, chosen, problems)


def _raw_rows(traces: list[_Raw], chosen: Dispatch[Window]) -> list[dict[str, Any]]:
    """Names and kernels of dispatches; the rest is in its overview."""
    return [
        {
            "key": each.key,
            "kernel": named.kernel,
            "kernel_count": named.kernel_count,
            "gpu": named.gpu,
            "folder": each.path,
            "is_chosen": each is chosen,
        }
        for each, _, named in traces
    ]


def _emit_raw(
    path: Path, capture: Capture, traces: list[_Raw], chosen: Dispatch[Window], problems: list[WavewrightError]
) -> None:
    import msgspec

    from wavewright.readers.files.kinds import Kind

    rows = _raw_rows(traces, chosen)
    answer: dict[str, Any] = {"kind": Kind.RAW_CAPTURE.value}
    answer["code_objects"] = [{"id": c.id, "file": c.path.name} for c in capture.code_objects]
    answer["dispatches"] = [
        row | msgspec.to_builtins(facts) | {"damaged": facts.damaged}
        for row, (_, facts, _) in zip(rows, traces, strict=True)
    ]
    answer["unreadable"] = [str(problem) for problem in problems]
    answer["profiles"] = _runs_beside(path)
    losses = [loss for dispatch in answer["dispatches"] for loss in dispatch["losses"]]
    emit_json(answer, inputs=[path], losses=losses)


def _show_raw(
    path: Path, capture: Capture, traces: list[_Raw], chosen: Dispatch[Window], problems: list[WavewrightError]
) -> None:
    import polars as pl

    from wavewright.base.shown import shown
    from wavewright.words.trace.input.raw_capture import capture_report

    facts = [each for _, each, _ in traces]
    counts = [
        {
            "agent": each.agent,
            "shader_engines": each.shader_engines,
            "waves": each.waves,
            "waves_complete": each.waves_complete,
            "instructions": each.instructions,
            "unresolved": each.unresolved,
            "span_cycles": each.span_cycles,
            "byte_count": each.bytes,
        }
        for each in facts
    ]
    named = [row | {"key": shown(row["key"]), "folder": shown(row["folder"])} for row in _raw_rows(traces, chosen)]
    rows = pl.DataFrame([row | count for row, count in zip(named, counts, strict=True)], infer_schema_length=None)
    out = console()
    for renderable in capture_report(str(path), _files(path, capture), facts, rows, problems):
        out.print(renderable)
    _print_runs(path, _runs_beside(path))


def _print_runs(path: Path, beside: list[str]) -> None:
    if beside:
        many = len(beside) > 1
        subject = f"{len(beside):,} runs: " if many else "the run: "
        command = f"wavewright summary {quoted(path if many or path.is_file() else beside[0])}"
        console().print(f"also here: {subject}{command}", soft_wrap=True, markup=False, highlight=False)


def _runs_beside(path: Path) -> list[str]:
    """Runs in the folder of a capture: rocprofv3 writes one beside its thread traces."""
    from wavewright.errors import WavewrightError
    from wavewright.readers.files.archive import is_archive
    from wavewright.readers.run.inputs import find_runs

    try:
        inputs = find_runs([path], with_passes=True) if path.is_dir() or is_archive(path) else []
        return [each.label for each in inputs if not each.refused]
    except WavewrightError:
        return []


def _files(path: Path, capture: Capture) -> str:
    from wavewright.readers.files.decoded_traces import survey

    traces = sum(len(window.files) for window in capture.windows)
    decoded = len(survey(path).decoded) if path.is_dir() else 0
    beside = f", and {counted(decoded, 'decoded directories')} beside them" if decoded else ""
    return f"{counted(traces, 'trace files')}, {counted(len(capture.code_objects), 'code objects')}{beside}"


def _code_object(path: Path, *, as_json: bool) -> None:
    import msgspec

    from wavewright.base.files import open_regular
    from wavewright.codeobj.code_object import CodeObject
    from wavewright.codeobj.containers import code_objects_in, is_contained

    with open_regular(path) as stream:
        is_container = is_contained(stream.read(64))
    if is_container and len((contents := code_objects_in(path)).objects) > 1:
        _container(path, contents, as_json=as_json)
        return
    code_object = CodeObject.read(path)
    if as_json:
        kernels = [msgspec.to_builtins(kernel) for kernel in code_object.kernels]
        losses = [loss.message for loss in code_object.losses]
        answer = {"kind": "code_object", "target": code_object.target, "kernels": kernels}
        emit_json(answer, inputs=[path], losses=losses)
        return
    from wavewright.words.trace.input.raw_capture import code_object_report

    for renderable in code_object_report(str(path), code_object.target, code_object.kernels, code_object.losses):
        console().print(renderable)


def _container(path: Path, contents: Contents, *, as_json: bool) -> None:
    """A file with several code objects: which they are."""
    if as_json:
        names = ("number", "target", "settings", "entry", "place", "size_bytes", "packing")
        objects = [{name: getattr(each, name) for name in names} for each in contents.objects]
        losses = [loss.message for loss in contents.losses]
        emit_json({"kind": "code_objects", "objects": objects}, inputs=[path], losses=losses)
        return
    from wavewright.words.trace.input.raw_capture import code_objects_report

    _print_uncut(code_objects_report(str(path), contents))
