"""Text that strangers write is read in linear time: four times the text costs about four times.

The patterns of the product are collected by walking its modules, so that a new one is tried without
being named here; hostile texts are made from what each pattern repeats. The readers of texts are
those that have files under `tests/data/readings`.
"""

import ast
import functools
import importlib
import inspect
import json
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import attrs
import pytest

import svc_core
import svc_http
from svc_core.agent.passages import Passage, select
from svc_core.agent.question import parse_question
from svc_core.agent.text_query import query_of
from svc_core.contract import etag, negotiation
from tests.core.readings import FILES, READERS

CHARS = 2_000
RATIO_MAX = 5.0
QUICK_SECONDS = 0.0006
"""What is faster than this with `CHARS` is not measured again: a quadratic reading takes more."""
TRIES = 4
SECONDS_MAX = 1.0
SCANS = frozenset({"search", "finditer", "findall", "sub", "subn", "split"})
USES = SCANS | {"match", "fullmatch"}
MAKERS = USES | {"compile"}
REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT)
MANY = 1_000
SIGNS = ("1", "a", " ", "-", ",", "\n", ".", '"', "[", "<", "a.", "1-")
FRAGMENTS = (
    *"1-, a.'\"([<&@/:;A\n",
    *("a@", "1,", "1-", "a ", "A. ", " \n", "&#", "**", "[a](", "http://", "A and ", "1 or more "),
)
CATEGORIES = {
    code.CATEGORY_DIGIT: r"\d",
    code.CATEGORY_NOT_DIGIT: r"\D",
    code.CATEGORY_SPACE: r"\s",
    code.CATEGORY_NOT_SPACE: r"\S",
    code.CATEGORY_WORD: r"\w",
    code.CATEGORY_NOT_WORD: r"\W",
}


def seconds(read: Callable[[Any], object], text: Any, tries: int = 1) -> float:
    """The least processor time of this thread that reading the text took, as far as it is waited
    for."""
    least = SECONDS_MAX
    for _ in range(tries):
        start = time.thread_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS_MAX)
        with suppress(Exception):  # a refusal is an answer
            read(text)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        least = min(least, time.thread_time() - start)
    return least


def _give_up(*_: object) -> None:
    raise TimeoutError


def slowness(
    read: Callable[[Any], object], make: Callable[[int], Any], lengths: tuple[int, ...] = (CHARS,)
) -> float | None:
    """How many times as long a text of four times the length takes, where that is too long.

    Of `lengths`, that is told of the first which takes long enough to be measured.
    """
    for chars in lengths:
        text = make(chars)
        first = seconds(read, text)
        if first > SECONDS_MAX / 2 < seconds(read, text):  # the first may fill what is kept
            return SECONDS_MAX
        if first > QUICK_SECONDS < seconds(read, text, TRIES):
            break
    else:
        return None
    for _ in range(TRIES):
        before, after = seconds(read, make(chars), TRIES), seconds(read, make(4 * chars), 2)
        if after < RATIO_MAX * before:
            return None
    return after / before


# -- the patterns of the product ---------------------------------------------------------------


def modules() -> Iterator[ModuleType]:
    for root in (svc_core, svc_http):
        yield root
        for package in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
            if not package.name.endswith(("__main__", "_hook")):
                yield importlib.import_module(package.name)


class Patterns:
    """The patterns of all modules, with how each is used; none where that is not seen."""

    def __init__(self) -> None:
        self.uses: dict[re.Pattern[Any], set[str]] = {}
        self.places: dict[re.Pattern[Any], str] = {}
        self._seen: set[int] = set()
        self._by_name: dict[tuple[str, str], set[str]] = {}
        trees = {module: ast.parse(inspect.getsource(module)) for module in modules()}
        for module, tree in trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.Attribute) and node.attr in USES:
                    self._note_use(module, node)
            self._by_name.setdefault((module.__name__, ""), set())
        for module, tree in trees.items():
            for call in ast.walk(tree):
                match call:
                    case ast.Call(ast.Attribute(ast.Name("re"), method)) if method in MAKERS:
                        self._note_call(module, method, call)
            for name, member in vars(module).copy().items():
                self._walk(member, f"{module.__name__}.{name}", self._uses_of(module, name))

    def note(self, pattern: re.Pattern[Any], place: str, uses: Iterable[str] = ()) -> None:
        self.uses.setdefault(pattern, set()).update(uses)
        self.places.setdefault(pattern, place)

    def _uses_of(self, module: ModuleType, name: str) -> set[str]:
        place = module.__name__ if name.startswith("_") else ""
        return self._by_name.get((place, name)) or self._by_name[module.__name__, ""]

    def _note_use(self, module: ModuleType, node: ast.Attribute) -> None:
        member = node.value.value if isinstance(node.value, ast.Subscript) else node.value
        name = getattr(member, "id", None) or getattr(member, "attr", "")
        if name == "re":
            return
        place = module.__name__ if name.startswith("_") else ""
        if not place and not hasattr(module, name):  # a variable, which may hold any pattern there
            place, name = module.__name__, ""
        self._by_name.setdefault((place, name), set()).add(node.attr)

    def _note_call(self, module: ModuleType, method: str, call: ast.Call) -> None:
        """Note a pattern that stands in a call, as far as it does not depend on the moment."""
        flags = {word.arg: word.value for word in call.keywords}.get("flags")
        if method == "compile" and call.args[1:]:
            flags = call.args[1]
        with suppress(NameError):
            text, flag = (
                eval(ast.unparse(node), vars(module).copy()) if node is not None else 0
                for node in (call.args[0], flags)
            )
            place = f"{module.__name__}:{call.lineno}"
            self.note(re.compile(text, flag), place, {method} & USES)

    def _walk(self, member: Any, place: str, uses: set[str]) -> None:
        if isinstance(member, re.Pattern):
            self.note(member, place, uses)
            return
        if id(member) in self._seen or isinstance(member, (str, bytes, ModuleType)):
            return
        self._seen.add(id(member))
        inner: Iterable[Any] = ()
        if hasattr(member, "items") and hasattr(member, "values") and hasattr(member, "keys"):
            with suppress(TypeError):
                inner = tuple(member.values())
        elif isinstance(member, (list, tuple, set, frozenset)):
            inner = member
        elif isinstance(member, functools.partial):
            inner = (member.func, *member.args, *member.keywords.values())
        elif attrs.has(type(member)):
            for field in attrs.fields(type(member)):
                own = self._by_name.get((type(member).__module__, field.name), uses)
                self._walk(getattr(member, field.name, None), place, own)
        elif isinstance(getattr(member, "__self__", None), re.Pattern):
            inner = (member.__self__,)
        for part in inner:
            self._walk(part, place, uses)


def _parts(operation: Any, argument: Any) -> list[Any]:
    """The trees inside of one node of a pattern."""
    if operation in REPEATS:
        return [argument[2]]
    if operation is code.SUBPATTERN:
        return [argument[3]]
    if operation is code.ATOMIC_GROUP:
        return [argument]
    if operation is code.BRANCH:
        return list(argument[1])
    if operation in (code.ASSERT, code.ASSERT_NOT):
        return [argument[1]]
    return [part for part in argument[1:] if part] if operation is code.GROUPREF_EXISTS else []


def _repeats(tree: Any) -> int:
    """How many repetitions without a bound a pattern has."""
    return sum(
        (operation in REPEATS and argument[1] >= MANY)
        + sum(map(_repeats, _parts(operation, argument)))
        for operation, argument in tree
    )


def _letters(items: Any) -> list[str]:
    """Some characters of a class."""
    operations = [operation for operation, _ in items]
    if code.NEGATE in operations or code.CATEGORY in operations:
        text = "".join(
            CATEGORIES[argument]
            if operation is code.CATEGORY
            else re.escape(chr(argument))
            if operation is code.LITERAL
            else f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}"
            for operation, argument in items
            if operation is not code.NEGATE
        )
        negation = "^" if code.NEGATE in operations else ""
        return re.findall(f"[{negation}{text}]", "a1 -\n.,'\"<(é")[:4]
    return [chr(part) for _, argument in items for part in _ends(argument)][:6]


def _ends(argument: Any) -> tuple[int, ...]:
    return (argument,) if isinstance(argument, int) else argument


class Hostile:
    """Texts that a pattern almost matches: what it repeats, behind what it wants before."""

    def __init__(self, tree: Any) -> None:
        self.fragments: dict[str, None] = {}
        self.starts: dict[tuple[str, str], None] = {}
        whole = self._sample(tree, "")
        self.fragments |= dict.fromkeys((whole, whole[:-1]))

    def texts(self) -> Iterator[tuple[str, str, str]]:
        """What comes first, what is repeated, and what comes last."""
        for fragment in (*SIGNS, *[*self.fragments][:16]):
            if fragment:
                yield "", fragment, "\0"
        for before, fragment in [*self.starts][:8]:
            if fragment:
                yield before, fragment, "\0"
                yield before, fragment, "a"
                yield "", before + fragment, "\0"

    def _sample(self, tree: Any, before: str) -> str:
        """A text that the tree matches, roughly."""
        text = ""
        for operation, argument in tree:
            letters: list[str] = []
            if operation is code.LITERAL:
                letters = [chr(argument)]
            elif operation in (code.ANY, code.NOT_LITERAL):
                letters = ["b" if argument == ord("a") else "a"]
            elif operation is code.IN:
                letters = _letters(argument) or ["\x7f"]
            samples = [self._sample(part, before + text) for part in _parts(operation, argument)]
            self.fragments |= dict.fromkeys((*letters, *samples[:12]))
            if operation in REPEATS:
                self.starts[before + text, samples[0]] = None
                samples[0] = (samples[0] * max(1, argument[0]))[:CHARS]
            if operation not in (code.ASSERT, code.ASSERT_NOT):
                text += (letters or samples or [""])[0]
        return text


def _text(pattern: re.Pattern[Any], parts: tuple[str, str, str]) -> Callable[[int], Any]:
    before, fragment, after = parts

    def make(chars: int) -> Any:
        count = max(1, (chars - len(before)) // len(fragment))
        text = before + fragment * count + after
        return text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text

    return make


def slow_patterns(patterns: Patterns) -> Iterator[str]:
    for pattern, uses in patterns.uses.items():
        tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
        scans = not uses or bool(uses & SCANS)
        if _repeats(tree) <= (0 if scans else 1):
            continue  # bounded, or one run from one place
        reads: list[Callable[[Any], object]] = []
        if scans:
            reads.append(lambda text, it=pattern: sum(1 for _ in it.finditer(text)))
        if not uses or uses - SCANS:
            reads.append(pattern.fullmatch if "match" not in uses else pattern.match)
        for parts in Hostile(tree).texts():
            ratios = [slowness(read, _text(pattern, parts)) for read in reads]
            if any(ratios):
                place = patterns.places[pattern]
                yield f"{place} {pattern.pattern!r:.80} on {parts!r:.60}: {ratios}"
                break


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> set[re.Pattern[Any]]:
    """The patterns that are made while the test runs."""
    signal.signal(signal.SIGVTALRM, _give_up)
    patterns: set[re.Pattern[Any]] = set()
    compile_ = re._compile  # type: ignore[attr-defined]

    def note(pattern: Any, flags: Any) -> Any:
        made = compile_(pattern, flags)
        if sys._getframe(2).f_globals["__name__"].startswith("svc_"):
            patterns.add(made)
        return made

    monkeypatch.setattr(re, "_compile", note)
    return patterns


# -- the readers of texts ----------------------------------------------------------------------

NOW = datetime(2026, 1, 31, tzinfo=UTC)


OTHERS: dict[str, Callable[[str], object]] = {
    "questions of the agent": query_of,
    "passages": lambda text: select(text, [Passage(1, text[:200], text, NOW)], NOW),
    "parts of questions": lambda text: attrs.evolve(parse_question(text, NOW)).full_text,
    "etags": lambda text: etag.matches(text, '"a"'),
    "media": lambda text: negotiation.is_content(text, ("text/plain",)),
}


def _reader(name: str) -> Callable[[str], object]:
    """A reader of one text; its further arguments are those of its first case."""
    if name in OTHERS:
        return OTHERS[name]
    cases = json.loads((FILES / f"{name}.json").read_text("utf-8"))
    (first, *_), *_ = cases.values()
    return lambda text: READERS[name](text, *first[1:-1])


def text_readers() -> list[str]:
    names = []
    for name in READERS:
        cases = json.loads((FILES / f"{name}.json").read_text("utf-8"))
        (first, *_), *_ = cases.values()
        if isinstance(first[0], str):
            names.append(name)
    return [*names, *OTHERS]


def slow_readers() -> Iterator[str]:
    for name in text_readers():
        read = _reader(name)
        for fragment in FRAGMENTS:
            # Most of them do more with a text than one pattern, and show it in a short one.
            lengths = (CHARS // 8, CHARS)
            ratio = slowness(read, lambda chars, it=fragment: it * (chars // len(it)), lengths)
            if ratio:
                yield f"{name} on {fragment!r}: {ratio:.0f}"


def test_no_pattern_and_no_reader_takes_longer_than_its_text(compiled: set[Any]) -> None:
    for module in modules():
        for member in vars(module).copy().values():
            if hasattr(member, "cache_clear"):
                member.cache_clear()
    patterns = Patterns()
    slow = list(slow_readers())
    for pattern in compiled:
        if pattern not in patterns.uses:
            patterns.note(pattern, "made at run time")
    assert len(patterns.uses) > 400
    slow += slow_patterns(patterns)
    assert not slow, "\n".join(slow)
