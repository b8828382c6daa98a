"""Turns names into words that people read: those of the wire, and what operations are called.

Rule 1: a group of operations has one name, in the menu, above its pages and on the way to them.
Rule 2: what does not follow from a name by itself stands in `captions.tsv`.
"""

import re
from functools import cache
from typing import Any, Final

from svc_core.operation.declaration import Operation
from svc_http.dashboard.page_addresses import is_safe, tail_of
from svc_http.dashboard.room_tables import tsv_rows

_TEXTS: Final = {(row["kind"], row["name"]): row["text"] for row in tsv_rows("captions.tsv")}
"""Of a kind and a name its text: words of names, groups, verbs, and titles of operations.

A `bound` text follows a name that begins with its word: `minScore` is "Score at least".
A `done` text is what is said of a thing when an act or its verb was done, if it has no "ed"."""
_PARTS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[._\-\s]+")


@cache  # Bounded: names of the models and operations, and words of their literals.
def caption_of(name: str) -> str:
    """The words of a name of the wire, the first with a capital: `baseScore` is "Base score"."""
    parts = [part.lower() for part in _PARTS.split(name.removesuffix("ISO")) if part]
    bound = _TEXTS.get(("bound", parts[0])) if parts[1:] else None
    words = [*parts[1:], bound] if bound else parts
    text = " ".join(_TEXTS.get(("word", word), word) for word in words)
    return text[:1].upper() + text[1:]


_WORD: Final = re.compile("[a-z]+(?:[A-Z-][A-Za-z]*+)*+", re.ASCII)


def word_caption(value: str) -> str:
    """A value of a short list in words; one that is written otherwise (`dev.svc.x`) as it is."""
    return caption_of(value) if _WORD.fullmatch(value) else value


def tone_of(word: str) -> str:
    """Whether a word of a state is good ("ok"), bad, or asks for a look ("warn"); else empty."""
    return _TEXTS.get(("tone", word), "")


# -- operations --------------------------------------------------------------------------------


def group_caption(group: str) -> str:
    """What a group of operations is called: "API keys"."""
    return _TEXTS.get(("group", group)) or caption_of(group)


def item_caption(group: str) -> str:
    """What a row of a group is called: "API key"."""
    text = group_caption(group)
    return _TEXTS.get(("item", text)) or re.sub("ie$", "y", text.removesuffix("s"))


def verb_caption(verb: str) -> str:
    """A verb as people say it: "Edit"."""
    return caption_of(_TEXTS.get(("verb", verb), verb))


def button_caption(operation: Operation[Any, Any]) -> str:
    """What a button beside the row that it is about says."""
    is_regular = operation.verb and ("title", f"{operation.group} {operation.verb}") not in _TEXTS
    return verb_caption(operation.verb) if is_regular else operation_title(operation)


@cache  # Bounded: one entry for each operation of the catalogue, as below.
def operation_title(operation: Operation[Any, Any]) -> str:
    """What the page of an operation is called: "Reports", "Report", "Create profile", "Runs"."""
    group, verb = operation.group, operation.verb
    title = _TEXTS.get(("title", f"{group} {verb}")) if verb else caption_of(operation.id)
    if title:
        return title
    if verb == "list" or tail_of(operation) == group:
        return group_caption(group)
    if verb == "show":
        return item_caption(group)
    words = verb_caption(verb)
    is_whole = is_safe(operation) or "-" in verb
    return words if is_whole else caption_of(f"{words} {item_caption(group)}")


@cache
def done_caption(operation: Operation[Any, Any]) -> str:
    """What was done, when an operation was: "Profile created"."""
    verb, _, thing = operation_title(operation).partition(" ")
    done = (
        _TEXTS.get(("done", operation.id))
        or _TEXTS.get(("done", verb.lower()))
        or re.sub("ee?d$", "ed", f"{verb.lower()}ed")
    )
    return f"{thing[:1].upper()}{thing[1:]} {done}" if thing else f"Done: {verb}"


def subtitle_of(operation: Operation[Any, Any]) -> str:
    """What an act does, above its form; empty where its title says it, and where it edits."""
    if operation.method in {"PATCH", "PUT"}:
        return ""
    words = re.sub(r"\b(an?|the|your) ", "", operation.summary, flags=re.IGNORECASE)
    summary = "" if words.lower() == operation_title(operation).lower() else operation.summary
    text, _, _ = operation.description.partition("\n")
    return f"{summary}. {text}".strip() if summary and (operation.local or not text) else text
