"""The routes: the page, and the questions it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.page.question import whole_number
from wavescope.server.guard import Guard
from wavescope.server.problems import Problem, problem_of

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from wavescope.page.document import Library

__all__ = ["make_app"]

_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}
_UNKNOWN = Problem(404, "there is no such page")


def make_app(library: Library, token: str, page: Path) -> ASGIApp:
    """An application that serves the page and answers its questions, below `/<token>/`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from wavescope.page.document import Library
    >>> make_app(Library(), "secret", Path(".")).token
    b'secret'
    """
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route, Router

    from wavescope.page.asking import ask

    files = {
        file.name: file
        for file in page.iterdir()
        if file.suffix in _MEDIA_TYPES and file.is_file() and not file.is_symlink()
    }

    def documents(_: Request) -> Response:
        return JSONResponse([document.line for document in library.documents])

    def answer(request: Request) -> Response:
        document = None
        try:
            document = library.document(whole_number(request.path_params["number"]))
            payload = ask(document, request.path_params["question"], dict(request.query_params))
        except BaseException as error:  # a panic inside polars is not an Exception
            return failed(problem_of(error, document))
        return Response(payload.content, media_type=payload.media_type)

    def file(request: Request) -> Response:
        """A file of the page, by its name: no other path leads anywhere."""
        found = files.get(request.path_params.get("name", "index.html"))
        if found is None:
            return failed(_UNKNOWN)
        try:
            return Response(found.read_bytes(), media_type=_MEDIA_TYPES[found.suffix])
        except OSError:
            return failed(Problem(410, "the page is gone: wavescope was removed or changed while it ran"))

    def failed(problem: Problem) -> Response:
        return JSONResponse(problem.body, status_code=problem.status)

    routes = [
        Route("/api/documents", documents),
        Route("/api/{number}/{question}", answer),
        Route("/", file),
        Route("/{name}", file),
    ]
    return Guard(Router(routes, redirect_slashes=False, default=failed(_UNKNOWN)), token)
