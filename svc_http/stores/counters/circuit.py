"""A circuit breaker for a coordination server: it fails fast while the server does not answer.

Rule 1: a call has a limit of time, which includes connecting.
Rule 2: after a failure all calls are refused at once for a moment. Then a single call tries again;
        the others are refused until it succeeds.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from svc_core.operation.ports import SharedUnavailable
from svc_http import system

ANSWER_SECONDS: Final = 0.5
"""How long a call may take: a healthy server needs a hundredth of it."""

PAUSE_SECONDS: Final = 1.0
"""How long calls are refused after a failure, and about how soon a recovery is noticed."""


def _ignore(_: str) -> None:
    pass


class Circuit:
    """The circuit breaker of one server; for one event loop.

    `seconds` is how long a call may take. `on_change` is called with the reason when the server
    stops answering, and with an empty text when it answers again.
    """

    def __init__(
        self,
        failures: tuple[type[Exception], ...] = (),
        monotonic: Callable[[], float] = system.monotonic,
    ) -> None:
        self._failures = failures
        self._monotonic = monotonic
        self._reason = ""
        self._retry_at = 0.0
        self.seconds = ANSWER_SECONDS
        self.on_change: Callable[[str], None] = _ignore

    @property
    def is_down(self) -> bool:
        """Whether the last call failed."""
        return bool(self._reason)

    def check(self) -> None:
        """Check that a call may be made now.

        Raises:
            SharedUnavailable: a call failed a moment ago, or another one is testing the server.
        """
        if self._reason and self._monotonic() < self._retry_at:
            raise SharedUnavailable(self._reason)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Runs a call inside of the block and records its success or failure.

        Raises:
            SharedUnavailable: as for `check`, or in place of an error of the server.
        """
        self.check()
        self._retry_at = self._monotonic() + PAUSE_SECONDS
        try:
            yield
        except self._failures as failure:
            self._retry_at = self._monotonic() + PAUSE_SECONDS
            self._report(str(failure) or type(failure).__name__)
            raise SharedUnavailable(self._reason) from failure
        self._report("")

    def _report(self, reason: str) -> None:
        is_changed = bool(reason) != self.is_down
        self._reason = reason
        if is_changed:
            self.on_change(reason)
