"""Projects: their members, and that they are one person's alone (Spec: Projects)."""

import json
from typing import Any

import attrs
import pytest

from svc_core.base import drive
from svc_core.projects.model import PROJECTS


def test_a_project_has_the_members_that_are_sent_and_the_defaults_of_the_others(desk: Any) -> None:
    project = desk.project(description="What strikes do.", notes="Ask.\nThen ask again.")
    assert project == {
        "id": project["id"],
        "ownerId": desk.ann,
        "name": "Ports",
        "description": "What strikes do.",
        "status": "active",
        "pinned": False,
        "reportIds": [],
        "subjectIds": [],
        "notes": "Ask.\nThen ask again.",
        "createdAt": "2026-01-02T03:04:05Z",
        "updatedAt": "2026-01-02T03:04:05Z",
    }
    assert desk.ask("getProject", project["id"]) == project == desk.ask("listProjects")[0]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/name"),
        ({"name": "x" * 121}, "/name"),
        ({"name": "a", "description": "x" * 2_001}, "/description"),
        ({"name": "a", "notes": "x" * 20_001}, "/notes"),
        ({"name": "a", "reportIds": ["rpt_" + f"{n:024x}" for n in range(501)]}, "/reportIds"),
        ({"name": "a", "subjectIds": ["sbj_" + f"{n:024x}" for n in range(501)]}, "/subjectIds"),
        ({"name": "a", "status": "archived"}, "/status"),
        ({"name": "a", "pinned": True}, "/pinned"),
        ({"name": "a", "reportIds": ["rpt_" + "1" * 24]}, "/reportIds/0"),
        ({"name": "a", "subjectIds": ["sbj_" + "1" * 24]}, "/subjectIds/0"),
    ],
)
def test_what_is_out_of_bounds_is_refused_by_its_place(desk: Any, body: Any, pointer: str) -> None:
    refusal = desk.refusal_of("createProject", body=body)
    assert (refusal.type.code, pointer in refusal.detail) == ("VALIDATION_FAILED", True)
    assert desk.ask("listProjects") == []


def test_all_that_is_not_there_is_told_at_once(desk: Any) -> None:
    absent = {"reportIds": ["rpt_" + "1" * 24] * 2, "subjectIds": ["sbj_" + "1" * 24]}
    project_id = desk.project()["id"]
    for case in (
        ("createProject", ""),
        ("replaceProject", project_id),
        ("updateProject", project_id),
    ):
        refusal = desk.refusal_of(*case, {"name": "Ports", **absent})
        assert refusal.detail == (
            "/reportIds/0: is no report of this workspace; "
            "/reportIds/1: is no report of this workspace; "
            "/subjectIds/0: is no subject of this workspace"
        )


def test_what_a_project_holds_may_go_and_stays_named(desk: Any) -> None:
    """Ids that were known before pass, also where nothing has them any more."""
    old_ids, known_names = (("rpt_" + "1" * 24,), ("sbj_" + "2" * 24,)), ("reportIds", "subjectIds")
    row = desk.project()

    async def hold(ctx: Any) -> None:
        project = PROJECTS.decode((await ctx.tx.documents.get(PROJECTS, row["id"])).raw)
        project_ = attrs.evolve(project, report_ids=old_ids[0], subject_ids=old_ids[1])
        await ctx.save(PROJECTS, row["id"], project_)

    desk.house.run(hold, "wsp_a")
    body = {"reportIds": [*old_ids[0]], "subjectIds": [*old_ids[1]], "name": "Renamed"}
    assert desk.ask("updateProject", row["id"], body)["name"] == "Renamed"
    changes = desk.changes()
    twice = desk.ask("updateProject", row["id"], {name: body[name] * 2 for name in known_names})
    assert [twice[name] for name in known_names] == [[*old_ids[0]], [*old_ids[1]]]
    assert desk.changes() == changes
    body["reportIds"].append("rpt_" + "3" * 24)
    body["subjectIds"].append("sbj_" + "3" * 24)
    refusal = desk.refusal_of("updateProject", row["id"], body)
    assert "/reportIds/1" in refusal.detail
    assert "/reportIds/0" not in refusal.detail


ACTIONS = {
    "archiveProject": ("status", "archived"),
    "restoreProject": ("status", "active"),
    "pinProject": ("pinned", True),
    "unpinProject": ("pinned", False),
}


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("before", ACTIONS)
def test_an_action_sets_its_member_and_repeated_writes_nothing(
    desk: Any, before: str, action: str
) -> None:
    project = desk.project()
    desk.ask(before, project["id"])
    desk.house.clock.advance(1)
    name, value = ACTIONS[action]
    first = desk.reply(action, project["id"])
    assert json.loads(first.body)["data"][name] == value
    changes = desk.changes()
    again = desk.reply(action, project["id"])
    assert (again.body, again.headers) == (first.body, first.headers)
    assert desk.changes() == changes


def test_lists_are_newest_first_and_filtered(desk: Any) -> None:
    ids = []
    for number in range(3):
        desk.house.clock.advance(1)
        ids.append(desk.project(name=f"P{number}")["id"])
    desk.ask("archiveProject", ids[0])
    desk.ask("pinProject", ids[1])

    def rows_of(query: str) -> list[str]:
        return [row["id"] for row in desk.ask("listProjects", query=query)]

    assert rows_of("") == ids[::-1]
    assert rows_of("status=archived") == [ids[0]]
    assert rows_of("status=active&pinned=false") == [ids[2]]
    assert rows_of("pinned=true") == [ids[1]]


def test_others_of_the_workspace_do_not_see_a_project_at_all(desk: Any) -> None:
    project = desk.project()
    desk.ask("updateProject", project["id"], {"notes": "Mine"})
    own = desk.changes()
    desk.house.user = desk.ben
    for operation in ("getProject", *ACTIONS):
        assert desk.code(operation, project["id"]) == "NOT_FOUND"
        assert desk.code(operation, project["id"], if_match="*") == "NOT_FOUND"
    assert desk.code("updateProject", project["id"], {}, if_match='"other"') == "NOT_FOUND"
    assert desk.code("replaceProject", project["id"], {"name": "His"}) == "NOT_FOUND"
    assert desk.ask("listProjects") == []
    assert desk.changes() == []
    desk.house.user = desk.ann
    assert desk.changes() == own == [("project", "created"), ("project", "updated")]


def test_a_key_of_one_member_replays_nothing_for_another(desk: Any) -> None:
    body = {"name": "Ports"}
    first = desk.reply("createProject", body=body, idempotency_key="the-same-key")
    desk.house.user = desk.ben
    second = desk.reply("createProject", body=body, idempotency_key="the-same-key")
    assert dict(first.headers)["Location"] != dict(second.headers)["Location"]
    assert "Idempotency-Replayed" not in dict(second.headers)
    desk.house.user = desk.ann
    again = desk.reply("createProject", body=body, idempotency_key="the-same-key")
    assert again.body == first.body


def test_a_cursor_of_one_member_is_none_of_another(desk: Any) -> None:
    for _ in range(3):
        desk.house.clock.advance(1)
        desk.project()
    page = json.loads(desk.reply("listProjects", query="limit=1").body)
    desk.house.user = desk.ben
    cursor = page["meta"]["page"]["nextCursor"]
    assert desk.code("listProjects", query=f"limit=1&cursor={cursor}") == "INVALID_CURSOR"


# -- the feed ----------------------------------------------------------------------------------


def test_pages_of_the_feed_are_full_though_others_changed_more(desk: Any) -> None:
    own_id = []
    for _ in range(6):
        own_id.append(desk.project()["id"])
        desk.house.user = desk.ben
        for _ in range(3):
            desk.project()
        desk.house.user = desk.ann
    seen, query = [], "limit=2"
    while True:
        page = json.loads(desk.house.send("listChanges", query=query).body)
        seen += [row["resourceId"] for row in page["data"]]
        if page["meta"]["page"]["nextCursor"] is None:
            break
        assert len(page["data"]) == 2
        query = f"limit=2&after={page['meta']['watermark']}"
    assert seen == own_id


def test_a_page_of_little_but_other_peoples_rows_is_short_and_goes_on(desk: Any) -> None:
    desk.house.user = desk.ben
    for _ in range(15):
        desk.project()
    desk.house.user = desk.ann
    own_id = desk.project()["id"]
    page = json.loads(desk.house.send("listChanges", query="limit=1").body)
    assert page["data"] == []
    assert page["meta"]["page"]["nextCursor"] is not None
    query = f"limit=1&after={page['meta']['watermark']}"
    page = json.loads(desk.house.send("listChanges", query=query).body)
    assert [row["resourceId"] for row in page["data"]] == [own_id]


def test_the_stream_of_the_feed_lacks_other_peoples_rows_and_its_watermarks_count_them(
    desk: Any,
) -> None:
    own_id = desk.project()["id"]
    desk.house.user = desk.ben
    desk.project()
    desk.house.user = desk.ann
    last = desk.project()["id"]
    rows = _stream_rows(desk, "tail=true")
    assert [row["resourceId"] for _, row in rows] == [own_id, last]
    assert [row for _, row in rows] == desk.house.changes()
    again = _stream_rows(desk, "tail=true", last_event_id=rows[0][0])
    assert [row["resourceId"] for _, row in again] == [last]
    assert _stream_rows(desk, "tail=true", last_event_id=rows[1][0]) == []


class _Enough(Exception):  # noqa: N818
    """There is nothing more to hear."""


def _stream_rows(desk: Any, query: str, **fields: str) -> list[tuple[str, Any]]:
    """The id and the row of each event until there is no more."""
    house = desk.house

    class Watch:
        async def read(self, usecase: Any) -> Any:
            return await house.store.read(
                "wsp_a", lambda tx: usecase(house.context(tx, "wsp_a", "listChanges"))
            )

        async def news(self) -> None:
            raise _Enough

    stream_bytes = b""

    async def collect() -> None:
        nonlocal stream_bytes
        reply = house.send("listChanges", query=query, **fields)
        async for part in reply.stream.parts(Watch()):
            stream_bytes += part

    with pytest.raises(_Enough):
        drive.run(collect())
    blocks = [
        block.split("\n") for block in stream_bytes.decode().split("\n\n") if "data: " in block
    ]
    rows = [dict(line.split(": ", 1) for line in block) for block in blocks]
    return [(row["id"], json.loads(row["data"])) for row in rows]
