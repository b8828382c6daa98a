"""Generates the SQLite tables and statements of one collection from its declaration.

`c_<name>` holds the rows, `f_<name>` the facets, `t_<name>` the text index.

Rule 1: identifiers come from declarations and are checked; values only travel as parameters.
Rule 2: every filter has an index that ends in the sort key, so a page costs the same anywhere.
"""

import string
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

from svc_core.operation.ports import NO_NUMBER, Collection
from svc_http.stores.relational.filter_columns import declared_columns
from svc_http.stores.statement_files import named_statements, one_line

# The core prepares the tokens, so the text index must not split them again: the ASCII tokenizer
# treats every character beyond ASCII as part of a token, and this option adds all punctuation.
_TOKEN_CHARS = string.punctuation.replace("'", "''")
_TOKENIZER = f"ascii tokenchars '{_TOKEN_CHARS}'".replace('"', '""')

_SQL = named_statements(__package__, "collection.sql")
_TYPES = {"k": "TEXT", "n": f"INTEGER NOT NULL DEFAULT {NO_NUMBER}"}


class SqliteTable:
    """The names and statements of one collection."""

    def __init__(self, collection: Collection[Any]) -> None:
        """Name the tables of a collection.

        Raises:
            AssertionError: a declared name cannot be an identifier, or two differ only by case.
        """
        self.collection = collection
        self.rows, self.facet_rows, self.texts = (f"{kind}_{collection.name}" for kind in "cft")
        filters = [name for name in declared_columns(collection) if name[0] in "kn"]
        columns = ("version", "ord", "facets", *filters, "body")
        self._names = {
            "rows": self.rows,
            "facets": self.facet_rows,
            "texts": self.texts,
            "columns": ", ".join(columns),
            "marks": ", ".join("?" * len(columns)),
            "updates": ", ".join(f"{name} = ?" for name in columns),
            "tokenizer": _TOKENIZER,
            # Each column that is added later has SQLite read the whole schema again.
            "filters": "".join(f", {name} {_TYPES[name[0]]}" for name in sorted(filters)),
            **_TYPES,
        }
        self.get = self.statement("get")
        self.get_many = self.statement("get_many")
        self.find = self.statement("find")
        self.insert = self.statement("insert")
        self.update = self.statement("update")
        self.remove = self.statement("remove")
        self.add_facet = self.statement("add_facet")
        self.drop_facet = self.statement("drop_facet")
        self.add_text = self.statement("add_text")
        self.drop_text = self.statement("drop_text")
        self.reindexed = self.statement("reindexed")

    def statement(self, kind: str, name: str = "") -> str:
        """A statement of `collection.sql`, about the filter `name` where it is about one.

        A pair of a key and a number is named by both, with a space between them.
        """
        key, _, number = name.partition(" ")
        text = one_line(_SQL[kind])
        index = key and f"_{key}"
        return text.format(**self._names, name=name, key=key, number=number, index=index)

    def create_tables(self) -> list[str]:
        """The statements that create the tables of a collection, with its key columns."""
        kinds = ["create", "create_facets"]
        kinds += ["create_across"] * (self.collection.scope == "tenant")
        return [self.statement(kind) for kind in kinds]

    @cached_property
    def indexes(self) -> dict[str, str]:
        """The statements that create the indexes of the order and of filters, by the name of the
        index in a shape: that of its filter, with ` digest` behind it where it has no order.
        """
        layout, indexes = self.collection.layout, dict[str, str]()
        if not layout.is_filtered:
            indexes[""] = self.statement("create_order")
        for name in self.collection.keys:
            if name in layout.distinctive:
                indexes[f"{name} digest"] = self.statement("index_digest", name)
            elif name not in layout.beside:
                indexes[name] = self.statement("index_key", name)
        for name in self.collection.number_names:
            if name not in layout.beside:
                indexes[name] = self.statement("index_number", name)
        return indexes


Tables = Mapping[str, SqliteTable]


@lru_cache(maxsize=512)  # a command opens its database often: once for each page of an export
def build_table(collection: Collection[Any]) -> SqliteTable:
    """The table names and statements of a collection."""
    return SqliteTable(collection)
