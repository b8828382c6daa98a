"""Requests to an application of this process, each by a client of its own."""

from typing import Any

import httpx2

ORIGIN = "https://api.example.org"
CLIENT = ("127.0.0.1", 5000)


async def ask(
    app: Any,
    method: str,
    url: str | httpx2.URL,
    *,
    client: tuple[str, int] = CLIENT,
    root_path: str = "",
    **parts: Any,
) -> httpx2.Response:
    """One request from that address; `parts` are those of `httpx2.AsyncClient.request`."""
    transport = httpx2.ASGITransport(app, client=client, root_path=root_path)
    async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as session:
        return await session.request(method, url, **parts)
