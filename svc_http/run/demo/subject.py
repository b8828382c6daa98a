"""The demo's ledger: one subject, what was believed of it on three days, and where that parts.

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
from svc_core.ledger.append.append import append
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
from svc_http.run.demo.documents import DemoDocument
from svc_http.service.service import Service

_HALTED = timedelta(days=2, hours=1)
_FILED = timedelta(days=1, hours=4)


@frozen
class Recorded:
    """The subject, and how many records tell of it."""

    subject_id: str
    records: int


async def record(service: Service, key: ApiKey, documents: Sequence[DemoDocument]) -> Recorded:
    """Append what was recorded on each of the days, at its time and in its author's name."""
    now = service.now().replace(microsecond=0)
    story = _Story(now, {document.file_name: document.body for document in documents})
    analyst = Actor(key.tenant, key_id=key.id)
    reviewer = Actor(key.tenant, user_id=key.user_id)
    opened = await _append(service, analyst, now - _HALTED, [_OPENING])
    subject = opened[0]
    first = await _append(service, analyst, now - _HALTED, [story.halted(subject)])
    claims = await _append(service, analyst, now - _HALTED, story.believed(subject, first[0]))
    court = await _append(service, analyst, now - _FILED, [story.filed(subject)])
    learned = story.learned(subject, court[0], status=claims[2])
    seat = (await _append(service, analyst, now - _FILED, learned))[1]
    verdict = [_verdict(subject, seat, court[0])]
    judged = await _append(service, reviewer, now - timedelta(hours=3), verdict)
    ids = (*opened, *first, *claims, *court, *learned, *judged)
    return Recorded(subject, len(ids))


async def _append(
    service: Service, author: Actor, then: datetime, entries: Sequence[Entry]
) -> tuple[str, ...]:
    """The ids of what was appended as if it were `then`."""

    async def unit(ctx: Context) -> tuple[str, ...]:
        records = await append(attrs.evolve(ctx, actor=author), entries)
        return tuple(record.id for record in records.records)

    return await attrs.evolve(service, now=lambda: then).write(author.tenant, unit)


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

    def halted(self, subject: str) -> Entry:
        """What was seen first."""
        source = self._source(
            "northgate-financial.atom",
            "https://www.northgatefinancial.example/kestrel-halts-withdrawals",
            "Northgate Financial",
            _HALTED,
        )
        text = (
            "Kestrel Exchange stopped customer withdrawals and said it could not account for "
            "about 640 million dollars."
        )
        return self._observation(subject, text, source)

    def filed(self, subject: str) -> Entry:
        """What the court's paper said a day later."""
        source = self._source(
            "docket-daily.json",
            "https://docketdaily.example/kestrel-court-protection",
            "Docket Daily",
            _FILED,
        )
        text = (
            "Crypto exchange Kestrel filed for court protection in the Seychelles. A court in "
            "Singapore appointed two provisional liquidators for the local affiliate."
        )
        return self._observation(subject, text, source)

    def believed(self, subject: str, evidence: str) -> list[Entry]:
        """What an analyst took for true on the first day."""
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

    def learned(self, subject: str, evidence: str, *, status: str) -> list[Entry]:
        """What the court's paper changed and contradicted."""
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
                valid_from=self._text(_FILED),
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
        seen = source.retrieved_at
        return ObservationAssertion(
            kind="observation",
            subject=subject,
            observed_at=seen,
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
