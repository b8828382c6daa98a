"""Mentions of GDELT 2.0: which article tells of which event, and how sure that is."""

from svc_core.formats.hazards.events import Row
from svc_core.formats.hazards.gdelt_lines import event_id, has_row, instant, lines, named, stamp
from svc_core.formats.model import Given, Record, Told, Unusable
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import declared
from svc_core.formats.reading.values import number, web

_COLUMNS = {
    "GLOBALEVENTID": 0,
    "MentionTimeDate": 2,
    "MentionIdentifier": 5,
    "Confidence": 11,
    "MentionDocTone": 13,
}
_TRANSLATED = _COLUMNS | {"MentionDocTranslationInfo": 14}
_LAYOUTS = {14: _COLUMNS, 15: _TRANSLATED, 16: _TRANSLATED}


def _recognised(body: Body) -> bool:
    return has_row(body, _LAYOUTS, r"\d+\t\d{14}\t\d{14}\t") or named(
        body, "globaleventid", "mentiontimedate", "mentionidentifier"
    )


def _parse(body: Body, _: Given) -> Told:
    yield from lines(body, _LAYOUTS, _record)


def _record(row: Row) -> Record:
    event, article = event_id(row), row["MentionIdentifier"].strip()
    confidence = number(row.get("Confidence"))
    if confidence is not None and not 0 <= confidence <= 100:
        raise Unusable("has a confidence beyond 100")
    mentioned = stamp(row["MentionTimeDate"])
    url = web(article)
    return Record(
        "mention",
        f"gdelt:{event}|{article}",
        {
            "eventId": event,
            "url": url,
            "confidence": None if confidence is None else confidence / 100,
            "tone": number(row.get("MentionDocTone")),
            "mentionedAt": instant(row["MentionTimeDate"]),
            "translation": row.get("MentionDocTranslationInfo"),
        },
        stamp=mentioned,
        record_id=event,
        url=url,
        published_at=mentioned,
    )


GDELT_MENTIONS = declared("gdelt-mentions", _recognised, _parse)
