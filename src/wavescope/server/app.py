"""The routes: the page, and the questions it asks."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from wavescope.errors import UsageError
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
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route, Router

    from wavescope.page.asking import ask, json
    from wavescope.server.notes import read_notes, write_notes

    files = {
        file.name: file
        for file in page.iterdir()
        if file.suffix in _MEDIA_TYPES and file.is_file() and not file.is_symlink()
    }

    def documents(__: Request) -> Response:
        kept = library.documents[0].kept_answers if library.documents else None
        if kept and not library.documents[0].is_open and (earlier := kept.get("documents", {})):
            return Response(earlier.content, media_type=earlier.media_type)
        with suppress(BaseException):  # the first question about it says what is wrong
            _ = library.document(0).opened  # by which others may become known
        payload = json([document.line for document in library.documents])
        if kept:
            kept.put("documents", {}, payload)
        return Response(payload.content, media_type=payload.media_type)

    def answer(request: Request) -> Response:
        document = None
        try:
            document = library.document(whole_number(request.path_params["number"]))
            name, given = request.path_params["question"], dict(request.query_params)
            kept = document.kept_answers
            if kept and not document.is_open and (earlier := kept.get(name, given)):
                return Response(earlier.content, media_type=earlier.media_type)
            payload = ask(document, name, given)
            if kept:
                kept.put(name, given, payload)
        except BaseException as error:  # a panic inside polars is not an Exception
            return failed(problem_of(error, document))
        return Response(payload.content, media_type=payload.media_type)

    async def notes(request: Request) -> Response:
        document = None
        try:
            document = library.document(whole_number(request.path_params["number"]))
            if request.method != "PUT":
                return in_json(await run_in_threadpool(read_notes, document.notes))
            content = await _body(request)
            return in_json(await run_in_threadpool(write_notes, document.notes, content))
        except ClientDisconnect:
            return Response()
        except BaseException as error:
            return failed(problem_of(error, document))

    def file(request: Request) -> Response:
        """A file of the page, by its name: no other path leads anywhere."""
        found = files.get(request.path_params.get("name", "index.html"))
        if found is None:
            return failed(_UNKNOWN)
        try:
            return Response(found.read_bytes(), media_type=_MEDIA_TYPES[found.suffix])
        except OSError:
            return failed(Problem(410, "the page is gone: wavescope was removed or changed while it ran"))

    def in_json(value: Any) -> Response:
        payload = json(value)
        return Response(payload.content, media_type=payload.media_type)

    def failed(problem: Problem) -> Response:
        return JSONResponse(problem.body, status_code=problem.status)

    routes = [
        Route("/api/documents", documents),
        Route("/api/{number}/notes", notes, methods=["GET", "PUT"]),
        Route("/api/{number}/{question}", answer),
        Route("/", file),
        Route("/{name}", file),
    ]
    return Guard(Router(routes, redirect_slashes=False, default=failed(_UNKNOWN)), token)


async def _body(request: Request) -> bytes:
    """What the page sends to be written; another site's form cannot send this type, nor hide where it comes from."""
    from wavescope.server.notes import MOST_BYTES

    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        what = "notes are sent as application/json"
        raise UsageError(what)
    if "origin" not in request.headers:
        what = "only the page saves notes"
        raise UsageError(what)
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > MOST_BYTES:
            break  # one byte too many is all that it takes to refuse them
    return content
