"""A list shows on its page what it answers over HTTP, whatever is asked of it, and in good time."""

import json
import re
import statistics
import time
from collections.abc import Iterator
from datetime import timedelta
from operator import attrgetter
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.access import operations as accounts
from svc_core.operation.context import Context
from svc_http.dashboard.form_fields import Field, fields_of
from svc_http.dashboard.page_addresses import BY_ID, EVERY, page_address, page_ids
from tests.golden.house import NOW, House
from tests.http.dashboard.offices import page_of
from tests.pages.document import Document, Element
from tests.people import SignedUp, sign_up
from tests.sampling import examples

LISTS = [
    operation
    for operation in EVERY
    if operation.columns
    and operation.method == "GET"
    and not operation.local
    # Rows of one person alone, of whom the key is another.
    and operation.group not in {"projects", "automations"}
    and "webhookId" not in page_ids(operation)  # of which the demo has none
]
WORDS = ["port", "bank", "microsoft", "cve-2024-3400", "apt28", "US", "EC", "shipping", "zzz", "*"]
NAME = attrgetter("name")
TITLES = ("title", "name", "profileId", "eventId", "resourceId")
"""What a row is known by where its id is not shown."""
PAGE_MS = 50
"""What a page may take (p95) on a machine that does nothing else."""
BESIDE = 4
"""How many times as long it may take here, beside other tests."""


class Reader:
    """The demo, and an owner of its workspace who reads pages."""

    def __init__(self) -> None:
        self.house = House(is_limited=False)

        async def make(ctx: Context) -> tuple[str, SignedUp]:
            (home,) = await accounts.list_workspaces(ctx)
            return home.id, await sign_up(ctx, "rosa", {home.id: "owner"})

        units = self.house.service.runtime.desk_units
        self.home, self.person = self.house._runner.run(units.system(make))
        self.ids = self._first_ids()

    def get(self, path: str) -> Any:
        headers = {"cookie": f"__Host-svc={self.person.token}"}
        return self.house.ask("GET", path, key="", headers=headers)

    def path(self, operation: Any) -> str:
        ids = {name: self.ids.get(name, "") for name in page_ids(operation)}
        return page_address(operation, self.home, ids)

    def rows(self, operation: Any, query: dict[str, str]) -> Any:
        """The answer of the API to the same query."""
        ids = {name: self.ids.get(name, "") for name in page_ids(operation)}
        target = f"{operation.address.format(**ids)}?{urlencode(query)}"
        return self.house.ask("GET", target, headers={"Accept": "application/json"})

    def _first_ids(self) -> dict[str, str]:
        ids: dict[str, str] = {}
        for operation in LISTS:
            if not page_ids(operation):
                answer = self.house.ask(
                    "GET", operation.address, headers={"Accept": "application/json"}
                )
                for row in answer.json().get("data", []) if answer.status_code == 200 else []:
                    prefix = str(row.get("id", "")).partition("_")[0]
                    ids.setdefault({"rpt": "reportId", "whk": "webhookId", "ent": "entityId",
                                    "prf": "profileId", "sbj": "subjectId"}.get(prefix, prefix),
                                   str(row.get("id", "")))  # fmt: skip
        return ids


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    reader = Reader()
    yield reader
    reader.house.close()


def values(field: Field, ids: list[str]) -> st.SearchStrategy[str]:
    """Values of a parameter, good ones and now and then others."""
    words = st.sampled_from([*WORDS, *ids])
    instants = st.integers(-90 * 24, 24).map(lambda hours: NOW + timedelta(hours=hours))
    texts = instants.map(lambda at: at.strftime("%Y-%m-%dT%H:%M:%SZ"))
    few = {"min_size": 1, "max_size": 2, "unique": True}
    match field.kind:
        case "choice":
            return st.sampled_from([word for word, _ in field.options])
        case "choices":
            options = st.sampled_from([word for word, _ in field.options])
            return st.lists(options, **few).map(",".join)  # type: ignore[arg-type]
        case "check":
            return st.sampled_from(["true", "false"])
        case "number":
            least, most = (
                float(field.bounds.get(name, end)) for name, end in (("min", 0), ("max", 50))
            )
            return st.integers(int(least) - 1, int(most) + 1).map(str)
        case "instant":
            return texts
        case "interval":
            return st.tuples(texts, texts).map(lambda pair: "/".join(sorted(pair)))
        case "box":
            return st.sampled_from(["-180,-90,180,90", "-90,-20,-70,10", "1,2,3"])
        case "span":
            return st.sampled_from(["3600", "86400", "1"])
    return st.one_of(words, st.lists(words, **few).map(",".join))  # type: ignore[arg-type]


def letters(text: str) -> str:
    """A text without what captions change: case, spaces and signs."""
    return re.sub(r"[\W_]", "", text).casefold()


def shown_rows(page: Document) -> list[str]:
    tables = [table for table in page.main.every("table") if "data-rows" in table.fields]
    bodies = [body for table in tables[-1:] for body in table.every("tbody")]
    return [words_of(row) for body in bodies for row in body.every("tr")]


def words_of(row: Element) -> str:
    """What a row says, and where it leads."""
    links = (link.fields.get("href", "").partition("?")[0] for link in row.every("a"))
    return " ".join([row.text, *links])


@pytest.mark.parametrize("operation", LISTS, ids=lambda operation: operation.id)
@examples(20)
@given(draws=st.data())
def test_the_rows_of_a_page_are_those_of_the_api(reader, operation, draws) -> None:
    fields = [field for field in fields_of(operation) if field.name not in {"format", "include"}]
    chosen = draws.draw(
        st.lists(st.sampled_from(fields), max_size=3, unique_by=NAME) if fields else st.just([])
    )
    needed = [field for field in fields if field.required]
    ids = [*filter(None, reader.ids.values())]
    query = {field.name: draws.draw(values(field, ids), field.name) for field in [*needed, *chosen]}
    answer = reader.rows(operation, query)
    visit = reader.get(f"{reader.path(operation)}?{urlencode(query)}")
    page = page_of(visit)
    assert visit.status_code == answer.status_code
    if answer.status_code != 200:
        assert answer.json()["code"] in page.words
        return
    body = answer.json()
    rows = shown_rows(page)
    assert len(rows) == len(body["data"])
    for text, row in zip(rows, body["data"], strict=True):
        names = [row[name] for name in (operation.columns[0], *TITLES) if row.get(name)]
        assert not names or any(letters(str(name))[:30] in letters(text) for name in names), (
            names,
            text,
        )
    following = [link for link in page.main.every("a") if link.fields.get("rel") == "next"]
    assert bool(following) == (body["meta"]["page"]["nextCursor"] is not None)


def test_a_list_is_walked_to_its_end_and_exported_whole(reader) -> None:
    path = f"{reader.path(BY_ID['listNews'])}?limit=7"
    rows = reader.get(f"{path}&_as=json").json()["data"]
    texts: list[str] = []
    while path:
        page = page_of(reader.get(path))
        texts += shown_rows(page)
        links = [link.fields for link in page.main.every("a")]
        path = next((link["href"] for link in links if link.get("rel") == "next"), "")
    assert len(texts) == len(rows) > 2 * 7
    assert all(row["title"][:40] in text for row, text in zip(rows, texts, strict=True))
    lines = reader.get(f"{reader.path(BY_ID['listNews'])}?_as=ndjson").text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [row["id"] for row in rows]


def test_pages_take_as_long_as_they_may(reader) -> None:
    paths = [reader.path(operation) for operation in LISTS]
    for path in paths:
        reader.get(path)
    milliseconds = []
    for path in paths:
        began = time.process_time()
        reader.get(path)
        milliseconds.append((time.process_time() - began) * 1_000)
    *_, p95 = statistics.quantiles(milliseconds, n=20)
    assert p95 < PAGE_MS * BESIDE, sorted(zip(milliseconds, paths, strict=True))[-3:]
