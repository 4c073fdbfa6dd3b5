"""`wavewright capture -i FILE`: an input file of rocprofv3 checked, and run as it is meant."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.capture_output import capture_verb, show, take
from wavewright.cli.kit.io import emit_event
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.capture.inputs.checks import CheckedFile
    from wavewright.cli.kit.capture import CaptureRequest

_STAND_IN = "PROGRAM"  #: Where no program is given: the file is only checked.
_NOT_GOOD = 1
_DEFINITIONS_BYTES_MAX = 4 << 20


@capture_verb("input", stand_in=_STAND_IN)
def input(request: CaptureRequest, path: Path) -> None:  # noqa: A001 - the name of the verb
    """Check an input file, and run it."""
    from wavewright.capture.inputs.checks import checked
    from wavewright.capture.inputs.files import read_input

    file = checked(read_input(path), request.installation)
    is_alone = request.program == (_STAND_IN,)
    if request.as_json:
        emit_event({"event": "checked", **file.as_json()})
    else:
        from wavewright.words.capture.input_files import checks_report

        show(lambda width: checks_report(file), stderr=not is_alone)
    if not is_alone:
        _run(request, file)
    elif not file.is_good:
        raise click.exceptions.Exit(_NOT_GOOD)


def _contents(name: str) -> str | None:
    """A file with definitions of counters, which a job names."""
    from wavewright.base.files import open_regular

    try:
        with open_regular(name) as stream:
            return stream.read(_DEFINITIONS_BYTES_MAX).decode()
    except (OSError, ValueError):
        return None


def _run(request: CaptureRequest, file: CheckedFile) -> None:
    from wavewright.capture.inputs.jobs import all_recordings

    recordings = all_recordings([job.keys for job in file.jobs], request.common, _contents)
    if not recordings:
        what = "there is nothing in it that can be run"
        raise UsageError(what, where=file.name, advice="see what is said about each job")
    if len(recordings) == 1:
        take(request, recordings[0])
        return
    is_good = True
    for number, recording in enumerate(recordings, start=1):
        try:
            take(replace(request, output=request.folder / f"capture_{number}", opens=False), recording)
        except click.exceptions.Exit as ending:  # one that is not good does not stop the others
            if ending.exit_code != _NOT_GOOD:
                raise
            is_good = False
    if not is_good:
        raise click.exceptions.Exit(_NOT_GOOD)
