"""The steps by which a store came to hold what the declarations ask for, whatever its backend."""

from attrs import frozen


@frozen
class Applied:
    """A step that the store has taken."""

    number: int
    step: str


@frozen
class Status:
    """What a store has become and what it still lacks."""

    applied: tuple[Applied, ...]
    pending: tuple[str, ...]
