"""Requests of the page to open dropped files and recent inputs; no request can name a path of this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from wavewright.errors import UsageError, WavewrightError
from wavewright.model.document import Library
from wavewright.page.inputs import Reading, add_inputs
from wavewright.questions.kit.parameters import whole_number
from wavewright.server import recent
from wavewright.server.uploads import MOST_LISTED_BYTES, PIECE_BYTES, Uploads

JSON, BYTES = "application/json", "application/octet-stream"


async def body_of(request: Request, most_bytes: int, media_type: str = JSON) -> bytes:
    """The body of a request; reading stops behind `most_bytes`, so that the caller can refuse a longer one."""
    content = bytearray()
    async for piece in pieces_of(request, media_type):
        content += piece
        if len(content) > most_bytes:
            break
    return bytes(content)


async def pieces_of(request: Request, media_type: str) -> AsyncIterator[bytes]:
    """The pieces of a request's body. Raises `UsageError` when it may not come from the page."""
    if request.headers.get("content-type", "").split(";")[0].strip() != media_type:
        raise UsageError(f"what is to be kept is sent as {media_type}")
    if "origin" not in request.headers:
        raise UsageError("only the page has something to keep")
    async for piece in request.stream():
        yield piece


_SMALL_BODY = 1_000  #: Most bytes of a request whose address says everything.
_WRITTEN_BYTES = 1 << 20  #: Bytes that are written to the disk at once.


class OpenRequests:
    """The requests of the page that add documents."""

    def __init__(self, library: Library, uploads: Uploads, config: Path | None) -> None:
        self.library = library
        self.uploads = uploads
        self.config = config

    async def recent(self, _: Request) -> dict[str, Any]:
        """The recent inputs, and the limits of dropped files."""
        lines = await run_in_threadpool(recent.recent_lines, self.config)
        return {"entries": lines, "most_words": self.uploads.budget.words}

    async def of_recent(self, request: Request) -> dict[str, Any]:
        """Open a recent input, or remove it from the list."""
        name, action = request.path_params["name"], request.path_params["action"]
        await body_of(request, _SMALL_BODY)
        if action == "forgotten":
            await run_in_threadpool(recent.forget, self.config, name)
            return {}
        if action != "opened":
            raise UsageError(f"recent inputs cannot be {action[:40]!r}")
        entry = recent.entry_called(self.config, name)
        return await run_in_threadpool(self._opened, [Path(path) for path in entry.paths], entry.reading)

    async def start(self, request: Request) -> dict[str, Any]:
        """Start an upload of the files that the page lists."""
        content = await body_of(request, MOST_LISTED_BYTES)
        name = await run_in_threadpool(self.uploads.start, content)
        return {"upload": name, "piece_bytes": PIECE_BYTES}

    async def of_upload(self, request: Request) -> dict[str, Any]:
        """Receive bytes of an upload, open it, or give it up."""
        name, action = request.path_params["name"], request.path_params["action"]
        if action == "bytes":
            return {"received": await self._bytes(request, name)}
        await body_of(request, _SMALL_BODY)
        if action == "given-up":
            await run_in_threadpool(self.uploads.give_up, name)
            return {}
        if action != "opened":
            raise UsageError(f"uploads cannot be {action[:40]!r}")
        return await run_in_threadpool(self._opened_upload, name)

    async def _bytes(self, request: Request, name: str) -> int:
        at = whole_number(request.query_params.get("at", ""))
        received, waiting = at, bytearray()
        try:
            async for piece in pieces_of(request, BYTES):
                waiting += piece
                if received - at + len(waiting) > PIECE_BYTES:
                    raise UsageError(f"more than {PIECE_BYTES:,} bytes at once")
                if len(waiting) >= _WRITTEN_BYTES:
                    received = await run_in_threadpool(self.uploads.write, name, received, bytes(waiting))
                    waiting.clear()
            return await run_in_threadpool(self.uploads.write, name, received, bytes(waiting))
        except (ClientDisconnect, WavewrightError):
            await run_in_threadpool(self.uploads.give_up, name)  # a broken upload leaves no files
            raise

    def _opened_upload(self, name: str) -> dict[str, Any]:
        folder = self.uploads.upload(name).place
        try:
            return self._opened(self.uploads.finish(name))
        except BaseException as error:
            self.uploads.give_up(name)
            if isinstance(error, WavewrightError):
                error.what, error.where, error.advice = (
                    text.replace(f"{folder}/", "").replace(str(folder), "what was dropped")
                    for text in (error.what, error.where, error.advice)
                )
            raise

    def _opened(self, paths: Sequence[Path], reading: Reading | None = None) -> dict[str, Any]:
        """Add documents and return the number of the first, which is read; if that fails, none is added."""
        documents = add_inputs(self.library, paths, reading, has_notes=reading is not None)
        self.library.is_extended = True
        try:
            _ = documents[0].opened
        except BaseException:
            self.library.take_back(documents)
            raise
        return {"document": documents[0].number}
