"""Importing, over both stores: what goes on as it was, and why the rest is refused."""

import attrs
import pytest

from svc_core.contract.problem import Problem
from svc_core.ledger.append import imports as importing
from svc_core.ledger.append.imports import import_lines
from svc_core.ledger.log.record_seals import TreeHead, seal_batch
from svc_core.ledger.records import Draft
from svc_core.testing.ledger_kit.history_strategies import line_without_payload
from tests.counted import Counted, KilledError

LEDGER, OTHER_LEDGER = f"led_{'0' * 24}", f"led_{'1' * 24}"
DAY = "2026-01-01T00:00:00.000000Z"


class Log:
    """A sealed log that grows."""

    def __init__(self, ledger=LEDGER):
        self.head, self.lines, self.ids = TreeHead.empty(ledger), [], []
        opening = {"type": "other", "label": "Pier", "salt": "0" * 22}
        self.add(Draft("subject", "assert", None, None, None, None, "key_ann", opening))

    def add(self, draft, at=DAY):
        batch = seal_batch(self.head, [draft], at)
        self.head = batch.head
        self.lines += batch.lines
        self.ids += [record.id for record in batch.records]
        return self

    def claim(self, value, at=DAY):
        payload = {"predicate": "motto", "value": value, "salt": "1" * 22}
        return self.add(
            Draft("claim", "assert", self.ids[0], None, None, None, "key_ann", payload), at
        )

    def erase(self, number):
        payload = {"reason": "request", "salt": str(number) * 22}
        target = self.ids[number]
        return self.add(
            Draft("claim", "erase", self.ids[0], target, None, None, "key_ann", payload)
        )


def one_by_one(town, log, **how):
    """Import a log, a line in each run, into a store that is `Counted`; how many units wrote."""
    town.get("/checkpoint")
    service = town.house.service.runtime.service
    store = Counted(service.storage, **how)
    service = attrs.evolve(service, storage=store)
    runs = [[line] for line in log.lines]
    town.house.run(import_lines(service, town.tenant, lambda _: iter(runs)))
    return store.writes


def part_imported(town, lines):
    """Import a part of a log, that goes on where the ledger is."""
    town.get("/checkpoint")
    service = town.house.service.runtime.service
    runs = [[line] for line in lines]
    return town.house.run(import_lines(service, town.tenant, lambda _: iter(runs))).head.size


def in_turn(*readings):
    """A file that has other runs each time it is opened."""
    rest = iter(readings)
    return lambda _: iter(next(rest))


def import_log(town, lines):
    """Import the lines into the town's ledger."""
    town.get("/checkpoint")  # The first that signs makes the key.
    service = town.house.service.runtime.service
    return town.house.run(
        import_lines(service, town.tenant, lambda _: iter([lines] if lines else []))
    )


def refusal(town, lines):
    with pytest.raises(Problem) as failure:
        import_log(town, lines)
    return failure.value.type.code, failure.value.detail.removeprefix("Nothing was imported: ")


def test_what_is_imported_is_exported_as_it_was_and_goes_on(town):
    town.tenant, (town.ann,) = town.workspace(
        "Dora", scopes=("ledger:read", "ledger:write", "osint:read")
    )
    log = Log().claim("a").claim("b")
    first = import_log(town, log.lines[:2])
    assert (first.before, first.head.size, first.subjects) == (0, 2, 1)
    after = import_log(town, log.lines)
    assert (after.before, after.head.tag, after.subjects) == (2, log.head.tag, 1)
    again = import_log(town, log.lines)
    assert (again.before, again.head, again.subjects) == (3, after.head, 0)
    assert town.export() == b"".join(line + b"\n" for line in log.lines)
    outcome = town.data("/verify")
    assert (outcome["ok"], outcome["size"], outcome["ledger"]) == (True, 3, LEDGER)
    feed = town.house.ask("GET", "/api/v2/changes?types=subject", town.ann).json()["data"]
    assert [row["changeType"] for row in feed] == ["created", "updated"]
    assert [row["changedFields"] for row in feed] == [None, ["claims"]]
    town.claim(log.ids[0], {"city": "Zug"})
    assert town.data("/verify")["size"] == 4


def test_what_another_program_sealed_is_listed_without_members_that_are_no_text(town):
    log = Log()
    payload = {"type": "other", "label": 3, "description": ["x"], "salt": "3" * 22}
    log.add(Draft("subject", "assert", None, None, None, None, "key_ann", payload))
    import_log(town, log.lines)
    newest, _ = town.data("/subjects")
    assert (newest["type"], newest["label"], newest["description"]) == ("other", None, None)


def test_the_bound_of_a_subject_counts_its_own_records_alone(town, monkeypatch):
    log = Log().claim("a").claim("b")
    import_log(town, log.lines)
    monkeypatch.setattr(importing, "SUBJECT_LINES_MAX", 3)
    opening = {"type": "other", "label": "Quay", "salt": "2" * 22}
    log.add(Draft("subject", "assert", None, None, None, None, "key_ann", opening))
    after = import_log(town, log.lines)
    assert (after.before, after.subjects) == (3, 1)


def test_an_import_that_is_refused_says_why_and_stores_nothing(town, monkeypatch):
    log = Log().claim("a").claim("b")
    lines = log.lines
    assert refusal(town, []) == ("RESOURCE_CONFLICT", "the file has no records.")
    assert refusal(town, [lines[0], lines[2], lines[1]]) == (
        "RESOURCE_CONFLICT",
        "the file is not sound: line 2, REORDERED: Record 2 stands here, and 1 before it come "
        "later. See: svc ledger verify FILE",
    )
    late = Log().claim("a", "2999-01-01T00:00:00.000000Z").lines
    assert refusal(town, late) == (
        "RESOURCE_CONFLICT",
        "its last record is of 2999-01-01T00:00:00.000000Z, which is in the future here.",
    )
    with monkeypatch.context() as patch:
        patch.setattr(importing, "IMPORT_RECORDS_MAX", 2)
        assert refusal(town, lines) == (
            "RESOURCE_CONFLICT",
            "it has 3 records, and one import takes 2.",
        )
        patch.setattr(importing, "IMPORT_RECORDS_MAX", 3)
        patch.setattr(importing, "SUBJECT_LINES_MAX", 2)
        assert refusal(town, lines) == (
            "RESOURCE_CONFLICT",
            f"{log.ids[0]} has more than 2 records.",
        )
        assert town.export() == b""
        patch.setattr(importing, "SUBJECT_LINES_MAX", 3)
        import_log(town, lines)
    assert refusal(town, Log(OTHER_LEDGER).lines) == (
        "RESOURCE_CONFLICT",
        f"this workspace has a ledger of its own, {LEDGER} with 3 records, and the file is of "
        f"{OTHER_LEDGER}; import it into a workspace whose ledger is empty.",
    )
    assert refusal(town, lines[:2]) == (
        "RESOURCE_CONFLICT",
        "the ledger here has 3 records, more than the 2 of the file.",
    )
    assert refusal(town, Log().claim("a").claim("c").lines) == (
        "RESOURCE_CONFLICT",
        "record 2 of the file is another than record 2 of the ledger here, though both bear one "
        "name: they have parted, and cannot be joined.",
    )
    assert refusal(town, log.erase(1).lines) == (
        "ERASURE_NOT_ALLOWED",
        f"The file erases {log.ids[1]}, which this ledger holds; the setting allow_erasure says "
        "for which workspaces that is allowed.",
    )
    assert town.data("/verify")["size"] == 3


def test_each_run_of_lines_is_a_unit_of_its_own_and_a_cut_off_import_goes_on(make_town):
    town = make_town(allow_erasure=("*",))
    log = Log().claim("a").claim("b").erase(1).claim("c")
    with pytest.raises(KilledError):
        one_by_one(town, log, dies_after=2)
    assert town.export() == b"".join(line + b"\n" for line in log.lines[:2])
    assert one_by_one(town, log) == 3
    outcome = town.data("/verify")
    assert (outcome["ok"], outcome["size"], outcome["erased"]) == (True, 5, 1)
    assert one_by_one(town, log) == 0


def test_a_ledger_moves_in_parts_and_a_part_may_be_repeated(make_town, monkeypatch):
    monkeypatch.setattr(importing, "IMPORT_RECORDS_MAX", 3)
    town = make_town(allow_erasure=("*",))
    lines = Log().claim("a").claim("b").erase(1).claim("c").claim("d").erase(4).lines
    with pytest.raises(Problem) as failure:
        part_imported(town, lines)
    assert "--from-size" in failure.value.resolution
    with pytest.raises(Problem) as failure:
        part_imported(town, lines[3:])
    assert failure.value.detail == (
        "Nothing was imported: the file begins with record 3, and the ledger here has 0."
    )
    assert [part_imported(town, lines[at : at + 3]) for at in (0, 3, 3, 5)] == [3, 6, 6, 7]
    outcome = town.data("/verify")
    assert (outcome["ok"], outcome["size"], outcome["erased"]) == (True, 7, 2)
    assert town.export().count(b"\n") == 7


@pytest.mark.parametrize(
    ("op", "target", "payload", "why"),
    [
        ("retract", f"clm_{'9' * 24}", {"reason": "clerical"}, "acts on clm_9"),
        ("assert", None, {"predicate": "motto", "value": "a"}, "has clm_"),
    ],
)
def test_a_part_is_held_to_what_the_ledger_here_has(town, op, target, payload, why):
    log = Log().claim("a").claim("b")
    log.add(
        Draft("claim", op, log.ids[0], target, None, None, "key_ann", payload | {"salt": "1" * 22})
    )
    assert part_imported(town, log.lines[:3]) == 3
    with pytest.raises(Problem, match="RESOURCE_CONFLICT") as failure:
        part_imported(town, log.lines[3:])
    assert why in failure.value.detail
    assert town.data("/verify")["size"] == 3


def test_a_ledger_that_goes_on_by_itself_while_it_is_imported_stays_as_it_is(town):
    log, stranger = Log().claim("a").claim("b"), Log().claim("a").claim("c").claim("d")
    town.get("/checkpoint")
    service = town.house.service.runtime.service

    async def meanwhile():
        await import_lines(service, town.tenant, lambda _: iter([stranger.lines]))

    with pytest.raises(Problem) as failure:
        one_by_one(town, log, meanwhile={2: meanwhile})
    assert failure.value.detail == (
        "Only 2 records were imported: the ledger here went on meanwhile."
    )
    assert town.export() == b"".join(line + b"\n" for line in stranger.lines)


def test_a_file_that_changes_while_it_is_stored_stores_no_line_that_was_not_verified(town):
    log, stranger = Log().claim("a").claim("b"), Log().claim("a").claim("c")
    town.get("/checkpoint")
    service, whole = town.house.service.runtime.service, [log.lines[:2], log.lines[2:]]
    for later in ([log.lines[:2], stranger.lines[2:]], [log.lines[:2]]):
        with pytest.raises(Problem, match="RESOURCE_CONFLICT"):
            town.house.run(import_lines(service, town.tenant, in_turn(whole, whole, later)))
        assert town.export() == b"".join(line + b"\n" for line in log.lines[:2])


def test_a_file_that_is_sound_only_when_it_is_read_again_is_not_imported(town):
    log = Log().claim("a").claim("b")
    town.get("/checkpoint")
    runs = in_turn([log.lines], [log.lines[:1], log.lines[2:]], [log.lines])
    with pytest.raises(Problem) as failure:
        town.house.run(import_lines(town.house.service.runtime.service, town.tenant, runs))
    assert failure.value.detail == "Nothing was imported: the file changed while it was read."


def test_what_was_erased_in_the_file_itself_needs_no_leave(town):
    log = Log().claim("a").claim("b").erase(1)
    log.lines[1] = line_without_payload(log.lines[1])
    import_log(town, log.lines)
    outcome = town.data("/verify")
    assert (outcome["ok"], outcome["erased"]) == (True, 1)


def test_what_the_lines_erase_is_not_stored(make_town):
    town = make_town(allow_erasure=("*",))
    log = Log().claim("a").claim("b")
    import_log(town, log.lines)
    import_log(town, log.erase(1).lines)
    assert [b'"payload":null' in line for line in town.export().splitlines()] == [
        False, True, False, False,
    ]  # fmt: skip
    assert town.data("/verify")["erased"] == 1
