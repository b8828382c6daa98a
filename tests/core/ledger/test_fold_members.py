"""Every member of a record is shown in its own place, whatever kind of record it is."""

import json
from collections.abc import Mapping
from typing import Any

from svc_core.ledger.fold.bitemporal import fold_records
from svc_core.ledger.fold.view import encode
from svc_core.ledger.records import SealedRecord

SUBJECT = "sbj_" + "1" * 24
START, END, MIDDLE = (f"202{year}-01-01T00:00:00.000000Z" for year in (0, 9, 5))


def _record(seq: int, kind: Any, op: Any, target: str | None, **payload: Any) -> SealedRecord:
    id_ = SUBJECT if kind == "subject" else f"{kind[:3]}_{seq:024d}"
    interval = (None, None) if op == "verify" else (START, END)
    hashes = (f"{seq:064x}", f"{seq:064x}", "led_", "0" * 64)
    recorded_at = f"2026-01-01T00:00:00.00000{seq}Z"
    content = {**payload, "salt": "s"}
    head = (seq, id_, kind, op, SUBJECT, target, recorded_at, *interval, f"key_{seq}")
    return SealedRecord._make((*head, content, *hashes))


RECORDS = [
    _record(0, "subject", "assert", None, type="person", label="Pier", description="A pier."),
    _record(
        *(1, "designator", "assert", None),
        scheme="name",
        value="Pier",
        raw="Pier ",
        confidence=1,
        source={"a": 1},
    ),
    _record(
        *(2, "observation", "assert", None),
        observedAt=MIDDLE,
        text="Seen.",
        lang="en",
        visibility="public",
        source={"b": 2},
        extracted={"c": 3},
    ),
    _record(
        *(3, "claim", "assert", None),
        predicate="seat",
        value="Zug",
        confidence=100,
        evidence=["obs_2"],
        source={"d": 4},
        statement="It is said.",
    ),
    _record(
        *(4, "claim", "verify", f"cla_{3:024d}"),
        state="verified",
        method="call",
        evidence=["obs_5"],
        note="Asked.",
    ),
    _record(5, "claim", "assert", None, predicate="seat", value="Bern"),
    _record(6, "claim", "retract", f"cla_{5:024d}", reason="other"),
]


def _head(seq: int) -> dict[str, Any]:
    record = RECORDS[seq]
    return {
        "id": record.id,
        "seq": seq,
        "author": f"key_{seq}",
        "recordedAt": f"2026-01-01T00:00:00.00000{seq}Z",
        "validFrom": START,
        "validTo": END,
        "erased": False,
    }


def _without(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def test_every_member_is_shown_in_its_own_place() -> None:
    view = json.loads(encode(fold_records(RECORDS, SUBJECT, valid_time=MIDDLE, with_history=True)))
    (designator,), (observation,) = view["designators"], view["observations"]
    (support,) = view["claims"]["seat"]["candidates"][0]["support"]
    (verdict,) = support["verification"]["verdicts"]

    identity = {"type": "person", "label": "Pier", "description": "A pier."}
    assert _without(view["identity"], "verification") == {**_head(0), **identity}
    assert _without(designator, "verification") == {
        **_head(1),
        "scheme": "name",
        "value": "Pier",
        "raw": "Pier ",
        "confidence": 1,
        "source": {"a": 1},
    }
    assert _without(observation, "verification") == {
        **_head(2),
        "observedAt": MIDDLE,
        "text": "Seen.",
        "lang": "en",
        "visibility": "public",
        "source": {"b": 2},
        "extracted": {"c": 3},
    }
    assert _without(support, "verification") == {
        **_head(3),
        "confidence": 100,
        "evidence": ["obs_2"],
        "statement": "It is said.",
        "source": {"d": 4},
    }
    assert verdict == {
        **_without(_head(4), "validFrom", "validTo"),
        "state": "verified",
        "method": "call",
        "evidence": ["obs_5"],
        "note": "Asked.",
        "counts": True,
    }


def test_history_shows_what_was_said_and_who_displaced_it() -> None:
    view = json.loads(encode(fold_records(RECORDS, SUBJECT, valid_time=MIDDLE, with_history=True)))

    assert view["history"] == [
        {
            **_head(5),
            "kind": "claim",
            "op": "assert",
            "target": None,
            "everywhere": False,
            "content": {"predicate": "seat", "value": "Bern"},
            "displacedBy": [
                {**_without(_head(6), "seq", "erased"), "op": "retract", "reason": "other"}
            ],
        }
    ]


def test_what_is_refuted_is_shown_with_all_that_it_says() -> None:
    refutation = _record(7, "designator", "verify", f"des_{1:024d}", state="refuted")
    bare = _record(8, "observation", "assert", None)._replace(payload=None)
    view = json.loads(
        encode(fold_records([*RECORDS, refutation, bare], SUBJECT, valid_time=MIDDLE))
    )
    (row,) = view["rejected"]

    assert view["designators"] == []
    assert _without(row, "verification") == {
        **_head(1),
        "kind": "designator",
        "content": _without(RECORDS[1].payload or {}, "salt"),
    }
    assert row["verification"]["state"] == "refuted"
    assert [(item["erased"], item["text"]) for item in view["observations"]] == [
        (False, "Seen."),
        (True, None),
    ]
