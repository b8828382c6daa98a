"""Requests to an application of this process, as the client of httpx2 would make them.

A client for each request, with its cookies, its redirects and its look at the surroundings, costs
more than most of our answers, and tests make a few hundred thousand.
"""

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from typing import Any

import httpx2

ORIGIN = "https://api.example.org"
CLIENT = ("127.0.0.1", 5000)

_MAKER = httpx2.AsyncClient(base_url=ORIGIN, transport=httpx2.AsyncBaseTransport(), trust_env=False)
"""Knows what fields a client adds by itself; nothing is sent through it, so it keeps nothing."""


class _Body(httpx2.AsyncByteStream):
    def __init__(self, parts: list[bytes]) -> None:
        self._parts = parts

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"".join(self._parts)


async def ask(
    app: Any,
    method: str,
    url: str | httpx2.URL,
    *,
    client: tuple[str, int] = CLIENT,
    root_path: str = "",
    **parts: Any,
) -> httpx2.Response:
    """One request from that address; `parts` are those of `httpx2.AsyncClient.build_request`."""
    request = _MAKER.build_request(method, url, **parts)
    stream = request.stream
    assert isinstance(stream, httpx2.AsyncByteStream)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "headers": [(name.lower(), text) for name, text in request.headers.raw],
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path.partition(b"?")[0],
        "query_string": request.url.query,
        "server": (request.url.host, request.url.port),
        "client": client,
        "root_path": root_path,
    }
    chunks = aiter(stream)
    start: MutableMapping[str, Any] = {}
    body: list[bytes] = []
    is_read, is_answered = False, asyncio.Event()

    async def receive() -> dict[str, Any]:
        nonlocal is_read
        if is_read:
            await is_answered.wait()
            return {"type": "http.disconnect"}
        try:
            return {"type": "http.request", "body": await anext(chunks), "more_body": True}
        except StopAsyncIteration:
            is_read = True
            return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            assert not start
            start.update(message)
        elif message["type"] == "http.response.body":
            assert start
            assert not is_answered.is_set()
            if method != "HEAD":
                body.append(message.get("body", b""))
            if not message.get("more_body", False):
                is_answered.set()

    await app(scope, receive, send)
    assert is_answered.is_set()
    response = httpx2.Response(
        start["status"], headers=start.get("headers", []), stream=_Body(body), request=request
    )
    await response.aread()
    return response
