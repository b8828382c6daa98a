"""The answer of a request that succeeded, as a store keeps it for repetitions of that request."""

from datetime import datetime
from typing import NamedTuple


class Answer(NamedTuple):
    """A stored 2xx answer that a repeated request receives again.

    `fingerprint` holds two digests of the request (`svc_core.contract.idempotency`). A named
    tuple, which is made in half the time of an attrs class: every creation keeps one.
    """

    fingerprint: bytes
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    at: datetime
