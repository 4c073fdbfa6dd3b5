"""Bodies of requests that write, with a bound; another site's form cannot send these types, nor hide its origin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

JSON, BYTES = "application/json", "application/octet-stream"


async def body_of(request: Request, most_bytes: int, media_type: str = JSON) -> bytes:
    """The body of a request; of one that is too long a little more than is allowed, by which it is refused."""
    content = bytearray()
    async for piece in pieces_of(request, media_type):
        content += piece
        if len(content) > most_bytes:
            break  # one byte too many is all that it takes to refuse them
    return bytes(content)


async def pieces_of(request: Request, media_type: str) -> AsyncIterator[bytes]:
    """The body of a request as it comes.

    Raises
    ------
    UsageError
        When it may come from elsewhere than the page.
    """
    if request.headers.get("content-type", "").split(";")[0].strip() != media_type:
        raise UsageError(f"what is to be kept is sent as {media_type}")
    if "origin" not in request.headers:
        raise UsageError("only the page has something to keep")
    async for piece in request.stream():
        yield piece
