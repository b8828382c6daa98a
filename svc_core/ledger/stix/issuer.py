"""The issuer of a STIX export: identifiers, markings, and the extension that proves origin.

Rule 1: whatever a record became bears the proof of its origin: ledger, record, place and seal.
        With the ledger's log anybody can check it.
Rule 2: what says how ledgers are exported is TLP:CLEAR and the same in every export.
Rule 3: what is marked otherwise than by default is another object, with an identifier of its own:
        one identifier with one `modified` never has two bodies.
"""

from typing import Any, Final

from attrs import frozen

from svc_core.base import canonical
from svc_core.ledger.fold.verification_states import State
from svc_core.ledger.fold.view_rows import texts_of
from svc_core.ledger.records import SealedRecord
from svc_core.ledger.stix.subject_state import payload_of, text_in
from svc_core.ledger.transfer.marking import AMBER, Tlp
from svc_core.ledger.transfer.stix_ids import object_id
from svc_core.ledger.transfer.stix_writer import Object, producer_object, stix_object

_VERSION: Final = "1.0.0"
_FORMAT_ID: Final = object_id("identity", "svc", "ledger")
_FORMAT_NAME: Final = "Ontology ledgers as STIX"
EXTENSION_ID: Final = object_id("extension-definition", "svc", "ledger-record", _VERSION)
"""The extension that carries the proof of origin."""

_TEXT: Final = {"type": "string"}
_TEXTS: Final = (
    *("recorded_at", "valid_from", "valid_to", "verification_state", "statement"),
    *("record_time", "valid_time"),
)
_SCHEMA: Final = canonical.dumps(
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["extension_type", "ledger"],
        "properties": {
            "extension_type": {"const": "property-extension"},
            "ledger": {**_TEXT, "pattern": "^led_[0-9a-f]{24}$"},
            "record": {**_TEXT, "pattern": "^(sbj|dsg|obs|clm)_[0-9a-f]{24}$"},
            "seq": {"type": "integer", "minimum": 0},
            "seal": {**_TEXT, "pattern": "^[0-9a-f]{64}$"},
            "kind": {"enum": ["subject", "designator", "observation", "claim"]},
            "evidence": {"type": "array", "items": _TEXT},
            "size": {"type": "integer", "minimum": 0},
            **dict.fromkeys(_TEXTS, _TEXT),
        },
    }
).decode()


_OF_RECORD: Final = ("seq", "seal", "kind", "recorded_at", "valid_from", "valid_to")


@frozen
class Issuer:
    """A ledger as producer of STIX objects, and the marking of an export."""

    ledger: str
    tlp: Tlp = AMBER

    @property
    def producer_id(self) -> str:
        """The id of the identity object that stands for the ledger as producer."""
        return object_id("identity", self.ledger, "producer")

    def id(self, type_: str, *parts: str) -> str:
        """Derive the identifier of an object of this ledger under this marking."""
        suffix = () if self.tlp == AMBER else (f"tlp:{self.tlp}",)
        return object_id(type_, self.ledger, *parts, *suffix)

    def stix_object(
        self, type_: str, parts: tuple[str, ...], created: str, modified: str, **members: Any
    ) -> Object:
        """Build an object of this ledger; members that are None or empty are left out."""
        times = {"created": created, "modified": modified}
        id_ = self.id(type_, *parts)
        return stix_object(type_, id_, self.producer_id, self.tlp, **times, **members)

    def origin(self, record: SealedRecord, state: State) -> Object:
        """Build the extension that proves from which record an object was made."""
        payload = payload_of(record)
        evidence = list(texts_of(payload.get("evidence")))
        return self.proof(
            record=record.id,
            **{name: getattr(record, name) for name in _OF_RECORD},
            verification_state=state,
            evidence=evidence or None,
            statement=text_in(payload.get("statement")),
        )

    def proof(self, **members: Any) -> Object:
        """Build the extension with these members; those that are None are left out."""
        contents = {name: value for name, value in members.items() if value is not None}
        extension = {"extension_type": "property-extension", "ledger": self.ledger, **contents}
        return {EXTENSION_ID: extension}

    def preamble(self) -> list[Object]:
        """Build the identities and the extension definition, the same in every export."""
        systems = ((_FORMAT_ID, _FORMAT_NAME), (self.producer_id, f"Ledger {self.ledger}"))
        return [
            *(producer_object(id_, name, by=_FORMAT_ID) for id_, name in systems),
            stix_object(
                "extension-definition",
                EXTENSION_ID,
                _FORMAT_ID,
                "clear",
                name="Sealed ledger record",
                description=(
                    "The ledger's record that an object was made of: its place, its seal (the "
                    "SHA-256 by which it stands in the ledger's Merkle tree), when it was "
                    "recorded, from when until when it holds, and how it was verified."
                ),
                schema=_SCHEMA,
                version=_VERSION,
                extension_types=["property-extension"],
            ),
        ]
