"""Pages as people meet them: outline, words, links, colours, and refusals that can be read.

What a browser makes of them (widths, axe-core) is looked at by tests/pages/run.
"""

import re
from itertools import product
from urllib.parse import urljoin, urlsplit

import pytest

from svc_core import catalog
from svc_core.contract import problem
from svc_http.pages.markup import STATIC, site_root
from svc_http.stores import MemoryStorage
from tests.pages.reading import Page

PAGES = (
    "/",
    "/problems",
    "/problems/not-found",
    "/docs",
    "/docs/deprecations",
    "/nothing/at/all",
)
PEOPLE = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture(scope="module")
def real(request):
    from tests.http.conftest import House, make_settings  # noqa: PLC0415

    house = House(
        make_settings(rate_limits=False),
        operations=catalog.OPERATIONS,
        storage=MemoryStorage(catalog.COLLECTIONS),
    )
    yield house
    house.close()


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_its_landmarks_its_outline_and_nothing_from_elsewhere(real, path):
    answer = real.ask("GET", path, headers=PEOPLE)
    page = Page(answer.text)
    page.check()
    assert page.find_all("html")[0]["lang"] == "en"
    assert {"viewport", "color-scheme"} <= {*page.fields("name")}
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "'none'" in answer.headers["content-security-policy"]
    addresses = [link["href"] for link in page.find_all("link")] + page.fields("src")
    assert addresses
    for address in addresses:
        assert not urlsplit(address).netloc
        asset = real.ask("GET", urljoin(path, address))
        assert asset.status_code == 200, address


def test_every_page_has_a_title_of_its_own(real):
    titles = [
        Page(real.ask("GET", path, headers=PEOPLE).text).words["title"].strip() for path in PAGES
    ]
    assert len({*titles}) == len(titles)
    assert all(title.endswith("Intelligence Platform API") for title in titles)


@pytest.mark.parametrize("path", PAGES)
def test_every_link_leads_somewhere(real, path):
    page = Page(real.ask("GET", path, headers=PEOPLE).text)
    for address in {urljoin(path, link["href"]) for link in page.find_all("a")}:
        parts = urlsplit(address)
        answer = real.ask("GET", parts.path, headers=PEOPLE)
        expected = 404 if parts.path == path == "/nothing/at/all" else 200
        if parts.path == "/dashboard":  # a stranger is led to the sign-in
            expected = 303
        assert answer.status_code == expected, address
        if parts.fragment:
            assert parts.fragment in Page(answer.text).fields("id"), address


def test_where_one_is_is_told(real):
    for path, name in (("/problems", "Problems"), ("/docs/deprecations", "Deprecations")):
        text = real.ask("GET", path, headers=PEOPLE).text
        assert f' aria-current="page">{name}<' in text
    assert 'aria-current="true">Problems<' in real.ask("GET", "/problems/not-found").text


@pytest.mark.parametrize(("path", "up"), [("/", "./"), ("/docs", "./"), ("/a/b/c", "../../")])
def test_the_way_up_is_relative(path, up):
    assert site_root(path) == up
    assert urljoin(f"https://api.example.org/mount{path}", up) == "https://api.example.org/mount/"


def test_below_a_mount_a_refusal_finds_its_style(real):
    answer = real.ask("GET", "/mount/a/b", headers=PEOPLE, root_path="/mount")
    assert answer.status_code == 404
    assert 'href="../static/page.css"' in answer.text


# -- problems ----------------------------------------------------------------------------------


def test_the_list_of_problems_has_every_code_once(real):
    page = real.ask("GET", "/problems", headers=PEOPLE).text
    assert re.findall("<code>([A-Z_0-9]+)</code>", page) == [
        kind.code for kind in sorted(problem.CATALOGUE.values(), key=lambda kind: kind.status)
    ]
    answer = real.ask("GET", "/problems", headers={"Accept": "application/json"}).json()
    assert [problem["code"] for problem in answer["problems"]] == [*problem.CATALOGUE]


@pytest.mark.parametrize("kind", problem.CATALOGUE.values(), ids=lambda kind: kind.slug)
def test_the_page_of_a_problem_explains_it(real, kind):
    page = Page(real.ask("GET", f"/problems/{kind.slug}").text)
    page.check()
    text = " ".join(page.words.values())
    for words in (kind.code, kind.title, kind.resolution, str(kind.status)):
        assert words in text
    assert f'"type": "https://api.example.org/problems/{kind.slug}"' in text


@pytest.mark.parametrize(
    ("accept", "is_page"),
    [
        (None, False),
        ("*/*", False),
        ("text/html", True),
        (PEOPLE["Accept"], True),
        ("text/html;q=0.9, application/json", False),
        ("text/html;q=0.9, application/problem+json;q=0.8", True),
        ("text/html;q=0.5, application/problem+json;q=0.8", False),
        ("text/html;q=0", False),
        ("image/png", False),
        ("text/html;q=nonsense", False),
    ],
)
def test_a_refusal_is_a_page_to_who_prefers_one(real, check_problem, accept, is_page):
    headers = {"Accept": accept or ""} if accept else {"Accept": "*/*"}
    answer = real.ask("GET", "/nowhere", headers=headers)
    assert answer.status_code == 404
    if not is_page:
        check_problem(answer, problem.ROUTE_NOT_FOUND)
        return
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["x-request-id"] in answer.text
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["access-control-allow-origin"] == "*"
    head = real.ask("HEAD", "/nowhere", headers=headers)
    assert (head.status_code, head.content) == (404, b"")


@pytest.mark.parametrize("path", ["/api/v1/nowhere", "/api/v1/reports", "/api/v2/x"])
def test_under_the_interface_every_refusal_is_problem_json(real, path):
    answer = real.ask("GET", path, headers={"Accept": "text/html"})
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/api/v1/", "/api/v2/", "/api/v1", "/api/v2"])
def test_the_interface_has_an_index_for_machines(real, path):
    answer = real.ask("GET", path, headers={"Accept": "text/html"})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == real.ask("GET", "/", headers={"Accept": "application/json"}).json()


def test_the_reference_with_a_slash_leads_where_it_leads_without(real):
    pages = [real.ask("GET", path).text for path in ("/docs", "/docs/")]
    origin = "https://api.example.org"
    targets = [
        {urljoin(origin + path, link) for link in re.findall('(?:href|src)="([^"#]+)"', page)}
        for path, page in zip(("/docs", "/docs/"), pages, strict=True)
    ]
    assert targets[0] == targets[1]


def test_a_usual_path_of_liveness_answers_as_our_own(real):
    assert real.ask("GET", "/healthz").content == real.ask("GET", "/livez").content


def test_other_methods_on_a_page_are_refused_as_a_page(real):
    answer = real.ask("DELETE", "/problems", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    assert "<h1>Method not allowed</h1>" in answer.text


# -- the icon and the colours ------------------------------------------------------------------


def test_the_icon_is_where_browsers_look_for_it(real):
    icon, svg = (real.ask("GET", path) for path in ("/favicon.ico", "/static/favicon.svg"))
    assert icon.content == svg.content
    assert icon.headers["content-type"] == "image/svg+xml"
    assert len(icon.content) < 1_024


THEMES = ("light", "dark", "print")


@pytest.fixture(scope="module")
def colours():
    """The named colours of each theme; a theme has those of the first that it does not name."""
    css = (STATIC / "page.css").read_text()
    roots = [dict(re.findall(r"--(\w+): (#\w{6});", block)) for block in _roots(css)]
    assert len(roots) == len(THEMES)
    return {name: {**roots[0], **own} for name, own in zip(THEMES, roots, strict=True)}


def _roots(css):
    return re.findall(r":root \{([^}]*)\}", css)


def _luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(
    ("theme", "ink", "paper"), [*product(THEMES, ("ink", "muted", "link"), ("paper", "card"))]
)
def test_words_stand_out_from_what_they_stand_on(colours, theme, ink, paper):
    light, dark = sorted((_luminance(colours[theme][name]) for name in (ink, paper)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5  # WCAG 2.2, 1.4.3


def test_every_colour_of_the_style_sheet_has_a_name():
    css = (STATIC / "page.css").read_text()
    for block in _roots(css):
        css = css.replace(block, "")
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgb|\bhsl", css) == []
    assert {*re.findall(r"var\(--(\w+)\)", css)} <= {
        "paper",
        "ink",
        "muted",
        "link",
        "line",
        "card",
    }
    assert re.search("overflow-x|white-space: nowrap", css) is None  # nothing scrolls sideways
