"""Turns untrusted JSON values into objects, or reports every reason why they do not fit.

A `cattrs` converter with exact types: Python's `bool` is an `int` and its constructors convert
("1" to 1, 1.5 to 1), which no promise of ours includes.
"""

import json
import re
from collections.abc import Callable, Iterable
from datetime import date, datetime
from itertools import repeat
from typing import Any, TypeVar, cast, get_args

from annotated_types import BaseMetadata, GroupedMetadata
from cattrs import ClassValidationError, Converter, IterableValidationError
from cattrs.errors import IterableValidationNote
from cattrs.gen import make_dict_structure_fn

from svc_core.base import instants
from svc_core.wire import constraints, shapes
from svc_core.wire.document import Json
from svc_core.wire.faults import FAULTS_KEPT_MAX, WireError, flatten
from svc_core.wire.hooks import Hook, field_overrides, pass_through, union_hook, whole_number

T = TypeVar("T")

_LIMITS = (BaseMetadata, GroupedMetadata, constraints.Pattern)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def structure(class_: type[T], value: Json) -> T:
    """The object of `class_` that `value` describes.

    Raises:
        WireError: the value does not fit; all faults together, unknown members among them.
    """
    try:
        return _STRICT.structure(value, class_)
    except (ValueError, ClassValidationError, IterableValidationError) as error:
        raise WireError(list(flatten(error))) from error


def exact_hook(expected: type, words: str) -> Hook:
    """A hook that passes values of exactly this type."""

    def read(value: Any, _: Any) -> Any:
        if type(value) is not expected:
            raise ValueError(words)
        return value

    return read


def read_integer(value: Any, _: Any = int) -> int:
    """A JSON number that is whole, as an integer."""
    number = whole_number(value)
    if type(number) is not int:
        raise ValueError("must be an integer")
    return number


def read_number(value: Any, _: Any = float) -> float:
    """A JSON number, whole or not, as a float."""
    if type(value) not in (int, float):
        raise ValueError("must be a number")
    return float(value)


def read_instant(value: Any, _: Any = datetime) -> datetime:
    """An RFC 3339 timestamp, with its offset."""
    if type(value) is not str:
        raise ValueError("must be a string")
    try:
        return instants.parse(value)
    except instants.InstantError as error:
        raise ValueError(
            "must be an RFC 3339 timestamp with an offset, such as 2026-01-31T09:30:00Z"
        ) from error


def read_date(value: Any, _: Any = date) -> date:
    """A day of the calendar, `YYYY-MM-DD`."""
    if type(value) is not str or _DATE.fullmatch(value) is None:
        raise ValueError("must be a date, such as 2026-01-31")
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise ValueError("must be a day that exists") from error


def literal_hook(annotation: Any) -> Hook:
    """A hook that passes the values of a `Literal`, each with its own type."""
    choices = get_args(annotation)
    kinds = {type(value) for value in choices}
    listing = ", ".join(value if isinstance(value, str) else json.dumps(value) for value in choices)

    def read(value: Any, _: Any) -> Any:
        value = whole_number(value)
        if type(value) not in kinds or value not in choices:
            raise ValueError(f"must be one of: {listing}")
        return value

    return read


def constrained_hook(annotation: Any, hook: Hook) -> Hook:
    """A hook that reads by `hook` and then checks the constraints of the annotation."""
    inner, metadata = shapes.split_annotation(annotation)
    # Metadata that restricts nothing is dropped here once; testing it on each call is slow.
    limits = [item for item in metadata if isinstance(item, _LIMITS)]

    def read(value: Any, _: Any) -> Any:
        result = hook(value, inner)
        for constraint in limits:
            reason = constraints.check_constraint(constraint, result)
            if reason is not None:
                raise ValueError(reason)
        return result

    return read


def _annotated_hook(annotation: Any, converter: Converter) -> Hook:
    inner, _ = shapes.split_annotation(annotation)
    return constrained_hook(annotation, converter.get_structure_hook(inner))


def _model_hook(class_: Any, converter: Converter) -> Hook:
    read = cast(
        Hook,
        make_dict_structure_fn(
            class_,
            converter,
            _cattrs_forbid_extra_keys=not shapes.is_open(class_),
            **field_overrides(class_),
        ),
    )
    return _typed_hook(dict, "must be an object", read)


def _tuple_hook(annotation: Any, converter: Converter) -> Hook:
    item_types = shapes.items_of(annotation)
    types = item_types or (get_args(annotation)[0],)
    hooks = [(converter.get_structure_hook(type_), type_) for type_ in types]

    def read(values: Any, _: Any) -> Any:
        if item_types and len(values) != len(item_types):
            raise ValueError(f"must have exactly {len(item_types)} items")
        readers = hooks if item_types else repeat(hooks[0])
        return tuple(_read_all(enumerate(values), readers, annotation))

    return _typed_hook(list, "must be an array", read)


def _mapping_hook(annotation: Any, converter: Converter) -> Hook:
    type_ = get_args(annotation)[1]
    hook = converter.get_structure_hook(type_)

    def read(members: Any, _: Any) -> Any:
        values = _read_all(members.items(), repeat((hook, type_)), annotation)
        return dict(zip(members, values, strict=True))

    return _typed_hook(dict, "must be an object", read)


def _read_all(
    items: Iterable[tuple[int | str, Any]], readers: Iterable[tuple[Hook, Any]], annotation: Any
) -> list[Any]:
    """Every value read by its hook; their faults come together, up to `FAULTS_KEPT_MAX`."""
    result, errors = [], []
    for (place, value), (hook, type_) in zip(items, readers, strict=False):
        try:
            result.append(hook(value, type_))
        except (ValueError, ClassValidationError, IterableValidationError) as error:
            error.add_note(IterableValidationNote("", place, type_))
            errors.append(error)
            if len(errors) == FAULTS_KEPT_MAX:
                break
    if errors:
        raise IterableValidationError("", errors, annotation)
    return result


def _typed_hook(expected: type, words: str, hook: Callable[..., Any]) -> Hook:
    def read(value: Any, annotation: Any) -> Any:
        if type(value) is not expected:
            raise ValueError(words)
        return hook(value, annotation)

    return read


def _make() -> Converter:
    converter = Converter(detailed_validation=True, forbid_extra_keys=True)
    converter.register_structure_hook_factory(shapes.is_model, _model_hook)
    converter.register_structure_hook_factory(shapes.is_tuple, _tuple_hook)
    converter.register_structure_hook_factory(shapes.is_mapping, _mapping_hook)
    converter.register_structure_hook_factory(shapes.is_union, union_hook)
    converter.register_structure_hook_factory(shapes.is_literal, literal_hook)
    converter.register_structure_hook_factory(shapes.is_annotated, _annotated_hook)
    converter.register_structure_hook_func(shapes.is_json, pass_through)
    converter.register_structure_hook(type(None), exact_hook(type(None), "must be null"))
    converter.register_structure_hook(str, exact_hook(str, "must be a string"))
    converter.register_structure_hook(bool, exact_hook(bool, "must be a boolean"))
    converter.register_structure_hook(int, read_integer)
    converter.register_structure_hook(float, read_number)
    converter.register_structure_hook(datetime, read_instant)
    converter.register_structure_hook(date, read_date)
    return converter


_STRICT = _make()
