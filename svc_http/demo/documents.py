"""The demo's news feeds, dated relative to the moment they are asked for.

Rule 1: the files of `feeds/` are the documents; a date in them is a placeholder that says how old
it is, `{{rfc822 T-3h}}` or `{{rfc3339 T-1d4h30m}}`, and a weekday that sentences mention is
`{{weekday T-1d}}` (French `{{jour ...}}`, German `{{Wochentag ...}}`), all of them in UTC.
Rule 2: the same `now` gives the same bytes.
Rule 3: placeholders are filled in the encoded bytes. Every encoding used here contains ASCII
unchanged and every value is ASCII, so a file keeps the encoding it declares.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from importlib.resources import files

from attrs import frozen

AGE_MAX = timedelta(days=6)
"""No demo item is older, so one week of news always holds them all."""

_PLACEHOLDER = re.compile(rb"\{\{(\w+) T-(?=\d)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?\}\}")


@frozen
class DemoDocument:
    """One feed as a server would send it.

    `topics` are the topic ids every item of the source has by default; `body` is the encoded feed.
    """

    file_name: str
    name: str
    topics: tuple[str, ...]
    body: bytes


@frozen
class _Source:
    file_name: str
    name: str
    topics: tuple[str, ...]


_SOURCES = (
    _Source("meridian-wire.xml", "Meridian Wire", ("world",)),
    _Source("saltmarsh-post.xml", "Saltmarsh Evening Post", ("world",)),
    _Source("courrier-du-large.xml", "Le Courrier du Large", ("world",)),
    _Source("rheinblick.xml", "Rheinblick Wirtschaft", ("economy",)),
    _Source("northgate-financial.atom", "Northgate Financial", ("economy",)),
    _Source("quayside-ledger.rss", "The Quayside Ledger", ("shipping",)),
    _Source("commodity-compass.rss", "Commodity Compass", ("commodities",)),
    _Source("cinder-security.atom", "Cinder Security Brief", ("cybersecurity",)),
    _Source("circuit-observer.json", "Circuit Observer", ("technology",)),
    _Source("orbit-and-spectrum.json", "Orbit & Spectrum", ("technology",)),
    _Source("health-horizon.rss", "Health Horizon Bulletin", ("health",)),
    _Source("terra-watch.xml", "Terra Watch", ("disasters",)),
    _Source("east-corridor.atom", "East Corridor Dispatch", ("diplomacy",)),
    _Source("lantern-checks.rss", "Lantern Checks", ("disinformation",)),
    _Source("docket-daily.json", "Docket Daily", ("law-regulation",)),
)


def _rfc822(moment: datetime) -> str:
    return format_datetime(moment, usegmt=True)


def _rfc3339(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}Z"


def _named(*weekdays: str) -> Callable[[datetime], str]:
    return lambda moment: weekdays[moment.weekday()]


_FORMATS: Mapping[bytes, Callable[[datetime], str]] = {
    b"rfc822": _rfc822,
    b"rfc3339": _rfc3339,
    b"weekday": _named(
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
    ),
    b"jour": _named("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    b"Wochentag": _named(
        "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"
    ),
}


def documents(now: datetime) -> list[DemoDocument]:
    """Return every demo feed, its newest item minutes and its oldest less than six days old.

    `now` must know its time zone; fractions of a second are dropped.
    """
    moment = now.astimezone(UTC).replace(microsecond=0)
    folder = files("svc_http.demo") / "feeds"
    return [
        DemoDocument(
            source.file_name,
            source.name,
            source.topics,
            _filled((folder / source.file_name).read_bytes(), moment),
        )
        for source in _SOURCES
    ]


def _filled(template: bytes, now: datetime) -> bytes:
    def value(match: re.Match[bytes]) -> bytes:
        form, *age = match.groups(default=b"0")
        days, hours, minutes = map(int, age)
        moment = now - timedelta(days=days, hours=hours, minutes=minutes)
        return _FORMATS[form](moment).encode("ascii")

    return _PLACEHOLDER.sub(value, template)
