"""Finds in the texts of a story where it happened, and of which hazard it tells.

Rule 1: the country is the one that most items name, more than any other and at least half of them
        (focus of a text by majority: Amitay et al. 2004, "Web-a-Where"); else it is unknown.
Rule 2: the city is the one of that country that most items name; two alike make none.
Rule 3: the hazard is the type that the headlines of at least half of the items name.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import TypeVar

from svc_core import wire
from svc_core.formats.hazards.event_fields import event_kind
from svc_core.formats.reading import values
from svc_core.formats.reading.gazetteer import city_centre
from svc_core.operation.source_members import Place
from svc_core.text.evidence import EvidenceTexts, reading_of
from svc_core.text.name_mentions import PLACE, mentions_in

K = TypeVar("K", bound=Hashable)

TextLines = tuple[str, str | None]
"""A headline and a summary on lines of their own, and their language."""

_WORD = re.compile(r"\w+")
_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)  # names of places depend on no day


def place_in_texts(texts: Sequence[TextLines]) -> Place | None:
    """Where the items of a story say that it happened; None where they do not agree."""
    places = [_places_of(*lines) for lines in texts]
    country = _choice(({code for _, _, code in item if code} for item in places), len(texts) / 2)
    if country is None:
        return None
    names = {key: name for item in places for key, name, _ in item}
    city = _choice(({key for key, *_ in item if city_centre(country, key)} for item in places), 0)
    land = next((name for name in names.values() if values.country_named(name) == country), None)
    centre = city and city_centre(country, city)
    return wire.from_json(
        Place,
        values.place(
            name=names[city] if city else land,
            country_code=country,
            geometry=values.point(*centre) if centre else None,
            precision="locality" if city else "country",
        ),
    )


def hazard_in_headlines(headlines: Sequence[str]) -> str | None:
    """The type of hazard that the headlines of a story name; None where they do not agree."""
    return _choice(map(_hazards_of, headlines), len(headlines) / 2)


def _choice(sets: Iterable[set[K]], least: float) -> K | None:
    """What most of some sets hold, more than of anything else; None where nothing is."""
    counts = Counter(key for keys in sets for key in keys).most_common(2)
    if not counts or counts[0][1] < least or counts[0][1] == dict(counts[1:]).get(counts[-1][0]):
        return None
    return counts[0][0]


@lru_cache(maxsize=4_096)  # some milliseconds each, and stories are folded again and again
def _places_of(text: str, language: str | None) -> tuple[tuple[str, str, str | None], ...]:
    """The places that an item names: key, name, and the country where that is known."""
    title, _, summary = text.partition("\n")
    evidence = EvidenceTexts("", title, summary, "", "", "", "", None, _SOME_DAY, language=language)
    mentions = mentions_in([reading_of(evidence)])
    return tuple((m.key, m.name, m.country_code) for m in mentions if m.kind == PLACE)


def _hazards_of(headline: str) -> set[str]:
    kinds = (event_kind("headline", word)["type"] for word in _WORD.findall(headline))
    return {kind for kind in kinds if kind != "other"}
