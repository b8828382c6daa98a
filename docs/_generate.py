"""Writes what is taken from the code: the reference pages, the examples, the table of commands.

    python docs/_generate.py

A page says what its declaration says. `pages` is also what the tests compare with the files.
"""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import timedelta
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import svc_core
from svc_core import catalog
from svc_core.catalog import reference
from svc_core.formats import table as formats
from svc_core.operation import ports
from svc_core.operation.ports import Collection
from svc_http.run.cli import command_pages
from svc_http.settings import MEMBERS, documentation

DOCS = Path(__file__).parent
ROOT = DOCS.parent
WRITTEN = "<!-- Written by docs/_generate.py from the code; change the code. -->\n\n"

_INCLUDE = re.compile(
    r"(<!-- (examples/\w+\.py) -->\n```python\n).*?(^```$)", re.DOTALL | re.MULTILINE
)


def pages() -> Mapping[str, str]:
    """The text of every page that is made here, by its path below docs."""
    return {
        "reference/README.md": WRITTEN + _index(),
        "reference/operations.md": WRITTEN
        + reference.operations_page(catalog.OPERATIONS)
        + _text(_local()),
        "reference/problems.md": WRITTEN + reference.problems_page(),
        "reference/settings.md": WRITTEN + _text(_settings()),
        "reference/commands.md": WRITTEN + _commands(),
        "reference/storage.md": WRITTEN + _text(_storage()),
        "embedding.md": _between(
            "names", _names(), _with_examples((DOCS / "embedding.md").read_text("utf-8"))
        ),
        "sources.md": _between("formats", _formats(), (DOCS / "sources.md").read_text("utf-8")),
    }


def _text(lines: Iterator[str]) -> str:
    return "\n".join(lines) + "\n"


def _index() -> str:
    return (
        "# Reference\n\n"
        "- [Operations](operations.md): every operation of the interface.\n"
        "- [Problems](problems.md): every code that a refusal can carry.\n"
        "- [Settings](settings.md): every setting of the server.\n"
        "- [Commands](commands.md): every command of `svc`.\n"
        "- [Storage](storage.md): the collections, and the ports that a host implements.\n"
    )


# -- settings ----------------------------------------------------------------------------------


def _settings() -> Iterator[str]:
    yield "# Settings"
    yield ""
    yield "The first of these that names a setting decides: a flag of `svc serve`, `SVC_<NAME>` in"
    yield "the environment, `svc.toml`, the default. A secret has no flag; it may stand in a file"
    yield "that `SVC_<NAME>_FILE` names."
    yield ""
    yield "| Setting | Environment | Default | Example | Meaning |"
    yield "|---|---|---|---|---|"
    for name, member in MEMBERS.items():
        notes = member.metadata
        cells = (
            f"`{name}`",
            f"`SVC_{name.upper()}`",
            _default(member.default),
            f"`{notes['example']}`",
            documentation()[name],
        )
        yield "| " + " | ".join(cells) + " |"


def _default(value: Any) -> str:
    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return f"`{','.join(value)}`"
    if isinstance(value, timedelta):
        return f"`{value // timedelta(minutes=1)}m`"
    return f"`{value}`"


# -- operations without a route ----------------------------------------------------------------


def _local() -> Iterator[str]:
    yield ""
    yield "## Operations without a route"
    yield ""
    yield "The control socket and the command line carry these out for the operator, with the"
    yield "checks and change records of all others. No address of the server leads to them."
    yield ""
    yield "| Operation | Command | What it does | For |"
    yield "|---|---|---|---|"
    for operation in catalog.LOCAL_OPERATIONS:
        command = f"`svc {operation.group} {operation.verb}`" if operation.verb else ""
        roles = ", ".join(sorted(operation.roles))
        yield f"| `{operation.id}` | {command} | {operation.summary} | {roles} |"


# -- commands ----------------------------------------------------------------------------------


_TELL_COMMANDS = """
from svc_http.run.cli.app import command_tree
print(command_tree().generate_docs(output_format="markdown", heading_level=1, usage_name="svc"))
"""


def _commands() -> str:
    # In a process of its own: usage lines take words from the name of the program that runs.
    process = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-c", _TELL_COMMANDS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    # Usage lines are no session to be tried.
    return process.stdout.replace("```console", "```text").rstrip() + "\n"


# -- storage -----------------------------------------------------------------------------------

_SCOPES = {
    "tenant": "its tenant",
    "global": "everybody; the system writes",
    "system": "the system",
}


def _storage() -> Iterator[str]:
    yield "# Storage"
    yield ""
    yield "## Collections"
    yield ""
    yield "Lists run from the highest sort key to the lowest. A collection with a resource type"
    yield "publishes its changes."
    yield ""
    yield "| Collection | Holds | Who reads | Filters | Text index | Resource type | Address |"
    yield "|---|---|---|---|---|---|---|"
    for collection in catalog.COLLECTIONS:
        yield "| " + " | ".join(_row(collection)) + " |"
    yield ""
    yield "## Ports"
    yield ""
    yield _paragraph(ports)
    for name, port in _protocols():
        yield ""
        yield f"### {name}"
        yield ""
        yield _paragraph(port)
        yield ""
        for method, doc in _members(port):
            yield f"- `{method}`: {doc}"


def _row(collection: Collection[Any]) -> tuple[str, ...]:
    filters = ", ".join(f"`{name}`" for name in (*collection.keys, *collection.facets))
    return (
        f"`{collection.name}`",
        f"`{collection.model.__name__}`",
        _SCOPES[collection.scope],
        filters,
        "yes" if collection.search is not None else "",
        "" if collection.kind is None else f"`{collection.kind}`",
        "" if collection.kind is None else f"`{collection.address('{id}')}`",
    )


def _protocols() -> Iterator[tuple[str, Any]]:
    for name, port in vars(ports).items():
        if getattr(port, "_is_protocol", False) and port.__module__.startswith(ports.__name__):
            yield name, port


def _members(port: Any) -> Iterator[tuple[str, str]]:
    for name, member in vars(port).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield name, _sentence(member)
        elif inspect.isfunction(member):
            names = [p for p in inspect.signature(member).parameters if p != "self"]
            yield f"{name}({', '.join(names)})", _sentence(member)


def _sentence(thing: Any) -> str:
    """A docstring on one line."""
    return " ".join(str(inspect.getdoc(thing)).split())


def _paragraph(thing: Any) -> str:
    """A docstring with its rules as a list."""
    introduction, *rules = re.split(r"^Rule \d+: ", str(inspect.getdoc(thing)), flags=re.MULTILINE)
    items = [f"{number}. {' '.join(rule.split())}" for number, rule in enumerate(rules, 1)]
    return "\n".join((introduction.strip(), *([""] if items else []), *items))


# -- examples ----------------------------------------------------------------------------------


def _with_examples(text: str) -> str:
    """The document with every named example as its file is."""
    return _INCLUDE.sub(
        lambda match: match[1] + (ROOT / match[2]).read_text("utf-8") + match[3], text
    )


def _between(mark: str, lines: Iterator[str], text: str) -> str:
    """The document with these lines between its two comments of that mark."""
    begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
    before, _, rest = text.partition(begin)
    return before + begin + _text(lines) + end + rest.partition(end)[2]


def _names() -> Iterator[str]:
    """A row for every name of the public face, with the first sentence that it says of itself."""
    yield "| `from svc_core import` | What it is |"
    yield "|---|---|"
    for name in svc_core.__all__:
        public = getattr(svc_core, name)
        has_text = inspect.ismodule(public) or inspect.isroutine(public) or inspect.isclass(public)
        text = (inspect.getdoc(public) if has_text else _note(name)) or ""
        sentence, *_ = re.split(r"(?<=\.) ", " ".join(text.split("\n\n")[0].split()))
        yield f"| `{name}` | {sentence} |"


def _note(name: str) -> str | None:
    """The text that stands below a constant where it is declared."""
    imports = ast.walk(ast.parse(inspect.getsource(svc_core)))
    home = next(
        node.module
        for node in imports
        if isinstance(node, ast.ImportFrom) and node.module and node.names[0].name == name
    )
    body = ast.parse(inspect.getsource(import_module(home))).body
    for node, after in pairwise(body):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        is_it = any(isinstance(target, ast.Name) and target.id == name for target in targets)
        if is_it and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            return str(after.value.value)
    return None


def _formats() -> Iterator[str]:
    yield "| Format | What it is | Kind | Brings | Options | Licence of the data |"
    yield "|---|---|---|---|---|---|"
    for format_ in formats.TABLE:
        options_needed = {name: f"`{name}=` (needed)" for name in format_.required}
        options = ", ".join(options_needed.get(name, f"`{name}=`") for name in format_.options)
        brings = ", ".join(format_.resources)
        license_ = format_.license or "its publisher's"
        cells = (f"`{format_.id}`", format_.title, format_.kind, brings, options, license_)
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Write every page that is not as it should be."""
    for name, text in pages().items():
        path = DOCS / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            sys.stdout.write(f"{name}\n")
    command_pages.write_command_table()


if __name__ == "__main__":
    main()
