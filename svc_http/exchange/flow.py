"""Sends a streamed answer part by part, until the client, the server or the key ends it.

Rule 1: backpressure: while the client has not taken a part, at most `HELD_BYTES` are gathered
        behind it, and no more are produced.
Rule 2: a client that disconnects is noticed at once, also while there is nothing to send.
Rule 3: a stream ends with a last frame in its own format when the server stops, when the key may
        no longer read, when its time is over, or when something fails. Only a client that does
        not read is cut off without one.
Rule 4: the producer yields to the event loop between parts, so that it cannot block others.
Rule 5: the cost of the stream is settled exactly once, however the stream ends.

Six tasks run beside each other: one produces parts (`_pour`), one sends them (`_hand_on`), one
sends heartbeats and finds a client that does not read (`_beat`), one checks the key again
(`_recheck`), one waits for the end of the server, one for that of the client. The first task that
finishes gives the `End`; the others are cancelled. A client that is gone goes before every other
reason, because there is nobody left to send a last frame to.
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
from svc_http.exchange.http_exchange import SLOW_SECONDS, ClientGoneError, Exchange, busy

HEARTBEAT_SECONDS: Final = 15.0
"""The longest silence: proxies close what is quiet for 30 to 60 seconds."""
STREAM_SECONDS: Final = 900.0
"""How long one stream may last; a client resumes after it with Last-Event-ID."""
RECHECK_SECONDS: Final = 30.0
"""How often a silent stream checks that its key may still read; each part is checked anyway."""
FAREWELL_SECONDS: Final = 0.5
"""How long the last frame may take, so that a stream ends within a second of a shutdown."""
STOP_SECONDS: Final = 0.001
HELD_BYTES: Final = 16 * 1024
"""How long, and up to what size, parts are gathered before the producer pauses. Sending each alone
would cost as much as making it; never pausing would block every other request."""


@frozen(eq=False)
class End:
    """Why a stream ended.

    Where `has_last_frame` is set, a last frame is sent, about the `failure` if there is one. Where
    `is_by_server` is set, the server ended the stream, and the gathered parts are sent first.
    """

    has_last_frame: bool = False
    failure: Exception | None = None
    is_by_server: bool = False


CLIENT_END: Final = End()
"""The client has disconnected or does not read: no last frame is sent."""
STREAM_END: Final = End()
TIME_END: Final = End(has_last_frame=True, is_by_server=True)


_KINDS: Final[Mapping[type[Exception], ProblemType]] = {
    StorageUnavailable: problem.STORAGE_UNAVAILABLE,
    Overloaded: problem.OVERLOADED,
}


@define(eq=False)
class Flow:
    """One stream that is being sent to one client.

    `begin` sends the head; `room` bounds how many streams are open. The repeated check of access
    raises the problem that keeps the caller from reading on. `drain` is set at shutdown.
    """

    exchange: Exchange
    stream: Stream
    watch: Watch
    begin: Callable[[], Awaitable[None]]
    room: AbstractContextManager[None]
    check_access: Callable[[], Awaitable[object]]
    drain: asyncio.Event
    origin: str
    recheck_seconds: float = RECHECK_SECONDS
    heartbeat_seconds: float = HEARTBEAT_SECONDS
    slow_seconds: float = SLOW_SECONDS
    _buffer: bytes = field(default=b"", init=False)
    _pending: bytes = field(default=b"", init=False)
    _has_parts: asyncio.Event = field(factory=asyncio.Event, init=False)
    _is_empty: asyncio.Event = field(factory=asyncio.Event, init=False)
    _sending: asyncio.Lock = field(factory=asyncio.Lock, init=False)
    _taken_at: float = field(factory=system.monotonic, init=False)

    async def run(self) -> None:
        """Send the head, every part and the last frame.

        Raises:
            Problem: OVERLOADED, or another refusal before the head was sent.
            ClientGoneError: the client left before the head was sent.
            Exception: a defect, to be logged; the last frame has told the client of a failure.
        """
        is_whole = False
        try:
            with self.room:
                end = await self._wait_end()
            is_whole = self._is_begun and await self._send_farewell(end)
        finally:
            try:
                # This must run even when the request is cancelled, or the charge would be wrong.
                await asyncio.shield(self.stream.settle())
            finally:
                if is_whole:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(FAREWELL_SECONDS):
                            await self.exchange.end()
        self._raise_failure(end)

    @property
    def _is_begun(self) -> bool:
        return bool(self.exchange.status)

    async def _send_farewell(self, end: End) -> bool:
        """Send the last frame; False where the stream must be seen to be cut short."""
        if not end.has_last_frame:
            return end is STREAM_END
        if end.is_by_server:
            self._pending, self._buffer = self._pending + self._buffer, b""
        last = self.stream.farewell(self._last_frame(end.failure))
        try:
            async with asyncio.timeout(FAREWELL_SECONDS):
                await self.exchange.part(self._pending + last)
        except OSError:
            return False
        return bool(last or not self._buffer)

    def _raise_failure(self, end: End) -> None:
        """Raise the failure that the edge still has to answer or to log."""
        if not self._is_begun and end is CLIENT_END:
            raise ClientGoneError
        if not self._is_begun and end is TIME_END:
            raise Problem(problem.UPSTREAM_TIMEOUT)
        is_said = self._is_begun and isinstance(end.failure, Problem)
        if end.failure is not None and not is_said:
            raise end.failure

    async def _wait_end(self) -> End:
        if not self.stream.patience_seconds:
            await self._send()
        works = (
            self._produce(),
            self._send_gathered(),
            self._keep_alive(),
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
        return CLIENT_END if CLIENT_END in ends else next(iter(ends), TIME_END)

    async def _produce(self) -> End:
        try:
            # The generator is closed at once, so that it gives back the resources it holds.
            async with aclosing(self.stream.parts(self.watch)) as parts:  # type: ignore[type-var]
                stop_at = 0.0
                async for part in parts:
                    if part:
                        self._buffer = part
                        await (
                            self.check_access()
                        )  # the key may have been revoked since the last part
                        self._pending, self._buffer = self._pending + part, b""
                        self._is_empty.clear()
                        self._has_parts.set()
                    if len(self._pending) >= HELD_BYTES:
                        await self._is_empty.wait()
                    # A producer that never waits would otherwise keep the event loop to itself.
                    if system.monotonic() >= stop_at:
                        await asyncio.sleep(0)
                        stop_at = system.monotonic() + STOP_SECONDS
            end = STREAM_END
        except Exception as failure:
            end = End(has_last_frame=True, failure=failure)
        if self._pending or self._is_begun or end is STREAM_END:
            self._has_parts.set()
            await self._is_empty.wait()
        return end

    async def _send_gathered(self) -> End:
        """Send the gathered parts, all of them at once, whenever there are any."""
        try:
            while True:
                await self._has_parts.wait()
                self._has_parts.clear()
                await self._send()
                if not self._pending:
                    self._is_empty.set()
        except ClientGoneError:
            return CLIENT_END

    async def _keep_alive(self) -> End:
        """Send heartbeats in silence, and find a client that does not read."""
        try:
            while True:
                now = system.monotonic()
                if self._sending.locked():
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
                await self.check_access()
        except Problem as refusal:
            return End(has_last_frame=True, failure=refusal)

    async def _until_drained(self) -> End:
        await self.drain.wait()
        return End(has_last_frame=True, failure=busy(problem.SHUTTING_DOWN), is_by_server=True)

    async def _until_left(self) -> End:
        await self.exchange.wait_closed()
        return CLIENT_END

    async def _send(self, tail: bytes = b"") -> None:
        """Send the gathered parts and `tail`, once the client took those before; the head first.

        Raises:
            ClientGoneError: the connection is broken.
        """
        await self._sending.acquire()
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
            self._sending.release()

    def _last_frame(self, failure: Exception | None) -> bytes | None:
        if failure is None:
            return None
        kind = _KINDS.get(type(failure), problem.INTERNAL_ERROR)
        refusal = failure if isinstance(failure, Problem) else Problem(kind)
        return problem.body(refusal, base_url=self.origin, request_id=self.exchange.request_id)
