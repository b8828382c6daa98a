"""The fixed words and the dates of a report, in the language that it is written in.

Rule 1: where a language has no words here, all of them are English; the report says so.
"""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from functools import cache

from attrs import frozen

from svc_core import data
from svc_core.text.language import primary

_INSTANT = timedelta(microseconds=1)
_FALLBACK = "en"


@frozen
class Wording:
    """The words of one language by their names in `data/frame.tsv`."""

    language: str
    texts: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        """The words of a name."""
        return self.texts[name]

    def say(self, name: str, **places: object) -> str:
        """The words of a name with its placeholders filled in."""
        return self.texts[name].format(**places)

    def day(self, day: date | None) -> str:
        """A date in the order of the language, its month in words; for None, that there is none."""
        return self["no_date"] if day is None else self._format_date("date", day)

    def span(self, first: date, last: date) -> str:
        """The period from the first to the last day; what both dates share is written once."""
        ends = self.day(last)
        if (first.year, first.month, first.day) == (last.year, last.month, last.day):
            return ends
        if first.year != last.year:
            return f"{self.day(first)} – {ends}"
        if first.month != last.month:
            return f"{self._format_date('date_in_year', first)} – {ends}"
        return f"{self._format_date('date_in_month', first)}–{ends}"

    def moment(self, instant: datetime) -> str:
        """A date with its time of day."""
        return f"{self.day(instant)}, {instant:%H:%M} UTC"

    def _format_date(self, name: str, date_: date) -> str:
        day = self["first"] if date_.day == 1 else date_.day
        month = self["months"].split()[date_.month - 1]
        return self.say(name, day=day, month=month, year=date_.year)


@cache
def _wordings() -> Mapping[str, Wording]:
    texts_by_language: dict[str, dict[str, str]] = {}
    for language, name, text in data.table_rows("frame.tsv"):
        texts_by_language.setdefault(language, {})[name] = text
    return {language: Wording(language, texts) for language, texts in texts_by_language.items()}


def wording_of(language: str) -> Wording | None:
    """The words of a language (BCP 47); None where there are none."""
    return _wordings().get(primary(language))


def frame(language: str) -> Wording:
    """The fixed words of a report: in its language, or else in English."""
    return wording_of(language) or _wordings()[_FALLBACK]


MONTHS = _wordings()[_FALLBACK]["months"].split()


def days(start: datetime, end: datetime) -> tuple[datetime, datetime]:
    """The first and the last instant of a period, whose end is exclusive."""
    return start, max(start, end - _INSTANT)
