"""Bounds how many streamed answers are open at once: in all, per key, address and workspace."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_http.exchange.fair_shares import BOUNDS, Shares
from svc_http.exchange.http_exchange import RETRY_SECONDS


class StreamRooms(Shares[object]):
    """The places of open streams."""

    @contextmanager
    def room(self, **holders: str) -> Iterator[None]:
        """Count a stream of its holders, such as a `key` and an `address`, while the block runs.

        Raises:
            Problem: OVERLOADED; one of the bounds is reached.
        """
        if not self.fits(holders.items()):
            bounds = ", ".join(f"{bound} of one {name}" for name, bound in self.bound.each.items())
            raise Problem(
                problem.OVERLOADED,
                f"At most {self.bound.places} streams are open at once, {bounds}.",
                {"Retry-After": str(RETRY_SECONDS)},
                resolution="Close a stream, or retry after Retry-After seconds.",
            )
        place = object()
        self.enter(place, *holders.items())
        try:
            yield
        finally:
            self.leave(place)


def rooms() -> Mapping[str, StreamRooms]:
    """The bounds on streams by rate pool, so that one pool cannot use up the room of another."""
    return {pool: StreamRooms(BOUNDS[f"{pool} streams"]) for pool in ("account", "agent", "person")}
