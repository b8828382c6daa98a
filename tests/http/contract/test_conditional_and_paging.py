"""Writes that race, and lists that are walked while rows come in."""

import json

import pytest

from svc_core import catalog
from svc_core.contract import problem
from svc_core.contract.result import Page, PagedResource
from svc_core.operation.declaration import NDJSON
from svc_core.operation.inputs import inputs_of
from svc_core.reports.profiles.model import DUE
from svc_core.reports.profiles.operations import pass_over
from tests.backends import NAMES

CONDITIONAL = [op for op in catalog.OPERATIONS if op.target is not None and op.method != "DELETE"]
UNDOES = {
    "restoreProject": "archiveProject",
    "unpinProject": "pinProject",
    "restoreAutomation": "archiveAutomation",
}
LISTS = {op.address: op for op in catalog.OPERATIONS if any(kind is Page for kind, _ in op.results)}
ORIGIN = "https://api.example.org"
NEWS = "/api/v1/news"


def _names(operation):
    return {item.name for item in inputs_of(operation.request)}


@pytest.fixture(params=NAMES)
def town(request, make_world):
    """A world over each store, empty at first."""
    return make_world(request.param, is_sown=False)


@pytest.fixture(scope="module", params=NAMES)
def lasting(request, contract_world):
    """A world over each store for tests that follow each other."""
    return contract_world(request.param, is_sown=False)


@pytest.fixture
def arena(lasting):
    """The same at a time when no quota is used up."""
    lasting.clock.forward(minutes=10)
    return lasting


@pytest.fixture(scope="module", params=NAMES)
def still(request, contract_world):
    """One with news of four days and a few rows of everything, for tests that write nothing."""
    return _fill(contract_world(request.param, is_sown=False))


@pytest.fixture(scope="module", params=NAMES)
def lasting_full(request, contract_world):
    """Such a one for tests that follow each other."""
    return _fill(contract_world(request.param, is_sown=False))


@pytest.fixture
def full(lasting_full):
    """The same at a time when no quota is used up."""
    lasting_full.clock.forward(minutes=10)
    return lasting_full


def _fill(town):
    for first in range(0, 12, 3):
        town.clock.forward(days=1)
        town.take_news(range(first, first + 3))
    town.take_more()
    for _ in range(4):
        town.clock.forward(minutes=10)
        town.plant("a")
    for _ in range(4):
        town.send(town.ask_of(town.operation("testWebhook")))
        town.send(town.ask_of(town.operation("runAutomation")))
    return town


# -- racing writes -----------------------------------------------------------------------------


@pytest.mark.parametrize("operation", CONDITIONAL, ids=[op.id for op in CONDITIONAL])
def test_of_twenty_writes_with_one_tag_exactly_one_is_done(arena, operation):
    ask = arena.ask_of(operation)
    for competitor in CONDITIONAL:  # so that the race is about a change
        if competitor.address == operation.address and competitor is not operation:
            assert arena.send(arena.ask_of(competitor)).status_code == competitor.success
    if operation.id in UNDOES:
        arena.send(arena.ask_of(arena.operation(UNDOES[operation.id])))
    if operation.id == "enableWebhook":
        for _ in range(5):
            arena.send(arena.ask_of(arena.operation("testWebhook")))
            arena.tell_webhooks(410)
    collection = operation.target.collection
    path = collection.address(arena.rows["a"][collection.prefix][-1])
    tag = arena.get(path).headers["etag"]
    asks = [ask.having(if_match=tag)] * 20
    answers = arena.send_all(asks)
    codes = sorted(answer.status_code for answer in answers)
    assert codes == [operation.success] + [412] * 19
    current = arena.get(path).headers["etag"]
    winner = next(answer for answer in answers if answer.status_code == operation.success)
    assert current != tag
    if operation.success == 200:  # else it answers with another resource
        assert winner.headers["etag"] == current
    assert {a.headers["etag"] for a in answers if a.status_code == 412} == {current}


def test_without_a_tag_every_write_is_done_and_none_is_torn(arena):
    ask = arena.ask_of(arena.operation("updateProfile"))
    bodies = [{"name": f"Name {n}", "keywords": [f"word {n}"]} for n in range(20)]
    answers = arena.send_all(ask.evolve(body=json.dumps(body).encode()) for body in bodies)
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.headers["etag"] for answer in answers}) == 20
    last = arena.get(ask.path).json()["data"]
    assert {"name": last["name"], "keywords": last["keywords"]} in bodies


def test_a_stale_tag_never_deletes(town, check_problem):
    ask = town.ask_of(town.operation("deleteProfile"))
    tag = town.get(ask.path).headers["etag"]
    patch = town.ask_of(town.operation("updateProfile"))
    assert town.send(patch).status_code == 200
    check_problem(town.send(ask.having(if_match=tag)), problem.PRECONDITION_FAILED)
    assert town.get(ask.path).status_code == 200
    answers = town.send_all([ask] * 10)
    assert sorted(answer.status_code for answer in answers) == [204] + [404] * 9


# -- walking lists -----------------------------------------------------------------------------


def pages(world, path, limit, *, through="links"):
    """The rows of each page of a list, which is asked for when it is its turn."""
    url = f"{path}{'&' if '?' in path else '?'}limit={limit}"
    for _ in range(400):
        answer = world.get(url, accept="application/json")
        assert answer.status_code == 200, answer.text
        body = answer.json()
        page = rows_of(body)
        assert body["meta"]["pageCount"] == len(page) <= limit
        next_ = body["links"]["next"]
        cursor = body["meta"]["page"]["nextCursor"]
        assert (next_ is None) == (cursor is None) == ("link" not in answer.headers)
        yield page
        if next_ is None:
            return
        assert answer.headers["link"] == f'<{next_}>; rel="next"'
        assert next_.startswith(f"{ORIGIN}{path.partition('?')[0]}?")
        url = next_.removeprefix(ORIGIN)
        if through == "cursor":
            url = f"{path}{'&' if '?' in path else '?'}limit={limit}&cursor={cursor}"
    raise AssertionError(f"{path} has no end")


def walk(world, path, limit, **how):
    """Every row of a list, page by page."""
    return [row for page in pages(world, path, limit, **how) for row in page]


def rows_of(body):
    """The rows of a page; of a graph its edges, of a fusion its timeline and links."""
    data = body["data"]
    if isinstance(data, list):
        return data
    return data["edges"] if "edges" in data else [*data["timeline"], *data["links"]]


def keys_of(rows):
    return [_key_of(row) for row in rows]


def _key_of(row):
    """What names a row: its own identifier, or that of what it is about."""
    if "head" in row:
        return row["head"]["id"]
    names = ("id", "eventId", "countryCode", "profileId")
    return next(row[name] for name in names if name in row)


def rise(world):
    """Put one more of everything into a world."""
    world.clock.forward(minutes=10)
    world.take_news([int(world.clock().timestamp())])
    world.plant("a")


OPERATIONS_WITH_CURSOR = {
    op.address: op
    for op in catalog.OPERATIONS
    if "cursor" in _names(op) and any(kind in (Page, PagedResource) for kind, _ in op.results)
}
PATHS_WITH_LIMIT = [address for address, op in LISTS.items() if "limit" in _names(op)]


def test_walks_lose_and_repeat_nothing_while_rows_come_in(full):
    """All lists are walked side by side; after the first page of each and the second, rows come."""
    paths = [full.ask_of(LISTS[address]).path for address in PATHS_WITH_LIMIT]
    before = {path: keys_of(walk(full, path, 100)) for path in paths}
    assert [p for p, keys in before.items() if not len(keys) == len(set(keys)) >= 4] == []
    under_way = {path: pages(full, path, 2) for path in paths}
    first = {path: next(under_way[path]) for path in paths}
    rise(full)
    second = {path: next(under_way[path], []) for path in paths}
    rise(full)
    rest = {path: [row for page in under_way[path] for row in page] for path in paths}
    rows = {path: keys_of(first[path] + second[path] + rest[path]) for path in paths}
    assert [path for path, keys in rows.items() if len(keys) != len(set(keys))] == []
    # What was there at the beginning comes whole and in order; only the feed tells the rest.
    old = {path: [id_ for id_ in rows[path] if id_ in set(before[path])] for path in paths}
    assert old == before


@pytest.mark.parametrize("path", sorted(set(LISTS) - set(PATHS_WITH_LIMIT)))
def test_a_list_in_one_page_has_each_row_once_and_ends(still, path):
    body = still.send(still.ask_of(LISTS[path])).json()
    assert len(keys_of(body["data"])) == len(set(keys_of(body["data"])))
    assert body["links"]["next"] is None


def test_every_list_that_has_pages_takes_a_limit_and_a_cursor():
    for path, operation in (LISTS | OPERATIONS_WITH_CURSOR).items():
        names = _names(operation)
        assert ("limit" in names) == ("cursor" in names), path
    assert {path for path in OPERATIONS_WITH_CURSOR if path not in LISTS} == {
        "/api/v2/cyber/graph",
        "/api/v2/entities/{entityId}/graph",
        "/api/v2/entities/{entityId}/fusion",
    }


@pytest.mark.parametrize("path", OPERATIONS_WITH_CURSOR)
def test_every_way_through_a_list_gives_the_rows_of_one_large_page(still, path):
    path = still.ask_of(OPERATIONS_WITH_CURSOR[path]).path
    whole = walk(still, path, 100)
    keys = list(map(repr, whole))
    assert len(keys) == len(set(keys))
    # The header has the link of the body: what `pages` looks at on each.
    assert walk(still, path, 1, through="cursor") == whole
    assert walk(still, path, 2, through="links") == whole


FILTERS = {
    NEWS: "language=en",
    "/api/v2/incidents": "minSeverity=high",
    "/api/v2/entities": "type=company",
    "/api/v2/cyber/graph": "types=uses",
    "/api/v2/entities/{entityId}/graph": "minConfidence=0.5",
    "/api/v2/entities/{entityId}/fusion": "from=2020-01-01",
}


@pytest.mark.parametrize("path", OPERATIONS_WITH_CURSOR)
def test_a_cursor_that_a_list_did_not_give_out_is_refused(still, check_problem, path):
    address, news = (
        still.ask_of(OPERATIONS_WITH_CURSOR[path]).path,
        still.get(f"{NEWS}?limit=1").json(),
    )
    foreign = news["meta"]["page"]["nextCursor"]
    profiles = still.get("/api/v1/profiles?limit=1").json()["meta"]["page"]["nextCursor"]
    wrong = [profiles if path == NEWS else foreign, "w1.nonsense"]
    own = still.get(f"{address}?limit=1", accept="application/json").json()["meta"]["page"][
        "nextCursor"
    ]
    if own is not None:
        at = len(own) // 2
        wrong.append(f"{own[:at]}{'A' if own[at] != 'A' else 'B'}{own[at + 1 :]}")
        if path in FILTERS:
            wrong.append(f"{own}&{FILTERS[path]}")
        competitor = still.get(f"{address}?limit=1&cursor={own}", "b")
        if competitor.status_code != 404:  # what the row stands under is the other's own
            check_problem(competitor, problem.INVALID_CURSOR)
    for cursor in wrong:
        check_problem(still.get(f"{address}?limit=1&cursor={cursor}"), problem.INVALID_CURSOR)


def test_rows_removed_behind_a_walk_do_not_disturb_it(full):
    rows = walk(full, "/api/v1/profiles", 100)
    deletion = full.ask_of(full.operation("deleteProfile"))
    first = full.get("/api/v1/profiles?limit=2").json()
    own = [row["id"] for row in rows[:2] if row["owned"]]
    assert own
    for id_ in own:
        assert full.send(deletion.evolve(path=f"/api/v1/profiles/{id_}")).status_code == 204
    rest = walk_on(full, first["links"]["next"])
    assert keys_of(first["data"] + rest) == keys_of(rows)


def walk_on(world, link, key="a"):
    rows = []
    while link:
        body = world.get(link.removeprefix(ORIGIN), key).json()
        rows += body["data"]
        link = body["links"]["next"]
    return rows


@pytest.mark.parametrize("path", [a for a, op in LISTS.items() if NDJSON in op.media])
def test_rows_as_lines_are_the_rows_of_the_pages_and_go_on_by_link(still, path):
    rows, url = [], f"{path}?limit=7&format=ndjson"
    while url:
        answer = still.get(url)
        assert answer.headers["content-type"] == "application/x-ndjson"
        rows += [json.loads(line) for line in answer.content.splitlines()]
        link = answer.headers.get("link")
        url = link and link.removeprefix(f"<{ORIGIN}").removesuffix('>; rel="next"')
    assert rows == walk(still, path, 100)
    by_field = still.get(f"{path}?limit=7", accept="application/x-ndjson")
    assert by_field.content == still.get(f"{path}?limit=7&format=ndjson").content


def test_the_feed_is_walked_to_its_end_and_resumed(full):
    path = "/api/v2/changes"
    deletion = full.ask_of(full.operation("deleteProfile"))
    rows, watermark = [], None
    while True:
        after = f"&after={watermark}" if watermark else ""
        body = full.get(f"{path}?limit=5{after}").json()
        assert body["meta"]["watermark"]
        rows += body["data"]
        watermark = body["meta"]["watermark"]
        if body["links"]["next"] is None:
            break
    empty = full.get(f"{path}?after={watermark}").json()
    assert empty["data"] == []
    profile_id = deletion.path.rpartition("/")[2]
    assert full.send(deletion).status_code == 204
    later = full.get(f"{path}?after={empty['meta']['watermark']}").json()["data"]
    tombstones = [row for row in later if row["resourceId"] == profile_id]
    assert [(row["changeType"], row["tombstone"]) for row in tombstones] == [("deleted", True)]
    assert not {row["id"] for row in rows} & {row["id"] for row in later}


def test_a_reader_beside_twelve_writers_misses_and_repeats_no_change(town):
    ask = town.ask_of(town.operation("createProfile"))
    watermark = town.get("/api/v2/changes").json()["meta"]["watermark"]
    profile_ids, changes = [], []
    for turn in range(8):
        town.clock.forward(minutes=1)  # within the quota
        writes = [ask.having(idempotency_key=f"writer-{turn}-{n:02d}") for n in range(12)]
        feed = town.ask_of(town.operation("listChanges"))
        answers = town.send_all([*writes, feed.asking(("after", watermark), ("limit", "7"))])
        profile_ids += [answer.json()["data"]["id"] for answer in answers[:-1]]
        body = answers[-1].json()
        changes += body["data"]
        watermark = body["meta"]["watermark"]
    rest = walk_on(town, f"{ORIGIN}/api/v2/changes?after={watermark}&limit=7")
    changed_ids = [row["resourceId"] for row in changes + rest if row["resourceType"] == "profile"]
    assert sorted(changed_ids) == sorted(profile_ids)
    ids = [row["id"] for row in changes + rest]
    assert len(ids) == len(set(ids)) == 2 * 8 * 12


def test_a_feed_shows_what_everybody_sees_and_ones_own_alone(full):
    full.plant("b")
    rows_of_a, rows_of_b = (keys_rows(full, key) for key in ("a", "b"))
    shared = rows_of_a & rows_of_b
    assert shared
    assert {kind for kind, _ in shared} == {
        "country",
        "entity",
        "incident",
        "indicator",
        "market",
        "newsItem",
        "osintEvent",
        "recap",
        "signal",
    }
    assert {kind for kind, _ in rows_of_a - shared} == {
        "automation",
        "automationRun",
        "project",
        "profile",
        "report",
        "subject",
        "subscription",
        "webhook",
    }


def keys_rows(world, key):
    rows = walk_on(world, "/api/v2/changes?limit=100", key)
    return {(row["resourceType"], row["resourceId"]) for row in rows}


# -- reading again -----------------------------------------------------------------------------


def test_a_tag_is_that_of_the_tenant_and_not_of_the_key(arena):
    path = arena.ask_of(arena.operation("getProfile")).path
    tags = {arena.get(path, key).headers["etag"] for key in ("a", "a profiles:read")}
    assert len(tags) == 1


def test_a_plan_that_a_worker_moves_is_listed_at_once(town):
    """The listing is remembered by what was written, though a due row has no change of its own."""
    town.plant("a")

    def own():
        rows = town.get("/api/v1/profiles").json()["data"]
        return next(row for row in rows if row["owned"])

    row = own()

    async def work(ctx):
        row_due = await ctx.load(DUE, row["id"])
        await pass_over(ctx, row["id"], row_due, DUE.decode(row_due.raw).next_run_at)

    town.run(town.hands.write(town.tenants["a"], work))
    assert own()["nextRunAt"] > row["nextRunAt"]
