"""One answer as a stream: a backend's events become frames, and the turn is stored and charged.

Rule 1: what refuses does so before anything is written. A thread is stored from its first word on,
        and a turn before its last frame is sent: whoever has read an answer can continue it.
Rule 2: a turn is charged once it is answered, or as soon as the client was given any text; one that
        failed or was left before that is refunded.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import partial
from typing import Any, Final

from attrs import define, field

from svc_core.access import chat_credits
from svc_core.access.chat_credits import Reservation
from svc_core.agent import threads
from svc_core.agent.agent_ports import Backend, Toolbox
from svc_core.agent.encoder import Encoder
from svc_core.agent.request import ChatRequest
from svc_core.agent.threads import ThreadContext
from svc_core.agent.transcript import Transcript
from svc_core.contract.result import Fields
from svc_core.operation import stream
from svc_core.operation.declaration import SSE
from svc_core.operation.stream import Stream, Watch
from svc_core.operation.units import Units

FIRST_SECONDS: Final = 15.0
"""How long the response head waits, so that a backend may still refuse with its own status.

It is no longer than the silence between frames, for proxies take a longer one for the end."""
SECONDS_MAX: Final = 120.0

_STREAM_FIELDS: Final = (("Cache-Control", "no-cache, no-transform"), ("X-Accel-Buffering", "no"))


@define(eq=False)
class AnswerStream:
    """An answer while it is sent; its thread is stored where the host retains any.

    `owner_id` is the person who asks, with a key or without one.
    """

    work: Units
    chat: ChatRequest
    thread: ThreadContext
    message_id: str
    encoder: Encoder
    reservation: Reservation
    owner_id: str | None = None
    _transcript: Transcript = field(factory=Transcript, init=False)
    _is_begun: bool = field(default=False, init=False)
    _is_written: bool = field(default=False, init=False)

    def stream(self, backend: Backend, tools: Toolbox, fields: Fields) -> Stream:
        """The response that streams the answer."""
        return Stream(
            SSE.media_type,
            partial(self._parts, backend, tools),
            stream.HEARTBEAT,
            self.encoder.farewell,
            fields=(("X-Thread-Id", self.thread.id), *fields, *_STREAM_FIELDS),
            patience_seconds=FIRST_SECONDS,
            seconds_max=SECONDS_MAX,
            settle=self._settle,
        )

    async def _parts(self, backend: Backend, tools: Toolbox, _: Watch) -> AsyncIterator[bytes]:
        events: Any = await backend.open(self.chat.turn, tools)
        async with aclosing(events):
            self._is_begun = True
            yield self.encoder.open()
            is_new = bool(self.work.host.thread_retention) and self.thread.is_new
            async for event in events:
                parts = self._transcript.add(event)
                if self._transcript.end is not None:
                    # Stored before its frames are made: a stream cut here ends with `farewell`.
                    await self._save_turn()
                yield b"".join(map(self.encoder.feed, parts))
                if self.encoder.end is not None:
                    return
                if is_new and self._transcript.text:  # the first word is sent before this write
                    is_new = False
                    await self._write(partial(threads.begin_thread, id_=self.thread.id))
        await self._save_turn()
        yield self.encoder.close()

    async def _settle(self) -> None:
        try:
            if self._is_begun or self.encoder.end is not None:
                await self._save_turn()
        finally:
            await chat_credits.settle(
                self.work, self.reservation, refund=not self._transcript.is_answered
            )

    async def _save_turn(self) -> None:
        if self._is_written or not self.work.host.thread_retention:
            return
        turn = self._transcript.thread_turn(self.thread.id, self.chat.turn, self.chat.metadata)
        append = partial(threads.append_turn, turn=turn, owner_id=self.owner_id)
        await self._write(partial(append, id_=self.message_id))
        self._is_written = True

    async def _write(self, unit: Any) -> None:
        await self.work.write(self.reservation.tenant, unit)
