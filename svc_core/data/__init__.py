"""Reads the tables that ship with the package: word lists, weights, gazetteers.

Each is a file beside this module. `ORIGINS.md` names its sources and the script that makes it.
"""

from importlib.resources import files


def table_bytes(name: str) -> bytes:
    """The bytes of a table.

    Raises:
        FileNotFoundError: there is no such table.
    """
    return files(__name__).joinpath(name).read_bytes()


def table_lines(name: str) -> list[str]:
    """The lines of a table, without blank ones and those that begin with `#`."""
    text_lines = table_bytes(name).decode().splitlines()
    return [line for line in text_lines if line and not line.startswith("#")]


def table_rows(name: str) -> list[list[str]]:
    """The lines of a table, each in its columns."""
    return [line.split("\t") for line in table_lines(name)]
