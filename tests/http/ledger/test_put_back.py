"""A ledger that was put back to an older state is not signed behind what others may hold."""

from pathlib import Path
from typing import Any

import pytest

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.ledger.append.batches import append_drafts
from svc_core.ledger.append.entries import ENTRIES
from svc_core.ledger.log.record_seals import TreeHead
from svc_core.ledger.repository import LEDGERS_MAX, SignedHeads
from svc_core.operation.context import Context
from svc_http.service.signed_heads import SignedHeadsFile, heads_path

LOG = "led_1"


def head(size: int, seal: str = "") -> TreeHead:
    return TreeHead("led_1", size, seal or f"{size:064}", None, (), "")


@pytest.mark.parametrize(
    ("sizes", "refused"),
    [([0, 1, 2, 2, 5], None), ([5, 4], 4), ([5, 0], 0), ([1, 5, 5, 6, 3], 3)],
)
def test_what_goes_back_is_refused_and_what_goes_on_is_not(
    sizes: list[int], refused: int | None
) -> None:
    signed = SignedHeads()
    for size in sizes[:-1]:
        signed.check(LOG, head(size))
        signed.note(LOG, head(size))
    if refused is None:
        signed.check(LOG, head(sizes[-1]))
        return
    with pytest.raises(Problem) as refusal:
        signed.check(LOG, head(refused))
    assert refusal.value.type is problem.SERVICE_UNAVAILABLE
    assert "svc ledger import" in refusal.value.resolution
    signed.check(LOG, head(max(sizes) + 1))  # what was missing was imported


def test_another_record_in_the_same_place_is_refused() -> None:
    signed = SignedHeads()
    signed.note(LOG, head(5))
    with pytest.raises(Problem):
        signed.check(LOG, head(5, "f" * 64))
    signed.check("led_2", head(5))


def test_only_so_many_ledgers_are_remembered() -> None:
    signed = SignedHeads()
    for number in range(LEDGERS_MAX + 5):
        signed.note(f"led_{number}", head(1))
    assert len(signed.heads) == LEDGERS_MAX
    assert "led_0" not in signed.heads


def test_a_restart_forgets_nothing(tmp_path: Path) -> None:
    place, signed = str(tmp_path / "history"), SignedHeads()
    file = SignedHeadsFile(place, signed)
    file.write()
    assert not heads_path(place).exists()
    signed.note(LOG, head(5))
    file.write()
    again = SignedHeads()
    SignedHeadsFile(place, again)
    with pytest.raises(Problem):
        again.check(LOG, head(4))
    for text in ("{", "[]", '{"led_1": 5}'):
        heads_path(place).write_text(text)
        SignedHeadsFile(place, SignedHeads())
    SignedHeadsFile(None, signed).write()


def test_a_ledger_behind_its_checkpoint_answers_with_the_way_out(
    town: Any, check_problem: Any
) -> None:
    subject = town.subject()
    signed = town.house.service.runtime.host.providers[SignedHeads]
    assert town.get("/checkpoint?size=1").status_code == 200  # another page than that below
    ((ledger, (size, seal)),) = signed.heads.items()
    signed.heads[ledger] = size + 3, seal
    claim = {"kind": "claim", "subject": subject, "predicate": "headquarters", "value": "Bern"}
    for answer in (
        town.ask("GET", "/checkpoint"),
        town.ask("POST", "/records", json=claim),
        town.ask("POST", "/subjects", json={"type": "organization", "label": "B"}),
    ):
        check_problem(answer, problem.SERVICE_UNAVAILABLE)
        assert "renew-epoch" in answer.json()["resolution"]
    assert town.get(f"/subjects/{subject}").status_code == 200


def test_an_append_is_noted_once_it_is_committed_and_not_before(town: Any) -> None:
    signed = town.house.service.runtime.host.providers[SignedHeads]
    town.get("/checkpoint")  # the key that signs is at hand from now on
    opening = ENTRIES["subject", "assert"](kind="subject", type="topic", label="Piers")

    async def undone(ctx: Context) -> None:
        for _ in range(2):
            await append_drafts(ctx, [opening])
        raise KeyError

    with pytest.raises(KeyError):
        town.house.run(town.house.service.runtime.service.write(town.tenant, undone))
    assert not signed.heads
    town.subject()
    ((size, _),) = signed.heads.values()
    assert size == 1
    assert town.get("/checkpoint").text.splitlines()[1] == "1"


def test_a_snapshot_from_before_an_append_is_no_older_state(
    town: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject, behind = town.subject(), [True]
    check = SignedHeads.check

    def check_late(self: SignedHeads, log: str, head_: TreeHead) -> None:
        if behind:
            behind.pop()
            self.note(log, TreeHead(head_.ledger, head_.size + 1, "f" * 64, None, (), ""))
            try:
                check(self, log, head_)
            finally:
                self.heads[log] = head_.size, head_.seal  # what the next snapshot has
        check(self, log, head_)

    monkeypatch.setattr(SignedHeads, "check", check_late)
    for path in ("/checkpoint", f"/records/{subject}/proof"):
        behind[:] = [True]
        assert town.get(path).status_code == 200
        assert not behind
