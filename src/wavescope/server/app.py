"""The routes: the page, and the questions it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.errors import UsageError, WavescopeError

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from wavescope.page.document import Library

__all__ = ["make_app"]


def make_app(library: Library, token: str, page: Path) -> Starlette:
    """An application that serves the page and answers its questions, below `/<token>/`.

    Examples
    --------
    >>> from wavescope.page.document import Library
    >>> make_app(Library(), "secret", Path("."))  # doctest: +SKIP
    """
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    from wavescope.page.asking import ask

    def documents(_: Request) -> Response:
        rows = [{"number": d.number, "label": d.label, "path": d.path, "is_open": d.is_open} for d in library.documents]
        return JSONResponse(rows)

    def answer(request: Request) -> Response:
        try:
            document = library.document(request.path_params["number"])
            payload = ask(document, request.path_params["question"], dict(request.query_params))
        except WavescopeError as error:
            body = {"what": error.what, "where": error.where, "kept": error.kept, "advice": error.advice}
            return JSONResponse({"error": body}, status_code=400 if isinstance(error, UsageError) else 422)
        return Response(payload.content, media_type=payload.media_type)

    inner = [
        Route("/api/documents", documents),
        Route("/api/{number:int}/{question}", answer),
        Mount("/", StaticFiles(directory=page, html=True)),
    ]
    return Starlette(routes=[Mount(f"/{token}", routes=inner)])
