"""Takes type annotations apart: their metadata, the members of a union, their literals."""

import types
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import attrs

from svc_core.base.docstrings import docstring_of
from svc_core.base.unset import UNSET, Unset
from svc_core.wire.constraints import Doc, Example
from svc_core.wire.document import Json
from svc_core.wire.names import camel

_KINDS: Mapping[Any, tuple[type, ...]] = {
    str: (str,),
    datetime: (str,),
    date: (str,),
    bool: (bool,),
    int: (int,),
    float: (int, float),
    type(None): (type(None),),
}


class OpenShape:
    """A base class of requests in a foreign format: unknown members are ignored, not refused."""

    __slots__ = ()


def split_annotation(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type inside `Annotated` and its metadata, in written order."""
    if is_annotated(annotation):
        return annotation.__origin__, annotation.__metadata__
    return annotation, ()


def plain_type(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type of what is sent, neither left out nor null, and all that is said of it."""
    inner, metadata = split_annotation(annotation)
    if is_union(inner):
        kinds = [kind for kind in get_args(inner) if kind not in (Unset, type(None))]
        if len(kinds) == 1:
            deeper, inner_notes = plain_type(kinds[0])
            return deeper, metadata + inner_notes
    return inner, metadata


def metadata_of(annotation: Any) -> tuple[Any, ...]:
    """All metadata of an annotation, outside a `Maybe` or a list and inside it."""
    inner, outer = split_annotation(annotation)
    if not is_union(inner) and not is_tuple(inner):
        return outer
    return outer + tuple(item for arg in get_args(inner) for item in metadata_of(arg))


def described_type(class_: Any, member: "attrs.Attribute[Any]", type_: Any) -> Any:
    """The type of a member with its docstring as a note."""
    text = docstring_of(class_, member)
    if not text:
        return type_
    inner, notes = split_annotation(type_)
    examples = tuple(note for note in notes if isinstance(note, Example))
    rest = tuple(note for note in notes if not isinstance(note, Example))
    return Annotated[(inner, *rest, Doc(text), *examples)]


def is_annotated(annotation: Any) -> bool:
    """Whether it is `Annotated[...]`."""
    return get_origin(annotation) is Annotated


def is_union(annotation: Any) -> bool:
    """Whether it is a union, of either spelling."""
    return get_origin(annotation) in (Union, types.UnionType)


def is_literal(annotation: Any) -> bool:
    """Whether it is `Literal[...]`."""
    return get_origin(annotation) is Literal


def is_json(annotation: Any) -> bool:
    """Whether any JSON value fits."""
    return annotation is Any or annotation is object or annotation == Json


def is_tuple(annotation: Any) -> bool:
    """Whether it is `tuple[...]`, of any length or a fixed one."""
    return get_origin(annotation) is tuple


def is_mapping(annotation: Any) -> bool:
    """Whether it is `Mapping[str, ...]` or `dict[str, ...]`."""
    return get_origin(annotation) in (Mapping, dict)


def is_model(annotation: Any) -> bool:
    """Whether it is an attrs class, plain or with its type arguments."""
    return attrs.has(get_origin(annotation) or annotation)


def is_open(annotation: Any) -> bool:
    """Whether a request of this class may have members that the class does not know."""
    return issubclass(get_origin(annotation) or annotation, OpenShape)


def may_be_unset(annotation: Any) -> bool:
    """Whether the member may be left out (`Maybe[...]`), inside `Annotated` as well."""
    inner, _ = split_annotation(annotation)
    return is_union(inner) and Unset in get_args(inner)


def without(annotation: Any, member: Any) -> Any:
    """The union without `member`; what remains of `Maybe[int]` without `Unset` is `int`."""
    rest = tuple(arg for arg in get_args(annotation) if arg is not member)
    return Union[rest]  # noqa: UP007 - made of a tuple


def json_types(annotation: Any) -> tuple[type, ...]:
    """The Python types in which values of `annotation` leave the JSON parser.

    Raises:
        TypeError: the annotation has no JSON form.
    """
    inner, _ = split_annotation(annotation)
    if inner in _KINDS:
        return _KINDS[inner]
    if is_literal(inner):
        return tuple({type(value) for value in get_args(inner)})
    if is_tuple(inner):
        return (list,)
    if is_mapping(inner) or is_model(inner):
        return (dict,)
    if is_union(inner):
        return tuple({kind for member in get_args(inner) for kind in json_types(member)})
    raise TypeError(f"{annotation!r} has no JSON form.")


def items_of(annotation: Any) -> tuple[Any, ...]:
    """The item types of a fixed-length tuple; empty for `tuple[X, ...]`."""
    args = get_args(annotation)
    return () if args[-1] is Ellipsis else args


def literals(annotation: Any) -> dict[str, tuple[Any, ...]]:
    """The values of each literal member that a class has, or that all classes of a union have."""
    inner, _ = split_annotation(annotation)
    if is_union(inner):
        tables = [literals(member) for member in get_args(inner)]
        common = [name for name in tables[0] if all(name in table for table in tables)]
        return {
            name: tuple(dict.fromkeys(value for table in tables for value in table[name]))
            for name in common
        }
    if not is_model(inner):
        return {}
    fields = attrs.fields(get_origin(inner) or inner)
    bases = {camel(item.name): split_annotation(item.type)[0] for item in fields}
    return {name: get_args(base) for name, base in bases.items() if is_literal(base)}


def default_of(field: "attrs.Attribute[Any]") -> Any:
    """The default of a field; `UNSET` where it has none."""
    default: Any = field.default
    if default is attrs.NOTHING:
        return UNSET
    # The stubs call `Factory` a function; it is a class.
    return default.factory() if isinstance(default, attrs.Factory) else default  # type: ignore[arg-type]
