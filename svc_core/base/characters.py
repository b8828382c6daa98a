"""Decodes the character references of HTML, safely for any text that strangers send."""

import re
from html import unescape
from typing import Final

# Unicode ends at seven digits; `int` refuses 4,300, and `unescape` hands it as many as there are.
_NO_CHARACTER: Final = re.compile(r"&#[0-9]{8,}+;?")


def decode_references(text: str) -> str:
    """`text` with its character references as characters; those of no character are dropped."""
    return unescape(_NO_CHARACTER.sub("", text)) if "&" in text else text
