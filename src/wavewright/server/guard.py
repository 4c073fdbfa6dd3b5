"""Access control: only requests of this machine to this server with its token pass; others get one sentence."""

from __future__ import annotations

from secrets import compare_digest
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wavewright.server.problems import Problem

LONGEST_QUERY = 32 << 10  #: Bytes of the part of an address behind `?`.
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")  #: The names of this machine in a Host header.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
#: Headers of every response. The address contains the token: other sites must not learn it, and caches not store it.
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

#: A target that is `*`, an address with a host, or nonsense.
_WRONG_TARGET = (400, "This server answers only addresses that start with a slash.")
_NOT_YOURS = (
    403,
    "This page belongs to another or an ended `wavewright open`: use the address that the running one has printed.",
)


class Guard:
    """An application that passes requests with the token on, without the token in their path."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, redirect or answer one request."""
        if scope["type"] != "http":  # there are no websockets
            return
        send = _with_headers(send)
        path: str = scope["path"]
        before, _, behind = path.partition("/")
        token, *target_parts = behind.split("/", 1)
        refusal = (
            _wrong_place(scope)
            or (_WRONG_TARGET if before or not path else None)
            or (None if compare_digest(token.encode("utf-8", "replace"), self.token) else _NOT_YOURS)
            or _wrong_request(scope, target_parts[0] if target_parts else "")
        )
        if refusal:
            as_json = bool(target_parts) and target_parts[0].startswith("api/")
            await _refusal(*refusal, as_json=as_json)(scope, receive, send)
        elif not target_parts:
            await RedirectResponse(f"/{quote(token)}/")(scope, receive, send)
        else:
            await self.app({**scope, "path": "/" + target_parts[0]}, receive, send)


def _wrong_place(scope: Scope) -> tuple[int, str] | None:
    """The refusal of a request that is not from this machine's own page.

    Other sites can make a browser send requests here, and can resolve their own name to 127.0.0.1.
    """
    hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
    host = hosts[0] if len(hosts) == 1 else ""
    name, colon, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
    if not colon:
        name = host
    if name.lower() not in _LOOPBACK or (colon and not (port.isascii() and port.isdigit())):
        return 403, "This server answers only requests to 127.0.0.1 or localhost."
    if any(origin.lower() != f"http://{host}".lower() for origin in origins):
        return 403, "This server answers only its own page."
    return None


def _wrong_request(scope: Scope, path: str) -> tuple[int, str] | None:
    """The refusal of a method or a length that no route takes."""
    may_write = path in ("api/kept", "api/uploads") or path.startswith(("api/uploads/", "api/recent/"))
    may_write = may_write or (path.startswith("api/") and path.endswith("/notes"))
    if scope["method"] not in (("GET", "HEAD", "PUT") if may_write else ("GET", "HEAD")):
        return 405, "This server only reads; notes, settings and dropped files are all that can be written."
    if len(scope["query_string"]) > LONGEST_QUERY:
        return 414, f"The request is longer than {LONGEST_QUERY:,} characters."
    return None


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending


def _refusal(status: int, sentence: str, *, as_json: bool) -> Response:
    """A refusal as JSON for the page, else as text for a person."""
    headers = {"connection": "close"} | ({"allow": "GET, HEAD"} if status == 405 else {})
    if as_json:
        return JSONResponse(Problem(status, sentence).body, status, headers)
    return PlainTextResponse(sentence + "\n", status, headers)
