"""A command starts fast: it loads what it uses, and neither the catalogue nor the store.

What is loaded is counted here, which no busy machine changes; `benchmarks/bench_startup.py`
measures what it costs.
"""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from svc_http.run.cli import command_table, help_pages
from svc_http.run.cli.options import DB, Common
from svc_http.run.control import channel
from svc_http.settings import MEMBERS, SettingsError

ROOT = Path(__file__).parents[3]
RUN = "import sys; from svc_http.run.cli import main; main(sys.argv[1:])"
NAMES = "; sys.stderr.write('\\n' + ' '.join(sys.modules))"

PAGES = [tuple(words.split()) for words, _, _ in command_table._lines()]


def imports(code: str, *arguments: str, cwd: Path) -> tuple[str, set[str]]:
    """What a process prints, and the modules that it has at its end."""
    ran = subprocess.run(
        [sys.executable, "-c", code + NAMES, *arguments],
        env={"PYTHONPATH": str(ROOT)}, cwd=cwd, capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    *_, names = ran.stderr.splitlines()
    return ran.stdout, set(names.split())


def main_end(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] in {"svc_core", "svc_http"}}


def rooms(modules: set[str]) -> set[str]:
    return {name for name in modules if re.fullmatch(r"svc_(core|http)\.\w+", name)}


# -- help --------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_help_fits_and_says_all_of_its_page(width: int) -> None:
    for words in PAGES:
        page = command_table.help_page(words)
        drawing = help_pages.draw(page, width)
        rows = [text for _, own in page["panels"] for row in own for text in row]

        assert max(map(len, drawing.splitlines())) <= width, words
        whole = " ".join(drawing.split())
        for text in (page["usage"], page["text"], *rows):
            assert " ".join(text.split()) in whole or width < 80, (words, text)


@pytest.mark.parametrize("line", ["feeds --help", "feeds -h", "feeds", "feeds list --help"])
def test_a_second_name_stands_in_the_usage_that_asked_for_it(svc: Any, line: str) -> None:
    words = line.split()
    usual = [word for word in words if not word.startswith("-")]
    page = svc(*words).out

    assert page.startswith(f"Usage: svc {' '.join(usual)} ")
    primary = svc(*command_table.primary_words(tuple(usual)), "--help").out
    assert page.split("\n", 1)[1] == primary.split("\n", 1)[1]


def test_only_the_help_of_svc_itself_says_how_to_begin(svc: Any) -> None:
    pages = {words: svc(*words.split(), "--help").out for words in ("", "keys", "keys list")}
    assert [words for words, page in pages.items() if command_table.EPILOGUE in page] == [""]


@pytest.mark.parametrize(
    ("flag", "default"), [("--port", "Default: 8000."), ("--news-days", "Default: 0.")]
)
def test_the_help_of_serve_says_what_a_setting_is_without_its_flag(flag: str, default: str) -> None:
    rows = [row for _, own in command_table.help_page(("serve",))["panels"] for row in own]
    assert [text.count(default) for name, text in rows if name.split()[0] == flag] == [1]


def test_help_may_be_asked_for_anywhere_in_a_line(svc: Any) -> None:
    page = svc("keys", "list", "--help").out
    assert svc("keys", "--help", "list").out == svc("keys", "list", "--limit", 3, "-h").out == page


# -- what is loaded ----------------------------------------------------------------------------

HELP = ["--help", "", "keys --help", "keys create --help", "serve --help", "ledger verify --help"]


@pytest.mark.parametrize("line", HELP)
def test_help_loads_a_few_modules_of_ours_and_no_library(tmp_path: Path, line: str) -> None:
    out, modules = imports(RUN, *line.split(), cwd=tmp_path)

    assert out.startswith("Usage: svc ")
    assert modules.isdisjoint({"cyclopts", "rich", "attrs", "cattrs", "asyncio", "sqlite3"})
    assert "svc_core" not in modules
    assert len(main_end(modules)) <= 6


def test_the_version_loads_no_library_either(tmp_path: Path) -> None:
    out, modules = imports(RUN, "--version", cwd=tmp_path)

    assert out.startswith("svc ")
    assert modules.isdisjoint({"cyclopts", "rich", "attrs", "cattrs", "svc_core"})


ROWS = [{"id": f"key_{number:024x}", "name": f"key {number}"} for number in range(20)]
LINKS = {"next": None}
ANSWER = {"ok": {"status": 200, "mediaType": "application/json", "headers": {}, "failed": False,
                 "encoding": None, "body": {"data": ROWS, "meta": {}, "links": LINKS}}}  # fmt: skip


@pytest.fixture
def busy_server(tmp_path: Path) -> Iterator[Path]:
    """A folder with the socket of a server that has the same answer for everybody."""
    with socket.socket(socket.AF_UNIX) as listening:
        path = tmp_path / f"{DB}.sock"
        listening.bind(str(path))
        listening.listen()

        def serve() -> None:
            while True:
                try:
                    link, _ = listening.accept()
                except OSError:
                    return
                with link, link.makefile("rwb") as lines:
                    lines.readline()
                    lines.write(json.dumps(ANSWER).encode() + b"\n")

        threading.Thread(target=serve, daemon=True).start()
        yield tmp_path
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("place", ["", "--server unix:svc.db.sock", "--db svc.db"])
@pytest.mark.parametrize("line", ["keys list", "news list", "keys create --name x"])
def test_who_asks_a_server_loads_neither_operations_nor_settings(
    busy_server: Path, line: str, place: str
) -> None:
    out, modules = imports(RUN, *line.split(), *place.split(), cwd=busy_server)

    assert ROWS[0]["id"] in out
    assert modules.isdisjoint({"asyncio", "cattrs", "cryptography", "sqlite3", "rich.console"})
    assert rooms(modules) == {"svc_core.base", "svc_core.operation", "svc_http.run"}
    assert len(main_end(modules)) <= 22


def test_the_store_loads_ports_and_rows(tmp_path: Path) -> None:
    _, modules = imports("import sys, svc_http.stores.sqlite", cwd=tmp_path)

    assert rooms(modules) == {
        "svc_core.base", "svc_core.contract", "svc_core.operation", "svc_core.wire",
        "svc_http.stores",
    }  # fmt: skip
    assert modules.isdisjoint({"cattrs", "cryptography"})
    assert len(main_end(modules)) <= 60


# -- where the server of a database is ---------------------------------------------------------

PLACES = [
    ("", None, {}, None),
    ("", 'db = "toml.db"', {}, None),
    ("other.toml", 'db = "toml.db"', {}, None),
    ("", 'db = "toml.db"', {"SVC_DB": "env.db"}, None),
    ("", 'db = "toml.db"', {"SVC_DB": "env.db"}, "flag.db"),
    ("", "db = 1", {}, None),
    ("", "port = 1", {}, None),
    ("", None, {"SVC_DB": ":memory:"}, None),
    ("", None, {"SVC_DB": "postgresql://desk@db.example/x"}, None),
]


@pytest.mark.parametrize(("config", "toml", "env", "flag"), PLACES)
def test_the_socket_is_that_of_the_database_of_the_settings(
    cwd: Path,
    monkeypatch: pytest.MonkeyPatch,
    config: str,
    toml: str | None,
    env: dict[str, str],
    flag: str | None,
) -> None:
    if toml is not None:
        (cwd / (config or "svc.toml")).write_text(toml)
    for name, text in env.items():
        monkeypatch.setenv(name, text)
    common = Common(db=flag, config=config or None)
    file = common.settings().file

    assert common.socket() in {None if file is None else channel.socket_path(file), None}
    assert (common.socket() is None) == (file is None or toml == "db = 1")
    assert MEMBERS["db"].default == DB


def test_settings_that_cannot_be_read_are_told_where_no_server_is(
    svc: Any, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cwd / "svc.toml").write_text("no = = toml")

    assert Common().socket() is None
    with pytest.raises(SettingsError):
        Common().settings()
    ran = svc("keys", "list")
    assert (ran.code, "is not TOML" in ran.err) == (2, True)
    assert os.listdir(cwd) == ["svc.toml"]
