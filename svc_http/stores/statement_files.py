"""Reads the statements of a store, or scripts, from the files beside its modules."""

import re
from pkgutil import get_data  # a fraction of what `importlib.resources` takes to import


def statement_text(package: str, file: str) -> str:
    """The text of a SQL or Lua file in a package."""
    return str(get_data(package, file), "utf-8")  # type: ignore[arg-type]  # it is a package


def named_statements(package: str, file: str) -> dict[str, str]:
    """The statements of a SQL or Lua file in a package, by the line `-- name` before each."""
    _, *parts = re.split(r"^-- (\w+)\n", statement_text(package, file), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def one_line(statement: str) -> str:
    """A statement without line breaks and comments: SQLite keeps the text that made a table."""
    lines = (line.strip() for line in statement.splitlines())
    return " ".join(line for line in lines if line and not line.startswith("--"))
