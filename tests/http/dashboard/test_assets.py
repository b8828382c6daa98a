"""The files of the dashboard: their addresses, what they weigh, and what templates do not have."""

import gzip
import re
from pathlib import Path

import pytest

from svc_core.contract import problem
from svc_http.dashboard import assets, kit, page_markup
from svc_http.pages.markup import STATIC

OWN = STATIC / "dashboard"
TEMPLATES = sorted(Path(page_markup.__file__).with_name("templates").glob("*.html"))
SPRITE = (STATIC / "vendor/lucide-1.62.0/icons.svg").read_text("utf-8")
SHOWN = page_markup.render_page("kit", shell=None, toasts=(), **kit.kit_values()).decode()

ON_EVERY_PAGE = ("theme.js", "shell.js", "keys.js", "live.js")
WITH_A_FORM = (*ON_EVERY_PAGE, "fields.js")
BUDGETS = {
    "all scripts": (sorted(path.name for path in OWN.glob("*.js")), 30_000),
    "scripts of a page": (WITH_A_FORM, 12_000),
    "what blocks the first paint": (("theme.js",), 300),
    "styles": (("app.css",), 9_000),
}
"""Files, and the most bytes that they may have on the wire, compressed."""
SINKS = (
    "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(",
    "parseFromString", "srcdoc", ".style", "setTimeout('", 'setTimeout("',
)  # fmt: skip


def wire_bytes(path):
    return len(gzip.compress(path.read_bytes(), compresslevel=6, mtime=0))


@pytest.mark.parametrize("name", BUDGETS)
def test_what_a_page_loads_is_small(name):
    files, bytes_max = BUDGETS[name]
    assert sum(wire_bytes(OWN / file) for file in files) <= bytes_max


def test_the_fonts_of_every_page_are_small():
    fonts = {path.parent.name: path.stat().st_size for path in STATIC.rglob("*.woff2")}
    assert sum(size for name, size in fonts.items() if not name.startswith("jetbrains")) <= 100_000
    assert sum(fonts.values()) <= 140_000


def test_the_page_of_all_components_is_small():
    assert len(gzip.compress(SHOWN.encode())) <= 40_000


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_no_template_has_style_or_script_inside(path):
    text = re.sub(r"\{#.*?#\}", "", path.read_text("utf-8"), flags=re.DOTALL)
    assert not re.search(r"\sstyle\s*=|<style|\son[a-z]+\s*=|javascript:|\|\s*safe\b", text)
    assert all(" src=" in tag for tag in re.findall(r"<script[^>]*>", text))
    assert "autoescape false" not in text


@pytest.mark.parametrize("path", sorted(OWN.glob("*.js")), ids=lambda path: path.stem)
def test_scripts_make_no_markup_of_text(path):
    text = path.read_text("utf-8")
    assert [sink for sink in SINKS if sink in text] == []


def test_every_icon_is_in_the_sprite():
    icons = set(re.findall(r'<symbol id="([a-z0-9-]+)"', SPRITE))
    texts = [path.read_text("utf-8") for path in (*TEMPLATES, *OWN.glob("*.js"))]
    names = set(re.findall(r'\bicon\("([a-z0-9-]+)"\)', "".join(texts)))
    assert names
    assert names | set(re.findall(r"icons\.svg#([a-z0-9-]+)", SHOWN)) <= icons


def test_files_name_each_other_by_addresses_that_are_there(house):
    for file, pattern in (("app.css", r"url\(([^)]+)\)"), ("shell.js", r'"(\./[a-z]+\.js)"')):
        names = re.findall(pattern, (OWN / file).read_text("utf-8"))
        assert names
        for name in names:
            target = (OWN / name).resolve().relative_to(STATIC).as_posix()
            assert house.ask("GET", assets.asset_address(target)).status_code == 200


def test_a_file_is_kept_for_a_year_under_the_digest_of_its_content(house):
    address = assets.asset_address("dashboard/app.css")
    answer = house.ask("GET", address, headers={"Accept-Encoding": "gzip"})
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.content == (OWN / "app.css").read_bytes()


def test_a_page_of_another_version_gets_its_files_and_does_not_keep_them(house):
    parts = assets.asset_address("dashboard/app.css").split("/")
    parts[3] = "0123456789ab"
    answer = house.ask("GET", "/".join(parts))
    assert answer.content == (OWN / "app.css").read_bytes()
    assert answer.headers["cache-control"] == "no-cache"


def test_a_font_is_sent_as_it_is(house):
    address = assets.asset_address("vendor/inter-5.3.0/inter-latin-wght-normal.woff2")
    answer = house.ask("GET", address, headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-type"] == "font/woff2"
    assert "content-encoding" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "nothing.css",
        "vendor/VENDOR.toml",
        "vendor/openapi-explorer-2.4.820/openapi-explorer.min.js",
    ],
)
def test_no_other_file_is_there(house, check_problem, path):
    digest = assets.asset_address("favicon.svg").split("/")[3]
    check_problem(house.ask("GET", f"{assets.PREFIX}/{digest}/{path}"), problem.NOT_FOUND)
    with pytest.raises(KeyError):
        assets.asset_address(path)
