"""The states of a payment: one table gives the next state for every state and event.

Rule 1: an authorization moves money once at most; here it is reserved before anything runs for it.
Rule 2: from the moment a facilitator may have been asked to settle, only a definite answer takes
        the payment out of doubt: a refusal, or the sight of the money. Time alone never does.
Rule 3: the answer is kept before money may move, so that what was paid for is never lost.
Rule 4: `settled` is the end. The one who moves a payment there sends its answer; nobody else does.
Rule 5: that money has moved is the stronger fact: it is taken note of in every state.

An unknown payment counts as `released`: nothing was charged, and it may be reserved.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class State(StrEnum):
    """The state of a payment."""

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
    """An event in the life of a payment."""

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


# The theory of the table. Two systems must agree without a common transaction: our store, which
# has the answer, and the chain, which has the money. A facilitator stands between them and may be
# asked, but its answer can be lost. The table orders the writes so that every crash leaves a
# state from which only safe moves lead on.
#
# The order is: reserve, work, store the answer and move to SETTLING in one write, ask, note the
# result, send. Before SETTLING nobody was asked, so a dead process costs nothing: the lease ends
# (LAPSE) and the payment is free again. From SETTLING on the money may have moved, so LAPSE leads
# into doubt (`unknown`) and never back to `released`. Doubt ends by a fact only: the money
# was seen (CONFIRM, OBSERVE), or a refusal is certain (REJECT). A timer that released payments in
# doubt would one day charge a client and keep the answer.
#
# Three states are doubt because each allows another next step: in `settling` a process is at work
# under its lease; in `pending` a facilitator has named a transfer, and losing contact (LOSE) takes
# that back no more than time does; in `unknown` nothing is known, and asking again is right,
# because the chain takes a nonce once: a second settlement cannot charge twice.
#
# CONFIRM and OBSERVE are both "the money moved". CONFIRM comes from the request that waits for the
# answer, so the payment is settled and the answer sent; OBSERVE comes from the reconciler, so the
# answer is owed until the same request comes again (DELIVER). Only the process whose write makes
# the move to `settled` sends the answer: of two at once, one write succeeds and the other raises
# `Superseded`.
#
# A cell "-" is a refused event: another process holds the payment, no facilitator was asked, or
# the money has moved or may have. Two cells look odd: a CONFIRM settles a released or reserved
# payment as well. It comes late, from a process whose lease had ended; and money that moved
# is noted in every state (rule 5).
#
# Weak spots. Between the last write and the last byte the process may die: the state says
# `settled`, and only a client that named its payment (an identifier) gets the answer again.
# And a payment in doubt without a view of the chain waits for its client or the operator.
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
"""A process is at work while its lease lasts."""

IN_DOUBT: Final = frozenset({State.SETTLING, State.PENDING, State.UNKNOWN})
"""Money may have moved or may yet: no client is asked to pay anew for the same request."""

WATCHED: Final = IN_FLIGHT | IN_DOUBT
"""The states that the reconciler looks at; a payment that is owed only waits for its client."""


class Superseded(Exception):  # noqa: N818 - says what happened
    """The event cannot happen: another process has moved the payment, or holds it."""


def step(state: State, event: Event) -> State:
    """The next state that the table has for the pair.

    Raises:
        Superseded: the table has none.
    """
    state_ = TABLE[state][event]
    if state_ is None:
        raise Superseded(f"A payment that is {state} takes no {event}.")
    return state_
