"""Restarts the server in place on SIGHUP, with newly read settings, secret and certificates.

Rule 1: settings that cannot be used change nothing: why is said in the log, and all goes on.
Rule 2: the socket stays open meanwhile: who connects waits for an answer and is not refused.
Rule 3: SIGHUP ends nothing, whenever it comes; those that come while a start is under way are one
        that comes after it.
"""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from svc_http.service.equipment import validate_settings
from svc_http.service.journal import Journal, Level, scrub
from svc_http.service.runtime.runtime_state import Runtime
from svc_http.settings import Settings, setting_fault

Read = Callable[[], Settings]
"""The settings as they are now."""

Run = Callable[[Settings, "Restarts"], None]
"""Serves with these settings until it is drained."""


class Restarts:
    """What was asked for while a server ran; the server tells by `heeds` what is to be drained."""

    def __init__(self, settings: Settings, read: Read) -> None:
        self._settings = settings
        self._read = read
        self._next: Settings | None = None
        self._running: tuple[asyncio.AbstractEventLoop, Runtime] | None = None
        self._is_asked_again = False

    def run(self, serve: Run) -> None:
        """Serve, and again with other settings as often as it is asked for."""
        before = signal.signal(signal.SIGHUP, self._on_signal)
        try:
            serve(self._settings, self)
            while self._next is not None:
                former, self._settings, self._next = self._settings, self._next, None
                try:
                    serve(self._settings, self)
                except Exception as failure:
                    self._settings = former
                    self._give_up(failure)
                    serve(former, self)
        finally:
            signal.signal(signal.SIGHUP, before)

    @contextmanager
    def heeds(self, runtime: Runtime) -> Iterator[None]:
        """Have this service drained when a restart is asked for."""
        loop = asyncio.get_running_loop()
        self._running = loop, runtime
        if self._is_asked_again:
            self._is_asked_again = False
            loop.call_soon(self._begin, runtime)
        try:
            yield
        finally:
            self._running = None

    def _on_signal(self, *_: Any) -> None:
        if self._running is None or self._next is not None:
            self._is_asked_again = True
            return
        loop, runtime = self._running
        loop.call_soon_threadsafe(self._begin, runtime)

    def _begin(self, runtime: Runtime) -> None:
        try:
            fresh = validate_settings(self._read())
            _check_kept(self._settings, fresh)
        except Exception as failure:
            self._give_up(failure)
            return
        self._next = fresh
        runtime.is_replaced = True
        runtime.drain.set()
        self._note("info", "restarting")

    def _give_up(self, failure: Exception) -> None:
        self._note("error", "restart given up", why=scrub(str(failure)))

    def _note(self, level: Level, event: str, **fields: object) -> None:
        journal = Journal.of(self._settings)
        journal.note(level, event, **fields)
        journal.close()


def _check_kept(settings: Settings, fresh: Settings) -> None:
    """See that what a running server cannot change stays.

    Raises:
        SettingsError: it would.
    """
    for name in ("host", "port", "processes"):
        if getattr(settings, name) != getattr(fresh, name):
            raise setting_fault(name, "changes with a stop and a start alone")
