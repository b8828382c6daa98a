"""How the word lists are written down: words parted by white space, rows by lines.

A row that is too long for a line goes on in the next one, indented.
"""


def words(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


def rows(table: str) -> list[list[str]]:
    """The rows of a table, each split at its bars."""
    joined = table.strip().replace("\n    ", " ")
    return [line.split("|") for line in joined.splitlines()]
