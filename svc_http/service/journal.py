"""The log of a process: one JSON line per request and per event, with nothing that a caller sent.

Rule 1: only the fields listed here are written: never a header, a body, a query or a raw path.
Rule 2: a line of a request costs about two microseconds: its constant part is made once, and
        lines are composed and written many together.
Rule 3: the text of a failure is scrubbed of keys before it is written.
Rule 4: processes that share a log write their number as `process`, and a few lines at a time, so
        that no line is cut in two by another.
Rule 5: a log that cannot be written (a full disk, a pipe that nobody reads) harms no answer and
        no worker: its lines are lost, and their number is logged once it can be written again.
Rule 6: a log file that was moved away, as logrotate does, is opened anew.

Why not structlog: docs/adr/0023-a-log-line-is-composed-late.md.
"""

import asyncio
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple, TextIO, get_args

from svc_http import system
from svc_http.exchange.http_exchange import Exchange
from svc_http.settings import Settings

LINES_MAX = 64
"""Lines that wait to be written together; at this rate a write costs nothing per line."""

FLUSH_SECONDS = 0.25
"""How long a line may wait, so that a quiet server logs promptly."""

SHAPES_MAX = 2_000
"""Constant parts kept: routes times methods times statuses in use, far below this."""

PIECE_BYTES = 4_096
"""What a pipe takes whole, however many write to it (POSIX: at least 512; Linux: this)."""

_SECRETS = re.compile(
    r"(svc_[0-9a-f]{8})[0-9a-f]+|(whsec_)\S+|(Bearer )\S+|"
    r"(postgres\w{0,20}://[^\s:/@]*:)\S{1,500}(?=@)",
    re.ASCII,
)


def sys_stderr() -> TextIO:
    """The standard error stream as it is now."""
    return sys.stderr


def scrub(text: str) -> str:
    """The text with every key and secret cut to what may be shown of it."""
    return _SECRETS.sub(lambda match: f"{match[match.lastindex or 0]}...", text)


Level = Literal["info", "warning", "error"]

LEVELS: Final = get_args(Level)


class LogFile:
    """The file at a path, opened when it is first written to and whenever it was moved away."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: TextIO | None = None

    def __call__(self) -> TextIO:
        """The file that is at the path now.

        Raises:
            OSError: it cannot be opened.
        """
        if self._file is not None and not self._is_current(self._file):
            self.close()
        if self._file is None:
            # Addresses and the names of people are in it, so a new one is the owner's alone.
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._file = os.fdopen(os.open(self._path, flags, 0o600), "a", encoding="utf-8")
        return self._file

    def close(self) -> None:
        """Close it, until it is written to again."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # there is no room for what was not written yet
                file.close()

    def _is_current(self, file: TextIO) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(file.fileno()))
        except FileNotFoundError:
            return False


class _RequestLine(NamedTuple):
    """The values of one request line; sixty lines composed in a row cost half as much each."""

    end_time: float
    milliseconds: float
    key: tuple[str, str, int]
    request_id: str
    tenant: str
    key_prefix: str
    bytes_in: int
    bytes_out: int


class Journal:
    """Writes log lines; for one thread or event loop."""

    def __init__(
        self,
        mode: Literal["all", "errors", "off"] = "all",
        stream: Callable[[], TextIO] = sys_stderr,
        process: int | None = None,
        level: Level = "info",
    ) -> None:
        self._process = {} if process is None else {"process": process}
        self._level_min = LEVELS.index(level)
        self._status_min = {"all": 500 if self._level_min else 0, "errors": 500, "off": 1_000}[mode]
        self._stream = stream
        self._waiting: list[_RequestLine] = []
        self._line_parts: dict[tuple[str, str, int], str] = {}
        self._second = -1
        self._clock_text = ""
        self._lines_lost = 0

    @classmethod
    def of(cls, settings: Settings, process: int | None = None) -> "Journal":
        """The log that the settings ask for."""
        stream = sys_stderr if settings.log_file is None else LogFile(settings.log_file)
        return cls(settings.request_log, stream, process, settings.log_level)

    def request(self, exchange: Exchange, end_time: float, milliseconds: float) -> None:
        """Note one finished request; `end_time` is in Unix seconds."""
        status = exchange.status
        if status < self._status_min:
            return
        self._add(
            _RequestLine(
                end_time,
                milliseconds,
                (exchange.method, exchange.route, status),
                exchange.request_id,
                exchange.tenant,
                exchange.key_prefix,
                exchange.bytes_in,
                exchange.bytes_out,
            )
        )

    def unread(self, request_id: str, method: str, status: int, end_time: float) -> None:
        """Note a request that was refused before it could be read as one."""
        if status >= self._status_min:
            self._add(_RequestLine(end_time, 0.0, (method, "", status), request_id, "", "", 0, 0))

    def _add(self, line: _RequestLine) -> None:
        waiting = self._waiting
        waiting.append(line)
        if len(waiting) >= LINES_MAX:
            self.flush()
        elif len(waiting) == 1:
            asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)

    def _line(self, row: _RequestLine) -> str:
        shape = self._line_parts.get(row.key) or self._line_part(row.key)
        second = int(row.end_time)
        if second != self._second:
            self._second = second
            self._clock_text = f"{datetime.fromtimestamp(second, UTC):%Y-%m-%dT%H:%M:%S}"
        return (
            f'{{"time":"{self._clock_text}.{int((row.end_time - second) * 1000):03d}Z",{shape}'
            f'"ms":{row.milliseconds:.2f},"requestId":"{row.request_id}",'
            f'"tenant":"{row.tenant}","key":"{row.key_prefix}",'
            f'"bytesIn":{row.bytes_in},"bytesOut":{row.bytes_out}}}\n'
        )

    def _line_part(self, key: tuple[str, str, int]) -> str:
        method, route, status = key
        level = "error" if status >= 500 else "info"
        members = {
            "level": level,
            "event": "request",
            **self._process,
            "method": method,
            "route": route,
            "status": status,
        }
        text = json.dumps(members, separators=(",", ":"))[1:-1] + ","
        if len(self._line_parts) < SHAPES_MAX:
            self._line_parts[key] = text
        return text

    def failure(self, event: str, error: BaseException, request_id: str = "") -> None:
        """Note a failure with its traceback, at once."""
        trace = "".join(traceback.format_exception(error))
        self.note("error", event, requestId=request_id, traceback=scrub(trace))

    def trouble(self, event: str, error: BaseException, request_id: str = "") -> None:
        """Note a repeated failure without its traceback, at once."""
        self.note("error", event, requestId=request_id, error=scrub(str(error)))

    def note(self, level: Level, event: str, **fields: object) -> None:
        """Write one event with its fields, at once."""
        if LEVELS.index(level) >= self._level_min:
            self._write(_event_line(level, event, **self._process, **fields))

    def flush(self) -> None:
        """Write the lines that wait."""
        if self._waiting:
            self._write("")

    def close(self) -> None:
        """Write the lines that wait, and close the log file until there is more to write."""
        self.flush()
        if isinstance(self._stream, LogFile):
            self._stream.close()

    def _write(self, last: str) -> None:
        waiting, self._waiting = self._waiting, []
        text = "".join(map(self._line, waiting)) + last
        loss = ""
        if self._lines_lost:  # the line before may have been cut short
            loss = "\n" + _event_line(
                "error", "log lines lost", **self._process, lines=self._lines_lost
            )
        try:
            stream = self._stream()
            for piece in _pieces(loss + text) if self._process else (loss + text,):
                stream.write(piece)
                stream.flush()
        except OSError:
            self._lines_lost += text.count("\n")
        else:
            self._lines_lost = 0


def _event_line(level: str, event: str, **fields: object) -> str:
    time_text = f"{system.now():%Y-%m-%dT%H:%M:%S}Z"
    return json.dumps({"time": time_text, "level": level, "event": event, **fields}) + "\n"


def _pieces(text: str) -> Iterator[str]:
    """Whole lines, as many at a time as are written at once; all of them are ASCII."""
    while text:
        end = len(text)
        if end > PIECE_BYTES:
            end = text.rfind("\n", 0, PIECE_BYTES) + 1 or text.find("\n", PIECE_BYTES) + 1
        yield text[:end]
        text = text[end:]
