"""Whoever is told to install something is told a name that the index has, and extras that exist."""

import re
import tomllib
from pathlib import Path

import pytest

INSTALLS = re.compile(r"pip install ((?:-\S+ )*)([\"'`]?)([\w.-]+)((?:\[[^\]]*\])?)")
"""`pip install`, its flags, a quote, a name and its extras."""

FOLDERS = ("svc_core", "svc_http", "docs", "examples", "benchmarks")


def _install_lines(root: Path) -> set[tuple[str, str, str]]:
    texts = [root / "README.md", root / "CHANGELOG.md"]
    for folder in FOLDERS:
        texts += [p for p in (root / folder).rglob("*") if p.suffix in {".py", ".md", ".txt"}]
    return {
        (str(text.relative_to(root)), match[3], match[4].strip("[]"))
        for text in texts
        for match in INSTALLS.finditer(text.read_text())
    }


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, object]:
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


def test_every_line_that_installs_us_has_our_name_and_extras_of_ours(root: Path, project) -> None:
    lines = _install_lines(root)
    extras = {*project["optional-dependencies"], "{extra}"}

    assert {name for _, name, _ in lines if name.startswith("svc")} == {project["name"]}
    assert [
        line
        for line in lines
        if line[1] in {project["name"], "."} and line[2] and not set(line[2].split(",")) <= extras
    ] == []


def test_the_name_is_not_that_of_another_program(project) -> None:
    assert project["name"] == "svc-intelligence"
    assert set(project["scripts"]) == {"svc"}
