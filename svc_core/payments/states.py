"""The life of a payment: every pair of a state and an event, decided in one table.

Rule 1: an authorization moves money once at most; here it is reserved before anything runs for it.
Rule 2: from the moment a facilitator may have been asked to settle, only a definite answer takes
        the payment out of doubt: a refusal, or the sight of the money. Time alone never does.
Rule 3: the answer is kept before money may move, so that what was paid for is never lost.
Rule 4: `settled` is the end. The one who moves a payment there sends its answer; nobody else does.
Rule 5: that money has moved is the stronger fact: it is taken note of in every state.

A payment that nobody has heard of is `released`: nothing was charged, and it may be reserved.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class State(StrEnum):
    """Where a payment stands."""

    RELEASED = "released"
    """Nothing was charged; the same authorization may be tried again while it is valid."""
    RESERVED = "reserved"
    """One request has it and its work runs; no facilitator was asked to settle."""
    SETTLING = "settling"
    """The answer is kept and a facilitator is being asked to settle."""
    PENDING = "pending"
    """A facilitator has sent the transfer and does not know yet whether it went through."""
    UNKNOWN = "unknown"
    """Whether the money moved is not known."""
    OWED = "owed"
    """The money moved and the answer has not been sent yet."""
    SETTLED = "settled"
    """The money moved and the answer was sent."""


class Event(StrEnum):
    """What happens to a payment."""

    RESERVE = "reserve"
    """A request brings the authorization, which is found good."""
    FAIL = "fail"
    """The work did not succeed, so nothing is asked for it."""
    SETTLE = "settle"
    """The answer is there; a facilitator is going to be asked."""
    CONFIRM = "confirm"
    """The money moved, and a request waits for the answer."""
    OBSERVE = "observe"
    """The money was seen to have moved, and nobody waits."""
    REJECT = "reject"
    """It is certain that the money did not move and, as it stands, will not."""
    PEND = "pend"
    """The facilitator names a transfer that is under way."""
    LOSE = "lose"
    """No answer of the facilitator, or none that says anything."""
    LAPSE = "lapse"
    """Whoever worked on the payment has not been heard of for as long as its lease."""
    DELIVER = "deliver"
    """The same request came again for its answer, which is about to be sent."""


# "-" is refused: another has the payment, nobody was asked, or the money may have moved or has.
# Released and reserved payments, too, are settled by a confirmation: it comes late from one whose
# lease had run out, and money that moved is noted (Rule 5).
_GRID: Final = """
          reserve  fail     settle   confirm observe reject   pend    lose    lapse    deliver
released  reserved -        -        settled -       -        -       -       released -
reserved  -        released settling settled -       released -       -       released -
settling  -        -        -        settled owed    released pending unknown unknown  -
pending   -        -        settling settled owed    released pending pending pending  -
unknown   -        -        settling settled owed    released pending unknown unknown  -
owed      -        -        -        settled owed    -        -       -       owed     settled
settled   -        -        -        -       -       -        -       -       -        -
"""


def _read(grid: str) -> Mapping[State, Mapping[Event, State | None]]:
    head, *rows = (line.split() for line in grid.strip().splitlines())
    return MappingProxyType(
        {
            State(name): {
                event: None if cell == "-" else State(cell)
                for event, cell in zip(map(Event, head), cells, strict=True)
            }
            for name, *cells in rows
        }
    )


TABLE: Final = _read(_GRID)
"""The next step for every state and every event; None where the event is refused, and the payment
stays as it is."""

IN_FLIGHT: Final = frozenset({State.RESERVED, State.SETTLING})
"""Somebody is at work while the lease lasts."""

IN_DOUBT: Final = frozenset({State.SETTLING, State.PENDING, State.UNKNOWN})
"""Money may have moved or may yet: no client is asked to pay anew for the same request."""

WATCHED: Final = IN_FLIGHT | IN_DOUBT
"""What the reconciler looks after. A payment that is owed waits for its client alone."""


class Superseded(Exception):  # noqa: N818 - says what happened
    """The event cannot happen: somebody else has moved the payment on, or has it."""


def step(state: State, event: Event) -> State:
    """The next state that the table has for the pair.

    Raises:
        Superseded: it has none.
    """
    state_ = TABLE[state][event]
    if state_ is None:
        raise Superseded(f"A payment that is {state} takes no {event}.")
    return state_
