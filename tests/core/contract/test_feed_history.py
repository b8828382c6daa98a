"""Whether a database is the one that was known, by what it says and what is remembered."""

import attrs
import pytest

from svc_core.contract.feed_history import (
    ELSEWHERE,
    EPOCH,
    FORMER,
    ORIGIN,
    PUT_BACK,
    REASON,
    FeedMark,
    history_break,
    renewed_facts,
)

OLD, NOW, NEW = b"epoch old", b"epoch now", b"epoch new"
MARK = FeedMark(NOW.hex(), "/ann", 7, "chg_7")
FACTS = {EPOCH: NOW, FORMER: OLD, ORIGIN: b"here"}


@pytest.mark.parametrize(
    ("facts", "origin", "mark", "entry", "reason"),
    [
        pytest.param(FACTS, "here", None, None, "", id="nothing is remembered"),
        pytest.param(FACTS, "here", MARK, "chg_7", "", id="the change is there"),
        pytest.param({EPOCH: NOW}, "here", MARK, "chg_7", "", id="it never said where it lives"),
        pytest.param(FACTS, "", MARK, "chg_7", "", id="nobody may ask where it lives"),
        pytest.param(FACTS, "there", None, None, ELSEWHERE, id="another place"),
        pytest.param(FACTS, "there", MARK, "chg_7", ELSEWHERE, id="elsewhere, with the change"),
        pytest.param(FACTS, "here", MARK, None, PUT_BACK, id="the change is missing"),
        pytest.param(FACTS, "here", MARK, "chg_9", PUT_BACK, id="another change grew in its place"),
        pytest.param(FACTS, "", MARK, None, PUT_BACK, id="missing, and nobody may ask"),
        pytest.param(
            {EPOCH: NEW, FORMER: NOW, ORIGIN: b"here"}, "here", MARK, None, "", id="dealt with"
        ),
        pytest.param(
            {EPOCH: OLD, ORIGIN: b"here"}, "here", MARK, "chg_7", PUT_BACK, id="before a renewal"
        ),
    ],
)
def test_a_history_is_whole_or_it_is_said_why_not(
    facts: dict[str, bytes], origin: str, mark: FeedMark | None, entry: str | None, reason: str
) -> None:
    assert history_break(facts, origin, mark, entry) == reason


def test_a_renewal_settles_every_finding_of_the_epoch_that_it_replaces() -> None:
    facts = FACTS | renewed_facts(FACTS, "there", NEW, ELSEWHERE)
    assert facts == {EPOCH: NEW, FORMER: NOW, ORIGIN: b"there", REASON: ELSEWHERE.encode()}
    assert history_break(facts, "there", MARK, None) == ""
    assert history_break(facts, "there", attrs.evolve(MARK, epoch=NEW.hex()), None) == PUT_BACK
    assert renewed_facts(FACTS, "", NEW, PUT_BACK).keys() == {EPOCH, FORMER, REASON}
