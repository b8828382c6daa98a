"""Validates entries and turns them into drafts, reporting all faults together.

Rule 1: all faults of an entry, and of all entries of a batch, come together by JSON Pointer. Faults
        of one kind keep its code; several kinds come as VALIDATION_FAILED.
Rule 2: members are stored as sent, except that instants and designators get their one canonical
        form; a designator's original spelling is then stored beside it as `raw`.
Rule 3: a salt keeps people from finding an erased payload by hashing guesses. A repeatable salt
        (`repeatable_salt`) is derived with the master secret, so it cannot be guessed either.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

import attrs
from attrs import define, field
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from svc_core import wire
from svc_core.base.seals import Keyring
from svc_core.base.unset import UNSET, or_default
from svc_core.contract import problem
from svc_core.contract.problem import FAULTS_MAX, Problem, ProblemType
from svc_core.ledger import predicates
from svc_core.ledger.append.entries import Entry
from svc_core.ledger.append.input import CitedSource
from svc_core.ledger.designator_input import normalise
from svc_core.ledger.records import Draft, payload_bytes, sealing_faults
from svc_core.ledger.timestamps import canonical_time, check_interval
from svc_core.wire.faults import FAULTS_KEPT_MAX

SALT_BYTES: Final = 16
"""128 bits, so that nobody finds an erased payload by hashing guesses."""

Payload = dict[str, Any]
T = TypeVar("T")


def drafts(
    entries: Sequence[Entry], *, author: str, salts: Sequence[bytes], start: int | None = 0
) -> tuple[Draft, ...]:
    """Validate entries and return their drafts.

    Pointers begin with the number of the entry, counted from `start`, unless that is None.

    Raises:
        Problem: VALIDATION_FAILED for invalid members;
            if all faults are of one kind, TIMESTAMP_INVALID, TIMESTAMP_LEAP_SECOND,
            TIMESTAMP_PRECISION, INTERVAL_EMPTY, DESIGNATOR_INVALID, NUMBER_PRECISION or
            RECORD_TOO_LARGE.
    """
    faults = _Faults()
    batch = tuple(
        _Reader(entry, "" if start is None else f"/{start + number}", faults).draft(author, salt)
        for number, (entry, salt) in enumerate(zip(entries, salts, strict=True))
    )
    faults.raise_any()
    return batch


@define
class _Faults:
    """The faults so far, each as a problem type and the text `pointer: reason`."""

    _items: list[tuple[ProblemType, str]] = field(factory=list)

    def __len__(self) -> int:
        return len(self._items)

    def add(self, place: str, reason: str, type_: ProblemType = problem.VALIDATION_FAILED) -> None:
        self._items.append((type_, f"{place or '(body)'}: {reason}"))

    def attempt(self, check: Callable[..., T], *arguments: Any) -> T | None:
        """Return the result of `check`; record the problem and return None if it raises one."""
        try:
            return check(*arguments)
        except Problem as error:
            self._items.append((error.type, error.detail))
            return None

    def raise_any(self) -> None:
        if not self._items:
            return
        types = {type_.code: type_ for type_, _ in self._items}
        type_ = problem.VALIDATION_FAILED if len(types) > 1 else next(iter(types.values()))
        details = [detail for _, detail in self._items[:FAULTS_MAX]]
        rest = len(self._items) - len(details)
        raise Problem(type_, "; ".join([*details, f"and {rest} more"] if rest else details))


@define
class _Reader:
    """Turns one entry into a draft; the pointers of its faults begin with `_pointer`."""

    _entry: Entry
    _pointer: str
    _faults: _Faults

    def draft(self, author: str, salt: bytes) -> Draft:
        """Return the draft; it is meaningful only if no fault was added."""
        entry, before = self._entry, len(self._faults)
        payload = self._payload()
        self._check_values(payload)
        # What cannot be sealed needs no second fault for being no money or no name.
        self._check_meaning(payload, is_sealable=len(self._faults) == before)
        payload["salt"] = _salt(salt)
        if len(self._faults) == before:
            self._faults.attempt(payload_bytes, payload, self._pointer)
        start, end = self._instant("valid_from"), self._instant("valid_to")
        self._faults.attempt(check_interval, start, end, f"{self._pointer}/validTo")
        subject, target = or_default(entry.subject, None), or_default(entry.target, None)
        return Draft(entry.kind, entry.op, subject, target, start, end, author, payload)

    def _payload(self) -> Payload:
        members = attrs.asdict(self._entry, recurse=False)
        return {
            wire.camel(name): _plain(value)
            for name, value in members.items()
            if name not in _HEAD and value is not UNSET
        }

    def _check_values(self, payload: Payload) -> None:
        for type_, place, reason in islice(sealing_faults(payload), FAULTS_KEPT_MAX):
            self._faults.add(f"{self._pointer}{place}", reason, type_)

    # -- what the members mean --------------------------------------------------------------------

    def _check_meaning(self, payload: Payload, *, is_sealable: bool) -> None:
        if "scheme" in payload and "value" in payload:
            self._normalise(payload)
        if "predicate" in payload and "value" in payload and is_sealable:
            for fault in predicates.value_faults(payload["predicate"], payload["value"]):
                self._faults.add(f"{self._pointer}{fault.place}", fault.reason)
        if "observedAt" in payload:
            payload["observedAt"] = self._instant("observed_at")
        if "source" in payload:
            self._check_source(payload["source"])
        if "state" in payload:
            self._check_verdict(payload)
        self._check_evidence(payload.get("evidence", []))

    def _normalise(self, payload: Payload) -> None:
        raw = payload["value"]
        normal = self._faults.attempt(normalise, payload["scheme"], raw, f"{self._pointer}/value")
        if normal != raw:
            payload.setdefault("raw", raw)
        payload["value"] = normal

    def _check_source(self, source: Payload) -> None:
        if "retrievedAt" in source:
            source["retrievedAt"] = self._faults.attempt(
                canonical_time, source["retrievedAt"], f"{self._pointer}/source/retrievedAt"
            )

    def _check_verdict(self, payload: Payload) -> None:
        if payload["state"] == "verified" and "method" not in payload:
            self._fault("method", "is required when it is verified")
        if payload["state"] == "corroborated" and not payload["evidence"]:
            self._fault("evidence", "must have at least 1 item when it is corroborated")

    def _check_evidence(self, ids: Sequence[str]) -> None:
        for number, id_ in enumerate(ids):
            if id_ in ids[:number]:
                self._fault(f"evidence/{number}", "is cited before")

    # -- parts ------------------------------------------------------------------------------------

    def _instant(self, name: str) -> str | None:
        text = getattr(self._entry, name)
        if text is UNSET or text is None:
            return None
        return self._faults.attempt(canonical_time, text, f"{self._pointer}/{wire.camel(name)}")

    def _fault(self, name: str, reason: str) -> None:
        self._faults.add(f"{self._pointer}/{wire.camel(name)}", reason)


_HEAD: Final = frozenset({"kind", "op", "subject", "target", "valid_from", "valid_to"})


def _plain(value: Any) -> Any:
    """Convert a member to its JSON value."""
    if isinstance(value, CitedSource):
        return wire.to_json(value)
    return list(value) if isinstance(value, tuple) else value


def repeatable_salt(keyring: Keyring, tenant: str, mark: str) -> bytes:
    """Derive the salt for the input position `mark` from the master secret.

    The same record with the same salt has the same identifier, so a repeated append finds what it
    appended before. After a change of the secret the salt is another one.
    """
    info = f"svc ledger salt\n{tenant}\n{mark}".encode()
    return HKDF(SHA256(), SALT_BYTES, salt=None, info=info).derive(keyring.keys[keyring.current])


def _salt(salt: bytes) -> str:
    """Encode a salt as 22 characters of base64url.

    Raises:
        ValueError: the salt does not have 16 bytes.
    """
    if len(salt) != SALT_BYTES:
        raise ValueError(f"A salt has {SALT_BYTES} bytes.")
    return urlsafe_b64encode(salt).rstrip(b"=").decode()
