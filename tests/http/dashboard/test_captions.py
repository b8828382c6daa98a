"""What pages, acts and fields are called: words for people, not those of a terminal."""

import re
from collections import Counter

import pytest

from svc_http.dashboard.captions import (
    caption_of,
    done_caption,
    group_caption,
    operation_title,
    subtitle_of,
)
from svc_http.dashboard.form_fields import fields_of
from svc_http.dashboard.menu import menu_rows
from svc_http.dashboard.page_addresses import BY_ID, EVERY, is_safe, page_ids
from svc_http.dashboard.value_shapes import short_text, title_of
from tests.themes import each

TITLE_LENGTH = 30
TERMINAL = re.compile(r"repeatable|\bsvc \w+ \w+|(?<!\w)--\w+|likewise|\bprint", re.IGNORECASE)
"""What means nothing to a person in a browser."""

each_operation = each(EVERY)


@pytest.mark.parametrize(
    ("id_", "title", "done"),
    [
        ("listReports", "Reports", None),
        ("getReport", "Report", None),
        ("searchEverything", "Search", None),
        ("listNewsFeeds", "Topics", None),
        ("getNewsItem", "News item", None),
        ("listAutomationRuns", "Runs", None),
        ("showWorkspace", "Workspace", None),
        ("createKey", "Create API key", "API key created"),
        ("revokeKey", "Revoke API key", "API key revoked"),
        ("updateProfile", "Edit profile", "Profile edited"),
        ("inviteMember", "Invite member", "Member invited"),
        ("renameWorkspace", "Rename workspace", "Workspace renamed"),
        ("deleteWorkspace", "Delete workspace", "Workspace will be deleted in seven days"),
        ("testWebhook", "Test webhook", "Webhook test started"),
        ("rotateWebhookSecret", "Rotate secret", "Secret rotated"),
        ("generateReport", "Generate report", "Report is being made"),
        ("partEntity", "Undo merge", "Merge undone"),
        ("addPasskey", "Add passkey", "Passkey added"),
        ("appendRecords", "Append records", "Records appended"),
    ],
)
def test_an_operation_has_a_short_name(id_, title, done) -> None:
    assert operation_title(BY_ID[id_]) == title
    assert done is None or done_caption(BY_ID[id_]) == done


@each_operation
def test_a_name_is_for_people(operation) -> None:
    title = operation_title(operation)

    assert title[0].isupper()
    assert len(title) <= TITLE_LENGTH
    assert not TERMINAL.search(title)
    assert is_safe(operation) or " " in title, "an act says what it is done with"


def test_no_two_pages_of_the_palette_have_one_name() -> None:
    pages = [each for each in EVERY if each.verb and not page_ids(each)]
    names = Counter((operation_title(each), group_caption(each.group)) for each in pages)
    assert [name for name, count in names.items() if count > 1] == []


def test_the_menu_calls_a_group_what_its_pages_do() -> None:
    for row in menu_rows():
        page = row.operation
        assert row.label == (group_caption if is_safe(page) else operation_title)(
            page.group if is_safe(page) else page
        )


@each_operation
def test_the_labels_of_a_form_tell_its_fields_apart(operation) -> None:
    labels = Counter(field.label for field in fields_of(operation))
    assert [label for label, count in labels.items() if count > 1] == []


@each_operation
def test_no_text_of_a_form_is_for_a_terminal_alone(operation) -> None:
    texts = [subtitle_of(operation), *(each.hint for each in fields_of(operation))]
    assert [text for text in texts if TERMINAL.search(text) and not is_safe(operation)] == []


@pytest.mark.parametrize(
    ("name", "caption"),
    [
        ("minSeverity", "Severity at least"),
        ("maxProbability", "Probability at most"),
        ("min", "Min"),
        ("datetime", "Time"),
        ("timezone", "Time zone"),
        ("cveId", "CVE ID"),
    ],
)
def test_a_member_is_called_in_words(name, caption) -> None:
    assert caption_of(name) == caption


@pytest.mark.parametrize(
    ("id_", "name", "label"),
    [
        ("listReports", "profileId", "Profile"),
        ("createWebhook", "profileIds", "Profiles"),
        ("listCves", "cveId", "CVE ID"),
        ("openReport", "lastsSeconds", "Lasts"),
        ("createAutomation", "schedule.timeOfDay", "Time of day"),
    ],
)
def test_a_field_is_called_by_what_it_picks(id_, name, label) -> None:
    fields = {field.name: field for field in fields_of(BY_ID[id_])}
    assert fields[name].label == label


def test_a_form_says_what_its_title_does_not() -> None:
    assert subtitle_of(BY_ID["createUser"]) == ""
    assert subtitle_of(BY_ID["updateProject"]) == ""
    assert subtitle_of(BY_ID["inviteMember"]).startswith("Make a link by which one person joins")
    assert subtitle_of(BY_ID["archiveProject"]).startswith("Moves the project")


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"id": "sbj_1", "identity": {"label": "Kestrel Exchange"}}, "Kestrel Exchange"),
        (
            {"id": "whk_1", "name": None, "url": "https://hooks.example.com"},
            "https://hooks.example.com",
        ),
        ({"id": "usr_1", "handle": "rosa"}, "rosa"),
        ({"id": "sub_1", "status": "active"}, "Subscription"),
    ],
)
def test_a_row_is_called_by_its_name(row, name) -> None:
    assert title_of(row, "Subscription") == name


def test_a_row_without_a_name_is_called_by_its_id_in_a_table() -> None:
    assert title_of({"id": "sub_1"}) == short_text({"id": "sub_1"}) == "sub_1"
