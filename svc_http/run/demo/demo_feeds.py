"""The demo's news feeds, dated relative to the moment they are asked for.

Rule 1: the files of `feeds/` are the documents; a date in them is a placeholder that says how old
it is, `{{rfc822 T-3h}}` or `{{rfc3339 T-1d4h30m}}`, and a weekday that sentences mention is
`{{weekday T-1d}}` (French `{{jour ...}}`, German `{{Wochentag ...}}`), all of them in UTC.
Rule 2: the same `now` gives the same bytes.
Rule 3: placeholders are filled in the encoded bytes. Every encoding used here contains ASCII
unchanged and every value is ASCII, so a file keeps the encoding it declares.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from importlib.resources import files

from attrs import field, frozen

AGE_MAX = timedelta(days=6)
"""No demo item is older, so one week of news always holds them all."""

_PLACEHOLDER = re.compile(rb"\{\{(\w+) T-(?=\d)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?\}\}")


@frozen
class DemoDocument:
    """One document as a server would send it.

    `topics` are the topic ids every item of the source has by default; `options` are those of the
    source; `body` is the encoded document.
    """

    file_name: str
    name: str
    topics: tuple[str, ...]
    body: bytes
    options: Mapping[str, str] = field(factory=dict)


def _weekday_rule(*weekdays: str) -> Callable[[datetime], str]:
    return lambda moment: weekdays[moment.weekday()]


_FORMATS: Mapping[bytes, Callable[[datetime], str]] = {
    b"rfc822": partial(format_datetime, usegmt=True),
    b"rfc3339": lambda moment: f"{moment:%Y-%m-%dT%H:%M:%S}Z",
    b"naive": lambda moment: f"{moment:%Y-%m-%dT%H:%M:%S}",
    b"date": lambda moment: f"{moment:%Y-%m-%d}",
    b"month": lambda moment: f"{moment:%Y-%m}",
    b"year": lambda moment: f"{moment:%Y}",
    b"ymd": lambda moment: f"{moment:%Y%m%d}",
    b"ymdhms": lambda moment: f"{moment:%Y%m%d%H%M%S}",
    b"seconds": lambda moment: str(int(moment.timestamp())),
    b"millis": lambda moment: str(int(moment.timestamp()) * 1000),
    b"weekday": _weekday_rule(
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
    ),
    b"jour": _weekday_rule("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    b"Wochentag": _weekday_rule(
        "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"
    ),
}


def demo_documents(now: datetime) -> list[DemoDocument]:
    """Return every demo feed, its newest item minutes and its oldest less than six days old.

    `now` must know its time zone; fractions of a second are dropped.
    """
    return [
        DemoDocument(file_name, name, (topic,), demo_file(f"feeds/{file_name}", now))
        for file_name, name, topic in _lines("feeds.tsv")
    ]


def data_documents(now: datetime, *, earlier: bool = False) -> list[DemoDocument]:
    """Return the demo's documents of the other formats, which `data/sources.tsv` lists.

    With `earlier` they are those that were others a day before (`data/earlier.tsv`), as they were.
    """
    was: dict[str, list[tuple[str, str]]] = {}
    for file_name, pattern, replacement in _lines("earlier.tsv") if earlier else ():
        was.setdefault(file_name, []).append((pattern, replacement))
    return [
        DemoDocument(
            file_name,
            name,
            (),
            demo_file(f"data/{file_name}", now, was.get(file_name, ())),
            dict(option.split("=", 1) for option in options.split(",") if option),
        )
        for file_name, name, options in _lines("sources.tsv")
        if not earlier or file_name in was
    ]


def demo_file(path: str, now: datetime, by: Sequence[tuple[str, str]] = ()) -> bytes:
    """A file of the demo with patterns in it replaced, and its placeholders filled in as of `now`.

    A pattern that is not there is a mistake.
    """
    text = (files("svc_http.run.demo") / path).read_bytes()
    for pattern, replacement in by:
        text, count = re.subn(pattern.encode(), replacement.encode(), text)
        if not count:
            raise AssertionError(f"nothing matches {pattern}")
    return _fill(text, now.astimezone(UTC).replace(microsecond=0))


def _lines(name: str) -> list[list[str]]:
    text = (files("svc_http.run.demo") / "data" / name).read_text()
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


def _fill(template: bytes, now: datetime) -> bytes:
    def value(match: re.Match[bytes]) -> bytes:
        form, *age = match.groups(default=b"0")
        days, hours, minutes = map(int, age)
        moment = now - timedelta(days=days, hours=hours, minutes=minutes)
        return _FORMATS[form](moment).encode("ascii")

    return _PLACEHOLDER.sub(value, template)
