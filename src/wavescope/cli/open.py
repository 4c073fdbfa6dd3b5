"""`wavescope open`: show traces, runs and counter captures in a browser."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click
from click.core import ParameterSource

from wavescope.cli.kit.form import json_flag
from wavescope.cli.kit.io import code_object_option, resources_option
from wavescope.cli.kit.numbers import dispatch_option
from wavescope.cli.kit.request import amd_option
from wavescope.cli.kit.serving import Listener, import_server, serving_options
from wavescope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavescope.model.counters import CounterSet
    from wavescope.model.run import Run
    from wavescope.model.trace import ThreadTrace
    from wavescope.page.protocol.document import Library
    from wavescope.page.protocol.kept_answers import KeptAnswers
    from wavescope.readers.files.inventory import Inventory

_MOST_SIBLINGS = 64  #: Other dispatches of a folder that the page can open.


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@dispatch_option
@click.option("--one-run", is_flag=True, help="All PATHS are runs of one run; else each is shown by itself.")
@click.option(
    "--source-root",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="Where the source files are that the trace names but does not hold; default: PATH/src, if it is there.",
)
@click.option(
    "--notes",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where the page saves notes when asked to; default: beside the trace, in PATH.wavescope-notes.json.",
)
@click.option(
    "--target", metavar="NAME", help="GPU (gfx942 or MI300X) of a counter capture, if the capture does not say it."
)
@click.option(
    "--at",
    metavar="PLACE",
    default="",
    callback=lambda _context, _option, place: _place(place),
    help="Where the page opens: document, selection, time and views, as the page's *Copy link* writes them.",
)
@click.option("--no-cache", is_flag=True, help="Keep no answers in the cache folder for the next time, and use none.")
@serving_options
@code_object_option
@resources_option
@amd_option
@json_flag
def command(
    paths: tuple[Path, ...],
    one_run: bool,
    notes: Path | None,
    at: str,
    no_cache: bool,
    port: int,
    no_browser: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Show traces, runs and counters in a browser: timelines, instructions, source, findings, speed of light, roofline.

    PATHS are whatever wavescope reads: decoded traces, raw captures, which are decoded first, runs, and
    captures of hardware counters.
    The page is served on this machine only, to whoever has its address, until Ctrl-C.

    \b
    wavescope open ui_output_agent_5600_dispatch_1/
    wavescope open before/ after/
    wavescope open rank0.db rank1.db --one-run
    wavescope open workloads/gemm/MI300X/
    """
    import_server()
    with Listener(port) as listener:
        library = _library(paths, one_run=one_run, reading=reading)
        library.command = _again()
        if notes is not None:
            library.documents[0].notes = str(notes)
        if not no_cache and len(library.documents) == 1:
            library.documents[0].kept_answers = _kept_answers(paths, reading)
        listener.serve(library, no_browser=no_browser, as_json=as_json, at=at)


_LONGEST_PLACE = 16_000
#: Options that say how to show the documents this time, not what they are.
_OF_ONE_RUN = ("at", "port", "no_browser", "as_json")


def _place(place: str) -> str:
    """The part of the page's address behind `#`; the page leaves out of it what makes no sense."""
    place = place.removeprefix("#")
    if len(place) > _LONGEST_PLACE or not place.isprintable() or " " in place:
        raise UsageError("--at is not a location of the page", advice="copy it with *Copy link* in the page")
    return quote(place, safe="=&~,;:()!*'/?@$+.%-_")


def _again() -> str:
    """The command line that opens the same documents, from whatever folder."""
    context = click.get_current_context()
    words: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not given or name in _OF_ONE_RUN:
            continue
        value = context.params[name]
        option = parameter.opts[0] if isinstance(parameter, click.Option) else None
        if value is True:
            words.append(str(option))
            continue
        for word in value if isinstance(value, tuple) else (value,):
            words += [option] if option else []
            words.append(str(word.absolute() if isinstance(word, Path) else word))
    return shlex.join(["wavescope", "open", *words])


def _library(paths: Sequence[Path], *, one_run: bool, reading: dict[str, Any]) -> Library:
    """The documents of the page: one for each path, or one for all."""
    from wavescope.page.protocol.document import Library
    from wavescope.readers.files.inventory import Inventory

    library = Library()
    if one_run:
        label = paths[0].name if len(paths) == 1 else f"{paths[0].name} and {len(paths) - 1:,} more"
        library.add(label, str(paths[0]), partial(_one_run, paths), notes=_notes_beside(paths[0]))
        return library
    inventory = Inventory()
    for path in paths:
        _check(path, inventory)
    for path in paths:
        opener = partial(_open, library, path, reading, inventory, is_only=len(paths) == 1)
        library.add(path.resolve().name, str(path), opener, notes=_notes_beside(path))
    return library


def _kept_answers(paths: Sequence[Path], reading: dict[str, Any]) -> KeptAnswers | None:
    """What the page was told the last time, if nothing has changed since; None when that cannot be known."""
    from wavescope.page.protocol.kept_answers import KeptAnswers, cache_folder, fingerprint

    folder = cache_folder()
    named = [reading["source_root"], *reading["code_objects"], *reading["resources"]]
    if folder is None or len(paths) != 1 or any(named):  # files elsewhere: their changes are not seen
        return None
    key = fingerprint(paths[0], f"dispatch {reading['dispatch']} target {reading['target']} amd {reading['amd']}")
    return KeptAnswers(folder / f"{key}.answers") if key else None


def _notes_beside(path: Path, which: str = "") -> str:
    place = path.resolve()
    return str(place.with_name(f"{place.name}{which}.wavescope-notes.json")) if place.name else ""


def _check(path: Path, inventory: Inventory) -> None:
    """Say at once when a path is nothing that can be shown; reading it may wait until it is looked at."""
    from wavescope.readers.files.kinds import INPUTS, sniff
    from wavescope.readers.opening import does_not_fit

    if INPUTS[kind := sniff(path, inventory)].document is None:
        raise does_not_fit(kind, path)


def _one_run(paths: Sequence[Path]) -> Run:
    from wavescope.readers.run.inputs import find_runs, open_inputs

    return open_inputs(find_runs(paths))


def _open(
    library: Library, path: Path, reading: dict[str, Any], inventory: Inventory, *, is_only: bool
) -> ThreadTrace | Run | CounterSet:
    """What is at a path. What else stands there becomes documents, too, to be read when they are chosen: other
    dispatches, and the counters of a run."""
    from wavescope.model.run import Run
    from wavescope.model.trace import ThreadTrace

    opened = _read(path, inventory=inventory, **reading)
    if isinstance(opened, Run) and path.is_file() and opened.count("counter_info"):  # folders are several processes
        from wavescope.readers.counters import open_counters

        counters = partial(open_counters, path, target=reading["target"])
        label = "counters" if is_only else f"{path.resolve().name}, counters"
        library.add(label, str(path), counters, notes=_notes_beside(path, ".counters"))
    if isinstance(opened, ThreadTrace):
        others = opened.source.other_dispatches
        for number in others[:_MOST_SIBLINGS]:
            label = f"dispatch {number}" if is_only else f"{path.resolve().name}, dispatch {number}"
            opener = partial(_read, path, **(reading | {"dispatch": number}))
            library.add(label, str(path), opener, notes=_notes_beside(path, f".dispatch_{number}"))
        if len(others) > _MOST_SIBLINGS:
            note = f"{_MOST_SIBLINGS} of {len(others):,} other dispatches can be chosen in the page"
            click.echo(f"{note}; --dispatch opens any", err=True)
    return opened


def _read(
    path: Path,
    *,
    source_root: Path | None,
    target: str | None,
    inventory: Inventory | None = None,
    **reading: Any,
) -> ThreadTrace | Run | CounterSet:
    from wavescope.model.trace import ThreadTrace
    from wavescope.readers.counters import open_counters
    from wavescope.readers.files.kinds import COUNTER_CAPTURES, sniff
    from wavescope.readers.opening import open as open_path

    if target is not None and sniff(path, inventory) in COUNTER_CAPTURES:
        return open_counters(path, target=target, inventory=inventory)
    opened = open_path(path, inventory=inventory, **reading)
    if isinstance(opened, ThreadTrace):
        from wavescope.readers.trace.sources import add_sources, add_sources_beside

        if source_root is None:
            add_sources_beside(opened, path)
        else:
            add_sources(opened, source_root)
    return opened
