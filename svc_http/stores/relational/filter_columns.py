"""The columns that the declaration of a collection adds to its tables.

A column is `k_` for a key, `n_` for a number, `tokens` for the text index, and `f_` for a facet,
which has rows of its own.
"""

import re
from base64 import b64encode
from hashlib import blake2b
from typing import Any

from svc_core.operation.ports import Collection, IndexedRow

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_NAME_MAX = 63
"""PostgreSQL truncates longer identifiers."""


def declared_columns(collection: Collection[Any]) -> list[str]:
    """The filters that the declaration adds to the tables, in the order of the columns.

    Raises:
        AssertionError: a declared name cannot be an identifier, or two differ only by case.
    """
    kinds = (("k", collection.keys), ("n", collection.number_names), ("f", collection.facets))
    names = [collection.name, *(name for _, members in kinds for name in members)]
    for name in names:
        if not _IDENTIFIER.match(name) or len(f"i_c_{collection.name}_k_{name}") > _NAME_MAX:
            raise AssertionError(f"{name!r} is not a short name in letters, digits and _")
    if len({name.lower() for name in names}) < len(names):
        raise AssertionError(f"two names of {names} differ only by case")
    columns = [f"{kind}_{name}" for kind, members in kinds for name in members]
    return columns if collection.search is None else [*columns, "tokens"]


def index_cells(collection: Collection[Any], record: IndexedRow) -> list[Any]:
    """The values of the columns of keys and numbers, in their order."""
    keys = [record.keys[name] for name in collection.keys]
    return keys + [record.numbers[name] for name in collection.number_names]


def filter_digest(text: str) -> str:
    """The 16 characters, of 96 bits, that stand for a long value of a key."""
    return b64encode(blake2b(text.encode(), digest_size=12).digest()).decode()


def facet_pairs(record: IndexedRow) -> list[tuple[str, str]]:
    """The facets of a record as pairs of name and value."""
    return [(name, value) for name, values in record.facets.items() for value in values]
