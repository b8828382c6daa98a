"""Pages that grow too large, ledgers too long to verify at once, and kept checkpoints."""

from base64 import b64decode

import attrs
import pytest

from svc_core import problem
from svc_core.ledger import reading, repository, timestamps
from svc_core.ledger.append.append import append, stored_line
from svc_core.ledger.append.entries import ClaimAssertion, SubjectAssertion
from svc_core.ledger.append.validation import drafts
from svc_core.ledger.log.checkpoint import open_checkpoint
from svc_core.ledger.log.note import VerifierKey
from svc_core.ledger.log.seal import seal_batch
from svc_core.ledger.reading import Trusted
from svc_core.operation import Actor, Context
from svc_core.ports import LedgerHead
from svc_core.problem import Problem


def within(town, work, **host):
    """Do something with the town's ledger, in one unit of work."""
    runtime = town.house.service.runtime

    async def unit(tx):
        context = Context(
            tx, town.house.clock(), town.house.ids, Actor(town.tenant), "", runtime.keyring
        )
        return await work(attrs.evolve(context, host=attrs.evolve(runtime.host, **host)))

    return town.house.run(town.house.storage.write(town.tenant, unit))


def filled(town, count):
    subject = town.subject()
    for number in range(count - 1):
        town.claim(subject, {"city": f"City {number}"})
    return subject


def verified(town, **asked):
    known = {"level": "strict", "size": None, "seen": None, **asked}
    return within(town, lambda ctx: reading.verified(ctx, **known))


def test_a_page_of_an_export_ends_before_it_grows_too_large_and_never_without_a_line(town):
    filled(town, 100)
    whole = town.export().splitlines()

    def page(start, bytes_max):
        return within(town, lambda c: reading.exported(c, start, 100, bytes_max=bytes_max))

    assert page(0, 1) == tuple(whole[:64])
    assert page(64, 1) == tuple(whole[64:])
    assert page(0, sum(map(len, whole[:64]))) == tuple(whole[:64])
    assert page(0, sum(map(len, whole[:64])) + 1) == tuple(whole)
    assert page(100, 1) == ()


def test_a_ledger_that_is_too_long_is_walked_from_what_was_verified_before(town):
    filled(town, 7)
    with pytest.raises(Problem) as refused:
        verified(town, most=4)
    assert refused.value.detail == (
        "size: at most 4 records are verified at once; walk the ledger with size, then fromSize "
        "and fromRootHash of the answer before, or verify an export"
    )
    first = verified(town, most=4, size=4)
    assert (first.ok, first.from_, first.size) == (True, 0, 4)
    seen = Trusted(4, b64decode(first.root_hash))
    rest = verified(town, most=4, seen=seen)
    assert (rest.ok, rest.from_, rest.size, rest.consistency.ok) == (True, 4, 7, True)
    assert verified(town, most=7).from_ == 0
    for tree in (Trusted(4, None), Trusted(2, seen.root)):
        with pytest.raises(Problem):
            verified(town, most=4, seen=tree)
    other = verified(town, most=4, seen=Trusted(4, bytes(32)))
    assert (other.ok, other.consistency.ok) == (False, False)


def test_the_last_checkpoint_of_each_day_is_kept_and_is_the_anchor(town):
    filled(town, 2)
    town.house.clock.forward(days=1)
    filled(town, 3)
    kept = within(town, lambda ctx: ctx.tx.ledger.checkpoints())
    assert [text.split(b"\n")[1] for text in kept] == [b"2", b"5"]
    assert verified(town).assurance == "anchored"
    # A prefix before the first of them has nothing that holds it.
    assert verified(town, size=1).assurance == "self_consistent"
    assert verified(town, size=3).assurance == "anchored"


def test_a_log_keeps_the_name_that_it_was_made_with(town):
    async def read(ctx):
        return await reading.verified(ctx, level="strict", size=None, seen=None)

    filled(town, 3)
    made = within(town, read)
    moved = within(town, read, origin="https://elsewhere.example:8443")
    assert (moved.ok, moved.origin, moved.vkey) == (True, made.origin, made.vkey)
    assert open_checkpoint(moved.checkpoint, VerifierKey.parse(made.vkey)).size == 3


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda text: text.replace(b"\n3\n", b"\n2\n"), "CHECKPOINT_SIGNATURE_INVALID"),
        (lambda text: text[: text.index(b"\n\n") + 1], "CHECKPOINT_UNSIGNED"),
        (lambda _: b"rubbish", "CHECKPOINT_MALFORMED"),
    ],
)
def test_a_kept_checkpoint_that_was_altered_is_a_fault(town, damage, code):
    filled(town, 3)

    async def alter(ctx):
        (text,) = await ctx.tx.ledger.checkpoints()
        day = town.house.clock().date().isoformat()
        await ctx.tx.ledger.keep_checkpoint(day, 4, damage(text))

    within(town, alter)
    verdict = verified(town)
    assert (verdict.ok, verdict.assurance, verdict.first_fault.code) == (False, "failed", code)


# -- what an append may meet in the store ------------------------------------------------------


def claim(subject, number=0):
    return ClaimAssertion(
        kind="claim", subject=subject, predicate="motto", value=f"Number {number}"
    )


def test_a_subject_that_is_full_takes_no_more(town):
    subject = town.subject()

    async def fill(ctx):
        head = await repository.head_of(ctx)
        entries = [claim(subject, number) for number in range(repository.SUBJECT_RECORDS_MAX - 1)]
        salts = [number.to_bytes(16, "big") for number in range(len(entries))]
        made = drafts(entries, author="key_ann", salts=salts)
        batch = seal_batch(head, made, timestamps.of(ctx.now))
        lines = list(map(stored_line, batch.records, batch.seals, batch.lines))
        after = LedgerHead(batch.head.size, batch.head.encode())
        await ctx.tx.ledger.append(lines, batch.nodes, after, expect=head.size)

    within(town, fill)
    status, code, detail = town.refused(
        {"kind": "claim", "subject": subject, "predicate": "motto", "value": "x"}
    )
    assert (status, code) == (409, "RESOURCE_CONFLICT")
    assert detail == "/subject: it has 20000 records already"


def test_a_record_that_is_there_already_is_refused_by_name(town):
    subject = town.subject()

    def again(ctx):
        return append(ctx, [claim(subject)], salts=[b"s" * 16])

    first = within(town, again).records[0]
    assert first.author == "system"
    with pytest.raises(Problem) as refused:
        within(town, again)
    assert refused.value.type is problem.DUPLICATE_RECORD
    assert first.id in refused.value.detail


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
    opening = SubjectAssertion(kind="subject", type="topic", label="Ports")
    with pytest.raises(Problem) as refused:
        within(town, lambda ctx: append(attrs.evolve(ctx, tx=Behind(ctx.tx)), [opening]))
    assert refused.value.type is problem.RESOURCE_CONFLICT
    assert refused.value.resolution == "Send the same request again."


async def vkey(ctx):
    return repository.vkey_of(ctx, await repository.head_of(ctx))


def test_without_a_signing_key_what_signs_says_so(town):
    filled(town, 2)
    with pytest.raises(Problem) as refused:
        within(town, vkey, signer=None)
    assert refused.value.type is problem.SERVICE_UNAVAILABLE
    assert "Retry-After" in refused.value.headers
    assert refused.value.detail == (
        "The key that signs ledgers is not at hand; is its master secret still listed?"
    )


def test_the_head_of_a_part_stands_whatever_was_done_to_its_last_line(town):
    subject = filled(town, 2)

    async def damage(ctx):
        await ctx.tx.ledger.erase(subject, b"rubbish")
        return await repository.prefix(ctx, 1)

    head = within(town, damage)
    assert (head.size, head.recorded_at, len(head.seal)) == (1, None, 64)
