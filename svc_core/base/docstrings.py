"""Reads the docstring of a member of a class: the text below its declaration, which Python drops.

It is read from the source of the module, once, when it is first needed. A distribution without its
source has no such texts.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, get_origin

import attrs

DECLARED_BY = "declared_by"
"""In the metadata of a member of a class that was made of another: that other class."""


def docstring_of(class_: Any, member: "attrs.Attribute[Any]") -> str:
    """What the docstring of a member says, on one line; empty where it has none."""
    owners = member.metadata.get(DECLARED_BY, get_origin(class_) or class_).__mro__
    texts = (
        _docstrings(owner.__module__).get(f"{owner.__qualname__}.{member.name}") for owner in owners
    )
    return next(filter(None, texts), "")


@cache  # Bounded: one entry for each module of the source.
def _docstrings(module: str) -> Mapping[str, str]:
    try:
        source = inspect.getsource(sys.modules[module])
    except (OSError, TypeError):
        return {}
    return dict(_declarations(ast.parse(source), ""))


def _declarations(scope: ast.AST, prefix: str) -> Iterator[tuple[str, str]]:
    """The docstrings of members in a scope and the scopes in it, by qualified name."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.ClassDef):
            yield from _declarations(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _declarations(node, f"{prefix}{node.name}.<locals>.")
    for member, text in pairwise(getattr(scope, "body", ())):
        match member, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                value=ast.Constant(value=str(words))
            ):
                yield prefix + name, " ".join(words.split())
