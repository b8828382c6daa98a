"""Bounds how many streamed answers are open at once: in all, per key, address and workspace."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_http.exchange.http_exchange import RETRY_SECONDS

STREAMS_MAX: Final = 100
STREAMS_PER_KEY_MAX: Final = 5
STREAMS_PER_ADDRESS_MAX: Final = 20
STREAMS_PER_WORKSPACE_MAX: Final = 50
"""Open event streams; each holds a view of the store. One address may have as many as four keys,
and one workspace half of all, however many keys it has."""
AGENT_STREAMS_MAX: Final = 400
AGENT_STREAMS_PART_MAX: Final = 200
"""Open answers of the agent, which are counted apart from other streams: each takes some 100 kB
and two minutes at most. No holder has more than half; the agent's rates keep a key far below."""


class StreamRooms:
    """Counts open streams against their bounds. Not thread-safe: one event loop."""

    def __init__(
        self,
        total: int = STREAMS_MAX,
        *,
        of_key: int = STREAMS_PER_KEY_MAX,
        of_address: int = STREAMS_PER_ADDRESS_MAX,
        of_workspace: int = STREAMS_PER_WORKSPACE_MAX,
    ) -> None:
        self._total = total
        self._bounds = {"key": of_key, "address": of_address, "workspace": of_workspace}
        self._shares: Counter[tuple[str, str]] = Counter()
        self._open = 0

    def __len__(self) -> int:
        return self._open

    @contextmanager
    def room(self, **holders: str) -> Iterator[None]:
        """Count a stream of a `key`, an `address` and a `workspace` while the block runs.

        Raises:
            Problem: OVERLOADED; one of the bounds is reached.
        """
        shares = holders.items()
        if len(self) >= self._total or any(
            self._shares[share] >= self._bounds[share[0]] for share in shares
        ):
            bounds = ", ".join(f"{bound} of one {name}" for name, bound in self._bounds.items())
            raise Problem(
                problem.OVERLOADED,
                f"At most {self._total} streams are open at once, {bounds}.",
                {"Retry-After": str(RETRY_SECONDS)},
                resolution="Close a stream, or retry after Retry-After seconds.",
            )
        self._open += 1
        self._shares.update(shares)
        try:
            yield
        finally:
            self._open -= 1
            self._shares -= Counter(shares)


def rooms() -> Mapping[str, StreamRooms]:
    """The bounds on streams by rate pool, so that one pool cannot use up the room of another."""
    part = AGENT_STREAMS_PART_MAX
    agent = StreamRooms(AGENT_STREAMS_MAX, of_key=part, of_address=part, of_workspace=part)
    return {"account": StreamRooms(), "agent": agent}
