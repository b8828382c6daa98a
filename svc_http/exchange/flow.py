"""Answers that go on: sent part by part until the client, the server or the key ends them.

Rule 1: what is under way waits for the client; behind it a little is gathered, and no more made.
Rule 2: whoever leaves is noticed at once, also while there is nothing to send.
Rule 3: a stream ends in the words of its own representation: when the server stops, when the key
        may no longer read, when it has had its time, when something breaks. Only who does not
        read is cut off.
Rule 4: what makes the parts cannot hold up anything else: between them there are places to stop.
Rule 5: whatever happens, what the stream costs is settled, once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, aclosing, suppress
from typing import Final

from attrs import define, field, frozen

from svc_core.contract import problem
from svc_core.contract.problem import Problem, ProblemType
from svc_core.operation.ports import Overloaded, StorageUnavailable
from svc_core.operation.stream import Stream, Watch
from svc_http import system
from svc_http.exchange.exchange import SLOW_SECONDS, ClientGoneError, Exchange, busy

HEARTBEAT_SECONDS: Final = 15.0
"""The longest silence: proxies close what is quiet for 30 to 60 seconds."""
STREAM_SECONDS: Final = 900.0
"""How long one stream goes on; whoever wants more comes back where it ended."""
RECHECK_SECONDS: Final = 30.0
"""How often it is asked anew, in silence, whether the caller may still read; before each part
it is asked anyway."""
FAREWELL_SECONDS: Final = 0.5
"""How long the last part may take: a stream is over within a second of the server's end."""
STOP_SECONDS: Final = 0.001
HELD_BYTES: Final = 16 * 1024
"""How long, and for how much, the parts of one stream are gathered that come without a wait: to
send each alone would cost as much as to make it, and to stop after none would hold up the rest."""


@frozen(eq=False)
class End:
    """How a stream ended. One that `is_told` has a last part, about the failure if any; one that
    `is_ours` ended for no reason of its own, and sends what was made until then."""

    is_told: bool = False
    failure: Exception | None = None
    is_ours: bool = False


CLIENT_END: Final = End()
"""The client is gone or does not read: there is nobody to tell."""
STREAM_END: Final = End()
TIME: Final = End(is_told=True, is_ours=True)


_KINDS: Final[Mapping[type[Exception], ProblemType]] = {
    StorageUnavailable: problem.STORAGE_UNAVAILABLE,
    Overloaded: problem.OVERLOADED,
}


@define(eq=False)
class Flow:
    """One stream on its way to one client.

    `begin` sends the head, once there is `room`. `still` raises the problem that keeps the caller
    from reading on; `drain` is set when the server ends.
    """

    exchange: Exchange
    stream: Stream
    watch: Watch
    begin: Callable[[], Awaitable[None]]
    room: AbstractContextManager[None]
    still: Callable[[], Awaitable[object]]
    drain: asyncio.Event
    origin: str
    recheck_seconds: float = RECHECK_SECONDS
    heartbeat_seconds: float = HEARTBEAT_SECONDS
    slow_seconds: float = SLOW_SECONDS
    _buffer: bytes = field(default=b"", init=False)
    _pending: bytes = field(default=b"", init=False)
    _is_held: asyncio.Event = field(factory=asyncio.Event, init=False)
    _is_taken: asyncio.Event = field(factory=asyncio.Event, init=False)
    _turn: asyncio.Lock = field(factory=asyncio.Lock, init=False)
    _taken_at: float = field(factory=system.monotonic, init=False)

    async def run(self) -> None:
        """Send the head, every part, and the last one when it is time.

        Raises:
            Problem: OVERLOADED; or what refused before the head was sent.
            ClientGoneError: the client left before that.
            Exception: a defect, of which the client was told what it may know.
        """
        is_whole = False
        try:
            with self.room:
                end = await self._wait_end()
            is_whole = self._is_begun and await self._part_with(end)
        finally:
            try:
                # Cancelled or not: nobody pays twice, or for nothing.
                await asyncio.shield(self.stream.settle())
            finally:
                if is_whole:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(FAREWELL_SECONDS):
                            await self.exchange.end()
        self._raise_what_is_left(end)

    @property
    def _is_begun(self) -> bool:
        return bool(self.exchange.status)

    async def _part_with(self, end: End) -> bool:
        """Say why it ends; whether all was said, so that what was cut short shows it."""
        if not end.is_told:
            return end is STREAM_END
        if end.is_ours:
            self._pending, self._buffer = self._pending + self._buffer, b""
        last = self.stream.farewell(self._last_frame(end.failure))
        try:
            async with asyncio.timeout(FAREWELL_SECONDS):
                await self.exchange.part(self._pending + last)
        except OSError:
            return False
        return bool(last or not self._buffer)

    def _raise_what_is_left(self, end: End) -> None:
        """What the edge has to answer or to log."""
        if not self._is_begun and end is CLIENT_END:
            raise ClientGoneError
        if not self._is_begun and end is TIME:
            raise Problem(problem.UPSTREAM_TIMEOUT)
        is_said = self._is_begun and isinstance(end.failure, Problem)
        if end.failure is not None and not is_said:
            raise end.failure

    async def _wait_end(self) -> End:
        if not self.stream.patience_seconds:
            await self._send()
        works = (
            self._pour(),
            self._hand_on(),
            self._beat(),
            self._recheck(),
            self._until_drained(),
            self._until_left(),
        )
        tasks = [asyncio.create_task(work) for work in works]
        try:
            finished_tasks, _ = await asyncio.wait(
                tasks,
                timeout=self.stream.seconds_max or STREAM_SECONDS,
                return_when=asyncio.FIRST_COMPLETED,
            )
            ends = [task.result() for task in tasks if task in finished_tasks]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return CLIENT_END if CLIENT_END in ends else next(iter(ends), TIME)

    async def _pour(self) -> End:
        try:
            # The host's generator is closed here and now, so that what it holds is given back.
            async with aclosing(self.stream.parts(self.watch)) as parts:  # type: ignore[type-var]
                stop_at = 0.0
                async for part in parts:
                    if part:
                        self._buffer = part
                        await self.still()  # what was written since is not for a key that is gone
                        self._pending, self._buffer = self._pending + part, b""
                        self._is_taken.clear()
                        self._is_held.set()
                    if len(self._pending) >= HELD_BYTES:
                        await self._is_taken.wait()
                    # Nobody need have waited for anything.
                    if system.monotonic() >= stop_at:
                        await asyncio.sleep(0)
                        stop_at = system.monotonic() + STOP_SECONDS
            end = STREAM_END
        except Exception as failure:
            end = End(is_told=True, failure=failure)
        if self._pending or self._is_begun or end is STREAM_END:
            self._is_held.set()
            await self._is_taken.wait()
        return end

    async def _hand_on(self) -> End:
        """Send what is held, all of it at once, whenever there is any."""
        try:
            while True:
                await self._is_held.wait()
                self._is_held.clear()
                await self._send()
                if not self._pending:
                    self._is_taken.set()
        except ClientGoneError:
            return CLIENT_END

    async def _beat(self) -> End:
        """Break every silence of ours, and find that of a client that does not read."""
        try:
            while True:
                now = system.monotonic()
                if self._turn.locked():
                    rest_seconds = self._taken_at + self.slow_seconds - now
                    if rest_seconds <= 0:
                        return CLIENT_END
                else:
                    is_begun = self._is_begun
                    quiet = self.heartbeat_seconds if is_begun else self.stream.patience_seconds
                    rest_seconds = self._taken_at + quiet - now
                    if rest_seconds <= 0:
                        async with asyncio.timeout(self.slow_seconds):
                            await self._send(self.stream.heartbeat)
                await asyncio.sleep(min(max(rest_seconds, 0), self.slow_seconds))
        except (ClientGoneError, TimeoutError):
            return CLIENT_END

    async def _recheck(self) -> End:
        try:
            while True:
                await asyncio.sleep(self.recheck_seconds)
                await self.still()
        except Problem as refusal:
            return End(is_told=True, failure=refusal)

    async def _until_drained(self) -> End:
        await self.drain.wait()
        return End(is_told=True, failure=busy(problem.SHUTTING_DOWN), is_ours=True)

    async def _until_left(self) -> End:
        await self.exchange.wait_closed()
        return CLIENT_END

    async def _send(self, tail: bytes = b"") -> None:
        """Send what is held and `tail`, once the part before was taken; the head before the first.

        Raises:
            ClientGoneError: the connection is broken.
        """
        await self._turn.acquire()
        try:
            self._taken_at = system.monotonic()
            if not self._is_begun:
                await self.begin()
            part, self._pending = self._pending + tail, b""
            if part:
                await self.exchange.part(part)
        except OSError as error:
            raise ClientGoneError from error
        finally:
            self._turn.release()

    def _last_frame(self, failure: Exception | None) -> bytes | None:
        if failure is None:
            return None
        kind = _KINDS.get(type(failure), problem.INTERNAL_ERROR)
        refusal = failure if isinstance(failure, Problem) else Problem(kind)
        return problem.body(refusal, base_url=self.origin, request_id=self.exchange.request_id)
