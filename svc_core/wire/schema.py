"""Makes the JSON Schema (2020-12) of the models from the annotations that the readers check.

Rule 1: a direction is always given. A default makes a member optional to send, yet it is always
        present in answers, so one class has two schemas. The description states the default.
Rule 2: requests are closed (`additionalProperties: false`) unless their shape is that of others,
        answers are open: clients must expect members that are added later.
Rule 3: `type` stands beside every `const` and `enum`, because generators of clients ask for it.
Rule 4: what permits anything is never written as `true` or `{}`: an open shape leaves
        `additionalProperties` out, and the values of a free mapping are described. Generators of
        clients (openapi-generator 7.14) otherwise forget to import such a model.
Rule 5: the same annotations give the same schema, member for member, in the same order.
"""

import inspect
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any, Literal, TypeAlias, TypeVar, get_args, get_origin

import attrs

from svc_core import wire
from svc_core.base import boxes
from svc_core.base.boxes import Box
from svc_core.base.instants import INTERVAL_FORM, Interval
from svc_core.base.unset import UNSET, Unset
from svc_core.wire import shapes
from svc_core.wire.constraints import (
    DIALECT,
    Doc,
    Example,
    Ge,
    IdOf,
    Le,
    MaxLen,
    MinLen,
    Pattern,
    UnionName,
    WriteOnly,
)
from svc_core.wire.hooks import discriminator

Direction = Literal["input", "output"]
Schema: TypeAlias = dict[str, Any]

INPUT_ENDINGS = ("Input", "Patch", "Request")

_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    Interval: {
        "type": "string",
        "pattern": f"^{INTERVAL_FORM}$",
        "description": "An RFC 3339 instant, or two joined by `/`; `..` leaves one side open.",
        "examples": ["2026-01-01T00:00:00Z/.."],
    },
    Box: {
        "type": "string",
        "pattern": f"^{boxes.FORM}$",
        "description": "West, south, east, north in degrees (WGS 84), joined by commas.",
        "examples": ["177,-20,-178,-16"],
    },
}
_LITERAL_TYPES = {str: "string", int: "integer", bool: "boolean"}
_LENGTHS = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}


class Schemas:
    """Makes schemas that refer to each other by name, and collects the named ones.

    `components` holds, by name, the schema of every class met so far, in the order of their names.
    """

    def __init__(self, root: str = "#/components/schemas/") -> None:
        """Start with nothing; `root` is what references begin with."""
        self._root = root
        self._schemas: dict[str, Schema] = {}
        self._owners: dict[str, Any] = {}

    @property
    def components(self) -> dict[str, Schema]:
        """The named schemas met so far, by name."""
        return {name: self._schemas[name] for name in sorted(self._schemas)}

    def add(self, name: str, schema: Schema) -> Schema:
        """Name a schema made by hand, and return the reference to it.

        Raises:
            TypeError: another schema has the name.
        """
        if self._schemas.setdefault(name, schema) != schema:
            raise TypeError(f"Two schemas are called {name}.")
        return {"$ref": self._root + name}

    def of(self, annotation: Any, direction: Direction) -> Schema:
        """The schema of an annotation; classes become references.

        Raises:
            TypeError: the annotation has no JSON form, or two classes have one name.
        """
        inner, metadata = shapes.split_annotation(annotation)
        name = next((item.name for item in metadata if isinstance(item, UnionName)), None)
        if name is not None:
            return self._shared(_direction_name(name, direction), annotation, direction)
        if metadata:
            return _describe(self.of(inner, direction), metadata)
        if inner in _PLAIN:
            return dict(_PLAIN[inner])
        makers = (
            (shapes.is_json, self._json),
            (shapes.is_union, self._union),
            (shapes.is_literal, self._literal),
            (shapes.is_tuple, self._array),
            (shapes.is_mapping, self._mapping),
            (shapes.is_model, self._model),
        )
        for fits, make in makers:
            if fits(inner):
                return make(inner, direction)
        raise TypeError(f"{annotation!r} has no JSON form.")

    def widen(self, name: str, annotation: Any, members: Mapping[str, Schema]) -> Schema:
        """A reference to the schema of a request class with `members` added to its own."""
        schema = self._object(annotation, "input")
        return self.add(name, {**schema, "properties": {**schema["properties"], **members}})

    def _json(self, _: Any, __: Direction) -> Schema:
        return {}

    def _literal(self, annotation: Any, _: Direction) -> Schema:
        values = get_args(annotation)
        names = list(dict.fromkeys(_LITERAL_TYPES[type(value)] for value in values))
        type_ = names[0] if len(names) == 1 else names
        if len(values) == 1:
            return {"type": type_, "const": values[0]}
        return {"type": type_, "enum": list(values)}

    def _mapping(self, annotation: Any, direction: Direction) -> Schema:
        values = self.of(get_args(annotation)[1], direction) or {"description": "Any value."}
        return {"type": "object", "additionalProperties": values}

    def _union(self, annotation: Any, direction: Direction) -> Schema:
        if Unset in get_args(annotation):
            return self.of(shapes.without(annotation, Unset), direction)
        values = [arg for arg in get_args(annotation) if arg is not type(None)]
        schema = self._choice(values, direction)
        return _nullable(schema) if type(None) in get_args(annotation) else schema

    def _choice(self, members: list[Any], direction: Direction) -> Schema:
        schemas = [self.of(member, direction) for member in members]
        if len(schemas) == 1:
            return schemas[0]
        if any("$ref" not in schema for schema in schemas):
            return {"anyOf": schemas}
        name, tags = discriminator(members)
        if not (self._is_required(name, schemas) and all(isinstance(tag, str) for tag in tags)):
            return {"oneOf": schemas}
        mapping = {tag: self.of(choice, direction)["$ref"] for tag, choice in tags.items()}
        return {"oneOf": schemas, "discriminator": {"propertyName": name, "mapping": mapping}}

    def _is_required(self, name: str, schemas: list[Schema]) -> bool:
        """Whether all of these objects have the member, as a discriminator has to be there."""
        objects = (self._schemas[schema["$ref"].removeprefix(self._root)] for schema in schemas)
        return all(
            self._is_required(name, schema["oneOf"])
            if "oneOf" in schema
            else name in schema["required"]
            for schema in objects
        )

    def _shared(self, name: str, annotation: Any, direction: Direction) -> Schema:
        """A reference to the schema of a union that has a name of its own."""
        union, metadata = shapes.split_annotation(annotation)
        return self.add(name, _describe(self._union(union, direction), metadata))

    def _array(self, annotation: Any, direction: Direction) -> Schema:
        item_types = shapes.items_of(annotation)
        if not item_types:
            return {"type": "array", "items": self.of(get_args(annotation)[0], direction)}
        schemas = [self.of(item, direction) for item in item_types]
        bounds = {"minItems": len(item_types), "maxItems": len(item_types)}
        if all(schema == schemas[0] for schema in schemas):
            return {"type": "array", "items": schemas[0], **bounds}
        return {"type": "array", "prefixItems": schemas, "items": False, **bounds}

    def _model(self, annotation: Any, direction: Direction) -> Schema:
        name = name_of(annotation, direction)
        owner = self._owners.setdefault(name, annotation)
        if owner != annotation:
            raise TypeError(f"{owner!r} and {annotation!r} are both called {name}.")
        if name not in self._schemas:
            self._schemas[name] = {}  # a class may hold itself
            self._schemas[name] = self._object(annotation, direction)
        return {"$ref": self._root + name}

    def _object(self, annotation: Any, direction: Direction) -> Schema:
        class_ = get_origin(annotation) or annotation
        properties, required = {}, []
        # For an optional member `audio` a Go client gets a method `HasAudio`; a member `hasAudio`
        # beside it, which says the same, would keep the client from compiling.
        redundant = {
            f"has{field.name.capitalize()}"
            for field in attrs.fields(class_)
            if shapes.may_be_unset(field.type)
        }
        for field in attrs.fields(class_):
            type_ = shapes.described_type(class_, field, _substitute(field.type, annotation))
            name = wire.camel(field.name)
            if direction == "input" and type_ == Unset | None:
                continue  # It may be left out as well, and generators of clients stumble over it.
            if name in redundant:
                continue
            properties[name] = self.of(type_, direction)
            if direction == "output":
                optional = shapes.may_be_unset(type_)
            else:
                default = shapes.default_of(field)
                optional = field.default is not attrs.NOTHING
                if default is not UNSET:
                    properties[name] = _optional(properties[name], default)
            if not optional:
                required.append(name)
        words = summary_of(class_)
        schema: Schema = {"type": "object", **({"description": words} if words else {})}
        schema["properties"] = properties
        if required:
            schema["required"] = required
        if direction == "input" and not shapes.is_open(annotation):
            schema["additionalProperties"] = False
        return schema


def json_schema(annotation: Any, direction: Direction) -> Schema:
    """A schema that stands alone, with what it refers to under `$defs`.

    Raises:
        TypeError: the annotation has no JSON form, or two classes have one name.
    """
    schemas = Schemas("#/$defs/")
    schema = schemas.of(annotation, direction)
    return {"$schema": DIALECT, **schema, "$defs": schemas.components}


def name_of(annotation: Any, direction: Direction) -> str:
    """The name of a model's schema: `Profile`, `BoxProfile` for `Box[Profile]`, `TagsInput`.

    It is that of its class, or the `__schema_name__` of one whose name means another thing here.
    """
    arguments = "".join(name_of(arg, "output") for arg in get_args(annotation))
    class_ = get_origin(annotation) or annotation
    plain = str(
        getattr(class_, "__dict__", {}).get("__schema_name__")
        or getattr(class_, "__name__", "Value")
    )
    plain = "" if shapes.is_union(annotation) else plain
    return _direction_name(plain[:1].upper() + plain[1:] + arguments, direction)


def _direction_name(name: str, direction: Direction) -> str:
    if direction == "output" or name.endswith(INPUT_ENDINGS):
        return name
    return f"{name}Input"


def summary_of(class_: type[Any]) -> str:
    """The first paragraph of a docstring, on one line."""
    text = inspect.cleandoc(class_.__doc__ or "").partition("\n\n")[0]
    return " ".join(text.split())


def _substitute(annotation: Any, owner: Any) -> Any:
    """The type of a field with the type arguments of its generic class put in."""
    origin = get_origin(owner)
    if origin is None:
        return annotation
    arguments = dict(zip(origin.__parameters__, get_args(owner), strict=True))
    if isinstance(annotation, TypeVar):
        return arguments[annotation]
    parameters = getattr(annotation, "__parameters__", ())
    return annotation[tuple(arguments[item] for item in parameters)] if parameters else annotation


def _nullable(schema: Schema) -> Schema:
    """The schema, or null: in the list of types where that says it all, else as an alternative."""
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    if "type" not in schema or "const" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    nullable = {**schema, "type": [*types, "null"]}
    if "enum" in schema:
        nullable["enum"] = [*schema["enum"], None]
    return nullable


def _optional(schema: Schema, default: Any) -> Schema:
    """The schema of an optional member of a request, with a sentence about its default.

    No `default` says so, for generators of clients take such a member for one that is always there.
    """
    words = f"Default: `{wire.to_bytes(default).decode()}`."
    return {**schema, "description": " ".join(filter(None, (schema.get("description"), words)))}


def _describe(schema: Schema, metadata: Iterable[Any]) -> Schema:
    """The schema with the constraints and descriptions of its annotation; other metadata passes."""
    result = dict(schema)
    for item in metadata:
        match item:
            case IdOf():
                result |= {"pattern": item.anchored_regex, "description": item.doc}
                result["examples"] = [item.example]
            case Pattern():
                result["pattern"] = item.anchored_regex
            case Ge():
                result["minimum"] = item.ge
            case Le():
                result["maximum"] = item.le
            case MinLen():
                result[_length_words(result)[0]] = item.min_length
            case MaxLen():
                result[_length_words(result)[1]] = item.max_length
            case Doc():
                result["description"] = item.text
                if item.text.startswith("Deprecated"):
                    result["deprecated"] = True
            case WriteOnly():
                result["writeOnly"] = True
            case Example():
                result["examples"] = [wire.to_json(item.value)]
            case _:
                pass
    return result


def _length_words(schema: Schema) -> tuple[str, str]:
    kinds = [schema, *schema.get("anyOf", ())]
    names = [name for kind in kinds for name in _as_list(kind.get("type", []))]
    return next(_LENGTHS[name] for name in names if name in _LENGTHS)


def _as_list(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names
