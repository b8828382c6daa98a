"""What readers of short texts give, kept as JSON in `tests/data/readings`.

A file holds the cases of one reader under the sentences that they show: the arguments, and last
what the reader gives; a refusal is its message. `python -m tests.core.readings` reads every text
again and writes what came of it; `git diff` then shows what a change of a reader changed.
"""

import json
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from attrs import asdict

from svc_core import wire
from svc_core.access.address import DEFAULT_TRUSTED, normalise_address
from svc_core.agent.question import parse_question
from svc_core.base import canonical, instants, periods
from svc_core.contract.negotiation import is_coding_welcome
from svc_core.formats.cyber.cvss import base_score
from svc_core.formats.reading.dates import in_utc, parse_date
from svc_core.formats.reading.languages import language_tag
from svc_core.formats.reading.links import absolute_url, canonical_url
from svc_core.formats.reading.markup_text import (
    fold_lines,
    literal,
    markdown_text,
    plain_text,
    repair_encoding,
)
from svc_core.intel.linking.name_forms import normal_name
from svc_core.intel.linking.references import text_references, vendor_references
from svc_core.reports import render
from svc_core.reports.draft import StorySelection, draft_report
from svc_core.reports.model import Period
from svc_core.text import sentences
from svc_core.text.containment import TextWords
from svc_core.text.evidence import ScoredItem, reading_of
from svc_core.text.language import guess
from svc_core.text.name_mentions import mentions_in
from svc_core.text.query import Query
from svc_core.text.sentiment import sentiment_of
from svc_core.text.speech.normalisation import speech_text
from svc_core.text.stories import Story
from svc_core.text.story_events import event_of
from svc_core.text.topics import assign
from svc_core.text.words import terms
from tests.core.cited_texts import sift
from tests.core.items import item
from tests.golden.pretty import pretty

FILES = Path(__file__).parents[1] / "data" / "readings"

Row = list[Any]
"""The arguments of a reader, and what it gives."""


def _names(title: str, text: str, language: str = "en") -> list[str]:
    mentions = mentions_in([reading_of(item(title, text, language=language))])
    return [f"{mention.name} ({mention.kind})" for mention in mentions]


def _event(language: str, title: str, text: str = "") -> str | None:
    scored_item = ScoredItem(reading_of(item(title, text, language=language)), 1.0)
    event = event_of(Story("s", (scored_item,)))
    return event and event.kind.name


def _period(text: str, frequency: str | None = None) -> Row:
    period = periods.read_period(text, frequency)
    return [period.frequency, period.text, period.start.isoformat(), period.end.isoformat()]


def _question(text: str) -> dict[str, Any]:
    question = parse_question(text, datetime(2026, 1, 31, 3, tzinfo=UTC))
    bounds = [[bound.side, bound.value] for bound in question.thresholds]
    names = {
        "names": question.text_of(question.unread),
        "countries": question.countries,
        "kinds": question.kinds,
    }
    return names | {"bounds": bounds, "counted": question.counted_kind}


def _title(days: int, language: str) -> str:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    period = Period(start, start + timedelta(days=days))
    return draft_report("N", "t", period, StorySelection(()), language).title


READERS: dict[str, Callable[..., Any]] = {
    "address_blocks": DEFAULT_TRUSTED.block,
    "addresses": lambda link: absolute_url(
        link, [None, "https://example.com/feed/"], chars_max=4096
    ),
    "anaphora": sentences.is_anaphoric,
    "bare_words": render.bare,
    "citations": lambda text: [sentence.text_with_marks for sentence in sift(text)],
    "client_addresses": normalise_address,
    "codings": lambda field: is_coding_welcome(field, "gzip"),
    "cvss": base_score,
    "dates": lambda text: (moment := in_utc(parse_date(text))) and moment.isoformat(),
    "documents": lambda text: wire.decode_json(text.encode()),
    "encodings": repair_encoding,
    "events": _event,
    "faults": sentences.is_faulty,
    "frequencies": lambda days: periods.frequency_of(map(date.fromisoformat, days)),
    "headlines": sentences.clean_headline,
    "holding": lambda sentence, text: TextWords.of(text).holds(TextWords.of(sentence)),
    "instants": instants.parse,
    "intervals": lambda text: asdict(instants.parse_interval(text)),
    "languages": guess,
    "language_tags": language_tag,
    "likeness_of_names": lambda left, right: normal_name(left) == normal_name(right) != "",
    "likeness_of_words": lambda left, right: terms(left) == terms(right) != [],
    "links": canonical_url,
    "literals": literal,
    "markdown": lambda text: fold_lines(markdown_text(text)),
    "markup": lambda text: fold_lines(plain_text(text)),
    "mentions": lambda text: text_references(text, date(2024, 6, 1)),
    "names": _names,
    "numbers": lambda bits: canonical.dumps(struct.unpack(">d", bytes.fromhex(bits))[0]).decode(),
    "owners": lambda vendor, day: vendor_references(vendor, day and date.fromisoformat(day)),
    "periods": _period,
    "queries": lambda topic: list(Query.of(topic, language="en").factors),
    "questions": _question,
    "sentences": sentences.split_sentences,
    "speech": speech_text,
    "stops": sentences.with_full_stop,
    "terms": terms,
    "titles": _title,
    "tones": lambda title: sentiment_of(title).label,  # type: ignore[union-attr]
    "topics": lambda language, title, text: assign(title, text, language=language),
    "standing_alone": sentences.stands_alone,
    "whole_sentences": sentences.is_whole,
}


def stored(reader: str) -> dict[str, list[Row]]:
    """The cases of a reader, by the sentences that they show."""
    groups: dict[str, list[Row]] = json.loads((FILES / f"{reader}.json").read_text("utf-8"))
    return groups


def reading(reader: str, *arguments: Any) -> Any:
    """What a reader gives now, as it is stored; a refusal is its message."""
    try:
        answer = READERS[reader](*arguments)
    except ValueError as refusal:
        return {"refused": getattr(refusal, "kind", str(refusal))}
    return json.loads(json.dumps(answer, default=str))


if __name__ == "__main__":
    for name in READERS:
        cases = {
            sentence: [[*arguments, reading(name, *arguments)] for *arguments, _ in rows]
            for sentence, rows in stored(name).items()
        }
        (FILES / f"{name}.json").write_text(pretty(cases), "utf-8")
