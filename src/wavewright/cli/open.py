"""`wavewright open`: show traces, runs and counter captures in a browser."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click
from click.core import ParameterSource

from wavewright.cli.kit.form import typed_again
from wavewright.cli.kit.viewer import Listener, import_server
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wavewright.page.protocol.kept_answers import KeptAnswers

#: Options that make no sense without PATHS, by the names of their parameters.
_OPTIONS_ABOUT_PATHS = frozenset(
    ["one_run", "source_root", "notes", "target", "at", "dispatch", "code_objects", "resources", "amd"]
)
_OPTIONS_OF_SHOWING = ("at", "port", "no_browser", "as_json")  #: How documents are shown this time, not what they are.
_LONGEST_PLACE = 16_000  #: Characters of `--at`.


def command(
    paths: tuple[Path, ...],
    one_run: bool,
    captures: tuple[Path, ...],
    notes: Path | None,
    at: str,
    no_cache: bool,
    port: int,
    no_browser: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Serve documents to a browser."""
    from wavewright.model.document import Library
    from wavewright.page.inputs import Reading, add_inputs
    from wavewright.server.recent import remember

    at = at.removeprefix("#")
    if len(at) > _LONGEST_PLACE or not at.isprintable() or " " in at:
        raise UsageError("--at is not a location of the page", advice="copy it with *Copy link* in the page")
    if not paths and (option := _option_about_paths()):
        raise UsageError(f"{option} without PATHS", advice="name what to open")
    import_server()
    with Listener(port) as listener:
        source_root = reading["source_root"]
        settings = Reading(
            dispatch=reading["dispatch"],
            source_root=str(source_root) if source_root else None,
            target=reading["target"],
            code_objects=tuple(reading["code_objects"]),
            resources=tuple(map(str, reading["resources"])),
            amd=reading["amd"],
            one_run=one_run,
            captures=tuple(map(str, captures)),
        )
        library = Library(command=typed_again(*_OPTIONS_OF_SHOWING, is_from_anywhere=True))
        added = add_inputs(library, paths, settings, tell=partial(click.echo, err=True)) if paths else []
        if notes is not None:
            added[0].notes = str(notes)
        if not no_cache and len(added) == 1:
            added[0].kept_answers = _kept_answers(paths, reading)
        if not no_cache and added:
            remember(paths, settings)
        # Only escaped here: the page ignores what its documents do not have.
        location = quote(at, safe="=&~,;:()!*'/?@$+.%-_")
        listener.serve(library, no_browser=no_browser, as_json=as_json, at=location)


def _option_about_paths() -> str:
    """The first option of the command line that is about PATHS; empty = none is."""
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.name in _OPTIONS_ABOUT_PATHS:
            return parameter.opts[0]
    return ""


def _kept_answers(paths: Sequence[Path], reading: dict[str, Any]) -> KeptAnswers | None:
    """Cached answers of the page, if nothing has changed since; None when that cannot be known."""
    from wavewright.base.cache import cache_folder
    from wavewright.page.protocol.kept_answers import KeptAnswers, fingerprint

    folder = cache_folder()
    named = [reading["source_root"], *reading["code_objects"], *reading["resources"]]
    if folder is None or len(paths) != 1 or any(named):  # files elsewhere: their changes are not seen
        return None
    key = fingerprint(paths[0], f"dispatch {reading['dispatch']} target {reading['target']} amd {reading['amd']}")
    return KeptAnswers(folder / f"{key}.answers") if key else None
