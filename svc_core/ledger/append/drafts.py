"""Entries into drafts: complete, normalised, with their salt; or every reason why not.

Rule 1: all faults of an entry, and of all entries of a batch, come together by JSON Pointer. Faults
        of one kind keep its code; several kinds come as VALIDATION_FAILED.
Rule 2: what is kept is what was sent, but for the one form of instants and designators; the
        spelling of a designator that changed is kept beside it as `raw`.
Rule 3: a payload reads back as what it was written from. RFC 8785 writes a float such as 2^53
        with an integer's digits, which its own reader refuses, so those are refused here.
"""

import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import isfinite
from typing import Any, Final

import attrs
from attrs import define, field

from svc_core import canonical, problem, wire
from svc_core.canonical import INTEGER_MAX
from svc_core.ledger import predicates
from svc_core.ledger.append.entries import MEMBERS, REASONS, CitedSource, Entry, Members
from svc_core.ledger.designators import normalise
from svc_core.ledger.records import PAYLOAD_BYTES_MAX, PAYLOAD_DEPTH_MAX, Draft
from svc_core.ledger.timestamps import canonical_time, check_interval
from svc_core.problem import FAULTS_MAX, Problem, ProblemType
from svc_core.unset import UNSET, given
from svc_core.wire.faults import FAULTS_KEPT_MAX, escape

SALT_BYTES: Final = 16
"""128 bits, so that nobody finds an erased payload by hashing guesses."""

_EXPONENT_FROM: Final = 1e21  # ECMA-262, Number::toString: from here on with an exponent
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

Payload = dict[str, Any]


def draft(entry: Entry, *, author: str, salt: bytes) -> Draft:
    """The draft of one entry; pointers begin at its members.

    Raises:
        Problem: VALIDATION_FAILED for members that are missing, foreign or unfit;
            where all faults are of one kind, TIMESTAMP_INVALID, TIMESTAMP_LEAP_SECOND,
            TIMESTAMP_PRECISION, INTERVAL_EMPTY, DESIGNATOR_INVALID, NUMBER_PRECISION or
            RECORD_TOO_LARGE.
    """
    faults = _Faults()
    made = _Reader(entry, "", faults).draft(author, salt)
    faults.raise_any()
    return made


def drafts(entries: Sequence[Entry], *, author: str, salts: Sequence[bytes]) -> tuple[Draft, ...]:
    """The drafts of a batch, each with its own salt; pointers begin at the number of the entry.

    Raises:
        Problem: as `draft`, for all entries together.
    """
    faults = _Faults()
    made = tuple(
        _Reader(entry, f"/{number}", faults).draft(author, salt)
        for number, (entry, salt) in enumerate(zip(entries, salts, strict=True))
    )
    faults.raise_any()
    return made


@define
class _Faults:
    """What was found wrong so far, as the problem's type and its `pointer: reason`."""

    _found: list[tuple[ProblemType, str]] = field(factory=list)

    def __len__(self) -> int:
        return len(self._found)

    def add(self, where: str, reason: str, type_: ProblemType = problem.VALIDATION_FAILED) -> None:
        self._found.append((type_, f"{where or '(body)'}: {reason}"))

    def keep(self, check: Callable[..., str | None], *arguments: Any) -> str | None:
        """What `check` gives, or None where it refuses."""
        try:
            return check(*arguments)
        except Problem as refused:
            self._found.append((refused.type, refused.detail))
            return None

    def raise_any(self) -> None:
        if not self._found:
            return
        types = {type_.code: type_ for type_, _ in self._found}
        type_ = problem.VALIDATION_FAILED if len(types) > 1 else next(iter(types.values()))
        shown = [detail for _, detail in self._found[:FAULTS_MAX]]
        hidden = len(self._found) - len(shown)
        raise Problem(type_, "; ".join([*shown, f"and {hidden} more"] if hidden else shown))


@define
class _Reader:
    """Reads one entry; its pointers begin with `where`."""

    _entry: Entry
    _where: str
    _faults: _Faults

    def draft(self, author: str, salt: bytes) -> Draft:
        """The draft; it means something only where no fault was added."""
        entry, before = self._entry, len(self._faults)
        members = MEMBERS.get((entry.kind, entry.op))
        payload: Payload = {}
        if members is None:
            self._fault("op", f"is not for a {entry.kind}")
        else:
            self._check_members(members)
            payload = self._payload(members)
            known = len(self._faults)
            self._check_values(payload)
            # What cannot be sealed needs no second fault for being no money or no name.
            self._check_meaning(payload, is_sealable=len(self._faults) == known)
        payload["salt"] = _salt(salt)
        if len(self._faults) == before:
            self._check_size(payload)
        start, end = self._instant("valid_from"), self._instant("valid_to")
        self._faults.keep(check_interval, start, end, f"{self._where}/validTo")
        subject, target = given(entry.subject, None), given(entry.target, None)
        return Draft(entry.kind, entry.op, subject, target, start, end, author, payload)

    def _check_members(self, members: Members) -> None:
        for name in members.required:
            if self._is_absent(name):
                self._fault(name, "is required")
        allowed = {"kind", "op", *members.required, *members.optional}
        for attribute in attrs.fields(Entry):
            if attribute.name not in allowed and not self._is_absent(attribute.name):
                self._fault(attribute.name, f"is not for {self._entry.op} of a {self._entry.kind}")

    def _is_absent(self, name: str) -> bool:
        sent = getattr(self._entry, name)
        # Null is what these members of the head are where they have no meaning.
        return sent is UNSET or (name in _NULLABLE and sent is None)

    def _payload(self, members: Members) -> Payload:
        payload = {
            wire.camel(name): _plain(sent)
            for name in members.payload
            if (sent := getattr(self._entry, name)) is not UNSET
        }
        if self._entry.kind == "observation" and "text" in members.required:
            payload.setdefault("visibility", "public")
        if "evidence" in members.optional:
            payload.setdefault("evidence", [])
        return payload

    def _check_values(self, payload: Payload) -> None:
        found = (fault for name in payload for fault in _unfit(payload[name], f"/{name}", 2))
        for type_, place, reason in islice(found, FAULTS_KEPT_MAX):
            self._faults.add(f"{self._where}{place}", reason, type_)

    # -- what the members mean --------------------------------------------------------------------

    def _check_meaning(self, payload: Payload, *, is_sealable: bool) -> None:
        if "scheme" in payload and "value" in payload:
            self._normalise(payload)
        if "predicate" in payload and "value" in payload and is_sealable:
            for fault in predicates.check(payload["predicate"], payload["value"]):
                self._faults.add(f"{self._where}{fault.where}", fault.reason)
        if "observedAt" in payload:
            payload["observedAt"] = self._instant("observed_at")
        if "source" in payload:
            self._check_source(payload["source"])
        if "state" in payload:
            self._check_verdict(payload)
        if "reason" in payload and self._entry.op != "erase" and payload["reason"] not in REASONS:
            self._fault("reason", f"must be one of: {', '.join(REASONS)}")
        self._check_evidence(payload.get("evidence", []))

    def _normalise(self, payload: Payload) -> None:
        sent = payload["value"]
        if not isinstance(sent, str):
            self._fault("value", "must be a string")
            return
        kept = self._faults.keep(normalise, payload["scheme"], sent, f"{self._where}/value")
        if kept != sent:
            payload.setdefault("raw", sent)
        payload["value"] = kept

    def _check_source(self, source: Payload) -> None:
        where = f"{self._where}/source"
        if "retrievedAt" in source:
            source["retrievedAt"] = self._faults.keep(
                canonical_time, source["retrievedAt"], f"{where}/retrievedAt"
            )
        if self._entry.kind == "observation":
            for name in ("retrievedAt", "contentSha256"):
                if name not in source:
                    self._faults.add(f"{where}/{name}", "is required for an observation")

    def _check_verdict(self, payload: Payload) -> None:
        if payload["state"] == "verified" and "method" not in payload:
            self._fault("method", "is required when it is verified")
        if payload["state"] == "corroborated" and not payload["evidence"]:
            self._fault("evidence", "must have at least 1 item when it is corroborated")

    def _check_evidence(self, cited: Sequence[str]) -> None:
        for number, id_ in enumerate(cited):
            if id_ in cited[:number]:
                self._fault(f"evidence/{number}", "is cited before")

    # -- parts ------------------------------------------------------------------------------------

    def _check_size(self, payload: Payload) -> None:
        size = len(canonical.dumps(payload))
        if size > PAYLOAD_BYTES_MAX:
            reason = f"makes a payload of {size} bytes, beyond {PAYLOAD_BYTES_MAX}"
            self._faults.add(self._where, reason, problem.RECORD_TOO_LARGE)

    def _instant(self, name: str) -> str | None:
        sent = getattr(self._entry, name)
        if sent is UNSET or sent is None:
            return None
        return self._faults.keep(canonical_time, sent, f"{self._where}/{wire.camel(name)}")

    def _fault(self, name: str, reason: str) -> None:
        self._faults.add(f"{self._where}/{wire.camel(name)}", reason)


_NULLABLE: Final = frozenset({"subject", "target", "valid_from", "valid_to"})


def _plain(value: Any) -> Any:
    """The JSON value of a member."""
    if isinstance(value, CitedSource):
        return wire.to_json(value)
    return list(value) if isinstance(value, tuple) else value


def _salt(salt: bytes) -> str:
    """22 characters of base64url.

    Raises:
        ValueError: the salt has not 16 bytes.
    """
    if len(salt) != SALT_BYTES:
        raise ValueError(f"A salt has {SALT_BYTES} bytes.")
    return urlsafe_b64encode(salt).rstrip(b"=").decode()


def _unfit(value: Any, where: str, depth: int) -> Iterator[tuple[ProblemType, str, str]]:
    """What of a value cannot be sealed and read back as it is. The payload itself has depth 1."""
    if isinstance(value, str):
        if _SURROGATE.search(value):
            yield problem.VALIDATION_FAILED, where, "must not hold half a surrogate pair"
    elif isinstance(value, float):
        if not isfinite(value) or (
            value.is_integer() and INTEGER_MAX < abs(value) < _EXPONENT_FROM
        ):
            yield problem.NUMBER_PRECISION, where, "cannot be kept exactly, so send it as a string"
    elif isinstance(value, int):
        if abs(value) > INTEGER_MAX:
            yield problem.NUMBER_PRECISION, where, "lies beyond ±(2^53-1), so send it as a string"
    elif isinstance(value, dict | list):
        if depth > PAYLOAD_DEPTH_MAX:
            yield (
                problem.RECORD_TOO_LARGE,
                where,
                f"nests a payload beyond {PAYLOAD_DEPTH_MAX} levels",
            )
            return
        for name, item in _items(value):
            yield from _unfit(item, f"{where}/{escape(str(name))}", depth + 1)


def _items(value: Any) -> Iterable[tuple[str | int, Any]]:
    return value.items() if isinstance(value, dict) else enumerate(value)
