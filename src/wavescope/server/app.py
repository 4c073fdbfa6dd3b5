"""The routes: the page, and the questions it asks."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route, Router

from wavescope.errors import UsageError
from wavescope.page.asking import ask, json
from wavescope.page.protocol.question import whole_number
from wavescope.server import kept, notes
from wavescope.server.guard import Guard
from wavescope.server.problems import Problem, problem_of

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from wavescope.page.protocol.document import Document, Library
    from wavescope.page.protocol.payload import Payload

_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
_UNKNOWN = Problem(404, "there is no such page")


def make_app(library: Library, token: str, page: Path) -> ASGIApp:
    """An application that serves the page and answers its questions, below `/<token>/`."""
    answers, files = _Answers(library, kept.config_folder()), _Files(page)
    routes = [
        Route("/api/documents", answers.documents),
        Route("/api/kept", answers.kept, methods=["GET", "PUT"]),
        Route("/api/{number}/notes", answers.notes, methods=["GET", "PUT"]),
        Route("/api/{number}/{question}", answers.answer),
        Route("/", files.file),
        Route("/{name}", files.file),
    ]
    return Guard(Router(routes, redirect_slashes=False, default=_failed(_UNKNOWN)), token)


class _Answers:
    """What the page asks about the documents of a library."""

    def __init__(self, library: Library, config: Path | None) -> None:
        self.library = library
        self.config = config

    def documents(self, _: Request) -> Response:
        first = self.library.documents[0] if self.library.documents else None
        cache = first.kept_answers if first else None
        if first and cache and not first.is_open and (earlier := cache.get("documents", {})):
            return _sent(earlier)
        with suppress(BaseException):  # the first question about it says what is wrong
            _opened = self.library.document(0).opened  # by which others may become known
        payload = json([document.line for document in self.library.documents])
        if cache:
            cache.put("documents", {}, payload)
        return _sent(payload)

    def answer(self, request: Request) -> Response:
        document = None
        try:
            document = self._document(request)
            name, given = request.path_params["question"], dict(request.query_params)
            cache = document.kept_answers
            if cache and not document.is_open and (earlier := cache.get(name, given)):
                return _sent(earlier)
            payload = ask(document, name, given)
            if cache:
                cache.put(name, given, payload)
        except BaseException as error:  # a panic inside polars is not an Exception
            return _failed(problem_of(error, document))
        return _sent(payload)

    async def notes(self, request: Request) -> Response:
        document = None
        try:
            document = self._document(request)
            if request.method != "PUT":
                return _sent(json(await run_in_threadpool(notes.read_notes, document.notes)))
            content = await _body(request, notes.MOST_BYTES)
            return _sent(json(await run_in_threadpool(notes.write_notes, document.notes, content)))
        except ClientDisconnect:
            return Response()
        except BaseException as error:
            return _failed(problem_of(error, document))

    async def kept(self, request: Request) -> Response:
        """What is kept for the user, and the command that shows the same documents again."""
        try:
            if request.method != "PUT":
                settings = await run_in_threadpool(kept.read_kept, self.config)
                return _sent(json({**settings, "command": self.library.command}))
            content = await _body(request, kept.MOST_BYTES)
            return _sent(json(await run_in_threadpool(kept.change_kept, self.config, content)))
        except ClientDisconnect:
            return Response()
        except BaseException as error:
            return _failed(problem_of(error))

    def _document(self, request: Request) -> Document:
        return self.library.document(whole_number(request.path_params["number"]))


class _Files:
    """The files of the page, by their names: no other path leads anywhere."""

    def __init__(self, page: Path) -> None:
        self.known = {
            file.name: file
            for file in page.iterdir()
            if file.suffix in _MEDIA_TYPES and file.is_file() and not file.is_symlink()
        }

    def file(self, request: Request) -> Response:
        asset = self.known.get(request.path_params.get("name", "index.html"))
        if asset is None:
            return _failed(_UNKNOWN)
        try:
            return Response(asset.read_bytes(), media_type=_MEDIA_TYPES[asset.suffix])
        except OSError:
            return _failed(Problem(410, "the page is gone: wavescope was removed or changed while it ran"))


def _sent(payload: Payload, status: int = 200) -> Response:
    return Response(payload.content, status, media_type=payload.media_type)


def _failed(problem: Problem) -> Response:
    return _sent(json(problem.body), problem.status)


async def _body(request: Request, most_bytes: int) -> bytes:
    """What the page sends to be written; another site's form cannot send this type, nor hide where it comes from."""
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise UsageError("what is to be kept is sent as application/json")
    if "origin" not in request.headers:
        raise UsageError("only the page has something to keep")
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > most_bytes:
            break  # one byte too many is all that it takes to refuse them
    return content
