"""Turns the names of Python attributes into the names of JSON members."""

from functools import cache

_FOREIGN_NAMES = frozenset({"response_format", "stream_options", "include_usage", "owned_by"})
"""OpenAI's."""
_ACRONYMS = {"iso": "ISO"}  # Spec: Profile and subscription: `reportGeneratedAtISO`


@cache  # Bounded: the names of the models' fields: as many as there are in the source.
def camel(name: str) -> str:
    """The wire name of an attribute: `generated_at_iso` is `generatedAtISO`, `from_` is `from`."""
    if name in _FOREIGN_NAMES:
        return name
    first, *rest = name.strip("_").split("_")
    return first + "".join(_ACRONYMS.get(word, word.capitalize()) for word in rest)
