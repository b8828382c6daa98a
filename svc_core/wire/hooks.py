"""Structuring hooks that the strict converter and the trusting one share."""

from collections.abc import Callable
from typing import Any, get_args, get_origin

import attrs
from cattrs import ClassValidationError, Converter
from cattrs.errors import AttributeValidationNote
from cattrs.gen import override

from svc_core.base.unset import UNSET, Unset
from svc_core.wire import shapes
from svc_core.wire.names import camel

Hook = Callable[[Any, Any], Any]

_WORDS = {
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


def field_overrides(class_: Any) -> dict[str, Any]:
    """The `cattrs` override of every field: its wire name; an `UNSET` default is not written."""
    fields = attrs.fields(get_origin(class_) or class_)
    return {
        item.name: override(rename=camel(item.name), omit_if_default=item.default is UNSET)
        for item in fields
    }


def whole_number(value: Any) -> Any:
    """The value, a number that is whole as an integer: JSON does not tell 1.0 from 1."""
    return int(value) if type(value) is float and value.is_integer() else value


def pass_through(value: Any, _: Any) -> Any:
    """The value itself."""
    return value


def union_hook(annotation: Any, converter: Converter) -> Hook:
    """Read a union: by null, by the kind of JSON value, or by the literal that tells objects apart.

    Raises:
        TypeError: two members cannot be told apart.
    """
    if Unset in get_args(annotation):
        return inner_hook(shapes.without(annotation, Unset), converter)
    if type(None) in get_args(annotation):
        return _nullable(shapes.without(annotation, type(None)), converter)
    return _by_kind(annotation, converter)


def inner_hook(inner: Any, converter: Converter) -> Hook:
    """The hook of the inner type of an annotation, always called with that type."""
    hook = converter.get_structure_hook(inner)
    if hook is pass_through:
        return pass_through
    # The hook of a container reads the type that it is called with, which is the outer one here.
    return lambda value, _: hook(value, inner)


def _nullable(inner: Any, converter: Converter) -> Hook:
    hook = converter.get_structure_hook(inner)
    if hook is pass_through:
        return pass_through

    def read(value: Any, _: Any) -> Any:
        return None if value is None else hook(value, inner)

    return read


def _by_kind(annotation: Any, converter: Converter) -> Hook:
    members: dict[type, list[Any]] = {}
    for member in get_args(annotation):
        for kind in shapes.json_types(member):
            members.setdefault(kind, []).append(member)
    hooks = {kind: _choice_hook(choices, converter) for kind, choices in members.items()}
    expected = " or ".join(_WORDS[kind] for kind in hooks)

    def read(value: Any, _: Any) -> Any:
        value = value if float in hooks else whole_number(value)
        hook = hooks.get(type(value))
        if hook is None:
            raise ValueError(f"must be {expected}")
        return hook(value, annotation)

    return read


def _choice_hook(choices: list[Any], converter: Converter) -> Hook:
    if len(choices) == 1:
        (member,) = choices
        hook = converter.get_structure_hook(member)
        return lambda value, _: hook(value, member)
    name, tags = discriminator(choices)
    hooks = {tag: (converter.get_structure_hook(choice), choice) for tag, choice in tags.items()}
    words = f"must be one of: {', '.join(map(str, tags))}"
    default = _default_tag(name, choices)

    def read(value: Any, _: Any) -> Any:
        tag = value.get(name, default)
        if not isinstance(tag, str) or tag not in hooks:
            raise _member_fault(name, words if name in value else "is required")
        hook, choice = hooks[tag]
        return hook(value, choice)

    return read


def _default_tag(name: str, choices: list[Any]) -> Any:
    """The tag of an object that states none: the default of the only class that has one."""
    fields = (
        field
        for choice in choices
        if shapes.is_model(inner := shapes.split_annotation(choice)[0])
        for field in attrs.fields(get_origin(inner) or inner)
        if camel(field.name) == name
    )
    return next((field.default for field in fields if field.default is not attrs.NOTHING), None)


def _member_fault(name: str, words: str) -> ClassValidationError:
    """The fault of one member of an object."""
    error = ValueError(words)
    error.add_note(AttributeValidationNote("", name, str))
    return ClassValidationError("", [error], object)


def discriminator(choices: list[Any]) -> tuple[str, dict[str, Any]]:
    """The wire name of the literal member that tells the classes apart, and the class of each tag.

    Raises:
        TypeError: they have no such member in common.
    """
    tables = [shapes.literals(choice) for choice in choices]
    for name in tables[0]:
        tags = {
            tag: choice
            for choice, literals in zip(choices, tables, strict=True)
            for tag in literals.get(name, ())
        }
        if all(name in literals for literals in tables) and len(tags) == sum(
            len(literals[name]) for literals in tables
        ):
            return name, tags
    raise TypeError(f"{choices!r} cannot be told apart in JSON.")
