"""JSON Merge Patch (RFC 7396): the class of a patch follows from the model that it changes.

Rule 1: a member that is not sent stays; null resets one that has a default to that default.
Rule 2: a member that is a patch itself changes only what it names (RFC 7396, 2).
"""

from typing import Annotated, Any, ClassVar, Final, get_args

import attrs

from svc_core.base.docstrings import DECLARED_BY
from svc_core.base.unset import UNSET, Unset
from svc_core.contract import problem
from svc_core.wire import InputFault, camel
from svc_core.wire.constraints import Doc
from svc_core.wire.shapes import is_union, split_annotation

DESCRIPTION: Final = "The members to change; null resets an optional one to its default (RFC 7396)."


class MergePatch:
    """A change in part of a `model`: a member that was not sent is `UNSET`."""

    __slots__ = ()

    model: ClassVar[Any]


def patch_of(
    model: type[Any], name: str = "", description: str = DESCRIPTION, /, **members: Any
) -> Any:
    """The class of changes in part of `model`, which has all its members.

    It is called as the model, with `Patch` in place of `Input`, unless a `name` is given. `members`
    are the types of further members, and of those that a patch takes in another form.
    """
    name = name or f"{model.__name__.removesuffix('Input')}Patch"
    fields = {
        item.name: attrs.field(
            type=_patch_type(item), default=UNSET, repr=item.repr, metadata={DECLARED_BY: model}
        )
        for item in attrs.fields(model)
    }
    fields |= {
        key: attrs.field(type=type_ | Unset, default=UNSET) for key, type_ in members.items()
    }
    body = {"__doc__": description, "model": model}
    return attrs.make_class(name, fields, bases=(MergePatch,), class_body=body, frozen=True)


def _patch_type(item: "attrs.Attribute[Any]") -> Any:
    """The type of a member in a patch: it may be left out, and be null if it has a default."""
    type_: Any = item.type
    inner, _ = split_annotation(type_)
    is_nullable = is_union(inner) and type(None) in get_args(inner)
    if is_nullable or item.default is attrs.NOTHING or item.default is UNSET:
        return type_ | Unset
    return type_ | None | Unset


def nullable(patch: Any, words: str) -> Any:
    """The type of a member that is a patch itself, or null; `words` describe it."""
    return Annotated[(patch | None, Doc(words))]


def sent_members(body: Any, model: type[Any], before: Any = None) -> dict[str, Any]:
    """The members that a body sets; null is the default that `model` has (rule 1).

    `before` is what is changed: a patch within the body changes the member that it has there.

    Raises:
        Problem: VALIDATION_FAILED for a patch of what is not there, without a required member.
    """
    defaults = {item.name: item.default for item in attrs.fields(model)}
    members = {}
    for name, value in attrs.asdict(body, recurse=False).items():
        if isinstance(value, MergePatch):
            members[name] = _merge(getattr(before, name, None), value, f"/{camel(name)}")
        elif value is not UNSET:
            members[name] = defaults[name] if value is None else value
    return members


def _merge(before: Any, patch: MergePatch, pointer: str) -> Any:
    """The model with the members of a patch; a new one where nothing was there before."""
    members = sent_members(patch, patch.model, before)
    if before is not None:
        return attrs.evolve(before, **members)
    problem.refuse(
        [
            InputFault(f"{pointer}/{camel(item.name)}", "is required")
            for item in attrs.fields(patch.model)
            if item.default is attrs.NOTHING and item.name not in members
        ]
    )
    return patch.model(**members)
