"""Reads the statements of a store, or scripts, from the files beside its modules."""

import re
from importlib.resources import files


def named_statements(package: str, file: str) -> dict[str, str]:
    """The statements of a SQL or Lua file in a package, by the line `-- name` before each."""
    text = files(package).joinpath(file).read_text("utf-8")
    _, *parts = re.split(r"^-- (\w+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def one_line(statement: str) -> str:
    """A statement without line breaks and comments: SQLite keeps the text that made a table."""
    lines = (line.strip() for line in statement.splitlines())
    return " ".join(line for line in lines if line and not line.startswith("--"))
