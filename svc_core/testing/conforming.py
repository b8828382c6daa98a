"""Random values that keep every constraint of their annotation.

`conforming(PlaceInput)` gives values of a model whose texts match their patterns, whose numbers
keep their bounds and whose members may be unset, null or absent as the model allows.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs
from annotated_types import Ge, Le, MaxLen, MinLen
from hypothesis import strategies as st

from svc_core.base.unset import UNSET, Unset
from svc_core.testing.strategies import instants
from svc_core.wire.constraints import Pattern, check

INTEGER_MAX = 2**53 - 1
"""Beyond it, JSON numbers lose digits in most readers."""
ITEMS_MAX = 3
"""Enough to meet none, one and several; more only makes failures longer."""

Constraints = tuple[object, ...]


def conforming(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of a type, an `Annotated` type or a model class.

    Raises:
        TypeError: there is no rule for this annotation.
    """
    return _of(annotation, ())


def _of(annotation: Any, constraints: Constraints) -> st.SearchStrategy[Any]:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _of(inner[0], (*constraints, *inner[1:]))
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in {Union, UnionType}:
        return st.one_of([_of(each, constraints) for each in inner])
    if origin in _CONTAINERS:
        return _CONTAINERS[origin](inner, constraints)
    if annotation in _PLAIN:
        return _PLAIN[annotation](constraints)
    if isinstance(annotation, type) and attrs.has(annotation):
        return st.deferred(lambda: _model(annotation))
    raise TypeError(f"no rule makes values of {annotation!r}")


def _model(cls: type[Any]) -> st.SearchStrategy[Any]:
    hints = get_type_hints(cls, include_extras=True)
    fields = {each.name: _of(hints[each.name], ()) for each in attrs.fields(cls) if each.init}
    return st.builds(cls, **fields)


# -- plain values ------------------------------------------------------------------------------


def _texts(constraints: Constraints) -> st.SearchStrategy[str]:
    patterns = _all(constraints, Pattern)
    low, high = _lengths(constraints)
    if not patterns:
        return st.text(min_size=low, max_size=high)
    texts = st.from_regex(re.compile(patterns[0].regex, re.ASCII), fullmatch=True)
    return texts.filter(lambda text: all(check(each, text) is None for each in constraints))


def _integers(constraints: Constraints) -> st.SearchStrategy[int]:
    return st.integers(*_bounds(constraints, INTEGER_MAX))


def _floats(constraints: Constraints) -> st.SearchStrategy[float]:
    low, high = _bounds(constraints, INTEGER_MAX)
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


_PLAIN: Mapping[Any, Callable[[Constraints], st.SearchStrategy[Any]]] = {
    str: _texts,
    int: _integers,
    float: _floats,
    bool: lambda _: st.booleans(),
    bytes: lambda _: st.binary(max_size=8),
    datetime: lambda _: instants,
    NoneType: lambda _: st.none(),
    None: lambda _: st.none(),
    Unset: lambda _: st.just(UNSET),
}


# -- containers --------------------------------------------------------------------------------


def _lists(inner: tuple[Any, ...], constraints: Constraints) -> st.SearchStrategy[list[Any]]:
    low, high = _lengths(constraints)
    most = max(low, ITEMS_MAX) if high is None else min(high, max(low, ITEMS_MAX))
    return st.lists(_of(inner[0], ()), min_size=low, max_size=most)


def _tuples(inner: tuple[Any, ...], constraints: Constraints) -> st.SearchStrategy[tuple[Any, ...]]:
    if len(inner) == 2 and inner[1] is Ellipsis:
        return _lists(inner, constraints).map(tuple)
    return st.tuples(*(_of(each, ()) for each in inner))


def _mappings(
    inner: tuple[Any, ...], constraints: Constraints
) -> st.SearchStrategy[dict[Any, Any]]:
    low, high = _lengths(constraints)
    most = ITEMS_MAX if high is None else min(high, ITEMS_MAX)
    return st.dictionaries(_of(inner[0], ()), _of(inner[1], ()), min_size=low, max_size=most)


_CONTAINERS: Mapping[Any, Callable[[tuple[Any, ...], Constraints], st.SearchStrategy[Any]]] = {
    list: _lists,
    tuple: _tuples,
    Sequence: _lists,
    dict: _mappings,
    Mapping: _mappings,
}


# -- reading constraints -----------------------------------------------------------------------


def _all(constraints: Constraints, kind: type[Any]) -> list[Any]:
    return [each for each in constraints if isinstance(each, kind)]


def _bounds(constraints: Constraints, limit: int) -> tuple[Any, Any]:
    low = max((each.ge for each in _all(constraints, Ge)), default=-limit)
    high = min((each.le for each in _all(constraints, Le)), default=limit)
    return low, high


def _lengths(constraints: Constraints) -> tuple[int, int | None]:
    low = max((each.min_length for each in _all(constraints, MinLen)), default=0)
    high = min((each.max_length for each in _all(constraints, MaxLen)), default=None)
    return low, high
