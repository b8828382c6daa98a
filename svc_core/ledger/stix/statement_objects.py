"""Converts statements to STIX objects: relationships, notes, observed data, indicators.

Rule 1: an object is made of what is known at the record time; the valid time only decides whether
        it is in the export at all.
Rule 2: nothing is dropped: what has no object of its own in STIX, or was erased, is a note.
"""

from typing import Any, Final, NamedTuple

from attrs import frozen

from svc_core.ledger.fold.claims import value_text
from svc_core.ledger.fold.view_rows import confidence_of
from svc_core.ledger.predicates import predicate_edge
from svc_core.ledger.records import Payload, SealedRecord
from svc_core.ledger.stix.issuer import Issuer
from svc_core.ledger.stix.subject_state import SubjectState, payload_of, text_in
from svc_core.ledger.stix.subjects import subject_id
from svc_core.ledger.transfer.marking import IDS
from svc_core.ledger.transfer.observables import Observable, observable
from svc_core.ledger.transfer.stix_ids import kebab
from svc_core.ledger.transfer.stix_writer import Object

_SINCE_EVER: Final = "0001-01-01T00:00:00.000000Z"
MALICIOUS: Final = "malicious"
"""The predicate whose claims are indicators."""


class ObjectGroup(NamedTuple):
    """The objects made from one statement, and the ids of those that a verdict on it refers to."""

    objects: tuple[Object, ...]
    about: tuple[str, ...]


NO_OBJECTS: Final = ObjectGroup((), ())


def _single(item: Object) -> ObjectGroup:
    return ObjectGroup((item,), (item["id"],))


@frozen
class Maker:
    """Builds the objects of one subject's statements."""

    issuer: Issuer
    subject_state: SubjectState

    def objects_of(self, record: SealedRecord, peer: SubjectState | None) -> ObjectGroup:
        """Build the objects of a statement; `peer` is the subject that a claim refers to."""
        payload = payload_of(record)
        if not payload:
            return self._unreadable(record)
        match record.kind:
            case "designator":
                return self._designator(record, payload)
            case "observation":
                return self._observation(record, payload)
            case "claim":
                return self._claim(record, payload, peer)
            case _:
                return NO_OBJECTS  # the subject's own object says it

    def opinions(self, record: SealedRecord, about: tuple[str, ...]) -> list[Object]:
        """Build an opinion for each verdict that counts on a statement."""
        verdicts = self.subject_state.standing.verdicts(record).counting
        return [self._opinion(verdict, about) for verdict in verdicts] if about else []

    # -- kinds of statement ------------------------------------------------------------------------

    def _designator(self, record: SealedRecord, payload: Payload) -> ObjectGroup:
        scheme, value = text_in(payload.get("scheme")), text_in(payload.get("value"))
        if scheme is None or value is None:
            return self._unreadable(record)
        match = observable(scheme, value)
        if match is not None:
            link = self._relationship(record, payload, "related-to", match.id)
            return ObjectGroup((self._observable(match), link), (link["id"],))
        if not self.subject_state.standing.verdicts(record).counting:
            return NO_OBJECTS  # an external reference of the subject
        # A verdict on a name is none on the subject, so the name needs an object of its own.
        words = {"abstract": scheme, "content": f"{scheme}:{value}"}
        return _single(self._note(record, payload, [self._subject], **words))

    def _observation(self, record: SealedRecord, payload: Payload) -> ObjectGroup:
        url, words = text_in(_source(payload).get("url")), text_in(payload.get("text"))
        seen_at = text_in(payload.get("observedAt"))
        if url is None or words is None or seen_at is None:
            return self._unreadable(record)
        page = Observable("url", {"value": url})
        data = self._object(
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
            lang=text_in(payload.get("lang")),
            external_references=_sources(payload),
        )
        return ObjectGroup((self._observable(page), data, note), (data["id"], note["id"]))

    def _claim(
        self, record: SealedRecord, payload: Payload, peer: SubjectState | None
    ) -> ObjectGroup:
        predicate, value = text_in(payload.get("predicate")), payload.get("value")
        value_words = value_text(value)
        if predicate is None or value_words is None:
            return self._unreadable(record)
        if peer is not None:
            target = subject_id(self.issuer, peer)
            return _single(self._relationship(record, payload, kebab(predicate), target, peer))
        matches = self._observables(record, value) if predicate == MALICIOUS else []
        if matches:
            return _single(self._indicator(record, payload, matches))
        note = self._note(
            record,
            payload,
            [self._subject],
            abstract=predicate,
            content=f"{predicate} = {value_words}",
            external_references=_sources(payload),
        )
        return _single(note)

    def _unreadable(self, record: SealedRecord) -> ObjectGroup:
        if record.kind == "subject":
            return NO_OBJECTS
        fate = "was erased" if record.payload is None else "cannot be read"
        words = f"The content of {record.kind} {record.id} {fate}."
        about = [self._subject]
        return _single(self._note(record, {}, about, abstract=record.kind, content=words))

    # -- objects -----------------------------------------------------------------------------------

    @property
    def _subject(self) -> str:
        return subject_id(self.issuer, self.subject_state)

    def _object(
        self, type_: str, record: SealedRecord, peer: SubjectState | None = None, **members: Any
    ) -> Object:
        """An object of a record; it changes whenever what it refers to changes its type."""
        times = [item.shape_time for item in (self.subject_state, peer) if item is not None]
        state = self.subject_state.standing.verdicts(record).state
        return self.issuer.stix_object(
            type_,
            (record.id,),
            record.recorded_at,
            max(self.subject_state.latest[record.id], *times),
            **members,
            extensions=self.issuer.origin(record, state),
        )

    def _observable(self, match: Observable) -> Object:
        return {
            "type": match.type,
            "spec_version": "2.1",
            "id": match.id,
            **match.properties,
            "object_marking_refs": [IDS[self.issuer.tlp]],
        }

    def _relationship(
        self,
        record: SealedRecord,
        payload: Payload,
        type_: str,
        target: str,
        peer: SubjectState | None = None,
    ) -> Object:
        return self._object(
            "relationship",
            record,
            peer,
            relationship_type=type_,
            source_ref=self._subject,
            target_ref=target,
            start_time=record.valid_from,
            stop_time=record.valid_to,
            confidence=confidence_of(payload),
            description=text_in(payload.get("statement")),
        )

    def _note(
        self, record: SealedRecord, payload: Payload, about: list[str], **members: Any
    ) -> Object:
        return self._object(
            "note",
            record,
            **members,
            authors=[record.author],
            confidence=confidence_of(payload),
            object_refs=about,
        )

    def _opinion(self, verdict: SealedRecord, about: tuple[str, ...]) -> Object:
        payload = payload_of(verdict)
        state = payload.get("state")
        method, note = text_in(payload.get("method")), text_in(payload.get("note"))
        return self._object(
            "opinion",
            verdict,
            opinion=_OPINIONS.get(state, "neutral") if isinstance(state, str) else "neutral",
            explanation=": ".join(filter(None, (method, note))) or None,
            authors=[verdict.author],
            object_refs=list(about),
        )

    # -- indicators --------------------------------------------------------------------------------

    def _observables(self, record: SealedRecord, value: Any) -> list[Observable]:
        """Return what a claim calls malicious: the designator in its value, or all that overlap."""
        if isinstance(value, str):
            scheme, _, rest = value.partition(":")
            matches = [observable(scheme, rest)]
        elif isinstance(value, dict):
            matches = [observable(value.get("scheme"), value.get("value"))]
        elif value is True:
            matches = [
                observable(payload.get("scheme"), payload.get("value"))
                for statement in self.subject_state.standing_statements
                if (payload := payload_of(statement, "designator")) and _overlap(statement, record)
            ]
        else:
            matches = []
        return list({match.id: match for match in matches if match is not None}.values())

    def _indicator(
        self, record: SealedRecord, payload: Payload, matches: list[Observable]
    ) -> Object:
        start, end = record.valid_from, record.valid_to
        if start is None:
            # An indicator must begin somewhere: with the record, unless it had ended by then.
            start = record.recorded_at if end is None or record.recorded_at < end else _SINCE_EVER
        indicator = self._object(
            "indicator",
            record,
            name=f"{MALICIOUS}: {value_text(payload.get('value'))}",
            description=text_in(payload.get("statement")) or "Claimed to be malicious.",
            indicator_types=["malicious-activity"],
            pattern=" OR ".join(f"[{match.pattern}]" for match in matches),
            pattern_type="stix",
            pattern_version="2.1",
            valid_from=start,
            valid_until=end,
            confidence=confidence_of(payload),
        )
        # Which designators it looks for follows from other records as well.
        modified = f"{(self.subject_state.newest or '')[:23]}Z"
        return {**indicator, "modified": max(indicator["modified"], modified)}


_OPINIONS: Final = {
    "verified": "strongly-agree",
    "corroborated": "agree",
    "under_review": "neutral",
    "disputed": "disagree",
    "refuted": "strongly-disagree",
}


def other_subject(record: SealedRecord) -> str | None:
    """Return the subject that a claim refers to; None for any other record."""
    payload = payload_of(record, "claim")
    return predicate_edge(payload.get("value")) if text_in(payload.get("predicate")) else None


def _source(payload: Payload) -> Payload:
    source = payload.get("source")
    return source if isinstance(source, dict) else {}


def _sources(payload: Payload) -> list[Object]:
    """Convert the source to external references: the page and its archived copy."""
    source = _source(payload)
    url, copy = text_in(source.get("url")), text_in(source.get("archiveUrl"))
    page = {
        "source_name": text_in(source.get("publisher")) or "source",
        "description": text_in(source.get("title")),
        **_address(url, text_in(source.get("contentSha256"))),
    }
    pages = [page] if url else []
    if copy:
        pages.append({"source_name": "archive", **_address(copy, None)})
    return [{name: value for name, value in reference.items() if value} for reference in pages]


def _address(url: str | None, sha256: str | None) -> Object:
    """Return the reference of a page: as URL only with a hash, because STIX 2.1, 2.5 wants both."""
    if sha256 is None:
        return {"external_id": url}
    return {"url": url, "hashes": {"SHA-256": sha256}}


def _overlap(first: SealedRecord, second: SealedRecord) -> bool:
    """Whether the intervals of two records overlap."""
    starts = [record.valid_from for record in (first, second) if record.valid_from is not None]
    ends = [record.valid_to for record in (first, second) if record.valid_to is not None]
    return not starts or not ends or max(starts) < min(ends)
