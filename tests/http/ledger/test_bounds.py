"""Pages that grow too large, ledgers too long to verify at once, and kept checkpoints."""

import json
from base64 import b64decode

import attrs
import pytest

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.ledger import queries as reading
from svc_core.ledger import repository
from svc_core.ledger import stored_verification as verifying
from svc_core.ledger.append import rules
from svc_core.ledger.append.batches import append_drafts
from svc_core.ledger.append.entries import entry
from svc_core.ledger.log.checkpoint import open_checkpoint
from svc_core.ledger.log.note import VerifierKey
from svc_core.ledger.stored_verification import verify_stored
from svc_core.ledger.verify.anchors import Anchor
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context


def within(town, work, **host):
    """Do something with the town's ledger, in one unit of work."""
    runtime = town.house.service.runtime

    async def unit(tx):
        context = Context(
            town.house.clock(), town.house.ids, Actor(town.tenant), "", runtime.keyring, tx=tx
        )
        return await work(attrs.evolve(context, host=attrs.evolve(runtime.host, **host)))

    return town.house.run(town.house.storage.write(town.tenant, unit))


def fill(town, count):
    subject = town.subject()
    for number in range(count - 1):
        town.claim(subject, {"city": f"City {number}"})
    return subject


def verify(town, *, origin=None, **bounds):
    """The outcome, read in units of its own."""
    service = town.house.service.runtime.service
    if origin is not None:
        service = attrs.evolve(service, host=attrs.evolve(service.host, origin=origin))
    ctx = service.context(Actor(town.tenant))
    return town.house.run(verify_stored(ctx, **{"level": "strict", **bounds}))


def test_a_page_of_an_export_ends_before_it_grows_too_large_and_never_without_a_line(town):
    fill(town, 100)
    whole = town.export().splitlines()

    def page(start, bytes_max):
        return within(town, lambda c: reading.export_lines(c, start, 100, bytes_max=bytes_max))

    assert page(0, 1) == tuple(whole[:64])
    assert page(64, 1) == tuple(whole[64:])
    assert page(0, sum(map(len, whole[:64]))) == tuple(whole[:64])
    assert page(0, sum(map(len, whole[:64])) + 1) == tuple(whole)
    assert page(100, 1) == ()


def test_a_long_ledger_is_walked_in_units_that_each_read_little(make_town, monkeypatch):
    town = make_town(rate_limits=False)
    subject = fill(town, 150)
    town.append(
        [
            {"kind": "designator", "subject": subject, "scheme": "domain", "value": f"a{n}.example"}
            for n in range(40)
        ]
    )
    whole = verify(town)
    monkeypatch.setattr(verifying, "RUN_LINES_MAX", 7)
    monkeypatch.setattr(verifying, "_STEP_LINES", 3)
    monkeypatch.setattr(verifying, "RUN_BYTES_MAX", 2_000)
    assert verify(town) == whole
    assert (whole.ok, whole.size, whole.checks.store, whole.from_) == (True, 190, True, 0)
    anchor = Anchor(99, b64decode(verify(town, size=99).root_hash))
    now = verify(town, anchor=anchor)
    assert (now.ok, now.anchored_size, now.consistency.ok) == (True, 99, True)
    wrong = verify(town, anchor=Anchor(99, bytes(32)))
    assert (wrong.ok, wrong.consistency.ok, wrong.checkpoint) == (False, False, None)


class Busy:
    """Units of work between which others append and erase."""

    def __init__(self, service, acts):
        self.service, self.acts = service, acts

    def __getattr__(self, name):
        return getattr(self.service, name)

    async def read(self, tenant, usecase):
        if self.acts:
            act = self.acts.pop(0)
            await self.service.write(tenant, lambda ctx: append_drafts(ctx, act))
        return await self.service.read(tenant, usecase)


@pytest.mark.parametrize("size", [None, 9])
def test_a_ledger_that_is_written_to_while_it_is_walked_is_found_sound(
    make_town, monkeypatch, size
):
    town = make_town(allow_erasure=("*",), rate_limits=False)
    subject = town.subject()
    claims = [town.claim(subject, f"City {number}") for number in range(11)]
    monkeypatch.setattr(verifying, "RUN_LINES_MAX", 2)
    acts = [
        [
            entry("claim", "erase", subject=subject, target=target, reason="a request"),
            claim(subject, at),
        ]
        for at, target in enumerate(claims)
    ]
    service = Busy(town.house.service.runtime.service, acts)
    ctx = attrs.evolve(service.context(Actor(town.tenant)), work=service)
    outcome = town.house.run(verify_stored(ctx, level="strict", size=size))
    assert (outcome.ok, outcome.faults, outcome.size) == (True, (), size or 14)
    assert outcome.erased > 3


def test_the_last_checkpoint_of_each_day_is_kept_and_is_the_anchor(town):
    fill(town, 2)
    town.house.clock.forward(days=1)
    fill(town, 3)
    checkpoints = within(town, lambda ctx: ctx.tx.ledger.checkpoints())
    assert [item.text.split(b"\n")[1] for item in checkpoints] == [b"2", b"5"]
    # They are held against the lines, and are no anchor, since whoever has the store has them.
    for size, is_held in ((None, True), (1, None), (3, True)):
        outcome = verify(town, size=size)
        assert (outcome.assurance, outcome.anchored_size) == ("self_consistent", None)
        assert (outcome.checks.checkpoints, outcome.checks.tree) == (is_held, is_held)
    roots = [b64decode(verify(town, size=size).root_hash) for size in (2, 5)]
    now = verify(town, anchor=Anchor(2, roots[0]))
    assert (now.assurance, now.anchored_size, now.size) == ("anchored", 2, 5)


def test_a_log_keeps_the_name_that_it_was_made_with(town):
    fill(town, 3)
    before = verify(town)
    after = verify(town, origin="https://elsewhere.example:8443")
    assert (after.ok, after.checks.checkpoints, after.checks.tree) == (True, True, True)
    assert (after.origin, after.vkey) == (before.origin, before.vkey)
    assert open_checkpoint(after.checkpoint, VerifierKey.parse(before.vkey)).size == 3


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda text: text.replace(b"\n3\n", b"\n2\n"), "CHECKPOINT_SIGNATURE_INVALID"),
        (lambda text: text[: text.index(b"\n\n") + 1], "CHECKPOINT_UNSIGNED"),
        (lambda _: b"rubbish", "CHECKPOINT_MALFORMED"),
    ],
)
def test_a_kept_checkpoint_that_was_altered_is_a_fault(town, damage, code):
    fill(town, 3)

    async def alter(ctx):
        (checkpoint_,) = await ctx.tx.ledger.checkpoints()
        await ctx.tx.ledger.keep_checkpoint(
            checkpoint_.day, checkpoint_.size, damage(checkpoint_.text)
        )

    within(town, alter)
    outcome = verify(town)
    assert (outcome.ok, outcome.assurance, outcome.first_fault.code) == (False, "failed", code)


# -- what an append may meet in the store ------------------------------------------------------


def claim(subject, number=0):
    return entry("claim", "assert", subject=subject, predicate="motto", value=f"Number {number}")


def test_a_full_subject_takes_no_more_but_can_be_withdrawn_and_erased(make_town, monkeypatch):
    monkeypatch.setattr(rules, "SUBJECT_RECORDS_MAX", 4)
    town = make_town(allow_erasure=("*",))
    subject = town.subject()
    claims = [town.claim(subject, f"City {number}") for number in range(3)]
    claim = {"kind": "claim", "subject": subject, "predicate": "motto", "value": "x"}
    full = (409, "RESOURCE_CONFLICT", "/subject: it has 4 records already")
    assert town.refusal(claim) == full

    def act(op, target, kind="claim"):
        entry = {"kind": kind, "op": op, "subject": subject, "target": target}
        return {**entry, "reason": "incorrect" if op == "retract" else "a request"}

    withdrawn = [town.append(act("retract", item))["id"] for item in claims]
    retraction = town.append(act("retract", subject, "subject"))["id"]
    assert town.data(f"/subjects/{subject}")["claims"] == {}
    status, code, detail = town.refusal(act("retract", retraction, "subject"))
    assert (status, code, detail) == (409, "RESOURCE_CONFLICT", full[2].replace("4", "8"))
    for item in (*claims, *withdrawn):
        town.append(act("erase", item))
    for item in (subject, retraction):
        town.append(act("erase", item, "subject"))
    rows = [json.loads(line) for line in town.export().splitlines()]
    assert [row["payload"] is None for row in rows] == [True] * 8 + [False] * 8
    assert town.refusal(act("erase", claims[0]))[1] == "TARGET_NOT_IN_FORCE"
    assert town.refusal(claim) == full
    assert town.data("/verify")["ok"] is True


def test_a_record_that_is_there_already_is_refused_by_name(town):
    subject = town.subject()

    def again(ctx):
        return append_drafts(ctx, [claim(subject)], salts=[b"s" * 16])

    first = within(town, again).records[0]
    assert first.author == "system"
    with pytest.raises(Problem) as failure:
        within(town, again)
    assert failure.value.type is problem.DUPLICATE_RECORD
    assert first.id in failure.value.detail


class Behind:
    """A transaction whose ledger tells an older head, as where another writer was faster."""

    def __init__(self, tx):
        self.tx, self.ledger = tx, self

    def __getattr__(self, name):
        return getattr(
            self.tx if name in {"documents", "changes", "answers"} else self.tx.ledger, name
        )

    async def head(self):
        return None


def test_an_append_that_another_overtook_is_a_conflict(town):
    town.subject()
    opening = entry("subject", "assert", type="topic", label="Ports")
    with pytest.raises(Problem) as failure:
        within(town, lambda ctx: append_drafts(attrs.evolve(ctx, tx=Behind(ctx.tx)), [opening]))
    assert failure.value.type is problem.RESOURCE_CONFLICT
    assert failure.value.resolution == "Send the same request again."


async def vkey(ctx):
    return repository.vkey_of(ctx, await repository.head_of(ctx))


def test_without_a_signing_key_what_signs_says_so(town):
    fill(town, 2)
    with pytest.raises(Problem) as failure:
        within(town, vkey, signer=None)
    assert failure.value.type is problem.SERVICE_UNAVAILABLE
    assert "Retry-After" in failure.value.headers
    assert failure.value.detail == (
        "The key that signs ledgers is not at hand; is its master secret still listed?"
    )


def test_the_head_of_a_part_stands_whatever_was_done_to_its_last_line(town):
    subject = fill(town, 2)

    async def damage(ctx):
        await ctx.tx.ledger.erase(subject, b"rubbish")
        return await repository.prefix(ctx, 1)

    head = within(town, damage)
    assert (head.size, head.recorded_at, len(head.seal)) == (1, None, 64)


def test_a_ledger_was_empty_once_and_no_larger_than_it_is(town):
    fill(town, 2)
    assert town.get("/checkpoint?size=0").text.split("\n")[1] == "0"
    for path in ("/checkpoint?size=3", "/records?size=3"):
        assert town.ask("GET", path).json()["detail"] == "size: the ledger has 2 records"
    none = town.data("/verify?fromSize=0")["consistency"]
    assert (none["ok"], none["proof"]) == (None, [])
