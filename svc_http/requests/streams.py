"""Answers that go on: sent part by part until the client, the server or the key ends them.

Rule 1: at most one part is under way, and it waits for the client; nothing piles up behind it.
Rule 2: whoever leaves is noticed at once, also while there is nothing to send.
Rule 3: a stream ends in the words of its own representation: when the server stops, when the key
        may no longer read, when it has had its time. Only who does not read is cut off.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from datetime import datetime
from typing import Final, TypeVar

from attrs import define, field, frozen

from svc_core import problem
from svc_core.operation import Context
from svc_core.ports import Storage, Transaction
from svc_core.problem import Problem
from svc_core.stream import Stream
from svc_http import system
from svc_http.requests.exchange import RETRY_SECONDS, SLOW_SECONDS, Exchange
from svc_http.runtime.commits import Commits
from svc_http.storage.errors import Overloaded, StorageUnavailable

R = TypeVar("R")

STREAMS_MAX: Final = 100
STREAMS_PER_KEY_MAX: Final = 5
STREAMS_PER_ADDRESS_MAX: Final = 20
STREAMS_PER_WORKSPACE_MAX: Final = 50
"""Streams that are open at once, each with a view of the store of its own: few of one key, of one
address as many as four keys have, and of one workspace half, however many keys it has."""
HEARTBEAT_SECONDS: Final = 15.0
"""The longest silence: proxies close what is quiet for 30 to 60 seconds."""
STREAM_SECONDS: Final = 900.0
"""How long one stream goes on; whoever wants more comes back where it ended."""
RECHECK_SECONDS: Final = 30.0
"""How often it is asked anew, in silence, whether the caller may still read; before each part
it is asked anyway."""
FAREWELL_SECONDS: Final = 0.5
"""How long the last part may take: a stream is over within a second of the server's end."""
NEWS_SECONDS: Final = 5.0
"""How often the store is looked at when nothing was heard: what other processes wrote."""
GATHER_SECONDS: Final = 0.02
"""How long commits are gathered before one look, so that a busy store is not asked at each."""


class Open:
    """The streams that are open now; for one event loop."""

    def __init__(
        self,
        most: int = STREAMS_MAX,
        *,
        of_key: int = STREAMS_PER_KEY_MAX,
        of_address: int = STREAMS_PER_ADDRESS_MAX,
        of_workspace: int = STREAMS_PER_WORKSPACE_MAX,
    ) -> None:
        self._most = most
        self._bounds = {"key": of_key, "address": of_address, "workspace": of_workspace}
        self._shares: Counter[tuple[str, str]] = Counter()
        self._open = 0

    def __len__(self) -> int:
        return self._open

    @contextmanager
    def one(self, **whose: str) -> Iterator[None]:
        """Count one stream, of a `key`, an `address` and a `workspace`, for as long as it is open.

        Raises:
            Problem: OVERLOADED, there are too many already.
        """
        shares = whose.items()
        if len(self) >= self._most or any(
            self._shares[share] >= self._bounds[share[0]] for share in shares
        ):
            bounds = ", ".join(f"{most} of one {name}" for name, most in self._bounds.items())
            raise Problem(
                problem.OVERLOADED,
                f"At most {self._most} streams are open at once, {bounds}.",
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


class Following:
    """A caller's view of the store, and the wait for the next commit (`svc_core.stream.Watch`)."""

    def __init__(
        self,
        storage: Storage,
        tenant: str,
        context: Callable[[Transaction, datetime], Context],
        commits: Commits,
        now: Callable[[], datetime],
    ) -> None:
        self._storage = storage
        self._tenant = tenant
        self._context = context
        self._commits = commits
        self._now = now
        self._seen = -1

    async def read(self, usecase: Callable[[Context], Awaitable[R]]) -> R:
        """Run a use case for the caller on one snapshot, as it is now."""
        self._seen = self._commits.version
        now = self._now()

        async def unit(tx: Transaction) -> R:
            return await usecase(self._context(tx, now))

        return await self._storage.read(self._tenant, unit)

    async def news(self) -> None:
        """Return once something was committed since the last `read` began, or after a while."""
        if await self._commits.after(self._seen, NEWS_SECONDS):
            await asyncio.sleep(GATHER_SECONDS)


@frozen(eq=False)
class End:
    """How a stream ended. One that `is_told` has a last part, about the problem if any."""

    is_told: bool = False
    problem: Problem | None = None


LEFT: Final = End()
"""The client is gone or does not read: there is nobody to tell."""
DONE: Final = End()
TIME: Final = End(is_told=True)


@define(eq=False)
class Flow:
    """One stream on its way to one client.

    `still` raises the problem that keeps the caller from reading on; `drain` is set when the
    server ends.
    """

    exchange: Exchange
    stream: Stream
    watch: Following
    still: Callable[[], Awaitable[object]]
    drain: asyncio.Event
    origin: str
    seconds: float = STREAM_SECONDS
    recheck_seconds: float = RECHECK_SECONDS
    heartbeat_seconds: float = HEARTBEAT_SECONDS
    slow_seconds: float = SLOW_SECONDS
    _turn: asyncio.Lock = field(factory=asyncio.Lock, init=False)
    _sent_at: float = field(factory=system.monotonic, init=False)

    async def run(self) -> None:
        """Send every part, and the last one when it is time; the head has been sent."""
        end = await self._ended()
        if end is LEFT:
            return  # what was begun stays visibly cut short
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_SECONDS):
                if end.is_told:
                    await self.exchange.part(self.stream.farewell(self._told(end.problem)))
                await self.exchange.end()

    async def _ended(self) -> End:
        works = (
            self._pour(),
            self._beat(),
            self._recheck(),
            self._until_drained(),
            self._until_left(),
        )
        tasks = [asyncio.create_task(work) for work in works]
        try:
            done, _ = await asyncio.wait(
                tasks, timeout=self.seconds, return_when=asyncio.FIRST_COMPLETED
            )
            ends = [task.result() for task in tasks if task in done]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return LEFT if LEFT in ends else next(iter(ends), TIME)

    async def _pour(self) -> End:
        try:
            # The host's generator is closed here and now, so that what it holds is given back.
            async with aclosing(self.stream.parts(self.watch)) as parts:  # type: ignore[type-var]
                async for part in parts:
                    await self.still()  # what was written since is not for a key that is gone
                    await self._send(part)
        except TimeoutError:
            return LEFT
        except Problem as refusal:
            return End(is_told=True, problem=refusal)
        except StorageUnavailable:
            return End(is_told=True, problem=Problem(problem.STORAGE_UNAVAILABLE))
        except Overloaded:
            return End(is_told=True, problem=Problem(problem.OVERLOADED))
        return DONE

    async def _beat(self) -> End:
        try:
            while True:
                left = self._sent_at + self.heartbeat_seconds - system.monotonic()
                if left > 0:
                    await asyncio.sleep(left)
                else:
                    await self._send(self.stream.heartbeat)
        except TimeoutError:
            return LEFT

    async def _recheck(self) -> End:
        try:
            while True:
                await asyncio.sleep(self.recheck_seconds)
                await self.still()
        except Problem as refusal:
            return End(is_told=True, problem=refusal)

    async def _until_drained(self) -> End:
        await self.drain.wait()
        return End(is_told=True, problem=Problem(problem.SHUTTING_DOWN))

    async def _until_left(self) -> End:
        await self.exchange.left()
        return LEFT

    async def _send(self, part: bytes) -> None:
        """Send one part, once the one before it was taken.

        Raises:
            TimeoutError: the client does not read.
        """
        async with asyncio.timeout(self.slow_seconds), self._turn:
            await self.exchange.part(part)
            self._sent_at = system.monotonic()

    def _told(self, ended: Problem | None) -> bytes | None:
        if ended is None:
            return None
        return problem.body(ended, base_url=self.origin, request_id=self.exchange.request_id)
