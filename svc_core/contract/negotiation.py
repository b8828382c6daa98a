"""Chooses a representation from `format=` and `Accept` (RFC 9110, 12.5.1).

Rule 1: `format` beats `Accept`, and an unknown format is refused.
Rule 2: for each offer the most specific range that matches it decides its quality; zero excludes.
Rule 3: among the offers that are left, the highest quality wins, then the more specific range,
        then the order in which they are offered.
Rule 4: members that cannot be read are skipped; with none left, everything is acceptable.
"""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

from attrs import field, frozen

CACHED_CHOICES: Final = 1024
CACHED_ACCEPT_MAX: Final = 256
"""Fields up to this length are remembered: browsers send about 150 characters, attackers more."""
MEMBERS_MAX: Final = 64
"""Members beyond it are skipped. Clients send fewer than 20; each costs time for every offer."""

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_QUOTED_STRING = r'"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*"'
_RANGE = re.compile(rf"({_WORD})/({_WORD})")
_PARAMETER = re.compile(rf"[ \t]*;[ \t]*(?:({_WORD})=({_WORD}|{_QUOTED_STRING}))?")
# What separates members is a comma outside quotes. A quote that is not closed takes the rest, so
# the scan never turns back and stays linear.
_MEMBER = re.compile(r'(?:[^",]|"(?:[^"\\]|\\.?)*+(?:"|\Z))++', re.DOTALL)
# RFC 9110, 12.4.2, and in addition ".2", which the default field of Java's HTTP client holds.
_QUALITY = re.compile(r"0?\.[0-9]{1,3}|0\.?|1(?:\.0{0,3})?")
_CODING = re.compile(rf"[ \t]*({_WORD})(?:[ \t]*;[ \t]*q=({_QUALITY.pattern}))?[ \t]*")


@frozen
class Representation:
    """One form of a resource: its `format` value and its media type, parameters included."""

    format: str
    media_type: str


class MediaError(ValueError):
    """No representation can be chosen."""


class UnknownFormat(MediaError):  # noqa: N818 - reads as the problem that it becomes
    """The `format` parameter names none of the offers."""


class NotAcceptable(MediaError):  # noqa: N818 - the title of the 406
    """The `Accept` field excludes every offer."""


def negotiate(
    offers: Sequence[Representation], accept: str | None, format: str | None
) -> Representation:
    """The offer to answer with; `offers` stand in the order of preference.

    `accept` and `format` are the values that were sent, None where they were not.

    Raises:
        UnknownFormat: `format` names none of the offers.
        NotAcceptable: `Accept` excludes all of them.
    """
    if format is not None:
        return _offer_of_format(offers, format)
    # The common cases: everything is welcome, or exactly what we prefer.
    if accept is None or accept in ("*/*", offers[0].media_type):
        return offers[0]
    choose = _choose if len(accept) <= CACHED_ACCEPT_MAX else _choose.__wrapped__
    return choose(tuple(offers), accept)


def is_content(content_type: str, types: Collection[str]) -> bool:
    """Whether a `Content-Type` names one of the types, in UTF-8, and has no other parameter."""
    if content_type in types:
        return True
    content_type = content_type.strip(" \t")
    match = _RANGE.match(content_type)
    if match is None or match[0].lower() not in types:
        return False
    parameters = _parameters(content_type, match.end())
    if parameters is None:
        return False
    charset = parameters.pop("charset", "utf-8")
    return not parameters and charset.lower() == "utf-8"


def is_coding_welcome(accept_encoding: str, coding: str) -> bool:
    """Whether a client would rather have a content coding than none (RFC 9110, 12.5.3).

    `x-` in front of a coding is an old name of the same; members that cannot be read are skipped.
    """
    weights: dict[str, float] = {}
    for member in islice(accept_encoding.split(","), MEMBERS_MAX):
        match = _CODING.fullmatch(member.lower())
        if match is not None:
            weights[match[1].removeprefix("x-")] = float(match[2] or 1)
    weight = weights.get(coding, weights.get("*", 0.0))
    return weight > 0 and weight >= weights.get("identity", 0.0)


def _offer_of_format(offers: Sequence[Representation], format_: str) -> Representation:
    for offer in offers:
        if offer.format == format_:
            return offer
    raise UnknownFormat(f"The format is one of: {', '.join(offer.format for offer in offers)}.")


@frozen
class _Range:
    """A media range: lower-case names, `*` for any, parameters without `q`, and its quality."""

    type: str
    subtype: str
    parameters: frozenset[tuple[str, str]] = frozenset()
    quality: float = 1.0
    specificity: tuple[bool, bool, int] = field(init=False)

    @specificity.default
    def _specificity(self) -> tuple[bool, bool, int]:
        return self.type != "*", self.subtype != "*", len(self.parameters)

    def matches(self, offer: "_Range") -> bool:
        """Whether the offered type lies in this range."""
        return (
            self.type in ("*", offer.type)
            and self.subtype in ("*", offer.subtype)
            and self.parameters <= offer.parameters
        )


_ANY_RANGE = _Range("*", "*")


@lru_cache(CACHED_CHOICES)
def _choose(offers: tuple[Representation, ...], accept: str) -> Representation:
    ranges = _ranges(accept) or [_ANY_RANGE]
    ranking = [(_rank(offer, ranges), offer) for offer in offers]
    # `max` keeps the first of equals, which is the one preferred.
    (quality, _), best = max(ranking, key=lambda pair: pair[0])
    if quality == 0:
        types = ", ".join(offer.media_type for offer in offers)
        raise NotAcceptable(f"The resource is available as: {types}.")
    return best


def _rank(offer: Representation, ranges: list[_Range]) -> tuple[float, tuple[bool, bool, int]]:
    """The quality of an offer and how specific the range is that gives it."""
    offer_range = _offer_range(offer.media_type)
    matching = [range_ for range_ in ranges if range_.matches(offer_range)]
    if not matching:
        return 0.0, _ANY_RANGE.specificity
    decisive = max(matching, key=lambda range_: (range_.specificity, range_.quality))
    return decisive.quality, decisive.specificity


@lru_cache(CACHED_CHOICES)
def _offer_range(media_type: str) -> _Range:
    range_ = _read(media_type)
    if range_ is None:
        raise MediaError(f"{media_type!r} cannot be offered; it is no media type.")
    return range_


def _ranges(accept: str) -> list[_Range]:
    members = islice(_MEMBER.finditer(accept), MEMBERS_MAX)
    ranges = (_read(member[0].strip(" \t")) for member in members)
    return [range_ for range_ in ranges if range_ is not None]


def _read(member: str) -> _Range | None:
    """The media range of one member; None where it is none."""
    match = _RANGE.match(member)
    if match is None:
        return None
    type_, subtype = match[1].lower(), match[2].lower()
    parameters = _parameters(member, match.end())
    if parameters is None or (type_ == "*" and subtype != "*"):
        return None
    # RFC 9110, 12.5.1: q counts wherever it stands among the parameters.
    quality = parameters.pop("q", "1")
    if _QUALITY.fullmatch(quality) is None:
        return None
    # Every text that we send is UTF-8, so asking for it narrows nothing.
    if parameters.get("charset", "").lower() == "utf-8":
        del parameters["charset"]
    return _Range(type_, subtype, frozenset(parameters.items()), float(quality))


def _parameters(member: str, position: int) -> dict[str, str] | None:
    """The parameters from `position` to the end; None where something else stands there."""
    parameters: dict[str, str] = {}
    while position < len(member):
        match = _PARAMETER.match(member, position)
        if match is None or (match[1] and match[1].lower() in parameters):
            return None
        if match[1]:
            parameters[match[1].lower()] = _unquote(match[2])
        position = match.end()
    return parameters


def _unquote(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
