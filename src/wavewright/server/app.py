"""The routes of the viewer's server: the files of the page, and the questions that it asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from anyio import create_task_group
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from wavewright.analysis.common.stop import Stopped, StopSwitch, obeying
from wavewright.model.document import Document, Library
from wavewright.page.payloads import ask, json
from wavewright.page.protocol import notes
from wavewright.page.protocol.payload import Payload
from wavewright.questions.kit.parameters import whole_number
from wavewright.server import user_state
from wavewright.server.guard import Guard
from wavewright.server.open_requests import OpenRequests, body_of
from wavewright.server.problems import Problem, problem_of
from wavewright.server.uploads import Uploads

_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
_UNKNOWN = Problem(404, "there is no such page")


def make_app(library: Library, token: str, page: Path, uploads: Uploads) -> ASGIApp:
    """The application that serves the page and answers its questions, below `/<token>/`."""
    config = user_state.config_folder()
    answers, files, open_requests = _Answers(library, config), _Files(page), OpenRequests(library, uploads, config)
    routes = [
        Route("/api/documents", answers.documents),
        Route("/api/kept", _answering(answers.user_state), methods=["GET", "PUT"]),
        Route("/api/recent", _answering(open_requests.recent)),
        Route("/api/recent/{name}/{action}", _answering(open_requests.of_recent), methods=["PUT"]),
        Route("/api/uploads", _answering(open_requests.start), methods=["PUT"]),
        Route("/api/uploads/{name}/{action}", _answering(open_requests.of_upload), methods=["PUT"]),
        Route("/api/{number}/notes", answers.notes, methods=["GET", "PUT"]),
        Route("/api/{number}/{question}", answers.answer),
        Route("/", files.file),
        Route("/{name}", files.file),
    ]
    return Guard(Router(routes, redirect_slashes=False, default=_failed(_UNKNOWN)), token)


class _Answers:
    """Answers to the page about the documents of a library."""

    def __init__(self, library: Library, config: Path | None) -> None:
        self.library = library
        self.config = config

    def documents(self, _: Request) -> Response:
        first = self.library.documents[0] if self.library.documents else None
        cache = first.kept_answers if first and not self.library.is_extended else None
        if first and cache and not first.is_open and (earlier := cache.get("documents", {})):
            return _sent(earlier)
        with suppress(BaseException):  # the first question about the document reports the error
            if first and not self.library.is_extended:
                _opened = first.opened  # this may add documents
        payload = json([document.line for document in self.library.documents])
        if cache:
            cache.put("documents", {}, payload)
        return _sent(payload)

    async def answer(self, request: Request) -> Response:
        """The answer to a question; the work stops when the page closes the request."""
        switch = StopSwitch()

        async def watch() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            switch.stop()

        async with create_task_group() as group:
            group.start_soon(watch)
            response = await run_in_threadpool(self._answer, request, switch)
            group.cancel_scope.cancel()
        return response

    def _answer(self, request: Request, switch: StopSwitch) -> Response:
        document = None
        try:
            document = self._document(request)
            name, parameters = request.path_params["question"], dict(request.query_params)
            cache = document.kept_answers
            if cache and not document.is_open and (earlier := cache.get(name, parameters)):
                return _sent(earlier)
            with obeying(switch):
                payload = ask(document, name, parameters)
            if cache:
                cache.put(name, parameters, payload)
        except Stopped:
            return Response(status_code=499)  # the request is closed
        except BaseException as error:  # a panic inside polars is not an Exception
            return _failed(problem_of(error, document))
        return _sent(payload)

    async def notes(self, request: Request) -> Response:
        """The notes beside a document, or their new state after PUT."""
        document = None
        try:
            document = self._document(request)
            if request.method != "PUT":
                return _sent(json(await run_in_threadpool(notes.read_notes, document.notes)))
            content = await body_of(request, notes.MOST_BYTES)
            return _sent(json(await run_in_threadpool(notes.write_notes, document.notes, content)))
        except ClientDisconnect:
            return Response()
        except BaseException as error:
            return _failed(problem_of(error, document))

    async def user_state(self, request: Request) -> dict[str, Any]:
        """The stored state of the page, and the command that shows the same documents again; PUT changes the state."""
        if request.method != "PUT":
            return {**await run_in_threadpool(user_state.read_state, self.config), "command": self.library.command}
        content = await body_of(request, user_state.MOST_BYTES)
        return await run_in_threadpool(user_state.change_state, self.config, content)

    def _document(self, request: Request) -> Document:
        return self.library.document(whole_number(request.path_params["number"]))


class _Files:
    """The files of the page, by name: no other file can be requested."""

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
            return _failed(Problem(410, "the page is gone: wavewright was removed or changed while it ran"))


def _answering(answer: Callable[[Request], Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
    """A handler that responds with an answer as JSON, or with its error."""

    async def respond(request: Request) -> Response:
        try:
            return _sent(json(await answer(request)))
        except ClientDisconnect:
            return Response()
        except BaseException as error:
            return _failed(problem_of(error))

    return respond


def _sent(payload: Payload, status: int = 200) -> Response:
    return Response(payload.content, status, media_type=payload.media_type)


def _failed(problem: Problem) -> Response:
    return _sent(json(problem.body), problem.status)
