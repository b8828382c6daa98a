"""Bodies of appends, one of each sort, as the description of the API shows them."""

from collections.abc import Mapping
from typing import Any, Final

_SUBJECT: Final = "sbj_a9b3c182b699604db136482f"
_OBSERVATION: Final = "obs_30b8bebfd75d9bad322112f4"
_CLAIM: Final = "clm_442bced89046c34c77149f59"
_ABOUT: Final = {"kind": "claim", "subject": _SUBJECT}
_ON: Final = {**_ABOUT, "target": _CLAIM}
_SEAT: Final = {"predicate": "headquarters", "value": {"city": "Zug", "country": "CH"}}

_ASSERTED: Final = {
    **_ABOUT,
    **_SEAT,
    "confidence": 70,
    "evidence": [_OBSERVATION],
    "validFrom": "2019-01-01T00:00:00Z",
}
_DESIGNATOR: Final = {
    "kind": "designator",
    "subject": _SUBJECT,
    "scheme": "lei",
    "value": "5493001KJTIIGC8Y1R12",
}
_VERDICT: Final = {
    **_ON,
    "op": "verify",
    "state": "corroborated",
    "method": "source-comparison",
    "evidence": [_OBSERVATION],
}
_RETRACTION: Final = {**_ON, "op": "retract", "reason": "source-withdrawn"}

APPENDS: Final[Mapping[str, Any]] = {
    "claim": _ASSERTED,
    "designator": _DESIGNATOR,
    "observation": {
        "kind": "observation",
        "subject": _SUBJECT,
        "observedAt": "2026-01-04T18:30:00Z",
        "text": "The registry lists Zug as its seat.",
        "lang": "en",
        "source": {
            "url": "https://news.example/a/1",
            "publisher": "Pier Gazette",
            "retrievedAt": "2026-01-04T19:00:00Z",
            "contentSha256": "3660315a9af3df255d8f19ab077e4797822b41488a0e2a04bc6af71213c23274",
        },
    },
    "amend": {
        **_ON,
        "op": "amend",
        "predicate": "headquarters",
        "value": {"city": "Bern", "country": "CH"},
        "reason": "no-longer-true",
        "validFrom": "2024-06-30T00:00:00Z",
    },
    "supersede": {**_ON, **_SEAT, "op": "supersede", "reason": "clerical"},
    "retract": _RETRACTION,
    "verify": _VERDICT,
    "erase": {
        **_ON,
        "op": "erase",
        "reason": "request of 3 March",
        "legalBasis": "GDPR, article 17",
    },
    "batch": [_DESIGNATOR, _ASSERTED, _VERDICT],
}
"""What `POST /ledger/records` takes, by what it does: head and payload members side by side."""
