"""SIGTERM as Ctrl-C: what a service manager sends unwinds a process like what a person types."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """Raise `KeyboardInterrupt` on SIGTERM, so that whatever is open is closed on the way out."""

    def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
