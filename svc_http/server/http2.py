"""One HTTP/2 connection under Hypercorn (RFC 9113), with the bounds of our own.

Rule 1: a request is judged by the same edge as over HTTP/1.1; CONNECT, too, goes no other way.
Rule 2: what costs a client nothing and us something is counted: streams that it takes back
        (CVE-2023-44487), and frames that ask for nothing. Beyond the bounds the connection ends.
Rule 3: priorities are ignored (RFC 9113, 5.3.2 deprecates them), and tables of compression stay as
        small as the protocol begins them.
"""

from typing import Any, Final

import h2.events
import h2.settings
from h2.errors import ErrorCodes
from hypercorn.events import Closed
from hypercorn.protocol.events import Body, Event, Request, Response
from hypercorn.protocol.h2 import H2Protocol, StreamBuffer
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.utils import filter_pseudo_headers

from svc_http.server.hypercorn import Listening

TAKEN_BACK_MAX: Final = 100
"""Requests that a client may take back without having heard an answer; each answer forgives one."""
IDLE_FRAMES_MAX: Final = 1_000
"""Settings, pings, empty data and the like between requests and parts of answers: a few are."""
TABLE_BYTES_MAX: Final = 4_096
"""Of the table by which our fields are compressed, whatever the client would keep (RFC 7541)."""
HEADER_LIST_BYTES_MAX: Final = 40_960
"""What clients are told that we take; the edge refuses a little less (431)."""
HEADER_LIST_BYTES_READ: Final = 256 * 1024
"""What is read to be refused in words; whoever sends more loses the connection."""

# Fields of a connection, which the answers of HTTP/1.1 may have (RFC 9113, 8.2.2).
_OF_CONNECTIONS: Final = frozenset({b"connection", b"keep-alive", b"transfer-encoding", b"upgrade"})
_IDLE: Final = (
    h2.events.RemoteSettingsChanged,
    h2.events.PingReceived,
    h2.events.PingAckReceived,
    h2.events.PriorityUpdated,
    h2.events.UnknownFrameReceived,
)


class Protocol(H2Protocol):
    """One connection; its streams are served as Hypercorn serves them."""

    config: Listening

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._taken_back = 0
        self._idle_frames = 0
        # Without the extended CONNECT (RFC 8441), which Hypercorn offers.
        codes = h2.settings.SettingCodes
        self.connection.local_settings = h2.settings.Settings(
            client=False,
            initial_values={
                codes.MAX_CONCURRENT_STREAMS: self.config.h2_max_concurrent_streams,
                codes.MAX_HEADER_LIST_SIZE: HEADER_LIST_BYTES_MAX,
            },
        )
        self.connection.decoder.max_header_list_size = HEADER_LIST_BYTES_READ

    async def stream_send(self, event: Event) -> None:
        """Send a part of an answer, without the fields that only a connection of HTTP/1.1 has."""
        if isinstance(event, Response):
            kept = [pair for pair in event.headers if pair[0] not in _OF_CONNECTIONS]
            event = Response(event.stream_id, kept, event.status_code)
            heard = self.connection.streams.get(event.stream_id)
            if heard is not None and not heard.closed:
                self._taken_back = max(0, self._taken_back - 1)
        elif isinstance(event, Body):
            self._idle_frames = 0  # who listens for hours may ask now and then whether we are there
        await super().stream_send(event)

    async def _handle_events(self, events: list[h2.events.Event]) -> None:
        for event in events:
            if self._is_too_much(event):
                self.connection.close_connection(ErrorCodes.ENHANCE_YOUR_CALM)
                await self._flush()
                await self.send(Closed())
                return
            if isinstance(event, h2.events.RemoteSettingsChanged):
                table = self.connection.encoder.header_table_size
                self.connection.encoder.header_table_size = min(table, TABLE_BYTES_MAX)
            if isinstance(event, h2.events.DataReceived) and event.stream_id not in self.streams:
                # Of a request that is answered already.
                self.connection.acknowledge_received_data(
                    event.flow_controlled_length, event.stream_id
                )
            elif not isinstance(event, h2.events.PriorityUpdated):
                await super()._handle_events([event])
        await self._flush()

    def _is_too_much(self, event: h2.events.Event) -> bool:
        """Whether the client has sent more than its share of what it costs nothing to send."""
        if isinstance(event, h2.events.RequestReceived):
            self._idle_frames = 0
        elif isinstance(event, h2.events.StreamReset):
            self._taken_back += 1
        elif isinstance(event, _IDLE) or _is_empty(event):
            self._idle_frames += 1
        return self._taken_back > TAKEN_BACK_MAX or self._idle_frames > IDLE_FRAMES_MAX

    async def _create_stream(self, request: h2.events.RequestReceived) -> None:
        """Begin a stream. A CONNECT has no path; as over HTTP/1.1, its authority is its target."""
        said = dict(request.headers)
        stream = self.streams[request.stream_id] = HTTPStream(
            self.app,
            self.config,
            self.context,
            self.task_group,
            self.ssl,
            self.client,
            self.server,
            self.stream_send,
            request.stream_id,
        )
        self.stream_buffers[request.stream_id] = StreamBuffer(self.context.event_class)
        self.priority.insert_stream(request.stream_id)
        self.priority.block(request.stream_id)
        await stream.handle(
            Request(
                stream_id=request.stream_id,
                headers=filter_pseudo_headers(request.headers),
                http_version="2",
                method=said[b":method"].decode("ascii").upper(),
                raw_path=said.get(b":path") or said.get(b":authority", b""),
                state=self.connection_state,
            )
        )
        self.keep_alive_requests += 1
        await self.context.mark_request()


def _is_empty(event: h2.events.Event) -> bool:
    return isinstance(event, h2.events.DataReceived) and not event.data
