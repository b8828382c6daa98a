"""The pages around the operations."""

import asyncio
import gzip
import hashlib
import tomllib
from datetime import UTC, datetime
from urllib.robotparser import RobotFileParser

import pytest

from svc_core.contract import problem
from svc_http import version
from svc_http.exchange.fair_shares import Load
from svc_http.exchange.http_exchange import PART_BYTES, VIEWS, Exchange
from svc_http.pages import service_documents as pages
from svc_http.pages import static_pages as files
from svc_http.pages.markup import STATIC
from tests.late import Late

VALIDATION = Late("openapi_spec_validator")

ORIGIN = "https://api.example.org"
VENDOR = STATIC / "vendor"


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, "application/json"),
        ("*/*", "application/json"),
        ("text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8"),
    ],
)
def test_the_index_leads_everywhere(house, accept, media_type):
    answer = house.ask("GET", "/", headers={} if accept is None else {"Accept": accept})
    assert answer.headers["content-type"] == media_type
    assert 'rel="service-desc"' in answer.headers["link"]
    assert 'rel="service-doc"' in answer.headers["link"]
    for path in ("/docs", "/openapi.json", "/openapi.flat.json", "/llms.txt", "/livez", "/readyz"):
        assert ORIGIN + path in answer.text
        assert house.ask("GET", path).status_code == 200


def test_what_the_index_cannot_be_is_refused(house, check_problem):
    check_problem(house.ask("GET", "/", headers={"Accept": "image/png"}), problem.NOT_ACCEPTABLE)


@pytest.mark.parametrize("path", ["/openapi.json", "/openapi.flat.json"])
def test_the_description_is_valid_and_is_of_this_service(house, path):
    document = house.ask("GET", path).json()
    VALIDATION.validate(document)
    assert document["openapi"].startswith("3.1")
    headers = {
        operation["operationId"]
        for methods in document["paths"].values()
        for operation in methods.values()
        if isinstance(operation, dict) and "operationId" in operation
    }
    assert "listNotes" in headers


def test_an_invented_problem_type_has_none(house, check_problem):
    check_problem(house.ask("GET", "/problems/nothing"), problem.NOT_FOUND)


def test_the_reference_loads_nothing_from_elsewhere(house):
    answer = house.ask("GET", "/docs/try")
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "'unsafe-eval'" not in policy
    assert f"connect-src 'self' {ORIGIN};" in policy
    assert "http" not in answer.text.replace(ORIGIN, "")
    assert pages.EXPLORER[1:] in answer.text
    script = house.ask("GET", pages.EXPLORER)
    assert script.headers["content-type"].startswith("text/javascript")
    # What a slow machine reads before it shows anything: 750 kB in a second and a half.
    assert len(script.content) < 800_000


def test_operations_are_tried_by_a_description_without_failures(house):
    assert 'spec-url="../docs/try.json"' in house.ask("GET", "/docs/try").text
    trial, whole = (house.ask("GET", path).json() for path in ("/docs/try.json", "/openapi.json"))
    VALIDATION.validate(trial)
    for document in (trial, whole):
        for item in (item for path in document["paths"].values() for item in path.values()):
            is_trial = document is trial
            assert all(status < "300" for status in item["responses"]) is is_trial
            item["responses"] = None
    assert trial == whole


def test_the_reference_may_ask_the_data_host(make_house):
    house = make_house(data_url="https://data.example.org")
    assert (
        "https://data.example.org;"
        in house.ask("GET", "/docs/try").headers["content-security-policy"]
    )


def test_vendored_files_are_the_ones_that_were_taken_in():
    assets = tomllib.loads((VENDOR / "VENDOR.toml").read_text())["file"]
    for asset in assets:
        assert hashlib.sha256((VENDOR / asset["path"]).read_bytes()).hexdigest() == asset["sha256"]
        assert asset["licence"]
    names = {path.relative_to(VENDOR).as_posix() for path in VENDOR.rglob("*") if path.is_file()}
    assert names == {asset["path"] for asset in assets} | {"VENDOR.toml"}


def test_files_are_compressed_kept_and_not_sent_twice(house):
    answer = house.ask("GET", pages.EXPLORER, headers={"Accept-Encoding": "gzip"})
    plain = house.ask("GET", pages.EXPLORER, headers={"Accept-Encoding": "gzip; q=0, *"})
    assert answer.content == plain.content  # the client unpacked it
    assert answer.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert int(answer.headers["content-length"]) < int(plain.headers["content-length"]) / 3
    assert answer.headers["etag"] != plain.headers["etag"]
    matching = {"Accept-Encoding": "gzip", "If-None-Match": answer.headers["etag"]}
    assert house.ask("GET", pages.EXPLORER, headers=matching).status_code == 304
    other_coding = {"Accept-Encoding": "identity", "If-None-Match": answer.headers["etag"]}
    assert house.ask("GET", pages.EXPLORER, headers=other_coding).status_code == 200
    assert answer.headers["cache-control"] == "public, max-age=300"


def test_a_small_page_is_not_worth_compressing(house):
    answer = house.ask("GET", "/static/favicon.svg", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in answer.headers


@pytest.mark.parametrize(
    "path",
    ["/static/vendor/VENDOR.toml", "/static/../settings.py", "/static/vendor", "/static/x.js"],
)
def test_only_the_listed_files_are_there(house, path):
    assert house.raw({"path": path}).status == 404


# -- what machines look for by themselves ------------------------------------------------------


def test_the_reference_alone_may_be_searched(house):
    answer = house.ask("GET", "/robots.txt")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    robots = RobotFileParser()
    robots.parse(answer.text.splitlines())
    paths = ("/", "/docs", "/docs/try", "/problems", "/reports/a", "/openapi.json", "/dashboard")
    assert [path for path in paths if robots.can_fetch("any", path)] == ["/docs", "/docs/try"]


SECURITY = "/.well-known/security.txt"


def test_who_is_told_of_a_vulnerability_is_told_by_the_operator(house, make_house, check_problem):
    check_problem(house.ask("GET", SECURITY), problem.ROUTE_NOT_FOUND)
    house = make_house(security_contact="mailto:security@example.org")
    house.clock.at = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
    answer = house.ask("GET", SECURITY)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == ("Contact: mailto:security@example.org\nExpires: 2026-06-02T00:00:00Z\n")
    tag = {"If-None-Match": answer.headers["etag"]}
    for hours, status in ((0, 304), (18, 304), (1, 200), (9_999, 200)):
        house.clock.forward(hours=hours)
        assert house.ask("GET", SECURITY, headers=tag).status_code == status


@pytest.mark.parametrize("path", ["/robots.txt", SECURITY, "/healthz", "/api/v1/", "/api/v2/"])
def test_such_a_page_is_read_and_nothing_else(make_house, check_problem, path):
    house = make_house(security_contact="https://example.org/security")
    whole, head = house.ask("GET", path), house.ask("HEAD", path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(whole.content))
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        answer = house.ask(method, path)
        check_problem(answer, problem.METHOD_NOT_ALLOWED)
        assert answer.headers["allow"] == "GET, HEAD, OPTIONS"


def test_health_is_never_kept(house):
    for path, state in (("/livez", "live"), ("/readyz", "ready")):
        answer = house.ask("GET", path)
        assert answer.json() == {"status": state}
        assert answer.headers["cache-control"] == "no-store"


def test_metrics_count_by_route_and_never_by_path_or_invented_method(house):
    house.ask("GET", "/api/v1/notes/obs_1")
    house.ask("INVENTED", "/secret/path")
    house.ask("GET", "/livez")
    answer = house.ask("GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    sample_line = 'svc_requests_total{method="GET",route="/api/v1/notes/{noteId}",status="401"} 1.0'
    assert sample_line in answer.text
    assert 'svc_requests_total{method="OTHER",route="",status="404"} 1.0' in answer.text
    assert 'svc_request_seconds_count{method="GET",route="/livez"} 1.0' in answer.text
    assert "svc_requests_in_flight 0.0" in answer.text
    assert "secret" not in answer.text
    assert "INVENTED" not in answer.text


def test_the_deprecations_are_listed_with_their_end(make_house, house):
    assert "<code>since</code>" in house.ask("GET", "/docs/deprecations").text
    assert "no date of removal is set" in house.ask("GET", "/docs/deprecations").text
    house_after_sunset = make_house(sunset_at=datetime(2027, 6, 30, tzinfo=UTC))
    assert "2027-06-30" in house_after_sunset.ask("GET", "/docs/deprecations").text


def test_where_nothing_is_deprecated_the_page_says_so(make_house):
    quiet = make_house(parts={"operations": ()})
    page = quiet.ask("GET", "/docs/deprecations").text
    assert "No input is deprecated." in page
    assert "<table>" not in page


def test_the_page_for_language_models_names_every_operation(house):
    text = house.ask("GET", "/llms.txt").text
    assert "- POST /api/v1/notes: createNote." in text
    assert "- GET /api/v2/open: open." in text


def test_the_version_is_that_of_the_distribution(monkeypatch):
    read_version = version.service_version.__wrapped__  # which a process asks for but once
    monkeypatch.setattr(version, "version", lambda name: {"svc-intelligence": "1.2.3"}[name])
    assert read_version() == "1.2.3"

    def missing(name):
        raise version.PackageNotFoundError(name)

    monkeypatch.setattr(version, "version", missing)
    assert read_version() == "unknown"


def test_compression_is_reproducible():
    page = files.StaticPage("text/plain", b"x" * 5_000)
    assert gzip.decompress(page.gzip_body) == page.body
    assert page.gzip_body == files.StaticPage("text/plain", b"x" * 5_000).gzip_body


def test_a_page_is_made_once_however_many_ask_at_once():
    makes = []

    def make():
        makes.append(1)
        return files.StaticPage("text/plain", b"page")

    async def ask_together():
        once = files.PageOnce(make)
        return await asyncio.gather(*(once.page() for _ in range(20)))

    pages = asyncio.run(ask_together())
    assert (len(makes), len(set(map(id, pages)))) == (1, 1)


@pytest.mark.parametrize(("state", "is_shared"), [({VIEWS: True}, True), ({}, False)])
def test_a_long_page_is_sent_from_its_own_bytes_where_the_server_takes_views(state, is_shared):
    page, sent = bytes(3 * PART_BYTES + 1), []

    async def send(message):
        sent.append(message)

    async def answer():
        scope = {"method": "GET", "path": "/", "query_string": b"", "headers": (), "state": state}
        await Exchange(scope, None, send, 0, Load(9, lambda _: "")).answer(200, [], page)

    asyncio.run(answer())
    parts = [message["body"] for message in sent[1:]]
    assert b"".join(parts) == page
    assert [getattr(part, "obj", None) is page for part in parts] == [is_shared] * 4
