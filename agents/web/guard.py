"""What a request must be like before anything is done with it, and what goes with every answer.

The server listens on this machine alone, but pages of others run on it too, in the same browser. A page that has its
own name point here (DNS rebinding) gives itself away by the host that it asks for; a page that sends here from
elsewhere by its origin, and by not being able to send JSON.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.web.refusal import Refusal

__all__ = ["MAX_BODY", "Guard", "read_json"]

#: Bytes that a request may send.
MAX_BODY = 4096

_HEADERS = {
    "content-security-policy": "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_RAW_HEADERS = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]


class Guard:
    """Lets through what comes from pages of this server, and adds headers that keep a browser from doing more."""

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self.app = app
        self.hosts = frozenset(hosts)
        self.origins = frozenset(f"http://{host}" for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # no sockets, and nothing to be done at the start and the end

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *_RAW_HEADERS]}
            await send(message)

        try:
            self._check(scope)
        except Refusal as refusal:
            await JSONResponse({"error": str(refusal)}, refusal.status)(scope, receive, send_guarded)
        else:
            await self.app(scope, receive, send_guarded)

    def _check(self, scope: Scope) -> None:
        given = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        if [value for name, value in given if name == b"host"] not in [[host] for host in self.hosts]:
            raise Refusal(421, f"this server answers to {' and '.join(sorted(self.hosts))} alone")
        if any(value not in self.origins for name, value in given if name == b"origin"):
            raise Refusal(403, "requests from other pages are refused")
        is_elsewhere = any(value in ("cross-site", "same-site") for name, value in given if name == b"sec-fetch-site")
        if is_elsewhere and scope["path"].startswith("/api/"):
            raise Refusal(403, "requests from other pages are refused")


async def read_json(request: Request, fields: Mapping[str, type | tuple[type, ...]]) -> dict[str, Any]:
    """The object that a request sends, which has exactly these fields, each of its type.

    Raises:
        Refusal: 415 for another kind of content, 413 for too much of it, 400 for what is no such object.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refusal(415, "allowed: content of type application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise Refusal(413, f"allowed: {MAX_BODY} bytes")
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal(400, "that is no JSON") from None
    if not isinstance(data, dict) or data.keys() != fields.keys():
        raise Refusal(400, f"allowed: an object with {', '.join(fields)}")
    for name, kind in fields.items():
        if not isinstance(data[name], kind) or isinstance(data[name], bool):
            raise Refusal(400, f"{name}: a value of the wrong kind")
    return data
