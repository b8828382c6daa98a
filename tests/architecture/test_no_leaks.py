"""The project speaks of itself alone: no machine, no registry, nothing left undone."""

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

Texts = Callable[[], Iterator[tuple[str, str]]]

OWN_PATH = "tests/architecture/test_no_leaks.py"

FORBIDDEN = {
    "a path of somebody's machine": r"(?<![\w.])/(?:work|root|home|Users|opt|mnt)/\w",
    "a registry or a mirror": r"\b(?:pypi|artifactory|nexus|jfrog|npmjs|registry)\.[a-z-]+\.[a-z]+",
    "something left undone": r"\b(?:TODO|FIXME|XXX|HACK)\b",
    "a conflict that was never resolved": r"^(?:<{7}|>{7}|\|{7}) ",
    "a debugger": r"\b(?:pdb\.set_trace|breakpoint)\(\)",
    "a real looking secret": r"\bsvc_(?!0{8})[0-9a-f]{64}\b|-----BEGIN [A-Z ]*PRIVATE KEY",
}


@pytest.mark.parametrize("rule", FORBIDDEN)
def test_no_file_holds(rule: str, shipped_texts: Texts) -> None:
    pattern = re.compile(FORBIDDEN[rule], re.MULTILINE)
    hits = [
        f"{path}:{text.count(chr(10), 0, hit.start()) + 1}: {hit.group()}"
        for path, text in shipped_texts()
        if path != OWN_PATH
        for hit in pattern.finditer(text)
    ]

    assert hits == []


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("a path of somebody's machine", "see /home/ann/notes"),
        ("a registry or a mirror", "https://registry.example.org/simple"),
        ("something left undone", "# TODO later"),
        ("a debugger", "breakpoint()"),
        ("a real looking secret", "svc_" + "ab" * 32),
    ],
)
def test_the_look_sees(rule: str, text: str) -> None:
    assert re.search(FORBIDDEN[rule], text, re.MULTILINE)


def test_every_file_ends_with_one_line_break(shipped_texts: Texts) -> None:
    paths = [
        path
        for path, text in shipped_texts()
        if path.endswith((".py", ".md", ".toml")) and text and not re.search(r"[^\n]\n\Z", text)
    ]

    assert paths == []


def test_no_file_of_a_database_is_committed_by_mistake(root: Path) -> None:
    patterns = (root / ".gitignore").read_text("utf-8").split()
    guide = (root / "docs" / "running.md").read_text("utf-8").partition("## Files")[2]
    names = re.findall(r"`(svc\.db[^`]*)`", guide.partition("\n## ")[0])

    assert "svc.db.secret" in names
    assert [name for name in names if not any(fnmatch(name, pattern) for pattern in patterns)] == []
