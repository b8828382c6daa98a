"""Colours, patterns and the elements of SVG.

Rule 1: colours are of the palette of Okabe and Ito, which all kinds of colour vision tell apart;
        each state has a pattern besides, so that none depends on its colour.
Rule 2: colours stand in attributes, for a policy may forbid styles; the style only adds the dark
        palette.
Rule 3: no text of a ledger becomes markup: it is escaped, without characters that XML forbids or
        that turn the direction of what follows.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import accumulate
from types import MappingProxyType
from typing import Final

from svc_core.ledger.fold.states import State

FONT: Final = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif"

LIGHT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "paper": "#ffffff",
        "lane": "#f3f5f8",
        "grid": "#d5dbe2",
        "ink": "#1c2128",
        "quiet": "#57606a",
        "verified": "#0072b2",
        "corroborated": "#56b4e9",
        "unverified": "#b4bcc6",
        "under_review": "#f0d04a",
        "disputed": "#cc79a7",
        "refuted": "#d55e00",
    }
)
DARK: Final[Mapping[str, str]] = MappingProxyType(
    {
        "paper": "#0f1318",
        "lane": "#181e25",
        "grid": "#343d47",
        "ink": "#e8edf2",
        "quiet": "#a3aeb9",
        "verified": "#2f94d6",
        "corroborated": "#8fd0f5",
        "unverified": "#6f7a86",
        "under_review": "#e5c33c",
        "disputed": "#d98bb6",
        "refuted": "#ee7d2b",
    }
)

STATES: Final[Mapping[State, str]] = MappingProxyType(
    {
        "verified": "",
        "corroborated": "M0 4h8",
        "unverified": "M1.5 2h1M5.5 6h1",
        "under_review": "M4 0v8",
        "disputed": "M4 0v8M0 4h8",
        "refuted": "M1 1l6 6M7 1l-6 6",
    }
)
"""The states in the order of the legend, each with what its pattern draws on a tile of 8 pixels."""

WORDS: Final[Mapping[str, str]] = MappingProxyType({"under_review": "under review"})


def style() -> str:
    """The dark palette, for those who prefer it."""
    rules = "".join(
        f".f-{name}{{fill:{colour}}}.s-{name}{{stroke:{colour}}}.c-{name}{{stop-color:{colour}}}"
        for name, colour in DARK.items()
    )
    return f"<style>@media (prefers-color-scheme:dark){{{rules}}}</style>"


def fill(name: str) -> str:
    """The attributes that fill with a colour of the palette."""
    return f'class="f-{name}" fill="{LIGHT[name]}"'


def stroke(name: str) -> str:
    """The attributes that draw lines in a colour of the palette."""
    return f'class="s-{name}" stroke="{LIGHT[name]}"'


def definitions() -> str:
    """The patterns of the states, the hatching of what is contested, and the fading edges."""
    patterns = "".join(
        f'<pattern id="p-{state}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<rect width="8" height="8" {fill(state)}/>'
        f'<path d="{path}" fill="none" stroke="#000" stroke-opacity=".45" stroke-width="1.2"/>'
        "</pattern>"
        for state, path in STATES.items()
    )
    hatch = (
        '<pattern id="p-contested" width="9" height="9" patternUnits="userSpaceOnUse"'
        ' patternTransform="rotate(45)">'
        '<path d="M0 0v9" stroke="#000" stroke-width="5" stroke-opacity=".5"/>'
        '<path d="M4.5 0v9" stroke="#fff" stroke-width="3" stroke-opacity=".55"/></pattern>'
    )
    fades = "".join(
        f'<linearGradient id="{name}" x1="{x1}" x2="{x2}">'
        f'<stop offset="0" class="c-paper" stop-color="{LIGHT["paper"]}"/>'
        f'<stop offset="1" class="c-paper" stop-color="{LIGHT["paper"]}" stop-opacity="0"/>'
        "</linearGradient>"
        for name, x1, x2 in (("fade-in", 0, 1), ("fade-out", 1, 0))
    )
    return f"<defs>{patterns}{hatch}{fades}</defs>"


# -- text --------------------------------------------------------------------------------------

# XML 1.0, 2.2, and the characters that order what follows from right to left (UAX 9).
_UNFIT: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+"
)
_ESCAPES: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
)


def plain(text: str) -> str:
    """The text on one line, without characters that XML forbids or that turn its direction."""
    return " ".join(_UNFIT.sub(" ", text).split())


def escaped(text: str) -> str:
    """The text as it stands in XML."""
    return plain(text).translate(_ESCAPES)


def width_of(text: str, size: float) -> float:
    """About how wide a text is at a size in pixels; rather more than less."""
    return size * sum(map(_advance, text))


def shortened(text: str, width: float, size: float) -> str:
    """As much of the text as fits, with an ellipsis where something is left out."""
    # The narrowest character takes 0.3 of the size, so the rest has no room in any case.
    text = plain(text[: int(width / size * 4) + 16])
    if width_of(text, size) <= width:
        return text
    ends = accumulate(size * _advance(character) for character in text)
    kept = sum(end <= width - size for end in ends)
    return f"{text[:kept].rstrip()}…"


def _advance(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in "mwMW@%—…":
        return 0.95
    if character.isupper() or character in "&<>=+#~":
        return 0.78
    return 0.32 if character in " .,:;'|ijlt()[]/!" else 0.57


def label(x: float, y: float, words: str, *, size: float, tone: str = "ink", **more: str) -> str:
    """A line of text; `more` are further attributes, with hyphens for underscores."""
    rest = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return (
        f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}" {fill(tone)}{rest}>'
        f"{escaped(words)}</text>"
    )


def box(x: float, y: float, width: float, height: float, paint: str, *, inner: str = "") -> str:
    """A rectangle; `paint` are its further attributes, `inner` is what it holds."""
    place = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
    return f"<rect {place} {paint}>{inner}</rect>" if inner else f"<rect {place} {paint}/>"


def path(segments: Iterable[str], paint: str) -> str:
    """Lines along the segments of a path."""
    return f'<path d="{"".join(segments)}" fill="none" {paint}/>'


def number(value: float) -> str:
    """A position with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
