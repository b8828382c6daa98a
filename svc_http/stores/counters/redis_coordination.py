"""Coordination through a Redis (5 or later) or Valkey server.

Rule 1: what must be atomic is a single script; the calls of one turn of the event loop are sent
        together.
Rule 2: the keys of a request share one hash tag, its account, so that a proxy may distribute
        accounts over servers.
Rule 3: a call that is not answered in time is given up together with its connection.
"""

import asyncio
import struct
from collections.abc import Awaitable, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from typing import Any, Final, NamedTuple

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError, ResponseError

from svc_core.access import lockout
from svc_core.operation.ports import (
    CommitListener,
    Failures,
    LockedAddress,
    Pool,
    PoolUsage,
    SharedUnavailable,
)
from svc_http.stores.counters.circuit import ANSWER_SECONDS, Circuit
from svc_http.stores.counters.in_process import Coordination
from svc_http.stores.counters.listener import SignalListener
from svc_http.stores.statement_files import named_statements

BATCH_MAX: Final = 32
BATCHES_MAX: Final = 2
"""The calls of one batch, and the batches under way: while the server works on one, the other is
encoded or decoded here."""

CHANNEL: Final = "svc:signals"
LOCKOUTS: Final = ("svc:{lockouts}:failures", "svc:{lockouts}:recent")

_SCRIPTS: Final = named_statements(__package__, "scripts.lua")
_DIGESTS: Final = {
    name: sha1(text.encode(), usedforsecurity=False).hexdigest() for name, text in _SCRIPTS.items()
}
"""The names of the scripts by which a server that has loaded them can run them."""

FAILURES: Final = (RedisError, OSError, TimeoutError)
"""The exceptions that mean that the server does not answer."""

_MICROSECOND: Final = timedelta(microseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class _Call(NamedTuple):
    command: tuple[Any, ...]
    answer: asyncio.Future[Any]


class RedisCoordination:
    """Implements the four coordination ports on one server; for one event loop."""

    def __init__(self, address: str) -> None:
        self._client: Any = Redis.from_url(
            address,
            protocol=2,
            socket_connect_timeout=ANSWER_SECONDS,
            socket_timeout=None,  # calls have a limit of their own, and the listener none
            socket_keepalive=True,
            retry=Retry(NoBackoff(), 0),
        )
        self.circuit = Circuit(FAILURES)
        self._listener = SignalListener(self._listen, FAILURES)
        self._links: list[Any] = []
        self._queue: list[_Call] = []
        self._sending: set[asyncio.Task[None] | None] = set()

    # -- counters ------------------------------------------------------------------------------

    async def hit(self, pools: Sequence[Pool], second: int) -> PoolUsage:
        """Count one request in all of the pools or in none."""
        account = pools[-1].subject
        keys = [f"svc:{{{account}}}:{pool.name}:{pool.subject}" for pool in pools[::2]]
        limits = struct.pack(f">I{len(pools)}Q", second, *[pool.limit for pool in pools])
        counts = await self._run("hit", keys, limits)
        minute, day, *used = struct.unpack(f">{len(pools) + 2}I", counts)
        return PoolUsage(tuple(used), minute, day)

    # -- lockouts ------------------------------------------------------------------------------

    async def failures(self, address: str) -> Failures:
        """The failures of one address."""
        return _times(await self._call("HGET", LOCKOUTS[0], address))

    async def record(self, address: str, now: datetime) -> Failures:
        """Count one unknown key; the failures before it."""
        span = lockout.WINDOW // _MICROSECOND
        bounds = (lockout.attempts_max(address), span, lockout.ADDRESSES_MAX)
        at = (now - _EPOCH) // _MICROSECOND
        return _times(await self._run("record", LOCKOUTS, address, at, *bounds))

    async def locked(self, now: datetime) -> tuple[LockedAddress, ...]:
        """The addresses that are locked at `now`."""
        fields = iter(await self._call("HGETALL", LOCKOUTS[0]))
        pairs = zip(fields, fields, strict=True)
        return lockout.locked_addresses({name.decode(): _times(raw) for name, raw in pairs}, now)

    async def clear(self, address: str | None) -> int:
        """Forget the failures of one address, or of all."""
        if address is not None:
            return int(await self._call("HDEL", LOCKOUTS[0], address))
        count = int(await self._call("HLEN", LOCKOUTS[0]))
        await self._call("DEL", *LOCKOUTS)
        return count

    # -- leases --------------------------------------------------------------------------------

    async def take(self, name: str, holder: str, seconds: float) -> bool:
        """Take or extend the lease of a name; see the port."""
        reply = await self._run("take", (f"svc:lease:{name}",), holder, max(int(seconds * 1000), 1))
        return bool(reply)

    async def release(self, name: str, holder: str) -> None:
        """End the lease of a name; see the port."""
        await self._run("release", (f"svc:lease:{name}",), holder)

    # -- signals -------------------------------------------------------------------------------

    async def tell(self, names: frozenset[str]) -> None:
        """Signal to every process."""
        await self._call("PUBLISH", CHANNEL, ",".join(sorted(names)))

    async def hear(self, listener: CommitListener) -> None:
        """Call `listener` for every signal from now on."""
        await self._listener.add(listener)

    async def _listen(self, listener: SignalListener) -> None:
        async with self._client.pubsub() as channel:
            await channel.subscribe(CHANNEL)
            async for message in channel.listen():
                # A subscription is also confirmed after the client has reconnected by itself.
                if message["type"] == "subscribe":
                    listener.on_connect()
                elif message["type"] == "message":
                    listener.on_signal(message["data"].decode())

    async def close(self) -> None:
        """Close the connections, once the calls under way are answered."""
        await self._listener.close()
        await asyncio.gather(*filter(None, self._sending), return_exceptions=True)
        for link in self._links:
            await link.disconnect()
        await self._client.aclose()

    # -- calls ---------------------------------------------------------------------------------

    def _run(self, script: str, keys: Sequence[str], *values: Any) -> Awaitable[Any]:
        return self._call("EVALSHA", _DIGESTS[script], len(keys), *keys, *values)

    def _call(self, *command: Any) -> Awaitable[Any]:
        """The answer of the server, to be awaited.

        Raises:
            SharedUnavailable: the server does not answer; raised now or when awaited.
        """
        self.circuit.check()
        answer = asyncio.get_running_loop().create_future()
        self._queue.append(_Call(command, answer))
        if len(self._sending) < BATCHES_MAX:
            # The task starts in the next turn of the loop, when all calls of this turn are queued.
            self._sending.add(asyncio.create_task(self._send_all()))
        return answer

    async def _send_all(self) -> None:
        calls: Sequence[_Call] = ()
        try:
            while self._queue:
                calls, self._queue = self._queue[:BATCH_MAX], self._queue[BATCH_MAX:]
                await self._send(calls)
        finally:
            # Without an await in between: the next call must see that no task is sending.
            self._sending.discard(asyncio.current_task())
            for call in calls:
                call.answer.cancel()  # only a defect leaves a call without an answer

    async def _send(self, calls: Sequence[_Call]) -> None:
        try:
            with self.circuit.attempt():
                async with asyncio.timeout(self.circuit.seconds):
                    answers = await self._exchange(calls)
        except SharedUnavailable as failure:
            answers = [failure] * len(calls)
        for call, answer in zip(calls, answers, strict=True):
            if call.answer.done():
                continue  # its caller was cancelled
            if isinstance(answer, SharedUnavailable):
                # A new exception for each call, so that each has its own traceback.
                call.answer.set_exception(SharedUnavailable(str(answer)))
            else:
                call.answer.set_result(answer)

    async def _exchange(self, calls: Sequence[_Call]) -> list[Any]:
        link = self._links.pop() if self._links else self._client.connection_pool.make_connection()
        try:
            answers = await self._answers(link, [call.command for call in calls])
            unknown = [n for n, reply in enumerate(answers) if isinstance(reply, NoScriptError)]
            if unknown:  # the server was replaced or restarted
                await self._answers(link, [("SCRIPT", "LOAD", text) for text in _SCRIPTS.values()])
                again = await self._answers(link, [calls[n].command for n in unknown])
                for n, answer in zip(unknown, again, strict=True):
                    answers[n] = answer
        except BaseException:
            await link.disconnect(nowait=True)  # late answers must not reach the next calls
            raise
        finally:
            self._links.append(link)
        for answer in answers:
            if isinstance(answer, ResponseError):
                raise answer  # the server is full or read-only, for all calls alike
        return answers

    async def _answers(self, link: Any, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The answers on one connection, error replies included.

        A pipeline of the library does the same in twice the time.
        """
        payload = b"".join(map(_encode_command, commands))
        was_open = link.is_connected
        try:
            await link.send_packed_command(payload)
            answers = [await _answer(link)]
        except RedisConnectionError:
            if not was_open:
                raise
            # The server has closed a connection that was idle for a while.
            await link.send_packed_command(payload)
            answers = [await _answer(link)]
        for _ in commands[1:]:
            answers.append(await _answer(link))
        return answers


async def _answer(link: Any) -> Any:
    try:
        return await link.read_response()
    except ResponseError as error:
        return error


def _encode_command(command: Sequence[Any]) -> bytes:
    """A command in the protocol of Redis (RESP)."""
    parts = [part if type(part) is bytes else str(part).encode() for part in command]
    return b"*%d\r\n%b" % (len(parts), b"".join([b"$%d\r\n%b\r\n" % (len(p), p) for p in parts]))


def _times(raw: bytes | None) -> Failures:
    return tuple(_EPOCH + int(time) * _MICROSECOND for time in (raw or b"").split())


def on_redis(address: str) -> Coordination:
    """Coordination through the server at an address like `redis://127.0.0.1:6379/0`.

    Raises:
        ValueError: the address is invalid.
    """
    backend = RedisCoordination(address)
    return Coordination(backend, backend, backend, backend, backend.close, backend.circuit)
