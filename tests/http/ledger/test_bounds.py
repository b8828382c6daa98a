"""Pages that grow too large, ledgers too long to verify at once, and kept checkpoints."""

from base64 import b64decode

import attrs
import pytest

from svc_core.ledger import consulting
from svc_core.ledger.consulting import Seen
from svc_core.operation import Actor, Context
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
    known = {"level": "strict", "size": None, "trusted": None, **asked}
    return within(town, lambda ctx: consulting.verified(ctx, **known))


def test_a_page_of_an_export_ends_before_it_grows_too_large_and_never_without_a_line(town):
    filled(town, 100)
    whole = town.export().splitlines()

    def page(start, bytes_max):
        return within(town, lambda c: consulting.exported(c, start, 100, bytes_max=bytes_max))

    assert page(0, 1) == tuple(whole[:64])
    assert page(64, 1) == tuple(whole[64:])
    assert page(0, sum(map(len, whole[:64]))) == tuple(whole[:64])
    assert page(0, sum(map(len, whole[:64])) + 1) == tuple(whole)
    assert page(100, 1) == ()


def test_a_ledger_that_is_too_long_is_walked_from_what_was_verified_before(town):
    filled(town, 7)
    with pytest.raises(Problem) as refused:
        verified(town, most=4)
    assert "at most 4 records are verified at once" in refused.value.detail
    first = verified(town, most=4, size=4)
    assert (first.ok, first.from_, first.size) == (True, 0, 4)
    seen = Seen(4, b64decode(first.root_hash))
    rest = verified(town, most=4, trusted=seen)
    assert (rest.ok, rest.from_, rest.size, rest.consistency.ok) == (True, 4, 7, True)
    assert verified(town, most=7).from_ == 0
    for trusted in (Seen(4, None), Seen(2, seen.root)):
        with pytest.raises(Problem):
            verified(town, most=4, trusted=trusted)
    other = verified(town, most=4, trusted=Seen(4, bytes(32)))
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


def test_checkpoints_that_were_signed_under_an_earlier_address_still_count(town):
    filled(town, 3)
    moved = within(
        town,
        lambda ctx: consulting.verified(ctx, level="strict", size=None, trusted=None),
        origin="https://elsewhere.example",
    )
    assert (moved.ok, moved.assurance) == (True, "anchored")
    assert moved.origin.startswith("elsewhere.example/led_")


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
