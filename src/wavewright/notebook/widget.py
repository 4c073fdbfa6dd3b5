"""`show(live=True)`: the viewer as a widget, whose page asks this kernel and sends it the selection."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

import polars as pl

from wavewright.base.shown import command_line
from wavewright.errors import MissingToolError, UsageError
from wavewright.model.document import Document, Library, Shown
from wavewright.notebook.display import document_display
from wavewright.notebook.documents import path_of
from wavewright.page.payloads import ask, json
from wavewright.questions.kit.parameters import whole_number
from wavewright.server.problems import problem_of

LiveView: TypeAlias = Any

_LONGEST_PATH = 16_000  #: Characters of a question.
PAGE = "page"  #: The first question of the widget: the page itself, which is not stored in the notebook.


def live_view(labelled: Sequence[tuple[str, Shown]], *, at: str, height: int) -> LiveView:
    """The viewer as a widget. Raises `MissingToolError` when anywidget is not installed."""
    library = Library()
    for label, opened in labelled:
        _ = library.add(label, path_of(opened), lambda opened=opened: opened).opened  # type: ignore[misc]
    paths = [document.path for document in library.documents]
    library.command = command_line(["wavewright", "open", *paths]) if all(paths) else ""
    return _widget_type()(library, at, height)


def answered(library: Library, path: str, at: str) -> tuple[bytes, bool]:
    """The response to a page in a widget, and whether it is an error.

    The page sends the paths that it requests from a server (`web/src/data/source.ts`); the widget requests `PAGE`.
    """
    document: Document | None = None
    try:
        if len(path) > _LONGEST_PATH:
            raise UsageError("the question is too long")
        place, _, query = path.partition("#")[0].partition("?")
        number, _, question = place.partition("/")
        if not question:
            return _of_page(library, number, at), False
        document = library.document(whole_number(number))
        if question == "notes":
            return json({"notes": [], "saved_at": None, "can_save": False}).content, False
        given = dict(parse_qsl(query, keep_blank_values=True))
        return ask(document, question, given).content, False
    except BaseException as error:  # a panic inside polars is not an Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return json(problem_of(error, document).body).content, True


def _of_page(library: Library, name: str, at: str) -> bytes:
    if name == PAGE:
        from wavewright.export.page.frame import page_frame

        return b"".join(page_frame(", ".join(document.label for document in library.documents), at=at, is_live=True))
    if name == "documents":
        return json([document.line for document in library.documents]).content
    if name == "kept":  # settings of a frame last as long as the frame
        return json({"entries": {}, "place": None, "problem": "", "command": library.command}).content
    raise UsageError(f"there is no {name[:40]!r}")


@cache
def _widget_type() -> type[Any]:
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        problem = "show(live=True) needs the package anywidget"
        raise MissingToolError(problem, advice="pip install 'wavewright[notebook]'") from error
    from wavewright.notebook.selection import chosen_rows, read_place

    class LiveView(anywidget.AnyWidget):  # type: ignore[misc,unused-ignore]
        """The viewer, asking this kernel; `selection` is what is selected in it, `selected` are the rows."""

        _esm = Path(__file__).with_name("relay.js").read_text(encoding="utf-8")
        height = traitlets.Int(600).tag(sync=True)
        #: What is on screen, as the URL of `wavewright open` has it after `#`: `--at` takes it.
        place = traitlets.Unicode("").tag(sync=True)
        #: What is selected: instruction rows, wave, kernel, span, source line, time.
        selection = traitlets.Dict().tag(sync=True)

        def __init__(self, library: Library, at: str, height: int) -> None:
            self.library = library
            self._at = at
            super().__init__(height=height)
            self.on_msg(self._hear)

        def __repr__(self) -> str:
            return f"<wavewright viewer: {', '.join(document.label for document in self.library.documents)}; live>"

        def set_state(self, sync_data: dict[str, Any]) -> None:
            """Accept the place from the page and nothing else, so that it cannot give the widget another script."""
            place = sync_data.get("place") if isinstance(sync_data, dict) else None
            if isinstance(place, str):
                super().set_state({"place": place})

        @traitlets.observe("place")
        def _follow(self, _change: Any) -> None:
            chosen = read_place(self.place)
            if chosen != self.selection:  # zooming is not a selection
                self.selection = chosen

        @property
        def selected(self) -> pl.DataFrame:
            """The selected rows: executed instructions of a trace, events of a run, dispatches of counters."""
            chosen = read_place(self.place)  # a page could send a `selection` that no place gives
            return chosen_rows(self.library.document(chosen.get("document", 0)), chosen)

        def _hear(self, _widget: Any, message: Any, _buffers: Any) -> None:
            """Answer a question of the page; other messages are ignored."""
            given = message if isinstance(message, dict) else {}
            path, view, number = (given.get(name) for name in ("path", "view", "id"))
            if isinstance(path, str) and isinstance(view, str) and type(number) is int:
                content, is_error = answered(self.library, path, self._at)
                self.send({"view": view, "id": number, "is_error": is_error}, [content])

        def _repr_mimebundle_(self, **kwargs: Any) -> Any:
            both = super()._repr_mimebundle_(**kwargs)
            data, metadata = both if isinstance(both, tuple) else (both, {})
            static = document_display(self.library.document(0).opened).brief.bundle
            return {**static, **(data or {}), "text/plain": static["text/plain"]}, metadata

    return LiveView
