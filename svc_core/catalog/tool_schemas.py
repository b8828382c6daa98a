"""What a language model is told of a tool: enough to call it rightly, and little else.

A model reads all tools with each question, so each says its form in the fewest words.

Rule 1: a text ends with its first sentence. A list says what is in it, for JSON has lists.
Rule 2: where the values are named, they speak for themselves. A form is told by a short pattern,
        else by an example; a number, a truth value and an instant need neither.
Rule 3: bounds on lengths are left out, for a refusal names them.
Rule 4: what most lists take is told once, by whoever shows the tools (`COMMON_INPUTS`); what only
        explains why a row was found is for people.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from svc_core.operation.declaration import Operation
from svc_core.operation.members import NOT_BLANK
from svc_core.wire.schema import Schema

COMMON_INPUTS: Final = (
    "Lists take `q`, words to search for (`-word` excludes, words in quotation marks stand side by "
    "side), and are in pages: give `meta.page.nextCursor` as `cursor` for the next one."
)
_COMMON: Final = frozenset({"q", "cursor", "limit", "updatedSince"})
_SHAPE: Final = frozenset({"type", "enum", "const", "format", "minimum", "maximum", "$ref"})
_EXPLANATION: Final = {"type": "string", "const": "match"}
_PATTERN_MAX: Final = 30  # characters; an example is shorter than a longer one
_SENTENCE: Final = re.compile(r".+?[.!?](?=\s+[A-Z`*]|$)", re.DOTALL)
_LIST: Final = re.compile("^Comma list of (.)")


def _first_sentence(text: str) -> str:
    """A text as far as its first end of a sentence."""
    match = _SENTENCE.match(text)
    return match[0] if match else text


def tool_text(operation: Operation[Any, Any]) -> str:
    """What an operation is for a model: of one that reads what it gives, else what it does."""
    summary, text = f"{operation.summary}.", _first_sentence(operation.description)
    return f"{summary} {text}" if operation.writes else max(summary, text, key=len)


def concise_object(schema: Schema) -> Schema:
    """The schema of an object in few words."""
    members = {
        name: _shape(member) if name in _COMMON else _concise(member)
        for name, member in schema["properties"].items()
        if member.get("items") != _EXPLANATION
    }
    definitions = {name: concise_object(part) for name, part in schema.get("$defs", {}).items()}
    rest = {name: part for name, part in schema.items() if name != "description"}
    return rest | {"properties": members} | ({"$defs": definitions} if definitions else {})


def _concise(schema: Mapping[str, Any]) -> Schema:
    text, items = _first_sentence(schema.get("description", "")), schema.get("items")
    shape = _shape(schema)
    if items:
        shape["items"] = _shape(items) | _pattern(items)
        text = _LIST.sub(lambda match: match[1].upper(), text)
    values = shape.get("items", shape | _pattern(schema))
    if " " in text and not values.keys() & {"enum", "const"}:
        shape = {"description": text, **shape}
    if values == {"type": "string"}:
        return shape | {"examples": schema["examples"][:1]} if "examples" in schema else shape
    return shape if items else shape | values


def _shape(schema: Mapping[str, Any]) -> Schema:
    return {name: part for name, part in schema.items() if name in _SHAPE}


def _pattern(schema: Mapping[str, Any]) -> Schema:
    pattern = schema.get("pattern", "")
    tells = 0 < len(pattern) <= _PATTERN_MAX and pattern != f"^{NOT_BLANK.regex}$"
    return {"pattern": pattern} if tells else {}
