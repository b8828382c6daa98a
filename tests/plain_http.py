"""Clients of servers on this machine: plain HTTP, without what the environment says of proxies."""

import ssl
from typing import Any

import httpx2

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""It holds no root certificates: to read them takes longer than most requests."""


def client(**options: Any) -> httpx2.Client:
    """A client that waits for a minute at most, unless it is told otherwise."""
    return httpx2.Client(**{"trust_env": False, "timeout": 60, "verify": NO_TLS, **options})
