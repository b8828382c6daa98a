"""What the documents show was tried: sessions give the output they show, programs run.

A ```console block is a session: `$` begins a command, `>` continues it, the rest is its output,
in which `...` stands for anything. All sessions of a document run in one shell, in order, in a
fresh folder. A ```python block runs. A ```sh block shows what is not tried here (it installs
something or stays in the foreground); its `svc` commands must still be ones that exist. Those of
the README are run as they stand, in a copy with nothing installed, by `.ci/readme`.
"""

import doctest
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from svc_http import settings
from svc_http.run.cli.app import command_tree
from tests.nursery import NURSERY

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LANGUAGES = {
    "console",
    "python",
    "javascript",
    "sh",
    "json",
    "toml",
    "ini",
    "text",
    "nginx",
    "caddyfile",
}
SESSIONS = (
    "README.md",
    "docs/index.md",
    "docs/agent.md",
    "docs/running.md",
    "docs/ledger.md",
    "docs/payments.md",
)
BEGIN, END = "\x1e", "\x1f"


@frozen
class Step:
    """One command of a session and the output it should have."""

    command: str
    output: str


def _blocks(text: str, language: str) -> list[str]:
    return [match[2] for match in FENCE.finditer(text) if match[1] == language]


def _steps(text: str) -> list[Step]:
    steps: list[Step] = []
    for line in "".join(_blocks(text, "console")).splitlines():
        last = steps[-1] if steps else Step("", "")
        if line.startswith("$ "):
            steps.append(Step(line[2:], ""))
        elif line.startswith("> ") and not last.output:
            steps[-1] = Step(f"{last.command}\n{line[2:]}", "")
        elif last.command.endswith("\\") and not last.output:
            steps[-1] = Step(f"{last.command}\n{line}", "")
        else:
            steps[-1] = Step(last.command, f"{last.output}{line}\n")
    return steps


def _session(steps: list[Step], folder: Path, environment: dict[str, str]) -> list[tuple[str, int]]:
    """The output and exit code of every step, run in one shell."""
    script = "".join(f"printf '{BEGIN}'\n{step.command}\nprintf '{END}%d' $?\n" for step in steps)
    process = subprocess.run(
        ["bash", "-c", f"exec 2>&1\n{script}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,  # thirty commands, on a machine that is busy with other tests
    )
    parts = [part.partition(END) for part in process.stdout.split(BEGIN)[1:]]
    return [(output, int(code)) for output, _, code in parts]


def _clean(output: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in output.strip("\n").splitlines())


@pytest.fixture
def folder(tmp_path: Path, root: Path) -> Path:
    """A folder like a checkout, with an environment whose `svc` is this one."""
    (tmp_path / "bin").mkdir()
    NURSERY.write_command(tmp_path / "bin" / "svc")
    (tmp_path / "bin" / "python3").write_text(
        f'#!/bin/sh\nPYTHONPATH={root} exec {sys.executable} "$@"\n', "utf-8"
    )
    (tmp_path / "bin" / "python3").chmod(0o755)
    activate = tmp_path / "work" / ".venv" / "bin" / "activate"
    activate.parent.mkdir(parents=True)
    activate.write_text(f"PATH={tmp_path / 'bin'}:$PATH", "utf-8")
    (tmp_path / "work" / "examples").symlink_to(root / "examples")
    return tmp_path


@pytest.mark.needs("curl")
@pytest.mark.parametrize("name", SESSIONS)
def test_sessions_give_what_the_document_shows(
    name: str, documents: dict[str, str], folder: Path, demo: Any
) -> None:
    steps = _steps(documents[name].replace("127.0.0.1:8000", f"127.0.0.1:{demo.port}"))
    environment = {"PATH": f"{folder / 'bin'}:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    if name in ("docs/index.md", "docs/agent.md", "docs/payments.md"):
        environment |= {"SVC_KEY": demo.key, "SVC_SERVER": demo.admin}

    steps_run = _session(steps, folder / "work", environment)

    checker = doctest.OutputChecker()
    assert len(steps) > 5
    assert len(steps_run) == len(steps)
    for step, (output, code) in zip(steps, steps_run, strict=True):
        assert code == 0, f"{step.command}\nfailed:\n{output}"
        assert checker.check_output(step.output, _clean(output), doctest.ELLIPSIS), (
            f"{step.command}\nshould print:\n{step.output}\nprinted:\n{output}"
        )


def test_the_look_at_sessions_reads_commands_and_output() -> None:
    text = "```console\n$ cat <<END\n> a\n> END\na\n$ echo 1 \\\n  2\n1 2\n```\n"

    assert _steps(text) == [Step("cat <<END\na\nEND", "a\n"), Step("echo 1 \\\n  2", "1 2\n")]


def test_programs_in_the_documents_run(
    documents: dict[str, str], root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    examples = {path.read_text("utf-8") for path in (root / "examples").glob("*.py")}
    programs = [
        (name, block)
        for name, text in documents.items()
        for block in _blocks(text, "python")
        # Those run in tests/test_examples.py, with an export in test_verify_export.py, and with
        # the clients of others in tests/interop.
        if block not in examples and name != "docs/verify-export.md" and "x402" not in block
    ]

    assert programs
    for name, block in programs:
        exec(compile(block, name, "exec"), {"__name__": name})


def test_settings_files_in_the_documents_are_read(
    documents: dict[str, str], tmp_path: Path
) -> None:
    files = [block for text in documents.values() for block in _blocks(text, "toml")]

    assert files
    for number, block in enumerate(files):
        path = tmp_path / f"{number}.toml"
        path.write_text(block, "utf-8")
        read = settings.load({}, path)
        assert {name: getattr(read, name) for name in tomllib.loads(block)}


def _commands(line: str) -> list[list[str]]:
    """The `svc` commands of a shell line, as words."""
    inner = re.findall(r"\$\(([^()]*)\)", line)
    outer = re.sub(r"\$\([^()]*\)", "value", line.removeprefix("$ "))
    commands = []
    for part in re.split(r"&&|\||[&;]\s*$| > ", "|".join((outer, *inner))):
        match = re.match(r"\s*(?:\S*/)?svc (.*)", part)
        if match is not None:
            commands.append(shlex.split(match[1], comments=True))
    return commands


def test_every_command_in_the_documents_exists(documents: dict[str, str]) -> None:
    lines = [
        (name, line)
        for name, text in documents.items()
        for language in ("sh", "console")
        for block in _blocks(text, language)
        for line in block.splitlines()
    ]
    commands = [(name, words) for name, line in lines for words in _commands(line)]

    app = command_tree()
    assert len(commands) > 15
    for name, words in commands:
        command, *_ = app.parse_args(words, exit_on_error=False, print_error=False)
        assert callable(command), (name, words)


def test_every_command_that_a_sentence_names_exists(documents: dict[str, str]) -> None:
    commands = {
        (name, tuple(match[1].split()))
        for name, text in documents.items()
        for match in re.finditer(r"`svc ((?:[a-z]+(?:-[a-z]+)* ?)+)", FENCE.sub("", text))
    }

    app = command_tree()
    assert commands
    for name, words in commands:
        assert app.parse_commands(list(words))[2] == [], (name, words)


def test_every_block_says_what_it_is(documents: dict[str, str]) -> None:
    fences = [
        (name, line)
        for name, text in documents.items()
        for line in re.findall(r"^```.*$", text, re.MULTILINE)[::2]
        if line.removeprefix("```") not in LANGUAGES
    ]

    assert fences == []
