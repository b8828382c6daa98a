"""Names say what they hold, and an exported name means one thing.

A name that is a pronoun or a participle (`told`, `one`, `kept`) can be resolved by its writer
alone; in the projects that we learn from these are about two of a hundred bound names.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

_PRONOUNS = """
    all another any anybody anyone anything both each either everybody everyone everything he her
    here hers him his it its many me mine more most much my neither nobody none nothing one ones
    other others our ours same she so some somebody someone something such that their theirs them
    then there these they this those thus us we what whatever when where which whichever who whoever
    whom whose you your yours
"""
_IRREGULAR = """
    beaten begun bitten borne bought bound broken brought built caught chosen come dealt done drawn
    driven eaten fallen felt fled flown forgotten found fought frozen given gone got gotten grown
    heard held hidden hung kept known laid led left lent lost made meant met paid ridden risen said
    seen sent shown slept sold sought spent spoken stolen stood struck stuck sung sworn taken taught
    thought thrown told torn understood woken won worn woven written
"""
_NOUNS = "bed breed creed deed embed exceed feed hundred need proceed seed speed"
PRONOUNS = frozenset(_PRONOUNS.split())
IRREGULAR = frozenset(_IRREGULAR.split())
NOUNS = frozenset(_NOUNS.split())
"""They end as a participle does, and are none."""

SHARE_MAX = 0.02
"""Pronouns and participles among the bound names of one tree."""

VAGUE = {
    "svc_core": 444,
    "svc_http": 129,
    "tests": 521,
    "benchmarks": 22,
    "examples": 2,
}
"""The most names of each tree that say nothing: `value data result thing entry info obj`."""

SHARED = {"run"}
"""The room of what people start, and `drive.run`, which every embedder writes."""

ROLES = {"model", "operations", "render", "rules"}
"""Files that every room may have, by what they do for it (see the architecture)."""


def bound_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Each name where nodes bind it: definitions, arguments, targets, aliases, captures."""
    for node in nodes:
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name
            case ast.arg(name) | ast.alias(asname=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name
            case ast.Name(name, ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name
            case ast.MatchStar(name=str(name)):
                yield name


def is_unresolved(name: str) -> bool:
    """Whether a name is a pronoun or a participle."""
    word = name.strip("_").lower()
    is_regular = word.isalpha() and word.endswith("ed") and len(word) > 4 and word not in NOUNS
    return word in PRONOUNS or word in IRREGULAR or is_regular


@pytest.fixture(scope="module")
def names_of(root: Path, product: Any) -> Callable[[str], Counter[str]]:
    """How often each name is bound in a tree."""

    @cache
    def count(tree: str) -> Counter[str]:
        files = [module.nodes for module in product if module.name.partition(".")[0] == tree]
        paths = () if files else (root / tree).rglob("*.py")
        files_beside = (ast.walk(ast.parse(path.read_text("utf-8"))) for path in paths)
        return Counter(name for nodes in chain(files, files_beside) for name in bound_names(nodes))

    return count


@pytest.mark.parametrize("tree", VAGUE)
def test_names_are_nouns_of_the_field(names_of: Callable[[str], Counter[str]], tree: str) -> None:
    names = names_of(tree)
    unresolved = Counter({name: count for name, count in names.items() if is_unresolved(name)})
    share = unresolved.total() / names.total()

    assert share <= SHARE_MAX, f"{share:.2%}, most of all {unresolved.most_common(20)}"


@pytest.mark.parametrize("tree", VAGUE)
def test_names_that_say_nothing_grow_no_more(
    names_of: Callable[[str], Counter[str]], tree: str
) -> None:
    words = {"value", "data", "result", "thing", "entry", "info", "obj"}
    names = names_of(tree)
    vague = sum(count for name, count in names.items() if name.strip("_").lower() in words)

    assert vague <= VAGUE[tree]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def said(given, *rest): ...", ["said", "given", "rest"]),
        ("rows = [one for one in told]", ["rows", "one"]),
        ("import asked as held\nself.kept = 1", ["held", "kept"]),
        ("try: ...\nexcept OSError as known: ...", ["known"]),
        (
            "match a:\n case {**here}: ...\n case [*there]: ...\n case x: ...",
            ["here", "there", "x"],
        ),
        ("class Found: ...\nlambda made: made", ["Found", "made"]),
    ],
)
def test_every_way_to_bind_a_name_is_counted(source: str, names: list[str]) -> None:
    assert sorted(bound_names(ast.walk(ast.parse(source)))) == sorted(names)


def test_pronouns_and_participles_are_known_from_nouns() -> None:
    assert all(map(is_unresolved, ["told", "_told", "Told", "ONE", "listed", "here", "others"]))
    assert not any(map(is_unresolved, ["feed", "seeds", "row", "is_listed", "listed_rows", "red"]))


# -- one name, one thing -----------------------------------------------------------------------


def _exports(product: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Modules, classes and functions of modules without an underscore, as name and place."""
    for module in product:
        name = module.name.rpartition(".")[2]
        if name not in ROLES:
            yield name, module.name
        for node in module.tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.name, f"{module.name}:{node.name}"


def test_an_exported_name_means_one_thing(product: Any) -> None:
    places: dict[str, set[str]] = defaultdict(set)
    for name, place in _exports(product):
        if not name.startswith("_"):
            places[name].add(place)

    assert {name: at for name, at in places.items() if len(at) > 1 and name not in SHARED} == {}
