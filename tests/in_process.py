"""Requests to an application of this process, each as a client sends its first."""

from typing import Any

import httpx2

ORIGIN = "https://api.example.org"
CLIENT = ("127.0.0.1", 5000)
FIELDS = tuple(httpx2.AsyncClient().headers.multi_items())
"""What a client says of itself, unless it is told otherwise."""


async def ask(
    app: Any,
    method: str,
    url: str | httpx2.URL,
    *,
    client: tuple[str, int] = CLIENT,
    root_path: str = "",
    headers: Any = None,
    **parts: Any,
) -> httpx2.Response:
    """One request from that address; `parts` are those of `httpx2.Request`.

    It goes past the client, whose cookies, redirects and limits of time take as long as an answer.
    """
    transport = httpx2.ASGITransport(app, client=client, root_path=root_path)
    fields = httpx2.Headers(headers)
    usual = [(name, text) for name, text in FIELDS if name not in fields]
    fields = httpx2.Headers([*usual, *fields.multi_items()])
    address = f"{ORIGIN}{url}" if isinstance(url, str) and url[:1] == "/" else url
    request = httpx2.Request(method, address, headers=fields, **parts)
    response = await transport.handle_async_request(request)
    response.request = request
    await response.aread()
    return response
