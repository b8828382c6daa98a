"""The labels that quality is judged by name what there is, and are parted as they say."""

import hashlib
import json
import os
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from svc_core.formats.feeds.feed_document import parse_feed
from svc_core.formats.model import DocumentRefused
from svc_core.text.topics import TOPIC_IDS

LABELS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[2] / "benchmarks/subjects.json").read_text("utf-8")
)
LINKS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[2] / "benchmarks/links.json").read_text("utf-8")
)
SUBJECTS, STORIES, TOPICS = LABELS["subjects"], LABELS["stories"], LABELS["topics"]


def test_a_hash_parts_what_constants_are_chosen_on_from_what_is_reported() -> None:
    for row in [*SUBJECTS, *STORIES]:
        is_even = hashlib.sha256(row["key"].encode()).digest()[0] % 2 == 0
        assert row["half"] == ("dev" if is_even else "report")


def test_a_subject_has_three_wordings_and_no_item_twice() -> None:
    for row in SUBJECTS:
        assert len({row["topic"], *row["paraphrases"]}) == 3
        assert len(set(row["relevant"])) == len(row["relevant"]) != 1


def test_an_item_is_in_one_story_at_most() -> None:
    members = list(chain.from_iterable(row["members"] for row in STORIES))
    assert len(set(members)) == len(members)
    assert all(len(row["members"]) > 1 for row in STORIES)


def test_topics_are_those_of_the_catalogue() -> None:
    for row in TOPICS:
        assert TOPIC_IDS.issuperset([*row["fitting"], *row["accepted"]])


@pytest.mark.needs("SVC_REAL_DATA")
def test_every_label_names_an_item() -> None:
    root = Path(os.environ["SVC_REAL_DATA"])  # noqa: TID251 - what the tests are given
    ids: set[str | None] = set()
    for path in chain.from_iterable(
        (root / name).iterdir() for name in ("gdacs_rss", "json_feed", "news_feed")
    ):
        try:
            ids |= {item.url for item in parse_feed(path.read_bytes()).items}
        except DocumentRefused:
            continue
    references = chain.from_iterable(
        [*(row["relevant"] for row in SUBJECTS), *(row["members"] for row in STORIES)]
    )
    assert set(references) | {row["id"] for row in TOPICS} <= ids


def test_labels_of_links_are_parted_by_the_same_hash() -> None:
    for row in chain.from_iterable(LINKS.values()):
        is_even = hashlib.sha256(row["key"].encode()).digest()[0] % 2 == 0
        assert row["half"] == ("dev" if is_even else "report")
    for rows in LINKS.values():
        assert len({row["key"] for row in rows}) == len(rows)


def test_labels_of_links_have_enough_of_both_answers() -> None:
    assert len(LINKS["vendors"]) >= 150
    for right in (
        [row["cik"] is not None for row in LINKS["vendors"]],
        [row["same"] for row in LINKS["names"]],
        [bool(row["ciks"]) for row in LINKS["texts"]],
    ):
        assert 0.25 < sum(right) / len(right) < 0.75
