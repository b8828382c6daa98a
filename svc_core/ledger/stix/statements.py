"""What the statements in force become: relationships, notes, observed data, indicators.

Rule 1: an object is made of what is known at the record time; the valid time only decides whether
        it is in the export at all.
Rule 2: nothing is dropped: what has no object of its own in STIX, or was erased, is a note.
"""

from typing import Any, Final, NamedTuple

from attrs import frozen

from svc_core.ledger.exchange.ids import kebab
from svc_core.ledger.exchange.marking import IDS
from svc_core.ledger.exchange.observables import Observable, observable
from svc_core.ledger.fold.claims import value_text
from svc_core.ledger.fold.rows import confidence_of
from svc_core.ledger.predicates import edge
from svc_core.ledger.records import Payload, Record
from svc_core.ledger.stix.issuer import Issuer
from svc_core.ledger.stix.subject_state import Known, Object, said, text
from svc_core.ledger.stix.subjects import subject_id

_SINCE_EVER: Final = "0001-01-01T00:00:00.000000Z"
MALICIOUS: Final = "malicious"
"""The predicate whose claims are indicators."""


class Made(NamedTuple):
    """What a statement became, and which of its objects a verdict on it is about."""

    objects: tuple[Object, ...]
    about: tuple[str, ...]


NOTHING: Final = Made((), ())


def _alone(made: Object) -> Made:
    return Made((made,), (made["id"],))


@frozen
class Maker:
    """Makes the objects of one subject's statements."""

    issuer: Issuer
    known: Known

    def made(self, record: Record, other: Known | None) -> Made:
        """What a statement becomes; `other` is the subject that a claim leads to, if it does."""
        payload = said(record)
        if not payload:
            return self._unreadable(record)
        match record.kind:
            case "designator":
                return self._designator(record, payload)
            case "observation":
                return self._observation(record, payload)
            case "claim":
                return self._claim(record, payload, other)
            case _:
                return NOTHING  # the subject's own object says it

    def opinions(self, record: Record, about: tuple[str, ...]) -> list[Object]:
        """The verdicts on a statement that count, each as an opinion."""
        verdicts = self.known.standing.verdicts(record).counting
        return [self._opinion(each, about) for each in verdicts] if about else []

    # -- kinds of statement ------------------------------------------------------------------------

    def _designator(self, record: Record, payload: Payload) -> Made:
        scheme, value = text(payload.get("scheme")), text(payload.get("value"))
        if scheme is None or value is None:
            return self._unreadable(record)
        found = observable(scheme, value)
        if found is not None:
            link = self._relationship(record, payload, "related-to", found.id)
            return Made((self._observable(found), link), (link["id"],))
        if not self.known.standing.verdicts(record).counting:
            return NOTHING  # an external reference of the subject
        # A verdict on a name is none on the subject, so the name needs an object of its own.
        words = {"abstract": scheme, "content": f"{scheme}:{value}"}
        return _alone(self._note(record, payload, [self._subject], **words))

    def _observation(self, record: Record, payload: Payload) -> Made:
        source = payload.get("source")
        source = source if isinstance(source, dict) else {}
        url, words = text(source.get("url")), text(payload.get("text"))
        seen_at = text(payload.get("observedAt"))
        if url is None or words is None or seen_at is None:
            return self._unreadable(record)
        page = Observable("url", {"value": url})
        data = self._of(
            "observed-data",
            record,
            first_observed=seen_at,
            last_observed=seen_at,
            number_observed=1,
            object_refs=[page.id],
        )
        note = self._note(
            record,
            payload,
            [self._subject, data["id"]],
            abstract="public observation",
            content=words,
            lang=text(payload.get("lang")),
            external_references=_sources(source),
        )
        return Made((self._observable(page), data, note), (data["id"], note["id"]))

    def _claim(self, record: Record, payload: Payload, other: Known | None) -> Made:
        predicate, value = text(payload.get("predicate")), payload.get("value")
        value_words = value_text(value)
        if predicate is None or value_words is None:
            return self._unreadable(record)
        if other is not None:
            target = subject_id(self.issuer, other)
            return _alone(self._relationship(record, payload, kebab(predicate), target, other))
        found = self._sought(record, value) if predicate == MALICIOUS else []
        if found:
            return _alone(self._indicator(record, payload, found))
        source = payload.get("source")
        note = self._note(
            record,
            payload,
            [self._subject],
            abstract=predicate,
            content=f"{predicate} = {value_words}",
            external_references=_sources(source) if isinstance(source, dict) else None,
        )
        return _alone(note)

    def _unreadable(self, record: Record) -> Made:
        if record.kind == "subject":
            return NOTHING
        was = "was erased" if record.payload is None else "cannot be read"
        words = f"The content of {record.kind} {record.id} {was}."
        about = [self._subject]
        return _alone(self._note(record, {}, about, abstract=record.kind, content=words))

    # -- objects -----------------------------------------------------------------------------------

    @property
    def _subject(self) -> str:
        return subject_id(self.issuer, self.known)

    def _of(self, type_: str, record: Record, other: Known | None = None, **members: Any) -> Object:
        """An object of a record; it changes whenever what it refers to changes its type."""
        shaped = self.known.shaped if other is None else max(self.known.shaped, other.shaped)
        state = self.known.standing.verdicts(record).state
        return self.issuer.made(
            type_,
            (record.id,),
            record.recorded_at,
            max(self.known.latest[record.id], shaped),
            **members,
            extensions=self.issuer.origin(record, state),
        )

    def _observable(self, found: Observable) -> Object:
        return {
            "type": found.type,
            "spec_version": "2.1",
            "id": found.id,
            **found.properties,
            "object_marking_refs": [IDS[self.issuer.tlp]],
        }

    def _relationship(
        self,
        record: Record,
        payload: Payload,
        type_: str,
        target: str,
        other: Known | None = None,
    ) -> Object:
        return self._of(
            "relationship",
            record,
            other,
            relationship_type=type_,
            source_ref=self._subject,
            target_ref=target,
            start_time=record.valid_from,
            stop_time=record.valid_to,
            confidence=confidence_of(payload),
            description=text(payload.get("statement")),
        )

    def _note(self, record: Record, payload: Payload, about: list[str], **members: Any) -> Object:
        return self._of(
            "note",
            record,
            **members,
            authors=[record.author],
            confidence=confidence_of(payload),
            object_refs=about,
        )

    def _opinion(self, verdict: Record, about: tuple[str, ...]) -> Object:
        payload = said(verdict)
        state = payload.get("state")
        method, note = text(payload.get("method")), text(payload.get("note"))
        return self._of(
            "opinion",
            verdict,
            opinion=_OPINIONS.get(state, "neutral") if isinstance(state, str) else "neutral",
            explanation=": ".join(filter(None, (method, note))) or None,
            authors=[verdict.author],
            object_refs=list(about),
        )

    # -- indicators --------------------------------------------------------------------------------

    def _sought(self, record: Record, value: Any) -> list[Observable]:
        """What a claim calls malicious: the designator in its value, or all while it holds."""
        if isinstance(value, str):
            scheme, _, rest = value.partition(":")
            found = [observable(scheme, rest)]
        elif isinstance(value, dict):
            found = [observable(value.get("scheme"), value.get("value"))]
        elif value is True:
            found = [
                observable(payload.get("scheme"), payload.get("value"))
                for each in self.known.standing_statements
                if (payload := said(each, "designator")) and _overlap(each, record)
            ]
        else:
            found = []
        return list({each.id: each for each in found if each is not None}.values())

    def _indicator(self, record: Record, payload: Payload, found: list[Observable]) -> Object:
        start, end = record.valid_from, record.valid_to
        if start is None:
            # An indicator must begin somewhere: with the record, unless it had ended by then.
            start = record.recorded_at if end is None or record.recorded_at < end else _SINCE_EVER
        indicator = self._of(
            "indicator",
            record,
            name=f"{MALICIOUS}: {value_text(payload.get('value'))}",
            description=text(payload.get("statement")) or "Claimed to be malicious.",
            indicator_types=["malicious-activity"],
            pattern=" OR ".join(f"[{each.pattern}]" for each in found),
            pattern_type="stix",
            pattern_version="2.1",
            valid_from=start,
            valid_until=end,
            confidence=confidence_of(payload),
        )
        # Which designators it looks for follows from other records as well.
        modified = f"{(self.known.newest or '')[:23]}Z"
        return {**indicator, "modified": max(indicator["modified"], modified)}


_OPINIONS: Final = {
    "verified": "strongly-agree",
    "corroborated": "agree",
    "under_review": "neutral",
    "disputed": "disagree",
    "refuted": "strongly-disagree",
}


def other_subject(record: Record) -> str | None:
    """The subject that a claim leads to; None for any other record."""
    payload = said(record, "claim")
    return edge(payload.get("value")) if text(payload.get("predicate")) else None


def _sources(source: Payload) -> list[Object]:
    """A source as external references: the page itself, and the copy that is kept of it."""
    url, copy = text(source.get("url")), text(source.get("archiveUrl"))
    page = {
        "source_name": text(source.get("publisher")) or "source",
        "description": text(source.get("title")),
        **_address(url, text(source.get("contentSha256"))),
    }
    pages = [page] if url else []
    if copy:
        pages.append({"source_name": "archive", **_address(copy, None)})
    return [{name: value for name, value in each.items() if value} for each in pages]


def _address(url: str | None, sha256: str | None) -> Object:
    """Where a source is: only with a hash is its address a URL, as STIX 2.1, 2.5 asks for both."""
    if sha256 is None:
        return {"external_id": url}
    return {"url": url, "hashes": {"SHA-256": sha256}}


def _overlap(one: Record, other: Record) -> bool:
    """Whether two records hold at a common time."""
    starts = [each.valid_from for each in (one, other) if each.valid_from is not None]
    ends = [each.valid_to for each in (one, other) if each.valid_to is not None]
    return not starts or not ends or max(starts) < min(ends)
