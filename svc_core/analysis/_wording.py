"""The few words that a report says of its own, in the languages it is written in."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from svc_core.analysis.draft import Period

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]

_NOTHING: Mapping[str, str] = {
    "en": "No matching items were found for “{topic}” in the period from {start} to {end}.",
    "fr": "Aucun élément correspondant à « {topic} » n’a été trouvé du {start} au {end}.",
    "de": "Zu „{topic}“ wurden im Zeitraum vom {start} bis {end} keine Meldungen gefunden.",
    "es": "No se encontraron noticias sobre «{topic}» en el período del {start} al {end}.",
    "pt": "Não foram encontradas notícias sobre “{topic}” no período de {start} a {end}.",
    "it": "Nessuna notizia trovata su «{topic}» nel periodo dal {start} al {end}.",
    "ru": "По теме «{topic}» за период с {start} по {end} ничего не найдено.",
}
_TOPIC_QUOTED_MAX = 160
_ENDS = tuple(".!?…。！？।۔\"'”’»)」』")
_INSTANT = timedelta(microseconds=1)


def title(name: str, period: Period, language: str) -> str:
    """The title of a report: the profile's name and the days that it covers."""
    start, end = _days(period)
    if primary(language) == "en":
        return f"{name}: {_span(start, end)}"
    days = start.date().isoformat(), end.date().isoformat()
    return f"{name}: {days[0]}" if days[0] == days[1] else f"{name}: {days[0]} – {days[1]}"


def nothing(topic: str, period: Period, language: str) -> str:
    """The sentence that says that nothing matched; a long topic is cut."""
    spoken = primary(language) if primary(language) in _NOTHING else "en"
    folded = " ".join(topic.split())
    if len(folded) > _TOPIC_QUOTED_MAX:
        folded = folded[: _TOPIC_QUOTED_MAX - 1].rstrip() + "…"
    start, end = (_day(day) if spoken == "en" else day.date().isoformat() for day in _days(period))
    return _NOTHING[spoken].format(topic=folded, start=start, end=end)


def ended(sentence: str) -> str:
    """A sentence with a full stop where it has no end of its own, as a headline has none."""
    return sentence if sentence.endswith(_ENDS) else f"{sentence}."


def primary(language: str) -> str:
    """The primary subtag of a BCP 47 tag, in lower case."""
    return language.replace("_", "-").split("-")[0].casefold()


def _days(period: Period) -> tuple[datetime, datetime]:
    """The first and the last instant of a period, whose end is exclusive."""
    return period.start, max(period.start, period.end - _INSTANT)


def _day(at: datetime) -> str:
    return f"{at.day} {MONTHS[at.month - 1]} {at.year}"


def _span(start: datetime, end: datetime) -> str:
    if start.date() == end.date():
        return _day(start)
    if start.year != end.year:
        return f"{_day(start)} – {_day(end)}"
    if start.month != end.month:
        return f"{start.day} {MONTHS[start.month - 1]} – {_day(end)}"
    return f"{start.day}–{_day(end)}"
