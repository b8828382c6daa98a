"""The inputs of an operation, read once from the annotations of its request class.

The reader of requests, the OpenAPI documents and the reference pages all work from `inputs`, so
they cannot disagree about a name, a place or a bound.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, NoReturn, get_args

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.contract.problem import INVALID_PARAMETER, ProblemType
from svc_core.operation.declaration import MEMBER, In, InputRefusal, Trait
from svc_core.operation.members import PageRequest
from svc_core.wire import shapes
from svc_core.wire.constraints import Arg, Doc, IdOf


@frozen
class Input:
    """One input: its attribute in the request class, its wire name, place, type and words.

    An input without a declared place is a member of the JSON object that the request class is.

    `annotation` is the type with its constraints, without its place. `default` is `UNSET`
    where there is none. `read` turns the text of a path, query or header value into the value and
    raises `ValueError` with the reason, which `refusal` tells; a body is structured, not read.
    """

    attribute: str
    name: str
    place: str
    annotation: Any
    required: bool
    default: Any
    read: Callable[[str], Any]
    id_of: IdOf | None
    refusal: ProblemType = INVALID_PARAMETER
    traits: frozenset[Trait] = frozenset()
    declaration: "tuple[Any, attrs.Attribute[Any]] | None" = None

    @property
    def described(self) -> Any:
        """The annotation with the docstring of the member, which is read from the source."""
        if self.declaration is None:
            return self.annotation
        return shapes.described_type(*self.declaration, self.annotation)

    @property
    def is_positional(self) -> bool:
        """Whether a command line gives it by its place, without a name."""
        notes = shapes.metadata_of(self.annotation)
        return self.place == "path" or any(isinstance(n, Arg) and n.positional for n in notes)

    @property
    def doc(self) -> str:
        """The sentence that describes it."""
        notes = shapes.metadata_of(self.described)
        words = (note.text for note in notes if isinstance(note, Doc))
        return next(words, self.id_of.doc if self.id_of else "")


def inputs_of(request_class: type[Any]) -> tuple[Input, ...]:
    """The inputs of a request class, in the order of its fields, those of its page last.

    Raises:
        TypeError: the type of a field cannot travel in its place.
    """
    class_: Any = request_class
    return _inputs_of(class_)


def flag_name(item: Input, within: tuple[str, ...] = ()) -> str:
    """The name of an input on a command line: `--min-score`, or `KEYID` of a positional one.

    `within` are the members that it is in. A list and an object of texts are said one by one, so
    their names are in the singular.
    """
    inner, notes = shapes.plain_type(item.annotation)
    named = next((note.name for note in notes if isinstance(note, Arg)), None)
    is_many = (
        shapes.plain_type(get_args(inner)[1])[0] is str
        if shapes.is_mapping(inner)
        else shapes.is_tuple(inner) and not shapes.items_of(inner)
    )
    is_singular = is_many and not item.is_positional
    own = re.sub("(?<=ss)es$|(?<!u)s$", "", item.name) if is_singular else item.name
    words = "-".join((*within, named or own))
    name = re.sub("(?<=[a-z0-9])(?=[A-Z])", "-", words).lower()
    return name.upper() if item.is_positional else f"--{name}"


@cache  # Bounded: one entry for each request class in the source.
def _inputs_of(class_: Any) -> tuple[Input, ...]:
    fields = attrs.fields(class_)
    return tuple(
        _input(class_, field)
        for field in sorted(fields, key=lambda field: field.inherited and field.name in _PAGE)
    )


_PAGE = attrs.fields_dict(PageRequest)


def _input(class_: Any, field: "attrs.Attribute[Any]") -> Input:
    notes = shapes.metadata_of(field.type)
    place = next((item for item in notes if isinstance(item, In)), MEMBER)
    annotation = _without_place(field.type)
    id_of = next((item for item in notes if isinstance(item, IdOf)), None)
    return Input(
        attribute=field.name,
        name=place.name or wire.camel(field.name),
        place=place.place,
        annotation=annotation,
        required=field.default is attrs.NOTHING,
        default=shapes.default_of(field),
        read=_no_text if place.place in {"body", "member"} else wire.reader(annotation),
        id_of=id_of,
        refusal=next(
            (item.kind for item in notes if isinstance(item, InputRefusal)), INVALID_PARAMETER
        ),
        traits=frozenset(item for item in notes if isinstance(item, Trait)),
        declaration=(class_, field),
    )


def _without_place(annotation: Any) -> Any:
    inner, metadata = shapes.split_annotation(annotation)
    constraints = tuple(
        item for item in metadata if not isinstance(item, In | InputRefusal | Trait)
    )
    return Annotated[(inner, *constraints)] if constraints else inner


def _no_text(_: str) -> NoReturn:
    raise AssertionError("a body is structured, not read from text")
