"""What is done while a place does not answer: nobody waits for it in vain, and it is tried again.

Rule 1: a call has so long to be answered, connecting included.
Rule 2: after a failure everything is refused at once for a moment; then one call tries again, and
        while it does nobody else waits with it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from svc_core.operation.ports import SharedUnavailable
from svc_http import system

ANSWER_SECONDS: Final = 0.5
"""How long a call may take: a healthy place needs a hundredth of it."""

PAUSE_SECONDS: Final = 1.0
"""How long after a failure the place is left alone; it is known to be back about as soon."""


def _ignore(_: str) -> None:
    pass


class Circuit:
    """The way to one place; for one event loop.

    `seconds` is how long a call may take. `told` hears why the place does not answer, once, and an
    empty text once it does again.
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
        self.told: Callable[[str], None] = _ignore

    @property
    def is_down(self) -> bool:
        """Whether the place did not answer the last time."""
        return bool(self._reason)

    def check(self) -> None:
        """Pass who may try.

        Raises:
            SharedUnavailable: the place failed a moment ago, or somebody is trying it now.
        """
        if self._reason and self._monotonic() < self._retry_at:
            raise SharedUnavailable(self._reason)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Try what is done inside.

        Raises:
            SharedUnavailable: as `check`, or in place of the place's own failures.
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
            self.told(reason)
