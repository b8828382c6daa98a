"""Splits text into the word pieces of BERT's uncased models (Devlin et al. 2018, WordPiece).

The vocabulary is that of `bert-base-uncased`, which all-MiniLM-L6-v2 was trained with.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from svc_core import data

CLS, SEP = "[CLS]", "[SEP]"
_UNKNOWN: Final = "[UNK]"
_WORD_CHARS_MAX: Final = 100
"""A longer word is unknown as a whole, as in the tokenizer that the model was trained with."""
_IDEOGRAPHS: Final = (
    *(range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xF900, 0xFB00)),
    range(0x20000, 0x2CEB0),
    range(0x2F800, 0x2FA20),
)


@lru_cache(maxsize=1)
def vocabulary() -> Mapping[str, int]:
    """Word piece -> its id; a piece that continues a word begins with `##`."""
    pieces = data.table_bytes("wordpieces.txt").decode().splitlines()
    return {piece: number for number, piece in enumerate(pieces)}


def numbers(text: str, pieces_max: int) -> list[int]:
    """The ids of the word pieces of a text, between the ids of `[CLS]` and `[SEP]`.

    At most `pieces_max` with these two; what is beyond is left out.
    """
    pieces = vocabulary()
    ids = [pieces[CLS]]
    for word in _words(text):
        ids += _cut(word, pieces)
        if len(ids) >= pieces_max:
            break
    return [*ids[: pieces_max - 1], pieces[SEP]]


def _cut(word: str, pieces: Mapping[str, int]) -> list[int]:
    """The ids of a word's pieces: from its beginning, the longest known piece each time."""
    numbers: list[int] = []
    start = 0
    while start < len(word) <= _WORD_CHARS_MAX:
        head = "##" if start else ""
        end = len(word)
        while end > start and head + word[start:end] not in pieces:
            end -= 1
        if end == start:
            break
        numbers.append(pieces[head + word[start:end]])
        start = end
    return numbers if start == len(word) else [pieces[_UNKNOWN]]


def _words(text: str) -> Iterator[str]:
    """The words in lower case without accents; each punctuation mark and ideograph is a word."""
    chars = (char for char in unicodedata.normalize("NFD", text.lower()) if not _is_dropped(char))
    words = "".join(f" {char} " if _stands_alone(char) else char for char in chars)
    return iter(words.split())


def _is_dropped(char: str) -> bool:
    if char in "\t\n\r":
        return False
    return char == "\ufffd" or unicodedata.category(char) in {"Mn", "Cc", "Cf", "Co", "Cs"}


def _stands_alone(char: str) -> bool:
    code = ord(char)
    if code < 128:
        return not char.isalnum() and not char.isspace()
    return unicodedata.category(char)[0] == "P" or any(code in span for span in _IDEOGRAPHS)
