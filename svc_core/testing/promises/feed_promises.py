# ruff: noqa: D102, S101 - a promise is its name and its assertions
"""Promises about the feed: changes in commit order, numbered per scope."""

from datetime import timedelta
from typing import Any

from attrs import evolve

from svc_core.operation.ports import SYSTEM, FeedPosition
from svc_core.testing.clock import START
from svc_core.testing.promises.bench import ANN, BOB, Mishap, StoreTest, do_all_and_fail
from svc_core.testing.sync_store import a_change, raises


class FeedPromises(StoreTest):
    """Promises about the feed: changes in commit order, numbered per scope."""

    def test_changes_come_in_commit_order_and_pages_join(self) -> None:
        for number in range(6):
            tenant = SYSTEM if number % 3 == 0 else ANN
            self.sync.append(tenant, a_change(str(number), everybody=tenant == SYSTEM))
        assert [change.id for change in self.sync.feed(ANN).changes] == list("012345")
        for limit in (1, 2, 4, 6):
            assert self._read_through(limit) == list("012345")
        assert self.sync.feed(BOB).changes == (
            a_change("0", everybody=True),
            a_change("3", everybody=True),
        )

    def _read_through(self, limit: int, **query: Any) -> list[str]:
        ids: list[str] = []
        position, has_more = FeedPosition(), True
        while has_more:
            part = self.sync.feed(ANN, position, limit=limit, **query)
            ids += [change.id for change in part.changes]
            assert part.position != position
            position, has_more = part.position, part.has_more
        assert position == self.sync.head(ANN)
        return ids

    def test_positions_tell_nothing_of_other_tenants(self) -> None:
        self.sync.append(ANN, a_change("a"))
        for number in range(5):
            self.sync.append(BOB, a_change(f"b{number}"))
        self.sync.append(ANN, a_change("c"))
        assert self.sync.head(ANN) == FeedPosition(everybody=0, own=2)
        assert self.sync.head(BOB) == FeedPosition(everybody=0, own=5)

    def test_skipped_types_still_advance_the_position(self) -> None:
        self.sync.append(ANN, a_change("a", kind="note"))
        self.sync.append(ANN, a_change("b", kind="file"))
        self.sync.append(SYSTEM, a_change("c", kind="notice", everybody=True))
        part = self.sync.feed(ANN, types=("note",))
        assert [change.id for change in part.changes] == ["a"]
        assert part.position == self.sync.head(ANN) == FeedPosition(1, 2)
        assert self._read_through(1, types=("note", "file", "notice")) == ["a", "b", "c"]
        assert self._read_through(1, types=("file", "notice")) == ["b", "c"]
        assert self.sync.feed(ANN, types=()).changes == ()

    def test_a_failed_unit_leaves_no_gap(self) -> None:
        self.sync.append(ANN, a_change("a"))
        with raises(Mishap):
            self.sync.write(ANN, do_all_and_fail)
        self.sync.append(ANN, a_change("b"))
        assert self.sync.head(ANN) == FeedPosition(0, 2)
        assert [change.id for change in self.sync.feed(ANN, FeedPosition(0, 1)).changes] == ["b"]

    def test_a_change_comes_back_as_it_was(self) -> None:
        change_base = evolve(
            a_change("a", version=3), occurred_at=START + timedelta(microseconds=1)
        )
        changes = (
            evolve(change_base, change_type="updated", changed_fields=()),
            evolve(change_base, change_type="updated", changed_fields=("name", "nul\0é")),
            evolve(change_base, change_type="deleted", last_state='{"name":"é\\u0000"}'.encode()),
            evolve(change_base, change_type="merged", merged_into_id="b"),
            evolve(change_base, change_type="restored"),
            evolve(change_base, owner="c"),
            evolve(change_base, change_type="updated", changed_fields=("name",), owner="c"),
        )
        for change in changes:
            self.sync.append(ANN, change)
        assert self.sync.feed(ANN).changes == changes

    def test_a_position_at_or_beyond_the_head_gives_nothing_and_stays(self) -> None:
        self.sync.append(ANN, a_change("a"))
        for position in (FeedPosition(0, 1), FeedPosition(7, 7)):
            part = self.sync.feed(ANN, position)
            assert (part.changes, part.position, part.has_more) == ((), position, False)

    def test_only_the_system_tells_everybody(self) -> None:
        with raises(AssertionError):
            self.sync.append(ANN, a_change("a", everybody=True))

    def test_the_epoch_is_eight_bytes_and_stays(self) -> None:
        epoch = self.sync.read(ANN, lambda tx: tx.changes.epoch())
        assert len(epoch) == 8
        self.sync.append(ANN, a_change("a"))
        assert self.sync.read(BOB, lambda tx: tx.changes.epoch()) == epoch
