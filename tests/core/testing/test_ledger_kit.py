"""The kit for ledgers makes every kind of bad edit, and steps that a store must refuse."""

from functools import partial

from hypothesis import Phase, find, settings
from hypothesis import strategies as st
from hypothesis.vendor.pretty import pretty

from svc_core.base import drive
from svc_core.ledger.verify.log_verification import verify_log
from svc_core.testing.ledger_kit.edits import line_edits
from svc_core.testing.ledger_kit.history_strategies import histories
from svc_core.testing.ledger_kit.logs import check_edit_is_found
from svc_core.testing.sample import SAMPLES
from svc_core.testing.storage_steps import LineDraft, append_lines, erase
from svc_http.stores import MemoryStorage

UNSHRUNK = settings(phases=[Phase.generate], max_examples=1_000, deadline=None)


def edited_logs():
    return histories(erasures=False).flatmap(
        lambda sample: st.tuples(st.just(sample), line_edits(sample))
    )


def test_every_kind_of_edit_of_lines_is_made_and_found():
    for aspect in ("swap", "delete", "repeat", "cut"):
        predicate = lambda sample, aspect=aspect: sample[1].what.startswith(aspect)  # noqa: E731
        history, edit = find(edited_logs(), predicate, settings=UNSHRUNK)
        assert (edit.line is None) == (aspect == "cut")
        check_edit_is_found(verify_log, history, edit)
        assert pretty(edit) == repr(edit) == f"<Edit {edit.what}>"


def test_a_history_is_shown_in_short():
    predicate = lambda sample: len(sample.records) > 9  # noqa: E731
    history = find(histories(), predicate, settings=UNSHRUNK)
    text = pretty(history)
    assert text == repr(history)
    assert len(text) < 300 * len(history.records)
    assert all(record.id[:9] in text for record in history.records)
    assert "salt" not in text


def test_steps_of_a_ledger_are_taken_or_say_what_was_in_the_way():
    store = MemoryStorage(SAMPLES)

    def step(astray, *ids):
        entries = tuple(LineDraft(id_, "s", False, ()) for id_ in ids)
        return drive.run(store.write("ann", partial(append_lines, entries, astray, 0)))

    assert step(0, "a", "b").size == 2
    assert step(1, "c") == ("stale", 2)
    assert step(0, "b") == ("duplicate", "b")
    assert step(0, "c").size == 3
    before, after = drive.run(store.write("ann", partial(erase, "a")))
    assert after.line == b"erased " + before.seal
    assert drive.run(store.write("ann", partial(erase, "z"))) == (None, None)
