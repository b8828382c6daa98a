"""Hypothesis strategies for values that keep every constraint of their type annotation.

`from_annotation(PlaceInput)` makes instances of a model class: texts match their patterns, numbers
keep their bounds, and members are unset, null or absent where the model allows it.
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
from svc_core.wire.constraints import Pattern, check_constraint

INTEGER_MAX = 2**53 - 1
"""Beyond it, JSON numbers lose digits in most readers."""
ITEMS_MAX = 3
"""Items in a list: enough for none, one and several; more only makes failures longer."""

Constraints = tuple[object, ...]


def from_annotation(annotation: Any) -> st.SearchStrategy[Any]:
    """A strategy for the values of a type, of an `Annotated` type or of a model class.

    Raises:
        TypeError: this kit makes no values of the annotation.
    """
    return _strategy_of(annotation, ())


def _strategy_of(annotation: Any, constraints: Constraints) -> st.SearchStrategy[Any]:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _strategy_of(inner[0], (*constraints, *inner[1:]))
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in {Union, UnionType}:
        return st.one_of([_strategy_of(option, constraints) for option in inner])
    if origin in _CONTAINERS:
        return _CONTAINERS[origin](inner, constraints)
    if annotation in _SCALARS:
        return _SCALARS[annotation](constraints)
    if isinstance(annotation, type) and attrs.has(annotation):
        return st.deferred(lambda: _model(annotation))
    raise TypeError(f"no rule makes values of {annotation!r}")


def _model(cls: type[Any]) -> st.SearchStrategy[Any]:
    hints = get_type_hints(cls, include_extras=True)
    fields = {
        field.name: _strategy_of(hints[field.name], ()) for field in attrs.fields(cls) if field.init
    }
    return st.builds(cls, **fields)


# -- plain values ------------------------------------------------------------------------------


def _texts(constraints: Constraints) -> st.SearchStrategy[str]:
    patterns = _of_kind(constraints, Pattern)
    low, high = _lengths(constraints)
    if not patterns:
        return st.text(min_size=low, max_size=high)
    texts = st.from_regex(re.compile(patterns[0].regex, re.ASCII), fullmatch=True)
    return texts.filter(
        lambda text: all(check_constraint(constraint, text) is None for constraint in constraints)
    )


def _integers(constraints: Constraints) -> st.SearchStrategy[int]:
    return st.integers(*_bounds(constraints, INTEGER_MAX))


def _floats(constraints: Constraints) -> st.SearchStrategy[float]:
    low, high = _bounds(constraints, INTEGER_MAX)
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


_SCALARS: Mapping[Any, Callable[[Constraints], st.SearchStrategy[Any]]] = {
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
    size_max = max(low, ITEMS_MAX) if high is None else min(high, max(low, ITEMS_MAX))
    return st.lists(_strategy_of(inner[0], ()), min_size=low, max_size=size_max)


def _tuples(inner: tuple[Any, ...], constraints: Constraints) -> st.SearchStrategy[tuple[Any, ...]]:
    if len(inner) == 2 and inner[1] is Ellipsis:
        return _lists(inner, constraints).map(tuple)
    return st.tuples(*(_strategy_of(item, ()) for item in inner))


def _mappings(
    inner: tuple[Any, ...], constraints: Constraints
) -> st.SearchStrategy[dict[Any, Any]]:
    low, high = _lengths(constraints)
    size_max = ITEMS_MAX if high is None else min(high, ITEMS_MAX)
    return st.dictionaries(
        _strategy_of(inner[0], ()), _strategy_of(inner[1], ()), min_size=low, max_size=size_max
    )


_CONTAINERS: Mapping[Any, Callable[[tuple[Any, ...], Constraints], st.SearchStrategy[Any]]] = {
    list: _lists,
    tuple: _tuples,
    Sequence: _lists,
    dict: _mappings,
    Mapping: _mappings,
}


# -- reading constraints -----------------------------------------------------------------------


def _of_kind(constraints: Constraints, kind: type[Any]) -> list[Any]:
    return [constraint for constraint in constraints if isinstance(constraint, kind)]


def _bounds(constraints: Constraints, limit: int) -> tuple[Any, Any]:
    low = max((limit_.ge for limit_ in _of_kind(constraints, Ge)), default=-limit)
    high = min((limit_.le for limit_ in _of_kind(constraints, Le)), default=limit)
    return low, high


def _lengths(constraints: Constraints) -> tuple[int, int | None]:
    low = max((limit_.min_length for limit_ in _of_kind(constraints, MinLen)), default=0)
    high = min((limit_.max_length for limit_ in _of_kind(constraints, MaxLen)), default=None)
    return low, high
