"""An operation over HTTP: admitted, answered, limited, remembered, refused."""

from datetime import UTC, datetime

import attrs
import pytest

from svc_core import catalog
from svc_core.contract import problem
from svc_core.contract.result import Page
from svc_core.operation.ports import Overloaded, StorageUnavailable
from svc_http.stores import MemoryStorage

NOTES = "/api/v1/notes"
KEY = {"Idempotency-Key": "12345678"}


def create(house, key, text="hello", idempotency="12345678"):
    headers = {"Idempotency-Key": idempotency}
    return house.ask("POST", NOTES, key, headers=headers, json={"text": text})


# -- answers -----------------------------------------------------------------------------------


def test_a_created_resource_is_found_at_its_location_with_its_tag(house):
    key = house.key()
    note = create(house, key)
    assert note.status_code == 201
    assert note.headers["idempotency-key"] == "12345678"
    assert note.headers["cache-control"] == "private, no-store"
    loaded = house.ask("GET", note.headers["location"], key)
    assert loaded.json() == note.json()
    assert loaded.headers["etag"] == note.headers["etag"]
    assert loaded.headers["cache-control"] == "private, no-cache"
    assert loaded.headers["vary"] == "Authorization, Accept"


def test_every_answer_names_its_version_and_forbids_sniffing_and_scripts(house):
    key = house.key()
    first, second = house.ask("GET", NOTES, key), house.ask("GET", "/api/v2/open")
    assert first.headers["x-svc-api-version"] == "1.0"
    assert first.headers["x-svc-schema-version"] == "1.1"
    assert second.headers["x-svc-api-version"] == "2.0"
    assert "x-svc-schema-version" not in second.headers
    assert second.headers["cache-control"] == "public, max-age=300"
    for answer in (first, second):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["access-control-allow-origin"] == "*"


def test_an_unchanged_resource_is_not_sent_again(house):
    key = house.key()
    note = create(house, key)
    place, tag = note.headers["location"], note.headers["etag"]
    for _ in range(2):  # the second one comes from the page cache
        answer = house.ask("GET", place, key, headers={"If-None-Match": tag})
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["etag"] == tag
        assert answer.headers["vary"] == "Authorization, Accept"
        assert answer.headers["cache-control"] == "private, no-cache"
        assert "content-length" not in answer.headers
        assert not any(name.startswith("ratelimit") for name in answer.headers)
    assert house.ask("GET", place, key, headers={"If-None-Match": '"other"'}).status_code == 200


def large_patch(house, key, place, if_match):
    """A patch whose body turns out to be too large only while it is read."""
    path = place.removeprefix("https://api.example.org")
    headers = {
        "authorization": f"Bearer {key}", "content-type": "application/json",
        "transfer-encoding": "chunked", "if-match": if_match,
    }  # fmt: skip
    scope = {
        "method": "PATCH",
        "path": path,
        "raw_path": path.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    chunk = {"type": "http.request", "body": b" " * 1024 * 1024, "more_body": True}
    return house.raw(scope, [chunk, chunk | {"more_body": False}])


def test_what_is_to_be_changed_is_judged_before_the_body_that_cannot_be_read(house):
    key = house.key()
    note = create(house, key)
    place, tag = note.headers["location"], note.headers["etag"]
    for path, if_match, code in (
        (place[:-24] + "0" * 24, "*", "NOT_FOUND"),
        (place, '"stale"', "PRECONDITION_FAILED"),
        (place, tag, "BODY_TOO_LARGE"),
    ):
        answer = large_patch(house, key, path, if_match)
        assert answer.json()["code"] == code
        assert answer.headers[b"connection"] == b"close"


def test_deprecated_inputs_are_announced(make_house):
    sunset = datetime(2027, 6, 30, tzinfo=UTC)
    house = make_house(sunset_at=sunset)
    key = house.key()
    for _ in range(2):  # the second one comes from the page cache
        old = house.ask("GET", f"{NOTES}?since=1", key)
        assert old.headers["deprecation"] == "@1767225600"
        assert old.headers["sunset"] == "Wed, 30 Jun 2027 00:00:00 GMT"
        assert 'rel="deprecation"' in old.headers["link"]
    assert "deprecation" not in house.ask("GET", NOTES, key).headers
    assert "sunset" not in make_house().ask("GET", f"{NOTES}?since=1").headers


# -- methods -----------------------------------------------------------------------------------


def test_options_tell_the_methods_and_what_a_patch_may_be(house):
    answer = house.ask("OPTIONS", f"{NOTES}/obs_{1:024x}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["allow"] == "GET, HEAD, PATCH, DELETE, OPTIONS"
    assert answer.headers["accept-patch"] == "application/merge-patch+json, application/json"
    assert "access-control-allow-methods" not in answer.headers


def test_a_browser_of_any_origin_may_call_with_a_key(house):
    headers = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    preflight = house.ask("OPTIONS", NOTES, headers=headers)
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert "POST" in preflight.headers["access-control-allow-methods"]
    fields = preflight.headers["access-control-allow-headers"]
    for name in ("Authorization", "Idempotency-Key", "If-Match", "Access-Control-Expose-Headers"):
        assert name in fields
    assert preflight.headers["access-control-max-age"] == "7200"
    assert "access-control-allow-credentials" not in preflight.headers
    answer = house.ask("GET", NOTES, headers={"Origin": "https://app.example"})
    assert "X-RateLimit-Remaining-Minute" in answer.headers["access-control-expose-headers"]
    assert "access-control-expose-headers" not in house.ask("GET", NOTES).headers


# -- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/api/v1/nothing", f"{NOTES}/", "//api", "/api/v3", "/static/"])
def test_an_unknown_path_is_no_redirect(house, check_problem, path):
    answer = house.raw({"path": path, "headers": [(b"host", b"evil.example")]})
    assert answer.status == 404
    assert answer.json()["code"] == "ROUTE_NOT_FOUND"
    assert b"location" not in answer.headers


def test_a_fixed_segment_is_preferred_to_a_value(house):
    assert house.ask("GET", f"{NOTES}/latest", house.key()).json()["data"] == []


class Failing(MemoryStorage):
    """A store that cannot do its work."""

    def __init__(self, collections, error):
        super().__init__(collections)
        self.error = None
        self.later = error

    async def read(self, tenant, unit):
        if self.error is not None:
            raise self.error
        return await super().read(tenant, unit)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (StorageUnavailable("disk /secret is full"), problem.STORAGE_UNAVAILABLE),
        (Overloaded("queue"), problem.OVERLOADED),
    ],
)
def test_a_store_in_trouble_is_a_retryable_answer(make_house, house, check_problem, error, kind):
    storage = Failing(house.service_collections, error)
    house_in_trouble = make_house(parts={"storage": storage})
    key = house_in_trouble.key()
    assert house_in_trouble.ask("GET", NOTES, key).status_code == 200
    storage.error = error
    for path in (NOTES + "?limit=3", "/readyz"):
        answer = house_in_trouble.ask("GET", path, key)
        check_problem(answer, kind)
        assert answer.headers["retry-after"] == "1"
        assert "/secret" not in answer.text


# -- the page cache ----------------------------------------------------------------------------


def test_a_repeated_page_is_remembered_until_a_commit(house):
    key = house.key()
    pages = house.service.runtime.pages
    first = house.ask("GET", NOTES, key)
    assert len(pages) == 1
    assert house.ask("GET", NOTES, key).content == first.content
    create(house, key)
    assert house.ask("GET", NOTES, key).json()["meta"]["pageCount"] == 1
    assert len(pages) == 1


def test_a_remembered_page_is_nobody_elses(house):
    key, foreign_key = house.key(), house.key()
    create(house, key)
    assert house.ask("GET", NOTES, key).json()["meta"]["pageCount"] == 1
    assert house.ask("GET", NOTES, foreign_key).json()["meta"]["pageCount"] == 0


@pytest.mark.parametrize(
    "headers", [{"Accept": "application/*"}, {"If-None-Match": '"x"'}, {"X-Flavour": "sour"}]
)
def test_everything_an_answer_depends_on_keeps_pages_apart(house, headers):
    key = house.key()
    house.ask("GET", NOTES, key)
    house.ask("GET", NOTES, key, headers=headers)
    house.ask("GET", f"{NOTES}?limit=3", key)
    assert len(house.service.runtime.pages) == 3


def test_a_remembered_page_is_still_admitted_and_counted(house, check_problem):
    key = house.key(per_minute=2)
    remaining = [house.ask("GET", NOTES, key).headers["x-ratelimit-remaining-minute"] for _ in "ab"]
    assert remaining == ["1", "0"]
    check_problem(house.ask("GET", NOTES, key), problem.RATE_LIMITED)
    check_problem(house.ask("GET", NOTES), problem.MISSING_API_KEY)


def test_the_end_of_the_alias_window_changes_remembered_pages_too(make_house):
    house = make_house(aliases_until=datetime(2026, 3, 4, 5, 7, tzinfo=UTC))
    key = house.key()
    assert "count" in house.ask("GET", NOTES, key).json()["meta"]
    house.clock.forward(minutes=1)
    assert "count" not in house.ask("GET", NOTES, key).json()["meta"]
    house.clock.forward(minutes=1)
    assert "count" not in house.ask("GET", NOTES, key).json()["meta"]


def test_a_page_under_way_when_the_alias_window_ends_is_kept_for_nobody(make_house):
    end = datetime(2026, 3, 4, 5, 7, tzinfo=UTC)
    houses = []

    async def run(ctx, _request):
        if ctx.now < end:
            # Another request comes after the end, while this one is still being answered.
            houses[0].clock.forward(minutes=2)
            houses[0].service.runtime.site(houses[0].clock())
        return Page(())

    feeds = next(operation for operation in catalog.OPERATIONS if operation.id == "listNewsFeeds")
    slow = attrs.evolve(feeds, run=run, timeless=True, scopes=frozenset())
    houses.append(make_house(parts={"operations": (slow,)}, aliases_until=end))
    key = houses[0].key()
    assert "count" in houses[0].ask("GET", slow.address, key).json()["meta"]
    assert "count" not in houses[0].ask("GET", slow.address, key).json()["meta"]


def test_identifiers_of_old_are_accepted_while_the_window_is_open(make_house):
    house = make_house(legacy_ids_until=datetime(2026, 3, 4, 5, 7, tzinfo=UTC))
    assert house.service.runtime.site(house.clock()).legacy_ids
    house.clock.forward(minutes=1)
    assert not house.service.runtime.site(house.clock()).legacy_ids
