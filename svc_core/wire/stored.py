"""Writes objects as JSON bytes, and reads bytes that the service stored back into objects.

Stored bytes were judged when they were written, so reading them checks nothing and ignores
members it does not know: a newer version may have written them.
"""

import json
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any, TypeVar, cast, get_args

import attrs
from cattrs import Converter
from cattrs.fns import identity
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn

from svc_core.base import compact, instants
from svc_core.base.unset import Unset
from svc_core.wire import shapes
from svc_core.wire.document import Json
from svc_core.wire.hooks import Hook, field_overrides, inner_hook, pass_through, union_hook

T = TypeVar("T")

Writer = Callable[[Any], Any]


def to_bytes(value: object) -> bytes:
    """Compact UTF-8 JSON of an object, or of plain JSON values that may hold objects.

    Names are camelCase, members that are `UNSET` are left out, instants end in `Z`.

    Raises:
        ValueError: a number is infinite or not a number.
        TypeError: something in it has no JSON form.
    """
    return _text(_plain(value) if attrs.has(type(value)) else value).encode()


def to_json(value: object) -> Json:
    """What `to_bytes` writes, as plain values.

    Raises:
        ValueError: a number is infinite or not a number.
        TypeError: something in it has no JSON form.
    """
    result: Json = json.loads(to_bytes(value))
    return result


def from_bytes(class_: type[T], raw: bytes) -> T:
    """The object behind bytes that `to_bytes` wrote; members unknown to `class_` are ignored."""
    return from_json(class_, json.loads(raw))


def from_json(class_: type[T], value: Json) -> T:
    """The object behind plain values that `to_json` gave, or our own code made."""
    return _TRUSTING.structure(value, class_)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return instants.render(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if attrs.has(type(value)):
        return _TRUSTING.unstructure(value)
    raise TypeError(f"{type(value).__name__} has no JSON form.")


_text = compact.compact_encoder(default=_plain)


def _read_model(class_: Any, converter: Converter) -> Hook:
    return cast(Hook, make_dict_structure_fn(class_, converter, **field_overrides(class_)))


def _write_model(class_: Any, converter: Converter) -> Writer:
    return make_dict_unstructure_fn(class_, converter, **field_overrides(class_))


def _read_annotated(annotation: Any, converter: Converter) -> Hook:
    return inner_hook(shapes.split_annotation(annotation)[0], converter)


def _read_tuple(annotation: Any, converter: Converter) -> Hook:
    inner = get_args(annotation)[0]
    hook = converter.get_structure_hook(inner)
    if hook is pass_through:
        return lambda value, _: tuple(value)
    return lambda value, _: tuple([hook(item, inner) for item in value])


def _is_run(annotation: Any) -> bool:
    return shapes.is_tuple(annotation) and get_args(annotation)[-1:] == (...,)


def _write_union(annotation: Any, converter: Converter) -> Writer:
    """Write what `Maybe` or `| None` holds by its own writer; several members by their class."""
    members = [arg for arg in get_args(annotation) if arg not in (Unset, type(None))]
    writers = {converter.get_unstructure_hook(member) for member in members}
    if writers <= {identity}:
        return identity
    if len(members) > 1:
        return converter.unstructure
    (write,) = writers
    return lambda value: None if value is None else write(value)


def _make() -> Converter:
    converter = Converter(detailed_validation=False)
    converter.register_structure_hook_factory(shapes.is_model, _read_model)
    converter.register_structure_hook_factory(shapes.is_union, union_hook)
    converter.register_structure_hook_factory(shapes.is_annotated, _read_annotated)
    converter.register_structure_hook_factory(_is_run, _read_tuple)
    converter.register_structure_hook_func(shapes.is_literal, pass_through)
    converter.register_structure_hook_func(shapes.is_json, pass_through)
    for type_ in (str, bool, int, float, type(None)):  # a whole number stays exact: no float()
        converter.register_structure_hook(type_, pass_through)
    converter.register_structure_hook(datetime, lambda text, _: datetime.fromisoformat(text))
    # An earlier release may have stored an instant where a day is told now.
    converter.register_structure_hook(date, lambda text, _: date.fromisoformat(text[:10]))
    converter.register_unstructure_hook_factory(shapes.is_model, _write_model)
    converter.register_unstructure_hook_factory(shapes.is_union, _write_union)
    converter.register_unstructure_hook_func(shapes.is_literal, identity)
    converter.register_unstructure_hook_func(shapes.is_json, identity)
    converter.register_unstructure_hook(datetime, instants.render)
    converter.register_unstructure_hook(date, date.isoformat)
    return converter


_TRUSTING = _make()
