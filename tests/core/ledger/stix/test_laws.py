"""Laws of the export: what its bytes depend on, and what its objects may depend on."""

import json
import os
import re
import subprocess
import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from svc_core.ledger.records import Draft
from svc_core.ledger.stix import bundle as stix
from svc_core.testing.ledger_kit import fold_questions as questions
from svc_core.testing.ledger_kit import history_strategies as histories
from svc_core.testing.ledger_kit import logs
from svc_core.testing.ledger_kit.history_strategies import LEDGER
from tests.sampling import examples

PROGRAM = """
import sys
from svc_core.ledger.stix import bundle as stix
from svc_core.ledger.records import decode
lines = sys.stdin.buffer.read().splitlines()
records = [decode(line) for line in lines[1:]]
subject, valid_time = lines[0].decode().split()
asked = {"ledger": records[0].ledger, "valid_time": valid_time}
sys.stdout.buffer.write(stix.stix_bundle(records, subject, **asked))
"""


def export(records: Any, question: Any) -> bytes:
    return stix.stix_bundle(
        records,
        question.subject,
        ledger=LEDGER,
        valid_time=question.valid_time,
        record_time=question.record_time,
        size=question.size,
    )


@examples(25)
@given(history=histories.histories())
def test_bytes_depend_on_the_set_and_the_times_alone(history: Any) -> None:
    logs.check_export(export, history)


def test_bytes_do_not_depend_on_the_process(tale: Any) -> None:
    subject = tale.full_subject()
    lines = [f"{subject} {tale.V}".encode(), *tale.history.lines]
    outputs = set()
    for seed, order in (("1", 1), ("2", -1), ("random", 1)):
        environment = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed}
        feed = b"\n".join([lines[0], *lines[1:][::order]])
        process = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=feed,
            capture_output=True,
            env=environment,
            check=True,
        )
        outputs.add(process.stdout)
    assert outputs == {tale.raw(subject)}


@st.composite
def webs(draw: Any) -> Any:
    """A history whose subjects are claimed to be related, with changes of their types."""
    history = draw(histories.histories(acts_max=10))
    first, second = history.subjects[:2]
    for number in range(draw(st.integers(1, 5))):
        start, end = draw(histories.intervals)
        kind, payload = draw(
            st.sampled_from(
                [
                    ("claim", {"predicate": "owner", "value": {"subject": second}}),
                    ("claim", {"predicate": "malicious", "value": True}),
                    ("claim", {"predicate": "country", "value": "CH"}),
                    ("designator", {"scheme": "domain", "value": "a.example"}),
                    ("subject", {"type": "malware", "label": "M"}),
                    ("subject", {"type": "location", "label": "L"}),
                ]
            )
        )
        op, target = ("amend", first) if kind == "subject" else ("assert", None)
        content = {**payload, "salt": f"web{number:019d}"}
        draft = Draft(kind, op, first, target, start, end, "key_ann", content)
        # A millisecond apart: one `modified` must not stand for two states.
        history = history.append([draft], histories.instant(1_000_000 + number * 1_000))
    return history


@examples(40)
@given(history=webs())
def test_an_object_never_depends_on_the_valid_time(history: Any) -> None:
    for subject in history.subjects:
        seen: dict[str, Any] = {}
        for valid_time in questions.valid_times(history.records):
            for record in objects(history.records, subject, valid_time):
                assert seen.setdefault(record["id"], record) == record


@examples(40)
@given(history=webs())
def test_one_identifier_with_one_modified_has_one_body(history: Any) -> None:
    seen: dict[Any, Any] = {}
    apart = [
        head for head in history.heads if (head.recorded_at or "")[:19] == "2026-01-01T00:00:01"
    ]
    for head in apart:
        for subject in history.subjects:
            visible = history.records[: head.size]
            for item in objects(visible, subject, "2021-06-01T00:00:00.000000Z"):
                body = {name: item for name, item in item.items() if name != "description"}
                assert seen.setdefault((item["id"], item.get("modified")), body) == body


@examples(40)
@given(history=webs())
def test_every_reference_leads_into_the_bundle_and_every_time_is_cut(history: Any) -> None:
    for subject in history.subjects:
        raw = stix.stix_bundle(
            history.records, subject, ledger=LEDGER, valid_time="2021-06-01T00:00:00.000000Z"
        )
        objects_ = json.loads(raw)["objects"]
        present = {item["id"] for item in objects_}
        text = raw.decode()
        references = set(re.findall(r'"([a-z0-9-]+--[0-9a-f-]{36})"(?!:)', text))
        assert references - {json.loads(raw)["id"]} <= present
        for item in objects_:
            for name in ("created", "modified", "published"):
                if name in item:
                    assert re.fullmatch(r"[0-9T:-]{19}\.[0-9]{3}Z", item[name])
            assert item.get("created", "") <= item.get("modified", "~")


@examples(40)
@given(history=webs())
def test_the_records_of_the_named_others_are_all_that_is_needed(history: Any) -> None:
    subject, valid_time = history.subjects[0], "2021-06-01T00:00:00.000000Z"
    neighbours = stix.related_subjects(history.records, subject, valid_time=valid_time)
    records = [record for record in history.records if record.subject in {subject, *neighbours}]
    bounds = {"ledger": LEDGER, "valid_time": valid_time}
    assert stix.stix_bundle(records, subject, **bounds) == stix.stix_bundle(
        history.records, subject, **bounds
    )


def objects(records: Any, subject: str, valid_time: str) -> list[Any]:
    """The objects of a bundle but for the report, which is of one valid time."""
    raw = stix.stix_bundle(records, subject, ledger=LEDGER, valid_time=valid_time)
    return list(json.loads(raw)["objects"][:-1])
