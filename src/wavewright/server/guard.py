"""Access control: requests from this machine, for this server, with its token; others get one plain sentence."""

from __future__ import annotations

from secrets import compare_digest
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wavewright.server.problems import Problem

LONGEST_QUERY = 32 << 10
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
#: What every answer carries. The address holds the token, so no other site may learn it, and no cache keeps it.
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
    """An application that lets through what carries the token, and takes it out of the path."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request: refused, redirected, or answered."""
        if scope["type"] != "http":  # nothing here speaks websocket
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
    """Reason for rejecting a request that is not from a page of this machine: other sites can make a browser send one,
    and can let their own name lead to 127.0.0.1."""
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
    """A refusal that the page can show when it was the page that asked, else text that a person can read."""
    headers = {"connection": "close"} | ({"allow": "GET, HEAD"} if status == 405 else {})  # it does not keep a place
    if as_json:
        return JSONResponse(Problem(status, sentence).body, status, headers)
    return PlainTextResponse(sentence + "\n", status, headers)
