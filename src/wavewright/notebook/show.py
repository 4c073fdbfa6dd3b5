"""`wavewright.show`: the viewer inside a notebook, in a frame of its own."""

from __future__ import annotations

import html
import tomllib
import warnings
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode

from wavewright.base.shown import shown as shown_text
from wavewright.errors import UsageError
from wavewright.model.counters import CounterSet
from wavewright.model.document import DOCUMENTS, Shown
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace
from wavewright.notebook.display import Display, document_display
from wavewright.notebook.documents import document_of, label_of
from wavewright.notebook.widget import LiveView

#: Kind of document -> ids of views, in the order of the page's menu.
VIEWS: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("views.toml").read_text(encoding="utf-8"))
_PREFIXES = {"trace": "", "run": "run_", "counters": "counter_"}  #: Kind of document -> how ids of its views start.
MOST_BYTES = 8_000_000  #: Of one output: marimo refuses more, and JupyterLab becomes slow.
LARGE_BYTES = 2_500_000  #: A larger output gives a warning with its size.
_MOST_ITEMS = 200  #: Single events whose details the page has; all of them would be half of its size.
_SHORTEST, _TALLEST = 200, 4_000  #: Heights of the frame in pixels.


def view_id(kind: str, view: str | None) -> str:
    """The id of a view; the prefix of the kind may be left out. Empty = no view was named.

    Raises `UsageError` when documents of this kind have no such view.

    >>> view_id("run", "timeline"), view_id("trace", "isa"), view_id("run", None)
    ('run_timeline', 'isa', '')
    """
    if not view:
        return ""
    name = view.strip().lower().replace("-", "_").replace(" ", "_")
    for candidate in (name, _PREFIXES[kind] + name):
        if candidate in VIEWS[kind]:
            return candidate
    raise UsageError(f"no view {view[:40]!r} of {DOCUMENTS[kind]}", advice=f"views: {', '.join(VIEWS[kind])}")


def part_of(opened: Shown, time: str | None) -> Shown:
    """The events of a run, or the instructions of a trace, in the window `A:B`; None = all of them.

    For runs, A and B are as in `wavewright window --time` (`30%:60%`, `1.5s:2s`, `-5ms:`); for traces, aligned cycles,
    or percent of the time from the first start to the last end of a traced wave. Raises `UsageError` when it is not a
    window, or counters are given, which have no time.
    """
    if time is None:
        return opened
    begin, colon, end = (part.strip() for part in time.partition(":"))
    if not colon or not (begin or end):
        raise UsageError(f"{time[:40]!r} is not a window A:B, A: or :B", advice="for example time='30%:60%'")
    if isinstance(opened, Run):
        from wavewright.analysis.run.select.choice import RunSelection
        from wavewright.analysis.run.select.chosen import select as select_run

        return select_run(opened, RunSelection(begin=begin or None, end=end or None))
    if isinstance(opened, ThreadTrace):
        from wavewright.analysis.trace.selection import Selection, select

        return select(opened, Selection(start_cycles=_cycles(opened, begin), end_cycles=_cycles(opened, end)))
    raise UsageError("counters have no time to choose a part of", advice="leave out time=...")


def _cycles(trace: ThreadTrace, given: str) -> int | None:
    """A bound of a window in cycles; empty = None."""
    if not given:
        return None
    with suppress(ValueError):
        if not given.endswith("%"):
            return int(given.replace(",", ""))
        share = float(given[:-1]) / 100
        from wavewright.analysis.trace.clocks import aligned

        waves = aligned(trace, trace.waves, "start_cycles", "end_cycles")
        first, last = waves["start_cycles"].min(), waves["end_cycles"].max()
        if 0 <= share <= 1 and isinstance(first, int) and isinstance(last, int):
            return round(first + share * (last - first))
    advice = "give cycles or percent: '1000:2000', '30%:60%'"
    raise UsageError(f"{given[:40]!r} is not a time of a trace", advice=advice)


class View:
    """The viewer as the output of a cell: a static display for readers without scripts, and the page in a frame.

    The frame is sandboxed: its script can access neither the notebook nor the network.
    """

    def __init__(self, page: bytes, static: Display, *, title: str, height: int) -> None:
        self.static = static
        self._frame = (
            f'<iframe sandbox="allow-scripts" title="{html.escape(title)}" '
            f'style="width:100%;height:{height}px;border:1px solid #8884;border-radius:4px" '
            f'srcdoc="{html.escape(page.decode())}"></iframe>'
        )

    @property
    def byte_count(self) -> int:
        """Bytes that the output adds to the notebook."""
        return len(self._frame.encode())

    def __repr__(self) -> str:
        return f"<wavewright viewer: {self.static.plain.splitlines()[0]}; {self.byte_count / 1e6:.1f} MB>"

    def _repr_html_(self) -> str:
        return f"{self.static.html}\n{self._frame}"  # an untrusted notebook shows the first part only

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        both = self.static.bundle | {"text/html": self._repr_html_()}
        return {
            kind: text
            for kind, text in both.items()
            if (not include or kind in include) and kind not in (exclude or ())
        }


def show(
    shown: Shown | Sequence[Shown],
    view: str | None = None,
    *,
    time: str | None = None,
    height: int = 600,
    live: bool = False,
) -> View | LiveView:
    """Show traces, runs and counters in a notebook, in the viewer of `wavewright open`.

    Parameters
    ----------
    shown
        A trace, a run or counters, or several, which the viewer compares.
    view
        The view in front: "timeline", "kernels", "isa", "roofline", ...; None = the first ones of the viewer.
    time
        A window `A:B` of the time to show: percent, times with units or nanoseconds of a run; percent or cycles of a
        trace.
    height
        Height of the frame in pixels.
    live
        Ask this kernel for every view instead of storing all of them in the notebook. The widget's `selection` is what
        is selected in the viewer, and `selected` the selected rows; needs `pip install 'wavewright[notebook]'`.

    Raises
    ------
    UsageError
        When the page would be larger than 8 MB, or there is no such view or time.
    MissingToolError
        When this installation has no viewer page, or no anywidget for `live`.

    Examples
    --------
    >>> show(Run([]), "nonsense")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    wavewright.errors.UsageError: no view 'nonsense' of a run; ...
    """
    several = [shown] if isinstance(shown, ThreadTrace | Run | CounterSet) else list(shown)
    if not several:
        raise UsageError("there is nothing to show")
    kinds = [document_of(content).kind for content in several]
    if not _SHORTEST <= height <= _TALLEST:
        raise UsageError(f"height is {_SHORTEST} to {_TALLEST:,} pixels, not {height}")
    front = view_id(kinds[0], view)
    parts = [part_of(content, time) for content in several]
    at = urlencode({"view": front}) if front else ""
    labelled = list(zip(_labels(several), parts, strict=True))
    if live:
        from wavewright.notebook.widget import live_view

        return live_view(labelled, at=at, height=height)
    return _stored(labelled, at=at, height=height)


def _stored(labelled: Sequence[tuple[str, Shown]], *, at: str, height: int) -> View:
    from wavewright.export.page import page_bytes

    most_bytes = MOST_BYTES * 3 // 4  # base64 takes a third more
    page, losses = page_bytes(labelled, at=at, most_bytes=most_bytes, most_items=_MOST_ITEMS)
    title = ", ".join(label for label, _ in labelled)
    view = View(page, document_display(labelled[0][1]).brief, title=title, height=height)
    size = view.byte_count
    if losses or size > MOST_BYTES:
        what = f"the page takes {'more than 8' if losses else f'{size / 1e6:.1f}'} MB, and a notebook holds 8 MB of it"
        raise UsageError(what, advice=f"{_smaller(labelled)}show(..., live=True) asks this kernel instead")
    if size > LARGE_BYTES:
        what = f"this output adds {size / 1e6:.1f} MB to the notebook; {_smaller(labelled)}live=True stores nothing"
        warnings.warn(what, stacklevel=3)
    return view


def _smaller(labelled: Sequence[tuple[str, Shown]]) -> str:
    """The advice to choose a window, for documents that have a time."""
    has_time = not any(isinstance(content, CounterSet) for _, content in labelled)
    return "time='30%:60%' shows a part of it; " if has_time else ""


def _labels(several: Sequence[Shown]) -> list[str]:
    """Different labels of the documents."""
    labels: list[str] = []
    for content in several:
        name = shown_text(label_of(content))
        same_count = sum(label == name or label.startswith(f"{name} (") for label in labels)
        labels.append(f"{name} ({same_count + 1})" if same_count else name)
    return labels
