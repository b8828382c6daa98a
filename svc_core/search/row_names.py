"""Ranks rows by what names them: a row of the very name that was asked for comes first.

Rule 1: the tiers are, from the highest: the name, a code of a register, another name, the words of
        either in another order, and a name that begins so, the fewer words are left the better.
        Of a long name the first `LENGTH_MAX` letters are compared, as a store bounds tokens.
Rule 2: of rows in one tier the more prominent comes first.
Rule 3: names are compared in one word, without case, accents and what the kind of rows leaves out
        (legal forms), so that "muddy water" is MuddyWater; codes without zeros at their beginning.
        The row that has the very legal form that was asked for comes before others of its name.
Rule 4: each tier weighs more than all lower ones together, and all weigh more than words do, so
        that the sum ranks rows of one list and of several lists alike.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from attrs import frozen

from svc_core.text.words import LENGTH_MAX, split_words

Named = Literal["none", "name", "code", "alias", "anyOrder", "start"]

PROMINENCE_MAX = 3
LEVELS = tuple(range(PROMINENCE_MAX + 1))
_STARTS_MAX = 4  # words that begin a name
_REST_MAX = 3  # words left after them; more are not told apart
_RUN = "~"  # of every name, whatever its tier
_WHOLE, _NAME, _CODE, _ALIAS, _ANY_ORDER, _START = "==", "=", "#", "@", "%", ">"
_TIERS = (">3", ">2", ">1", _ANY_ORDER, _ALIAS, _CODE, _NAME, _WHOLE)
_STEPS = 16  # so that a prominence is worth less than a tier
NAMES: Mapping[str, Named] = {
    "": "none", "=": "name", _CODE: "code", _ALIAS: "alias", _ANY_ORDER: "anyOrder", ">": "start"
}  # fmt: skip
"""How a row is named that holds a token which begins so."""
_LEAST = 10**6  # more than 32 words in a heading weigh: `TOKENS_MAX`, `WEIGHT`


@frozen
class RowNames:
    """By what a row is known: its name, others, codes of registers, and its `prominence`.

    That is 0 where it only carries the name of another, as a host does that is called like a
    company, up to `PROMINENCE_MAX`. Of a prominence of 0 the name must be given whole.
    """

    name: str
    aliases: Iterable[str] = ()
    codes: Iterable[str] = ()
    prominence: int = 1


def name_tokens(
    names: RowNames, heading: str, bare: Callable[[str], str]
) -> Mapping[str, Sequence[str]]:
    """The tokens by which a row is found by name, by the field that they are told of.

    `heading` is the field of the name, and `bare` leaves out of names what is not compared.
    """
    whole, words = split_words(names.name), split_words(bare(names.name))
    others = [split_words(bare(alias)) for alias in names.aliases]
    starts = range(1, min(_STARTS_MAX + 1, len(words))) if names.prominence else ()
    forms = {
        heading: [(_WHOLE, whole if whole != words else []), (_NAME, words), (_ANY_ORDER, words)],
        "aliases": [(sign, other) for other in others for sign in (_ALIAS, _ANY_ORDER)],
        "designators": [(_CODE, split_words(code)) for code in names.codes],
    }
    forms[heading] += [
        (f"{_START}{min(len(words) - size, _REST_MAX)}", words[:size]) for size in starts
    ]
    runs = [form for pairs in forms.values() for sign, form in pairs if sign[0] != _START]
    found_by = dict.fromkeys(token for form in runs if form for token in run_tokens(form))
    tokens = {
        field: [
            _token(sign, names.prominence, form)
            for sign, form in pairs
            if form and (sign != _ANY_ORDER or len(form) > 1)
        ]
        for field, pairs in forms.items()
    }
    return {**tokens, heading: [*tokens[heading], *found_by]}


def run_tokens(words: Sequence[str]) -> tuple[str, ...]:
    """The tokens of rows that are named by these words, side by side in this or in some order."""
    forms = "".join(words), "".join(sorted(words))
    return tuple(dict.fromkeys(_RUN + form[:LENGTH_MAX].lstrip("0") for form in forms))


def name_weights(question: str, bare: Callable[[str], str]) -> dict[str, int]:
    """The tokens of rows that are named as a question says, with their weights."""
    return {
        token: _LEAST * 10**tier * (PROMINENCE_MAX + 1 + int(token[len(sign)]))
        for token, sign, tier in _named_tokens(question, bare, LEVELS)
    }


def _named_tokens(
    question: str, bare: Callable[[str], str], levels: Sequence[int]
) -> Iterable[tuple[str, str, int]]:
    """The tokens of rows of these prominences that are named so, with their sign and tier."""
    words = split_words(bare(question))
    scheme, _, code = question.partition(":")
    forms = {_CODE: split_words(code or scheme), _WHOLE: split_words(question)}
    for tier, sign in enumerate(_TIERS):
        if form := forms.get(sign, words):
            for level in levels:
                yield _token(sign, level, form), sign, tier


def name_bonuses(
    run: str, bare: Callable[[str], str], levels: Sequence[int], *, is_whole: bool
) -> dict[str, float]:
    """The tokens of rows that are named as a run of a question's words, each with its worth.

    The words of the whole question are worth 2 at most, those of a heading counted twice. Names
    that only begin so count where the run `is_whole`, the question.
    """
    return {
        token: 2.0**tier * (1 + int(token[len(sign)]) / _STEPS)
        for token, sign, tier in _named_tokens(run, bare, levels)
        if is_whole or sign[0] != _START
    }


def _token(sign: str, level: int, words: Sequence[str]) -> str:
    form = "".join(sorted(words) if sign == _ANY_ORDER else words)[:LENGTH_MAX]
    return f"{sign}{level}{form.lstrip('0') or '0' if sign == _CODE else form}"
