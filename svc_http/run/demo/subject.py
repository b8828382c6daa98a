"""The demo's ledger: one subject with records of three days, some of which contradict.

An analyst opens it when withdrawals stop, learns of a court's decision a day later, and a reviewer
judges what contradicts. The record times are those days, so that it can be folded at each of them.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256

import attrs
from attrs import frozen

from svc_core.access.keys import ApiKey
from svc_core.base import instants
from svc_core.ledger.append.batches import append_drafts
from svc_core.ledger.append.entries import (
    ClaimAssertion,
    ClaimRevision,
    ClaimVerdict,
    DesignatorAssertion,
    Entry,
    ObservationAssertion,
    SubjectAssertion,
)
from svc_core.ledger.append.input import SeenSource
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_http.run.demo.demo_feeds import DemoDocument
from svc_http.service.service_units import Service

_HALT_AGE = timedelta(days=2, hours=1)
_FILING_AGE = timedelta(days=1, hours=4)


@frozen
class DemoSubject:
    """The subject, and how many records tell of it."""

    subject_id: str
    records: int


async def append_demo_subject(
    service: Service, key: ApiKey, documents: Sequence[DemoDocument]
) -> DemoSubject:
    """Append what was recorded on each of the days, at its time and in its author's name."""
    now = service.now().replace(microsecond=0)
    story = _Story(now, {document.file_name: document.body for document in documents})
    analyst = Actor(key.tenant, key_id=key.id)
    reviewer = Actor(key.tenant, user_id=key.user_id)
    subject_ids = await _append(service, analyst, now - _HALT_AGE, [_OPENING])
    subject = subject_ids[0]
    first = await _append(service, analyst, now - _HALT_AGE, [story.halt_observation(subject)])
    claims = await _append(service, analyst, now - _HALT_AGE, story.first_claims(subject, first[0]))
    court = await _append(service, analyst, now - _FILING_AGE, [story.filing_observation(subject)])
    court_entries = story.filing_claims(subject, court[0], status=claims[2])
    seat = (await _append(service, analyst, now - _FILING_AGE, court_entries))[1]
    verdict = [_verdict(subject, seat, court[0])]
    verdict_ids = await _append(service, reviewer, now - timedelta(hours=3), verdict)
    ids = (*subject_ids, *first, *claims, *court, *court_entries, *verdict_ids)
    return DemoSubject(subject, len(ids))


async def _append(
    service: Service, author: Actor, moment: datetime, entries: Sequence[Entry]
) -> tuple[str, ...]:
    """The ids of what was appended as if it were `moment`."""

    async def unit(ctx: Context) -> tuple[str, ...]:
        records = await append_drafts(attrs.evolve(ctx, actor=author), entries)
        return tuple(record.id for record in records.records)

    return await attrs.evolve(service, now=lambda: moment).write(author.tenant, unit)


_OPENING = SubjectAssertion(
    kind="subject",
    type="organization",
    label="Kestrel Exchange",
    description="A crypto exchange that stopped withdrawals and could not account for its coins.",
)


def _verdict(subject: str, claim: str, evidence: str) -> Entry:
    return ClaimVerdict(
        kind="claim",
        op="verify",
        subject=subject,
        target=claim,
        state="corroborated",
        method="court-filing",
        evidence=(evidence,),
        note="The filing names the seat; Singapore has the local affiliate alone.",
    )


@frozen
class _Story:
    """Entries as of `now`; `bodies` are the documents that observations were read in."""

    now: datetime
    bodies: dict[str, bytes]

    def halt_observation(self, subject: str) -> Entry:
        """The first day's observation: withdrawals stop."""
        source = self._source(
            "northgate-financial.atom",
            "https://www.northgatefinancial.example/kestrel-halts-withdrawals",
            "Northgate Financial",
            _HALT_AGE,
        )
        text = (
            "Kestrel Exchange stopped customer withdrawals and said it could not account for "
            "about 640 million dollars."
        )
        return self._observation(subject, text, source)

    def filing_observation(self, subject: str) -> Entry:
        """The next day's observation: the court's decision."""
        source = self._source(
            "docket-daily.json",
            "https://docketdaily.example/kestrel-court-protection",
            "Docket Daily",
            _FILING_AGE,
        )
        text = (
            "Crypto exchange Kestrel filed for court protection in the Seychelles. A court in "
            "Singapore appointed two provisional liquidators for the local affiliate."
        )
        return self._observation(subject, text, source)

    def first_claims(self, subject: str, evidence: str) -> list[Entry]:
        """The claims that an analyst records on the first day."""
        since = "2019-03-01T00:00:00Z"
        return [
            DesignatorAssertion(
                kind="designator", subject=subject, scheme="domain", value="kestrel.example"
            ),
            ClaimAssertion(
                kind="claim",
                subject=subject,
                predicate="headquarters",
                value="Singapore",
                confidence=40,
                evidence=(evidence,),
                valid_from=since,
            ),
            ClaimAssertion(
                kind="claim",
                subject=subject,
                predicate="status",
                value="trading",
                confidence=90,
                valid_from=since,
            ),
        ]

    def filing_claims(self, subject: str, evidence: str, *, status: str) -> list[Entry]:
        """The claims by which the court's decision amends and contradicts the first ones."""
        return [
            ClaimRevision(
                kind="claim",
                op="amend",
                subject=subject,
                target=status,
                predicate="status",
                value="under court protection",
                confidence=95,
                evidence=(evidence,),
                reason="no-longer-true",
                valid_from=self._text(_FILING_AGE),
            ),
            ClaimAssertion(
                kind="claim",
                subject=subject,
                predicate="headquarters",
                value="Victoria, Seychelles",
                confidence=75,
                evidence=(evidence,),
                statement="Kestrel is run from where it asked for protection.",
                valid_from="2019-03-01T00:00:00Z",
            ),
        ]

    def _observation(self, subject: str, text: str, source: SeenSource) -> Entry:
        retrieval = source.retrieved_at
        return ObservationAssertion(
            kind="observation",
            subject=subject,
            observed_at=retrieval,
            text=text,
            lang="en",
            source=source,
        )

    def _source(self, file_name: str, url: str, publisher: str, age: timedelta) -> SeenSource:
        return SeenSource(
            url=url,
            publisher=publisher,
            retrieved_at=self._text(age),
            content_sha256=sha256(self.bodies[file_name]).hexdigest(),
        )

    def _text(self, age: timedelta) -> str:
        return instants.render(self.now - age)
