"""`--write-input FILE`: a plan as an input file of rocprofv3, for people who run rocprofv3 themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wavewright.cli.kit.io import emit_event
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wavewright.capture.wanted import Wanted
    from wavewright.cli.kit.capture import CaptureRequest


def write_input(request: CaptureRequest, wanted: Wanted, path: Path, notes: Sequence[str] = ()) -> None:
    """Write what is wanted into an input file, the definitions of counters beside it, and say how to run it.

    Raises
    ------
    UsageError
        When a file cannot say it, or a discovery would have to come first; when a file exists.
    """
    from dataclasses import replace

    from wavewright.capture.inputs.writing import form_of, input_from
    from wavewright.capture.plans.command import Command
    from wavewright.capture.plans.planning import needs_discovery, planned
    from wavewright.export.kit.staging import staged

    form = form_of(path)
    if needs_discovery(wanted):
        what = "an input file needs a kernel and its launches, and nobody named them"
        raise UsageError(what, advice="--kernel NAME --launch 7-8, as `wavewright capture discover` suggests them")
    gpu = request.planned_gpu
    if gpu is not None and request.gpu not in ("any", "auto"):
        wanted = replace(wanted, gpu_index=gpu.index)
    plan = planned(wanted, request.installation, gpu, raw="capture", variables={})
    beside = path.with_name(f"{path.stem}.counters.yaml")
    release = request.installation.rocm_version
    comments = [f"written by wavewright for ROCm {release}"]
    document = input_from(plan.commands, request.installation, form, comments=comments, definitions_path=str(beside))
    texts = {path: document.text} | ({beside: document.definitions} if document.definitions else {})
    with staged(list(texts), force=request.is_forced) as twins:
        for twin, text in zip(twins, texts.values(), strict=True):
            twin.write_text(text, encoding="utf-8")
    first = plan.commands[0]
    words = (first.words[0], "-i", str(path), *document.options, "-d", "capture", "--", *request.program)
    line = Command(words=words, variables=first.variables, removed=first.removed).line
    remarks = [*notes, *plan.notes, *document.notes]
    if request.as_json:
        event: dict[str, Any] = {"event": "written", "files": list(map(str, texts)), "command": line, "notes": remarks}
        emit_event(event)
        return
    for written in texts:
        click.echo(f"wrote {written}")
    for remark in dict.fromkeys(remarks):
        click.echo(f"note: {remark}")
    click.echo(f"run: {line}")
