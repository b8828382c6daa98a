"""Hypothesis strategies for the values that stores and operations handle."""

from datetime import UTC, datetime

from hypothesis import strategies as st

from svc_core.contract.answer import Answer
from svc_core.operation.ports import Change
from svc_core.testing.sample import Note

INSTANT_MIN = datetime(1970, 1, 1)  # noqa: DTZ001 - Hypothesis adds the zone
INSTANT_MAX = datetime(9999, 12, 31, 23, 59, 59, 999_999)  # noqa: DTZ001

instants = st.datetimes(INSTANT_MIN, INSTANT_MAX, timezones=st.just(UTC))
"""Instants in UTC, to the microsecond."""

WORDS = ("flood", "flut", "köln", "大雨", "наводнение", "cve-2024-1", "x")
words = st.sampled_from(WORDS)
"""Search tokens in several scripts, few enough that rows share them."""


DEGREES = (-180.0, -179.5, -0.1234567, 0.0, 12.3456789, 179.5, 180.0)


def notes(id_: str) -> st.SearchStrategy[Note]:
    """A strategy for notes with this identifier, whose filter values often coincide."""
    return st.builds(
        Note,
        id=st.just(id_),
        text=st.lists(words, max_size=4).map(" ".join),
        written=st.integers(-3, 3),
        status=st.sampled_from((None, "open", "done")),
        author=st.sampled_from((None, "x", "y")),
        topics=st.lists(st.sampled_from(("t", "u", "v")), max_size=3).map(tuple),
        weight=st.none() | st.integers(-2, 2) | st.sampled_from((2**63 - 1, 1 - 2**63)),
        longitude=st.none() | st.sampled_from(DEGREES),
        latitude=st.sampled_from((-90.0, 0.0, 12.3456789, 90.0)),
    )


def feed_changes(*, everybody: bool) -> st.SearchStrategy[Change]:
    """A strategy for change records, of the feed of everybody or of one tenant."""
    return st.builds(
        Change,
        id=st.text(max_size=3),
        change_type=st.sampled_from(("created", "updated", "deleted", "merged", "restored")),
        resource_type=st.sampled_from(("note", "file", "notice")),
        resource_id=st.text(max_size=3),
        version=st.integers(1, 9),
        occurred_at=instants,
        path=st.none() | st.text(max_size=5),
        everybody=st.just(everybody),
        changed_fields=st.none() | st.lists(st.text(max_size=3), max_size=2).map(tuple),
        last_state=st.none() | st.text(max_size=3).map(str.encode),
        merged_into_id=st.none() | st.text(max_size=3),
        owner=st.none() | st.text(max_size=3),
    )


answers = st.builds(
    Answer,
    fingerprint=st.binary(max_size=4),
    status=st.sampled_from((200, 201, 204)),
    headers=st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=2).map(tuple),
    body=st.binary(max_size=5),
    at=instants,
)
"""Answers that are stored for a repeated request."""
