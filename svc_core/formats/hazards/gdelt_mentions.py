"""Parses GDELT 2.0 mentions: which article mentions which event, with what confidence."""

from svc_core.formats.hazards import gdelt_lines as lines
from svc_core.formats.model import Contents, Origin, Record, RecordRefused
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.flat_tables import Row
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import number, web_url

_COLUMNS = {
    "GLOBALEVENTID": 0,
    "MentionTimeDate": 2,
    "MentionIdentifier": 5,
    "Confidence": 11,
    "MentionDocTone": 13,
}
_TRANSLATION_COLUMNS = _COLUMNS | {"MentionDocTranslationInfo": 14}
_LAYOUTS = {14: _COLUMNS, 15: _TRANSLATION_COLUMNS, 16: _TRANSLATION_COLUMNS}


def _recognise(body: Body) -> bool:
    return lines.has_row(body, _LAYOUTS, r"\d+\t\d{14}\t\d{14}\t") or lines.has_columns(
        body, "globaleventid", "mentiontimedate", "mentionidentifier"
    )


def _parse(body: Body, _: Origin) -> Contents:
    yield from lines.gdelt_records(body, _LAYOUTS, _record)


def _record(row: Row) -> Record:
    event, article = lines.event_id(row), row["MentionIdentifier"].strip()
    confidence = number(row.get("Confidence"))
    if confidence is not None and not 0 <= confidence <= 100:
        raise RecordRefused("has a confidence beyond 100")
    mention_time = lines.gdelt_time(row["MentionTimeDate"])
    url = web_url(article)
    return Record(
        "mention",
        f"gdelt:{event}|{article}",
        {
            "eventId": event,
            "url": url,
            "confidence": None if confidence is None else confidence / 100,
            "tone": number(row.get("MentionDocTone")),
            "mentionedAt": lines.gdelt_timestamp(row["MentionTimeDate"]),
            "translation": row.get("MentionDocTranslationInfo"),
        },
        stamp=mention_time,
        record_id=event,
        url=url,
        published_at=mention_time,
    )


GDELT_MENTIONS = make_format("gdelt-mentions", _recognise, _parse)
