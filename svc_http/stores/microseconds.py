"""Converts instants to and from their stored form: whole microseconds since 1970, without loss."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_microseconds(moment: datetime) -> int:
    """Microseconds since 1970-01-01T00:00:00Z."""
    return (moment - _EPOCH) // _MICROSECOND


def from_microseconds(microseconds: int) -> datetime:
    """The instant, in UTC, of a number of microseconds since 1970-01-01T00:00:00Z."""
    return _EPOCH + timedelta(microseconds=microseconds)
