"""The markings of the Traffic Light Protocol 2.0 as STIX objects."""

from collections.abc import Mapping
from typing import Any, Final, Literal

Tlp = Literal["clear", "green", "amber", "amber+strict", "red"]

AMBER: Final[Tlp] = "amber"
"""The default marking of an export."""

_EXTENSION: Final = "extension-definition--60a3c5c5-0d10-413e-aab3-9e08dde9e88d"

IDS: Final[Mapping[Tlp, str]] = {
    "clear": "marking-definition--94868c89-83c2-464b-929b-a1a8aa3c8487",
    "green": "marking-definition--bab4a63c-aed9-4cf5-a766-dfca5abac2bb",
    "amber": "marking-definition--55d920b0-5e8b-4f79-9ee9-91f868d9b421",
    "amber+strict": "marking-definition--939a9414-2ddd-4d32-a0cd-375ea402b003",
    "red": "marking-definition--e828b379-4e03-4974-9ac4-e53a884c97c1",
}
"""The identifiers that OASIS assigned to the markings; all producers use the same objects."""


def definition(tlp: Tlp) -> dict[str, Any]:
    """Return a marking as the STIX object that OASIS published."""
    return {
        "type": "marking-definition",
        "spec_version": "2.1",
        "id": IDS[tlp],
        "created": "2022-10-01T00:00:00.000Z",
        "name": f"TLP:{tlp.upper()}",
        "extensions": {_EXTENSION: {"extension_type": "property-extension", "tlp_2_0": tlp}},
    }
