"""Hypothesis strategies of random ledgers: small, valid by the rules, with many conflicts.

A few instants, values, authors and subjects recur all the time, because that is where folds and
proofs go wrong. A history is sealed like any other ledger; its erasures are carried out.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from attrs import evolve, frozen
from hypothesis import strategies as st

from svc_core.contract.problem import Problem
from svc_core.ledger.append.rules import ACTS_ON, LedgerFacts, admit
from svc_core.ledger.fold.standing import Standing
from svc_core.ledger.fold.verification_states import TRANSITIONS, UNVERIFIED
from svc_core.ledger.log.record_seals import TreeHead, seal_batch
from svc_core.ledger.records import (
    STATEMENTS,
    Draft,
    Kind,
    Op,
    SealedRecord,
    encode_line,
    split_line,
)

LEDGER: Final = "led_0123456789abcdef01234567"
AUTHORS: Final = ("key_ann", "key_bob", "key_cyd")
ACTS_MAX: Final = 14
"""Acts in one history: enough for a retraction of a retraction beside three contradictions."""

VALID_TIMES: Final = tuple([f"20{year}-01-01T00:00:00.000000Z" for year in (20, 21, 22, 23)])
"""Where intervals of generated records begin and end."""

EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)


def instant(microseconds: int) -> str:
    """Return the ledger's text of the instant so many microseconds after `EPOCH`."""
    return f"{EPOCH + timedelta(microseconds=microseconds):%Y-%m-%dT%H:%M:%S.%f}Z"


@frozen(repr=False)
class History:
    """A sealed ledger: its lines (without LF), their records, and its head after each append.

    Erased content is removed from both, as in a store. Its `repr` shows the acts and not the bytes,
    because Hypothesis prints strategies with their arguments, and warns of long ones.
    """

    lines: tuple[bytes, ...] = ()
    records: tuple[SealedRecord, ...] = ()
    heads: tuple[TreeHead, ...] = (TreeHead.empty(LEDGER),)

    def __repr__(self) -> str:
        """What was done, record by record."""
        return f"<History {'; '.join(map(_in_short, self.records))}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002 - the protocol has it
        # Hypothesis writes the members of attrs classes out unless they have this method.
        printer.text(repr(self))

    @property
    def head(self) -> TreeHead:
        """The head after the last append."""
        return self.heads[-1]

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subjects in it, in the order in which they were opened."""
        return tuple(dict.fromkeys([record.subject for record in self.records]))

    def append(self, drafts: Iterable[Draft], now: str) -> "History":
        """Return the history with these drafts sealed as one batch, and erasures carried out."""
        batch = seal_batch(self.head, drafts, now)
        erased_ids = {record.target for record in batch.records if record.op == "erase"}
        lines, records = (*self.lines, *batch.lines), (*self.records, *batch.records)
        if erased_ids:
            lines = tuple(
                [
                    line_without_payload(line) if record.id in erased_ids else line
                    for line, record in zip(lines, records, strict=True)
                ]
            )
            records = tuple(
                [item._replace(payload=None) if item.id in erased_ids else item for item in records]
            )
        return History(lines, records, (*self.heads, batch.head))


def _in_short(record: SealedRecord) -> str:
    """A record in some hundred characters."""
    target = f" on {record.target[:9]}" if record.target else ""
    bounds = [at and at[:10] for at in (record.valid_from, record.valid_to)]
    members = {name: value for name, value in (record.payload or {}).items() if name != "salt"}
    return f"{record.op} {record.id[:9]}{target} by {record.author} for {bounds}: {members}"


def line_without_payload(line: bytes) -> bytes:
    """Return a line with its payload erased."""
    parts = split_line(line)
    return encode_line(parts.head, None, parts.seal.decode())


# -- acts --------------------------------------------------------------------------------------

_bounds = st.none() | st.sampled_from(VALID_TIMES)
intervals = st.tuples(_bounds, _bounds).filter(
    lambda bounds: bounds[0] is None or bounds[1] is None or bounds[0] < bounds[1]
)
"""Valid intervals, open on either side or on both."""

_KINDS: Final[tuple[Kind, ...]] = ("designator", "observation", "claim", "claim", "claim", "claim")
_OPS: Final[tuple[Op, ...]] = (
    "assert", "assert", "assert", "amend", "supersede", "retract", "verify", "verify", "verify"
)  # fmt: skip
_STATES: Final = ("under_review", "corroborated", "verified", "disputed", "refuted", "refuted")


@frozen
class Act:
    """A random request to append; `pick` chooses one of the possible targets.

    `is_joined` puts it into the batch of the act before.
    """

    op: Op
    kind: Kind
    pick: int
    author: str
    interval: tuple[str | None, str | None]
    claim: dict[str, Any]
    word: str
    state: str
    is_joined: bool
    number: int


_claims = st.fixed_dictionaries(
    {
        "predicate": st.sampled_from(("headquarters", "headquarters", "owner", "unheardOf")),
        "value": st.sampled_from(
            (
                "Zug",
                "Zug",
                "zug",
                "Zürich",
                "😀",
                1,
                True,
                {"city": "Zug"},
                {"city": "Zug", "at": [1]},
            )
        ),
        "evidence": st.just([]),
    },
    optional={"confidence": st.sampled_from((0, 40, 100))},
)


def acts(*, erasures: bool = True) -> st.SearchStrategy[Act]:
    """Generate one act; claims, retractions and verdicts are the most frequent."""
    return st.builds(
        Act,
        op=st.sampled_from((*_OPS, "erase") if erasures else _OPS),
        kind=st.sampled_from(_KINDS),
        pick=st.integers(0, 11),
        author=st.sampled_from(AUTHORS),
        interval=intervals,
        claim=_claims,
        word=st.sampled_from(("Ann", "Änne")),
        state=st.sampled_from(_STATES),
        is_joined=st.booleans(),
        number=st.integers(0, 99),
    )


# -- histories ---------------------------------------------------------------------------------


def histories(
    *, acts_min: int = 4, acts_max: int = ACTS_MAX, subjects: int = 2, erasures: bool = True
) -> st.SearchStrategy[History]:
    """Generate ledgers of so many subjects that satisfy all admission rules."""
    wishes = st.lists(acts(erasures=erasures), min_size=acts_min, max_size=acts_max)
    return st.builds(grow_history, st.just(new_history(subjects)), wishes, st.integers(0, 3))


def new_history(subjects: int) -> History:
    """Create a ledger with so many subjects, each opened in an append of its own."""
    history = History()
    for number in range(subjects):
        content = {"type": "organization", "label": f"S{number}", "salt": _salt(number, 0)}
        draft = Draft("subject", "assert", None, None, None, None, AUTHORS[0], content)
        history = history.append([draft], instant(number))
    return history


def grow_history(history: History, wishes: Iterable[Act], pace: int = 1) -> History:
    """Return the history after those of the acts that the admission rules allow.

    The clock moves `pace` microseconds between acts; record time advances even if it stands still.
    """
    before = history
    batch: list[Draft] = []
    for number, act in enumerate(wishes):
        if not act.is_joined:
            before, batch = history, []
        draft = draft_of(history, act)
        if draft is not None:
            batch.append(draft)
            history = before.append(batch, instant(number * pace))
    return history


def draft_of(history: History, act: Act) -> Draft | None:
    """Return the draft of an act; None if the admission rules refuse it."""
    subject = history.subjects[act.number % len(history.subjects)]
    standing = Standing.of(history.records, subject)
    target = None if act.op == "assert" else _target(standing, act)
    act = act if target is None else _fit(act, target, standing)
    kind = act.kind if target is None else target.kind
    draft = Draft(
        kind,
        act.op,
        subject,
        None if target is None else target.id,
        *act.interval,
        act.author,
        {**_content(history, act, kind, target), "salt": _salt(len(history.lines), act.number)},
    )
    try:
        admit(draft, facts_for(history, subject, draft))
    except Problem:
        return None
    return draft


def facts_for(history: History, subject: str, draft: Draft) -> LedgerFacts:
    """Collect the facts that the admission rules need from a history."""
    ids = frozenset(draft.payload.get("evidence", ()))
    records = [row for row in history.records if row.subject == subject or row.id in ids]
    return LedgerFacts.of(records, allow_erasure=True)


def _target(standing: Standing, act: Act) -> SealedRecord | None:
    fitting = [
        record
        for record in standing.records
        if record.op in ACTS_ON[act.op] and not (act.op == "verify" and record.kind == "subject")
    ]
    acts = [item for item in fitting if item.op not in STATEMENTS] if act.number // 2 % 2 else []
    fitting = acts or fitting
    return fitting[act.pick % len(fitting)] if fitting else None


def _fit(act: Act, target: SealedRecord, standing: Standing) -> Act:
    """Adapt an act so that the rules allow it more often: other author, possible state, no bounds.

    Without this most verdicts, and nearly all that take one back, would be refused.
    """
    if act.op in {"verify", "erase"} or target.op not in STATEMENTS:
        act = evolve(act, interval=(None, None))
    if act.op != "verify":
        return act
    states = TRANSITIONS[standing.states.get(target.id, UNVERIFIED)]
    verifiers = [author for author in AUTHORS if author != target.author]
    return evolve(
        act,
        state=act.state if act.state in states else states[act.pick % len(states)],
        author=act.author if act.author in verifiers else verifiers[act.pick % len(verifiers)],
    )


def _content(history: History, act: Act, kind: Kind, target: SealedRecord | None) -> dict[str, Any]:
    if act.op in {"retract", "erase"}:
        return {"reason": "other"}
    if act.op == "verify":
        evidence = _independent(history, target) if act.state == "corroborated" else []
        return {"state": act.state, "method": "reading", "evidence": evidence}
    return {"claim": act.claim, **_statements(act.word)}[kind]


def _statements(word: str) -> dict[str, dict[str, Any]]:
    return {
        "subject": {"type": "organization", "label": word},
        "designator": {"scheme": "name", "value": word},
        "observation": {
            "observedAt": VALID_TIMES[0],
            "text": f"{word} was seen.",
            "visibility": "public",
            "source": {"url": "https://a.example/1", "contentSha256": "0" * 64},
        },
    }


def _independent(history: History, target: SealedRecord | None) -> list[str]:
    author = None if target is None else target.author
    ids = [
        item.id
        for item in history.records
        if item.op == "assert" and item.kind in {"observation", "claim"} and item.author != author
    ]
    return ids[:1]


def _salt(place: int, number: int) -> str:
    # 22 letters of base64url; the last one carries two bits of the sixteen bytes.
    return f"{place:05d}{number:016d}A"
