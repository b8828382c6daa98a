"""What rows tell, in sentences: a table of templates over the members of rows (`facts.tsv`).

Rule 1: a sentence says nothing that its row does not; one whose members are missing is not said.
Rule 2: words of rows are data: they are quoted, in one line, and cannot look like a citation, a
        link or a picture.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from attrs import frozen

from svc_core import data
from svc_core.agent.ports import Found
from svc_core.agent.telling import defused
from svc_core.text.words import cut, words

Row = Mapping[str, Any]
Phrase = tuple[str, ...]

_MEMBER = re.compile(r"\{([^{}|]+)(?:\|([^{}]+))?\}")
_OPTIONAL = re.compile(r"<([^<>]*)>")
_MARKS = str.maketrans("[]<>`“”", "()‹›'‘’")
_READ_MAX, _TEXT_MAX, _LISTED_MAX = 2_000, 400, 8
_WHOLE_MAX = 1e15  # beyond it a float is no exact number


@frozen
class Said:
    """A sentence, without its full stop, and the rows that it is told by."""

    text: str
    found: tuple[Found, ...]


@frozen
class Fact:
    """One thing that a kind of row may tell; `number` is the member that it is compared by."""

    name: str
    cues: frozenset[Phrase]
    template: str
    number: str

    def said(self, row: Row) -> str | None:
        """The sentence of a row; None where it does not tell it."""
        try:
            parts = enumerate(_OPTIONAL.split(self.template))
            told = (_optional(part, row) if at % 2 else _filled(part, row) for at, part in parts)
            return "".join(told).replace(" %", "%")
        except LookupError:
            return None


def phrase(text: str) -> Phrase:
    """The words of a text as cues are compared."""
    return tuple(map(cut, words(text)))


def within(some: Phrase, whole: Phrase) -> bool:
    """Whether words stand side by side in others."""
    size = len(some)
    return any(whole[at : at + size] == some for at in range(len(whole) - size + 1))


@cache
def facts(kind: str) -> tuple[Fact, ...]:
    """What rows of a kind may tell, in the order of the table."""
    return tuple(
        Fact(name, frozenset(map(phrase, cues.split("|"))), template, number)
        for kinds, name, cues, template, number in data.rows("facts.tsv")
        if kind in kinds.split(",")
    )


@frozen
class Wanted:
    """The facts that a question asks for, and which of its words ask for them.

    `is_plain` where only words such as "what" or "when" do.
    """

    facts: tuple[Fact, ...]
    cues: frozenset[str]
    is_plain: bool


def asked_for(kind: str, question: Phrase, generic: frozenset[Phrase]) -> Wanted:
    """The facts that a question asks a kind of row for; plain words ask where no other does."""
    every = facts(kind)
    found = {each: [cue for cue in each.cues if within(cue, question)] for each in every}
    telling = {
        each: [cue for cue in cues if not all((word,) in generic for word in cue)]
        for each, cues in found.items()
    }
    is_plain = not any(telling.values())
    chosen = {each: cues for each, cues in (found if is_plain else telling).items() if cues}
    words_ = frozenset(word for cues in chosen.values() for cue in cues for word in cue)
    return Wanted(tuple(chosen), words_, is_plain)


def sentences(kinds: Sequence[Fact], found: Found) -> list[Said]:
    """What a row tells of these facts."""
    told = (each.said(found.row) for each in kinds)
    return [Said(text, (found,)) for text in dict.fromkeys(filter(None, told))]


# -- members -----------------------------------------------------------------------------------


def member(row: Any, path: str) -> Any:
    """The value at a path; of a list the part of that name, or all of it in brackets.

    Raises:
        LookupError: there is none, or it is null.
    """
    names, _, many = path.partition("[")
    value = row
    for name in filter(None, names.split(".")):
        value = _part(value, name)
    if many:
        return [_joined(each, many.rstrip("]").split()) for each in value or ()]
    if value is None or value == "":
        raise LookupError(path)
    return value


def _part(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name)
    if not isinstance(value, list | tuple):
        raise LookupError(name)
    if name.isdigit():
        return value[int(name)]
    known = (each for each in value if isinstance(each, Mapping))
    return next(
        each for each in known if name in {each.get(key) for key in ("metric", "scheme", "kind")}
    )


def _joined(value: Any, names: Sequence[str]) -> str:
    parts = (str(value[name]) for name in names if value.get(name))
    return " ".join(dict.fromkeys(parts))


def number(row: Row, path: str) -> Any:
    """What a row is compared by; None where it has none."""
    try:
        return member(row, path)
    except (LookupError, StopIteration):
        return None


# -- writing -----------------------------------------------------------------------------------


def quoted(text: str) -> str:
    """Words of a row as part of a sentence: one line that is no markup, cut short."""
    line = " ".join(defused(text[:_READ_MAX]).translate(_MARKS).split())
    return line if len(line) <= _TEXT_MAX else line[:_TEXT_MAX].rsplit(" ", 1)[0] + " …"


def _filled(part: str, row: Row) -> str:
    return _MEMBER.sub(lambda found: _written(row, found), part)


def _optional(part: str, row: Row) -> str:
    try:
        return _filled(part, row)
    except LookupError:
        return ""


def _written(row: Row, found: re.Match[str]) -> str:
    path, form = found[1], found[2] or ""
    if form in ("null", "empty"):
        return _absent(row, path, form)
    try:
        value = member(row, path)
    except StopIteration:
        raise LookupError(path) from None
    return _FORMS.get(form, _plain)(value)


def _absent(row: Row, path: str, form: str) -> str:
    """Nothing, where a member is told to be nothing."""
    told = row.get(path, ...)
    if told is None if form == "null" else told == []:
        return ""
    raise LookupError(path)


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return listed([_plain(each) for each in dict.fromkeys(map(str, value)) if each])
    return figure(value) if isinstance(value, int | float) else quoted(str(value))


def listed(texts: Sequence[str]) -> str:
    """Some texts as English lists them.

    Raises:
        LookupError: there are none.
    """
    if not texts:
        raise LookupError("nothing")
    rest = len(texts) - _LISTED_MAX
    shown = [*texts[:_LISTED_MAX], f"{rest} others"] if rest > 0 else list(texts)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def several(number: int, noun: str) -> str:
    """A number of things, of which a noun names one."""
    noun, _, rest = noun.partition(" of ")
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{f'{number:,}' if number else 'no'} {noun if number == 1 else many}" + (
        f" of {rest}" if rest else ""
    )


def figure(value: float) -> str:
    """A number with its thousands parted."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE_MAX
    return f"{int(value) if is_whole else value:,}"


def _versions(value: Any) -> str:
    told = [
        f"{each.get('product') or ''} {_range(one)}".strip()
        for each in value
        for one in each.get("versions", ())
        if one.get("status") == "affected" and one.get("version")
    ]
    return listed([quoted(text) for text in dict.fromkeys(told)])


def _range(version: Mapping[str, Any]) -> str:
    last, beyond = version.get("lessThanOrEqual"), version.get("lessThan")
    end = f" before {beyond}" if beyond else f" up to {last}" if last else ""
    return f"{version['version']}{end}"


def _point(value: Any) -> str:
    if value["type"] != "Point":
        raise LookupError("point")
    longitude, latitude = value["coordinates"][:2]
    return f"{latitude} (latitude), {longitude} (longitude)"


def _unit(value: Any) -> str:
    text = quoted(str(value))
    return f"{text[1:-1]}s" if text.startswith("{") else text


def _article(value: Any) -> str:
    name = spaced(str(value))
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _place(value: Any) -> str:
    """What a place is called, and its country where its name does not tell it."""
    code = value.get("countryCode")
    told = [quoted(member(value, "name")), *([country_name(code)] if code else ())]
    return told[0] if told[-1] in told[0] else ", ".join(told)


def _known(value: Any) -> str:
    if value in ("unknown", 0):
        raise LookupError("unknown")
    return _plain(value)


def spaced(name: str) -> str:
    """A name such as `threatActor` in words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


_FORMS: Mapping[str, Callable[[Any], str]] = {
    "date": lambda value: quoted(str(value))[:10],
    "time": lambda value: f"{str(value)[:10]} {str(value)[11:16]} UTC",
    "country": lambda value: listed([country_name(code) for code in _many(value)]),
    "percent": lambda value: f"{figure(round(value * 100, 2))}%",
    "versions": _versions,
    "point": _point,
    "unit": _unit,
    "article": _article,
    "known": _known,
    "place": _place,
    "words": lambda value: spaced(str(value)),
}


def _many(value: Any) -> Sequence[str]:
    return value if isinstance(value, list | tuple) else [value]


@cache
def _countries() -> Mapping[str, str]:
    rows = (row for row in data.rows("places.tsv") if row[0] == "country")
    return {row[1]: row[2].split("|")[0] for row in rows}


def country_name(code: str) -> str:
    """The English name of an ISO 3166 code; the code itself where nobody has one."""
    return _countries().get(code[:2], quoted(code))


def claims(view: Found, wanted: set[str], *, all_: bool) -> list[Said]:
    """What the ledger believes of a subject, of the predicates that are asked for, or all."""
    told, identity = view.row.get("claims", {}), view.row.get("identity") or {}
    named = [name for name in told if wanted & set(phrase(spaced(name)))]
    said = [
        f"The ledger has as {spaced(name)} of {quoted(view.title)}: "
        + (" or ".join(_value(one["value"]) for one in told[name]["candidates"]) or "nothing")
        + (", which is contested" if told[name]["contested"] else "")
        for name in (named or told if all_ else named)
    ]
    if all_ and not named and identity.get("description"):
        said.insert(0, f"{quoted(view.title)}: “{quoted(identity['description'])}”")
    return [Said(text, (view,)) for text in said[:_LISTED_MAX]]


def _value(value: Any) -> str:
    return ", ".join(map(_value, value.values())) if isinstance(value, Mapping) else _plain(value)
