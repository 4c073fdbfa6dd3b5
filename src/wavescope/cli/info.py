"""`wavescope info`: what is this, from which GPU, how complete, what is missing, what to do next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavescope.cli._io import code_object_option, console, emit_json, json_option, progress

if TYPE_CHECKING:
    from wavescope.analysis.overview import Overview
    from wavescope.readers.capture import Capture


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@code_object_option
@json_option
def command(path: Path, code_objects: tuple[str, ...], as_json: bool) -> None:
    """Tell what PATH is, from which GPU, how complete it is and what to do next."""
    from wavescope.readers.sniff import Kind, sniff

    kind = sniff(path)
    if kind is Kind.RAW_CAPTURE:
        _raw_capture(path, code_objects, as_json=as_json)
    elif kind is Kind.CODE_OBJECT:
        _code_object(path, as_json=as_json)
    elif as_json:
        emit_json({"input": str(path), "kind": kind.value, "next": _next_for(kind.name)})
    else:
        console().print(f"[bold]{path}[/]: {kind.value}")
        console().print(f"  next: {_next_for(kind.name)}")


def _next_for(kind: str) -> str:
    if kind == "UI_OUTPUT":
        return "this is already decoded: open it in a viewer of decoded traces"
    if kind == "PARQUET":
        return "read the tables with any Parquet reader, e.g. polars.read_parquet"
    if kind == "DATABASE":
        return "this version of wavescope reads raw thread traces; query the database with sqlite3"
    return "point wavescope at a folder with *.att files (rocprofv3 --att writes them)"


def _raw_capture(path: Path, code_objects: tuple[str, ...], *, as_json: bool) -> None:
    from wavescope.analysis.overview import overview
    from wavescope.errors import WavescopeError
    from wavescope.readers.att import decode_window
    from wavescope.readers.capture import find_capture
    from wavescope.readers.sniff import Kind
    from wavescope.report.capture import capture_report

    capture = find_capture([path], code_objects)
    facts: list[Overview] = []
    problems: list[WavescopeError] = []
    for window in capture.windows:
        with progress(f"decoding dispatch {window.dispatch} ({window.byte_count / 1e6:,.1f} MB)"):
            try:
                facts.append(overview(decode_window(capture, window)))
            except WavescopeError as error:
                problems.append(error)
    if problems and not facts:
        raise problems[0]
    if as_json:
        import msgspec

        answer: dict[str, Any] = {"input": str(path), "kind": Kind.RAW_CAPTURE.value}
        answer["code_objects"] = [{"id": c.id, "file": c.path.name} for c in capture.code_objects]
        answer["dispatches"] = [msgspec.to_builtins(f) | {"damaged": f.damaged} for f in facts]
        answer["unreadable"] = [str(problem) for problem in problems]
        emit_json(answer)
        return
    out = console()
    for renderable in capture_report(str(path), _files(capture), facts, problems):
        out.print(renderable)


def _files(capture: Capture) -> str:
    traces = sum(len(window.files) for window in capture.windows)
    return f"{traces:,} trace files, {len(capture.code_objects):,} code objects"


def _code_object(path: Path, *, as_json: bool) -> None:
    import msgspec

    from wavescope.codeobj import CodeObject
    from wavescope.report.capture import code_object_report

    code_object = CodeObject.read(path)
    if as_json:
        kernels = [msgspec.to_builtins(kernel) for kernel in code_object.kernels]
        losses = [loss.message for loss in code_object.losses]
        emit_json(
            {
                "input": str(path),
                "kind": "code_object",
                "target": code_object.target,
                "kernels": kernels,
                "losses": losses,
            }
        )
        return
    for renderable in code_object_report(str(path), code_object.target, code_object.kernels, code_object.losses):
        console().print(renderable)
