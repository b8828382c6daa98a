"""Passwords of people: which ones are taken, and how they are hashed (Dashboard: Password).

Rule 1: a password is a passphrase of twelve characters at least. What is usual, or holds a name
        that others know of the person, is refused, and the refusal says what to do.
Rule 2: it is stored as the PHC string of Argon2id (RFC 9106; parameters as OWASP recommends them).
        Hashing takes 19 MiB and some 30 ms, so it is done beside the loop, never in a unit of work.
Rule 3: an unknown handle costs a verification as well, so that the time tells nobody who is known.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from svc_core import data
from svc_core.contract import problem
from svc_core.wire import InputFault

LENGTH_MIN = 12
LENGTH_MAX = 256
DISTINCT_MIN = 5
"""Fewer different characters are a pattern (`aaaa…`, `abcabc…`)."""
NAME_MIN = 3
"""Shorter names stand in too many words by chance."""
SALT_BYTES = 16
FRESH_BYTES = 12
"""Random bytes of a password that is made for somebody."""
SERVICE_NAMES = ("svc", "intelligence platform")

_MEMORY_KIB, _PASSES, _LANES, _HASH_BYTES = 19 * 1024, 2, 1, 32
UNKNOWN_PHC: Final = (
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA"
    "$dRzY82fgceWJKqstlAB6sn56dYrekptRpYPqbR1lZQg"
)
"""What a password for an unknown handle is verified against, by the same parameters (rule 3)."""
_STEP: Final = "take four or five words that do not belong together"


# -- rules -------------------------------------------------------------------------------------


def check_password(password: str, names: Iterable[str]) -> None:
    """Check that a password may be set; `names` are those of its person and their workspaces.

    Raises:
        Problem: VALIDATION_FAILED, with what to do.
    """
    problem.refuse([*password_faults(password, names)])


def password_faults(password: str, names: Iterable[str]) -> Iterator[InputFault]:
    """Why a password may not be set, and what to do."""
    return (InputFault("/password", f"{text}: {_STEP}") for text in _faults(password, names))


def _faults(password: str, names: Iterable[str]) -> Iterator[str]:
    if not LENGTH_MIN <= len(password) <= LENGTH_MAX:
        yield f"must have {LENGTH_MIN} to {LENGTH_MAX} characters"
        return
    text = _plain(password).casefold()
    if _is_usual(text):
        yield "is one that many people take"
    letters = _letters(text)
    for name in (*names, *SERVICE_NAMES):
        if len(_letters(name)) >= NAME_MIN and _letters(name) in letters:
            yield f"must not hold the name {name!r}"
            return


def _plain(password: str) -> str:
    """The form in which passwords are compared and hashed: one for equal looks (NFKC)."""
    return unicodedata.normalize("NFKC", password)


def _letters(text: str) -> str:
    """The letters of a text without case: digits and signs do not make a name another one."""
    return "".join(filter(str.isalpha, _plain(text).casefold()))


def _is_usual(text: str) -> bool:
    """Whether there is nothing in it but digits, a few characters again and again, or usual words.

    Digits and signs around the words change nothing, nor do those that stand for letters.
    """
    if text.isdigit() or len(set(text)) < DISTINCT_MIN:
        return True
    core = _EDGES.sub("", text)
    forms = filter(None, (core, core.translate(_LOOKALIKES)))
    return any(map(_usual_words().fullmatch, forms))


_EDGES: Final = re.compile(r"^[\W\d_]+|[\W\d_]+$")
_LOOKALIKES: Final = str.maketrans("@4310$5", "aaeioss")


@lru_cache(maxsize=1)
def _usual_words() -> re.Pattern[str]:
    words = sorted(data.table_lines("usual_passwords.txt"), key=len, reverse=True)
    # Possessive: a text that fits in many ways is not tried in all of them.
    return re.compile(rf"(?:(?:{'|'.join(words)})[\W\d_]*)*+")


def fresh_password(random_bytes: bytes) -> str:
    """A password of these random bytes, in groups that are easy to copy by hand."""
    text = random_bytes.hex()
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))


# -- hashes ------------------------------------------------------------------------------------


def derive_password(password: str, salt: bytes) -> str:
    """The PHC string of a password, with 16 random bytes that the caller draws."""
    hasher = Argon2id(
        salt=salt,
        length=_HASH_BYTES,
        iterations=_PASSES,
        lanes=_LANES,
        memory_cost=_MEMORY_KIB,
    )
    return hasher.derive_phc_encoded(_plain(password).encode("utf-8", "surrogatepass"))


def verify_password(password: str, phc: str) -> bool:
    """Whether this is the password that the PHC string was derived from."""
    try:
        Argon2id.verify_phc_encoded(_plain(password).encode("utf-8", "surrogatepass"), phc)
    except InvalidKey:
        return False
    return True
