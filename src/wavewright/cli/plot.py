"""`wavewright plot`: draw one answer about a run, a thread trace or a counter capture as SVG or PNG."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import polars as pl

from wavewright.cli.kit.io import console, emit_json, progress
from wavewright.cli.kit.picture import PictureRequest
from wavewright.cli.kit.request import Request
from wavewright.errors import UsageError
from wavewright.model.document import DOCUMENTS, Document, Library
from wavewright.page.inputs import label_of, read_paths
from wavewright.questions.catalog import PLOTS, plot_of
from wavewright.words.kit.plot_list import plots_report


def command(
    words: tuple[str, ...],
    output: Path | None,
    theme: str,
    top: int | None,
    is_list: bool,
    force: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Draw a plot."""
    picture = PictureRequest(output, theme, force)
    picture.check()
    if is_list:
        _list([Path(word) for word in words], reading, as_json=as_json)
        return
    if len(words) < 2:
        what = "a plot needs a PATH and a NAME" if not words else f"which plot of {words[0][:200]}?"
        advice = "`wavewright plot --list` lists the names, `wavewright plot PATH --list` those of PATH"
        raise UsageError(what, advice=advice)
    if output is None:
        raise UsageError("where should the plot go?", advice="give its name with -o FILE.svg or -o FILE.png")
    *paths, name = words
    _check_name(name)
    document = _document([Path(path) for path in paths], reading)
    plot = plot_of(document.kind, name)
    with progress(f"drawing {plot.name}"):
        drawn = plot.draw(document, theme, top)
    picture.write(lambda _theme: drawn.svg)
    losses = _losses(document)
    if as_json:
        body = {"name": plot.name, "kind": document.kind, "title": plot.title, "sentence": drawn.alt, **picture.told}
        emit_json(body, inputs=paths, losses=losses.to_dicts())
        return
    out = console()
    out.print(drawn.alt)
    for line in picture.lines():
        out.print(line)
    Request.print_losses(losses, stderr=True)


def _check_name(name: str) -> None:
    """A name that no kind of input has is refused before anything is read."""
    names = {plot for plots in PLOTS.values() for plot in plots}
    if name not in names:
        meant = get_close_matches(name, sorted(names), n=2)
        advice = f"did you mean {' or '.join(meant)}?" if meant else "`wavewright plot --list` lists the names"
        raise UsageError(f"there is no plot {name[:40]!r}", advice=advice)


def _document(paths: Sequence[Path], reading: dict[str, Any]) -> Document:
    """The document at the paths; several are files of one run."""
    document = Library().add(label_of(paths), str(paths[0]), lambda: read_paths(paths, **reading))
    with progress(f"reading {document.label}"):
        _ = document.opened
    return document


def _losses(document: Document) -> pl.DataFrame:
    opened: Any = document.opened
    losses: pl.DataFrame = opened.losses
    return losses


def _list(paths: Sequence[Path], reading: dict[str, Any], *, as_json: bool) -> None:
    """All plots; of something that can be read, those that it can have, and why it has not the others."""
    plots = PLOTS
    reasons: dict[str, str] = {}
    if paths:
        document = _document(paths, reading)
        plots = {document.kind: PLOTS[document.kind]}
        for plot in plots[document.kind].values():
            try:
                with progress(f"drawing {plot.name}"):
                    plot.draw(document)
            except UsageError as error:
                reasons[plot.name] = error.what
    if as_json:
        rows: list[dict[str, Any]] = []
        for kind, of_kind in plots.items():
            for name, plot in of_kind.items():
                judged = {"is_possible": name not in reasons, "reason": reasons.get(name)} if paths else {}
                rows.append({"name": name, "kind": kind, "title": plot.title, "shows": plot.shows, **judged})
        emit_json({"plots": rows}, inputs=paths, losses=_losses(document).to_dicts() if paths else [])
        return
    out = console()
    for kind, of_kind in plots.items():
        lines = [(plot.name, f"{plot.title}: {plot.shows}") for plot in of_kind.values()]
        for part in plots_report(DOCUMENTS[kind], lines, reasons):
            out.print(part)
