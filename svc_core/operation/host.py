"""The deployment as use cases see it: its settings, its signing keys and its providers."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Protocol

from attrs import field, frozen


class Signer(Protocol):
    """A key that signs the tree heads of ledgers, or receipts: Ed25519 (RFC 8032)."""

    @property
    def public(self) -> bytes:
        """The public key, 32 bytes."""

    def sign(self, message: bytes) -> bytes:
        """The signature of `message`, 64 bytes."""


@frozen
class Progress:
    """The progress of long work: `done` of `total` steps, and a note about the last one.

    A `total` of 0 means unknown. Nested work reports under a `unit` of its own.
    """

    done: int
    total: int
    note: str = ""
    unit: str = ""


ProgressListener = Callable[[Progress], None]
"""Receives the progress of long work; it must not wait."""


def silent(_: Progress) -> None:
    """Ignore progress."""


@frozen
class Host:
    """The settings and providers of the deployment that runs the use cases.

    `origin` is its public address without a path. `is_development` allows what only a developer's
    own machine may do, such as webhooks to loopback addresses. `allow_erasure` names the
    workspaces whose ledger content may be erased; `"*"` in it names all. `signer` is the key of the
    ledgers, `receipt_signer` that of payments. `has_voice`: the host has a voice for reports;
    `audio_wait` is how long an event waits for a recording. A workspace makes `reports_at_once` on
    request, and `reports_per_hour`, 0 for any number. `media_base_url` is the CDN of the
    media files, None where this service has them. `thread_retention` is how long a silent
    conversation is stored, `audit_retention` how long a row of the audit log, and `retention` how
    long rows of other kinds, by name; one that is not named is kept as its own rules say.
    `ui_finish_reason`: the UI message stream has the finish reason in a member of its own.
    `aliases_until` is when deprecated members end, None for never.
    `lite_keys_before` is the day before which a key must have been made to be grandfathered, None
    for none.
    `providers` holds the providers of what only a host can reach (publishers, voices, files), each
    under the Protocol that a feature declares for it.
    """

    origin: str = "http://127.0.0.1:8000"
    is_development: bool = True
    allow_erasure: frozenset[str] = frozenset()
    signer: Signer | None = None
    receipt_signer: Signer | None = None
    has_voice: bool = False
    audio_wait: timedelta = timedelta(minutes=10)
    reports_at_once: int = 2
    reports_per_hour: int = 20
    media_base_url: str | None = None
    thread_retention: timedelta = timedelta(days=30)
    audit_retention: timedelta = timedelta(days=400)
    retention: Mapping[str, timedelta] = MappingProxyType({})
    ui_finish_reason: bool = False
    aliases_until: datetime | None = None
    lite_keys_before: datetime | None = None
    providers: Mapping[type, Any] = field(factory=dict, repr=False)

    def has_aliases(self, now: datetime) -> bool:
        """Whether answers still have their deprecated members at `now`."""
        return self.aliases_until is None or now < self.aliases_until
