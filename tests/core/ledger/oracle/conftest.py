"""A second fold, slow and obvious: a sweep from the newest record to the oldest, for each question.

It shares no code with the library's: no sets of intervals, no prepared edges, plain lists.
"""

import json
from collections.abc import Sequence
from typing import Any

import pytest

RANKS = {"verified": 3, "corroborated": 2, "unverified": 1, "under_review": 1, "disputed": 0}
CREDIBILITY = {"verified": 1, "corroborated": 2, "disputed": 4, "refuted": 5}
SINGLE = {"headquarters"}


def covers(record: Any, valid_time: str) -> bool:
    after = record.valid_from is None or not valid_time < record.valid_from
    return after and not (record.valid_to is not None and valid_time >= record.valid_to)


def sweep(visible: list[Any], valid_time: str) -> list[Any]:
    """The records that are not displaced at a valid time, newest first."""
    awake: list[Any] = []
    for record in reversed(visible):
        is_displaced = False
        for later in awake:
            if later.target == record.id and (
                later.op == "supersede"
                or (later.op in ("amend", "retract") and covers(later, valid_time))
            ):
                is_displaced = True
        if not is_displaced:
            awake.append(record)
    return awake


def samples(visible: list[Any]) -> list[str]:
    """A valid time in every stretch over which nothing begins or ends."""
    bounds = {r.valid_from for r in visible} | {r.valid_to for r in visible}
    return ["0000", *sorted(bound for bound in bounds if bound)]


class Sweep:
    """One answer: what is visible, then member by member."""

    def __init__(self, records: Sequence[Any], question: Any) -> None:
        self.valid_time = question.valid_time
        self.visible: list[Any] = []
        for record in sorted(records, key=lambda record: record.seq):
            if record in self.visible or record.subject != question.subject:
                continue
            if question.size is not None and record.seq >= question.size:
                continue
            if question.record_time is None or record.recorded_at <= question.record_time:
                self.visible.append(record)
        self.awake = {t: sweep(self.visible, t) for t in samples(self.visible)}

    def live(self) -> list[Any]:
        awake = sweep(self.visible, self.valid_time)
        return [
            item
            for item in self.visible
            if item in awake
            and item.op in ("assert", "amend", "supersede")
            and covers(item, self.valid_time)
        ]

    def counts(self, record: Any) -> bool:
        return any(record in awake for awake in self.awake.values())

    def verification(self, record: Any) -> dict[str, Any]:
        verdicts = [r for r in self.visible if r.op == "verify" and r.target == record.id]
        state = "unverified"
        latest = {}
        for verdict in verdicts:
            if self.counts(verdict):
                state = verdict.payload["state"] if verdict.payload else "unverified"
                latest[verdict.author] = verdict
        rows = {v.id: self.verdict(v) for v in verdicts}
        dissent = sorted(
            (v for v in latest.values() if rows[v.id]["state"] != state), key=lambda v: v.seq
        )
        return {
            "state": state,
            "credibility": CREDIBILITY.get(state, 6),
            "verdicts": list(rows.values()),
            "dissent": [rows[v.id] for v in dissent],
        }

    def verdict(self, record: Any) -> dict[str, Any]:
        payload = record.payload or {}
        return {
            "id": record.id,
            "seq": record.seq,
            "author": record.author,
            "recordedAt": record.recorded_at,
            "state": payload.get("state"),
            "method": payload.get("method"),
            "evidence": payload.get("evidence", []),
            "note": payload.get("note"),
            "counts": self.counts(record),
            "erased": record.payload is None,
        }

    def row(self, record: Any, **members: Any) -> dict[str, Any]:
        return {
            "id": record.id,
            "seq": record.seq,
            "author": record.author,
            "recordedAt": record.recorded_at,
            "validFrom": record.valid_from,
            "validTo": record.valid_to,
            "erased": record.payload is None,
            "verification": self.verification(record),
            **members,
        }

    def members_of(self, record: Any, *names: str) -> dict[str, Any]:
        payload = record.payload or {}
        return self.row(record, **{name: payload.get(name) for name in names})

    def support(self, record: Any) -> dict[str, Any]:
        row = self.members_of(record, "confidence", "evidence", "statement", "source")
        return {**row, "evidence": row["evidence"] or []}

    def claim(self, name: str, records: list[Any]) -> dict[str, Any]:
        values: dict[str, list[dict[str, Any]]] = {}
        for record in records:
            text = json.dumps(record.payload["value"], sort_keys=True, ensure_ascii=False)
            values.setdefault(text, []).append(self.support(record))
        candidates = []
        for text, support in values.items():
            weighty = [row for row in support if row["verification"]["state"] != "refuted"]
            rank = max([RANKS[row["verification"]["state"]] for row in weighty], default=-1)
            confidences = [row["confidence"] for row in weighty if row["confidence"] is not None]
            candidates.append(
                {
                    "value": json.loads(text),
                    "best": False,
                    "rank": rank,
                    "authors": len({row["author"] for row in weighty}),
                    "confidence": max(confidences, default=None),
                    "support": support,
                    "newest": max(row["seq"] for row in weighty or support),
                }
            )
        # Least significant first: sorting is stable.
        candidates.sort(key=lambda candidate: -candidate["newest"])
        candidates.sort(
            key=lambda candidate: -(-1 if (c := candidate["confidence"]) is None else c)
        )
        candidates.sort(key=lambda candidate: -candidate["authors"])
        candidates.sort(key=lambda candidate: -candidate["rank"])
        for candidate in candidates:
            del candidate["newest"]
            candidate["best"] = candidate["rank"] == candidates[0]["rank"] >= 0
        single = name in SINGLE
        return {
            "single": single,
            "value": candidates[0]["value"] if candidates[0]["best"] else None,
            "contested": single and len([c for c in candidates if c["rank"] >= 0]) > 1,
            "candidates": candidates,
        }

    def history(self) -> list[dict[str, Any]]:
        rows = []
        for record in self.visible:
            by: list[Any] = []
            for awake in self.awake:
                by += [
                    item
                    for item in self.awake[awake]
                    if item.target == record.id
                    and (
                        item.op == "supersede"
                        or (item.op in ("amend", "retract") and covers(item, awake))
                    )
                ]
            if by:
                rows.append(self.history_row(record, by))
        return rows

    def history_row(self, record: Any, by: list[Any]) -> dict[str, Any]:
        payload = None
        if record.payload is not None:
            payload = {name: value for name, value in record.payload.items() if name != "salt"}
        unique = {item.seq: item for item in by}
        return {
            "id": record.id,
            "seq": record.seq,
            "kind": record.kind,
            "op": record.op,
            "author": record.author,
            "recordedAt": record.recorded_at,
            "validFrom": record.valid_from,
            "validTo": record.valid_to,
            "target": record.target,
            "erased": record.payload is None,
            "content": payload,
            "everywhere": not self.counts(record),
            "displacedBy": [
                {
                    "id": item.id,
                    "op": item.op,
                    "author": item.author,
                    "recordedAt": item.recorded_at,
                    "validFrom": item.valid_from,
                    "validTo": item.valid_to,
                    "reason": (item.payload or {}).get("reason"),
                }
                for _, item in sorted(unique.items())
            ],
        }


def view_by_sweep(records: Sequence[Any], question: Any) -> dict[str, Any]:
    """The view of a question, as plain JSON."""
    sweep_ = Sweep(records, question)
    live = sweep_.live()
    of: dict[str, list[Any]] = {kind: [] for kind in ("subject", "designator", "observation")}
    claims: dict[str, list[Any]] = {}
    rejections, unreadable = [], []
    for record in live:
        is_refuted = sweep_.verification(record)["state"] == "refuted"
        if is_refuted:
            payload = (
                {name: value for name, value in record.payload.items() if name != "salt"}
                if (record.payload)
                else None
            )
            rejections.append(sweep_.row(record, kind=record.kind, content=payload))
        if record.kind == "claim":
            if record.payload is None:
                unreadable.append(sweep_.row(record))
            else:
                claims.setdefault(record.payload["predicate"], []).append(record)
        elif record.kind == "subject" or not is_refuted:
            of[record.kind].append(record)
    names = [sweep_.members_of(record, "type", "label", "description") for record in of["subject"]]
    names.reverse()
    return {
        "id": question.subject,
        "open": bool(names),
        "identity": names[0] if names else None,
        "otherIdentities": names[1:],
        "designators": [
            sweep_.members_of(record, "scheme", "value", "raw", "confidence", "source")
            for record in of["designator"]
        ],
        "observations": [
            sweep_.members_of(
                record, "observedAt", "text", "lang", "visibility", "source", "extracted"
            )
            for record in of["observation"]
        ],
        "claims": {name: sweep_.claim(name, records) for name, records in claims.items()},
        "rejected": rejections,
        "unreadable": unreadable,
        "history": sweep_.history(),
    }


@pytest.fixture(scope="session")
def oracle() -> Any:
    """The second fold."""
    return view_by_sweep
