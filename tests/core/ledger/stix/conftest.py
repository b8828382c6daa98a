"""A ledger written by hand, exported as STIX."""

import json
from typing import Any

import pytest

from svc_core.ledger.records import KIND_PREFIX, Draft
from svc_core.ledger.stix import bundle as stix
from svc_core.testing.ledger_kit.history_strategies import LEDGER, History

V = "2026-06-01T00:00:00.000000Z"
SOURCE = {
    "url": "https://news.example/a/1?x=1&y=2",
    "publisher": "Pier Gazette",
    "title": "Firm moves",
    "contentSha256": "36" * 32,
    "archiveUrl": "https://archive.example/a/1",
}


class Tale:
    """A ledger that grows by one record at a time, each a day after the one before."""

    V = V
    LEDGER = LEDGER

    def __init__(self) -> None:
        self.history = History()
        self.salt = 0

    @property
    def records(self) -> Any:
        return self.history.records

    def now(self, microseconds: int = 123_456) -> str:
        day = len(self.records)
        return f"2026-{1 + day // 28:02}-{1 + day % 28:02}T09:00:00.{microseconds:06}Z"

    def add(self, kind: str, op: str = "assert", **members: Any) -> str:
        head = {name: members.pop(name, None) for name in ("subject", "target", "start", "end")}
        author = members.pop("author", "key_ann")
        self.salt += 1
        draft = Draft(kind, op, *head.values(), author, {**members, "salt": f"{self.salt:022d}"})  # type: ignore[arg-type]
        assert draft.kind in KIND_PREFIX
        self.history = self.history.append([draft], self.now())
        return self.records[-1].id

    def subject(self, type_: str = "organization", label: str = "Pier 7 AG", **members: Any) -> str:
        return self.add("subject", type=type_, label=label, **members)

    def designator(self, subject: str, scheme: str, value: str, **members: Any) -> str:
        return self.add("designator", subject=subject, scheme=scheme, value=value, **members)

    def observation(self, subject: str, **more: Any) -> str:
        members = {
            "observedAt": "2026-01-04T18:30:00.000001Z",
            "text": "Zug is the seat.",
            "visibility": "public",
            "source": SOURCE,
            **more,
        }
        return self.add("observation", subject=subject, **members)

    def claim(self, subject: str, predicate: str, value: Any, **members: Any) -> str:
        return self.add("claim", subject=subject, predicate=predicate, value=value, **members)

    def verdict(self, target: str, state: str, **members: Any) -> str:
        record = next(record for record in self.records if record.id == target)
        about = {"subject": record.subject, "target": target, "author": "key_bob"}
        return self.add(record.kind, "verify", state=state, **{**about, **members})

    def act(self, op: str, target: str, **members: Any) -> str:
        record = next(record for record in self.records if record.id == target)
        return self.add(record.kind, op, subject=record.subject, target=target, **members)

    def raw(self, subject: str, **bounds: Any) -> bytes:
        return stix.stix_bundle(
            self.records, subject, **{"ledger": LEDGER, "valid_time": V, **bounds}
        )

    def objects(self, subject: str, **bounds: Any) -> list[Any]:
        return list(json.loads(self.raw(subject, **bounds))["objects"])

    def of(self, type_: str, subject: str, **bounds: Any) -> list[Any]:
        """The objects of a type, without those that every export begins with."""
        objects = [item for item in self.objects(subject, **bounds) if item["type"] == type_]
        return [item for item in objects if item.get("identity_class") != "system"]

    def full_subject(self) -> str:
        """A subject with one of each thing that becomes an object."""
        rival = self.subject("threat-actor", "Rival", description="Said to be hostile.")
        place = self.subject("location", "Zug")
        self.claim(place, "country", "CH")
        subject = self.subject("infrastructure", 'Müller "Pier" 7 \\ AG\'s')
        start, end = "2026-01-01T00:00:00.000000Z", "2027-01-01T00:00:00.000000Z"
        for scheme, value in DESIGNATORS:
            self.designator(subject, scheme, value, start=start, end=end, confidence=0)
        lei = self.designator(subject, "lei", "5493001KJTIIGC8Y1R12")
        sighting = self.observation(subject, lang="de", start=start)
        claims = [
            self.claim(subject, "attributedTo", {"subject": rival}, confidence=100, end=end),
            self.claim(subject, "locatedIn", {"subject": place}, statement="It is in Zug."),
            self.claim(subject, "malicious", True, start=start, end=end),
            self.claim(subject, "malicious", "domain:evil.example"),
            self.claim(
                subject, "headquarters", {"city": "Zug"}, evidence=[sighting], source=SOURCE
            ),
            self.claim(subject, "headquarters", "Bern", statement="It is Bern."),
        ]
        states = ("under_review", "corroborated", "verified", "disputed", "refuted")
        for state, target in zip(states, (lei, sighting, *claims), strict=False):
            self.verdict(target, state, method="reading", note="Twice.")
        erased_claim = self.claim(subject, "status", "secret word")
        self.act("erase", erased_claim, reason="GDPR")
        return subject


DESIGNATORS = (
    ("domain", "evil.example"),
    ("ipv4", "192.0.2.7"),
    ("ipv6", "2001:db8::1"),
    ("url", "https://evil.example/o'clock?x=1"),
    ("email", "oneil@evil.example"),
    ("asn", "64500"),
    ("sha256", "0f" * 32),
    ("handle", "github:octocat"),
    ("handle", "twitter:octocat"),
    ("x509", "a1" * 32),
    ("cve", "CVE-2024-3094"),
    ("wallet", "eip155:1:0x52908400098527886e0f7030069857d2e4169ee7"),
)


@pytest.fixture
def tale() -> Tale:
    """An empty ledger to write on."""
    return Tale()


@pytest.fixture
def designators() -> Any:
    """A designator of each scheme that STIX has an observable for, and two others."""
    return DESIGNATORS
