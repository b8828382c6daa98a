"""Knows HTML's elements and decodes its references, safely for any text that strangers send."""

import re
from html import unescape
from typing import Final

HTML_ELEMENTS: Final = "|".join(
    """
    a abbr acronym address area article aside audio b base basefont bdi bdo big blink blockquote
    body br button canvas caption center cite code col colgroup data datalist dd del details dfn
    dialog dir div dl dt em embed fieldset figcaption figure font footer form frame frameset h[1-6]
    head header hgroup hr html i iframe img input ins kbd label legend li link main map mark marquee
    menu meta meter nav nobr noframes noscript object ol optgroup option output p param picture pre
    progress q rp rt ruby s samp script search section select slot small source span strike strong
    style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt
    u ul var video wbr
    """.split()  # noqa: SIM905 - a list of them is as long as it is
)
"""The names of HTML's elements as an expression (WHATWG HTML, index, and 16.2): what else stands in
angle brackets is text."""

# Unicode ends at seven digits; `int` refuses 4,300, and `unescape` hands it as many as there are.
_NO_CHARACTER: Final = re.compile(r"&#[0-9]{8,}+;?")


def decode_references(text: str) -> str:
    """`text` with its character references as characters; those of no character are dropped."""
    return unescape(_NO_CHARACTER.sub("", text)) if "&" in text else text
