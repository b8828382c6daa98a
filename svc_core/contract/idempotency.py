"""Decides what a repeated `Idempotency-Key` means: new work, the first answer again, or a conflict.

Rule 1: a key is scoped to tenant and operation and lives 24 hours (Spec: Representation rules 5).
Rule 2: the same canonical body replays the first answer; another body is a conflict.
Rule 3: only successes are kept, in the transaction that made them, so a refusal can be mended and
        sent again with the same key, and a crash leaves no marker behind.
Rule 4: a retry mostly sends the very same bytes. These are recognised by their hash and answered
        without parsing; only other bytes are parsed and compared in their canonical form.

    raw = raw_digest(body, path_values)
    if (answer := byte_replay(stored, raw, now)) is not None:
        ...                    # give it again
    match decide(stored, request_fingerprint(read(body), path_values), now):
        case Fresh(): ...      # do the work and keep its answer in the same transaction
        case Replay(answer): ...
        case Conflict(): ...

A stored answer has both digests, one after the other: `raw + fingerprint`.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256

from attrs import frozen

from svc_core.base import canonical
from svc_core.contract import problem
from svc_core.contract.answer import Answer
from svc_core.contract.problem import Problem
from svc_core.wire import Json

# The states of a key, and why each request has one effect
# --------------------------------------------------------
#
# A client that gets no answer cannot know whether its request was carried out. It sends the request
# again under the same key, and the service has to do the work once and answer both alike.
#
# A key (by tenant, operation, and person where answers are personal) is in one of two states:
#
#     state     the request brings      decision     effect
#     free      anything                Fresh        do the work; store its answer under the key
#     answered  the same bytes          the answer   send it again, nothing parsed
#     answered  the same canonical body Replay       send it again
#     answered  another body or place   Conflict     409, the stored answer stays
#
# A free key becomes answered in the transaction that does the work, and in no other way. Either
# both are committed or neither: a crash in between leaves the key free, and the retry does the work
# for the first time. There is no third state "begun", which a crash would leave behind and somebody
# would have to clean up. An answered key becomes free again 24 hours later, by age alone. Refusals
# are not stored, so a client may mend its request and send it again under the same key.
#
# This needs one promise of the store: between reading the key and committing its answer no other
# writer of the tenant may commit. Writers of a tenant therefore run one after another (SQLite has
# one writer; PostgreSQL takes an advisory lock per tenant), and of two equal requests at once the
# second reads the answer of the first. Hosts may hold the second back earlier to save the work, but
# correctness does not depend on it.
#
# The body is compared in its canonical form (RFC 8785), because libraries may order members anew
# or write numbers in another way when they retry. The values of the path are part of the digest,
# since a key is scoped to an operation and not to a resource: one key sent to two resources is a
# conflict. Query and header fields are not compared. Weak spots: after 24 hours a retry does its
# work again, and an effect outside the transaction (a settled payment) needs its own protection.

KEY_LENGTH_MIN = 8
KEY_LENGTH_MAX = 200
RETENTION = timedelta(hours=24)


@frozen
class Fresh:
    """The key is free: do the work."""


@frozen
class Replay:
    """The work was done: give this answer again."""

    answer: Answer


@frozen
class Conflict:
    """The key was used for another request."""


FRESH = Fresh()
CONFLICT = Conflict()


def byte_replay(answer: Answer | None, raw: bytes, now: datetime) -> Answer | None:
    """The stored answer, where the same bytes came to the same resource; `raw` is their digest.

    None decides nothing: `decide` then compares the canonical forms.
    """
    if answer is None or not answer.fingerprint.startswith(raw) or now - answer.at >= RETENTION:
        return None
    return answer


def decide(answer: Answer | None, fingerprint: bytes, now: datetime) -> Fresh | Replay | Conflict:
    """What to do with a request, given the answer stored under its key; at 24 hours it is free."""
    if answer is None or now - answer.at >= RETENTION:
        return FRESH
    return Replay(answer) if answer.fingerprint.endswith(fingerprint) else CONFLICT


def raw_digest(body: bytes, path_values: Mapping[str, str]) -> bytes:
    """SHA-256 of a body as it was sent, together with the resource it was sent to.

    Keys are scoped to an operation, which has path values or has none, so that neither of the two
    texts can be taken for the other.
    """
    return sha256(canonical.dumps(dict(path_values)) + body if path_values else body).digest()


def request_fingerprint(body: Json, path_values: Mapping[str, str] | None = None) -> bytes:
    """SHA-256 of the canonical body (RFC 8785), together with the resource it was sent to."""
    place = canonical.dumps(dict(path_values)) if path_values else b"{}"
    # The canonical form of both in one array, put together here: a body of as many levels as
    # readers take would have one too many inside of it.
    return sha256(b"".join((b"[", canonical.dumps(body), b",", place, b"]"))).digest()


def check_key(key: str | None, *, required: bool) -> str | None:
    """The key as it was sent, opaque: 8 to 200 visible ASCII characters.

    Raises:
        Problem: IDEMPOTENCY_KEY_REQUIRED or INVALID_IDEMPOTENCY_KEY.
    """
    if key is None:
        if required:
            raise Problem(problem.IDEMPOTENCY_KEY_REQUIRED, "This operation needs the header.")
        return None
    if not KEY_LENGTH_MIN <= len(key) <= KEY_LENGTH_MAX:
        raise Problem(
            problem.INVALID_IDEMPOTENCY_KEY,
            f"The key has {len(key)} characters; {KEY_LENGTH_MIN} to {KEY_LENGTH_MAX} are allowed.",
        )
    if not all("!" <= character <= "~" for character in key):
        raise Problem(
            problem.INVALID_IDEMPOTENCY_KEY, "The key holds a character that is not visible ASCII."
        )
    return key
