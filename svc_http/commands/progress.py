"""The news of a long command."""

from collections.abc import Callable

from attrs import frozen


@frozen
class Progress:
    """How far a long command is: `done` of `total` steps, and what the last one was about."""

    done: int
    total: int
    note: str = ""


Tell = Callable[[Progress], None]
"""Takes the news of a long command; it must not wait."""


def silent(_: Progress) -> None:
    """Tell nobody."""
