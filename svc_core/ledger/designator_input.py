"""Normalises the designators that are sent to the ledger: identifiers of a subject by scheme.

Rule 1: a value that is already normalised is itself; two spellings of one thing give one value.
Rule 2: check digits are verified, so that a typing error is refused and names nobody else.
Rule 3: nothing is looked up: a value that is well formed may still name nothing.
"""

import re
from typing import TYPE_CHECKING, Final, Literal

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.formats.designators.schemes import SCHEMES, Scheme

VALUE_MAX: Final = 2_048
"""Characters of a designator, before and after: what web servers and browsers take as a URL."""

if TYPE_CHECKING:
    SchemeName = str
else:
    SchemeName = Literal[tuple(SCHEMES)]

_UNSTORABLE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def normalise(scheme: str, value: str, pointer: str = "value") -> str:
    """Normalise a value of a scheme: two spellings of one identifier give one text.

    `pointer` names the input in the problem detail: a JSON Pointer or a parameter name.

    Raises:
        Problem: DESIGNATOR_INVALID if the scheme is unknown or the value is invalid for it.
    """
    if scheme not in SCHEMES:
        raise Problem(
            problem.DESIGNATOR_INVALID, f"{pointer}: has no known scheme; take {', '.join(SCHEMES)}"
        )
    try:
        return _read(SCHEMES[scheme], value.strip())
    except ValueError as error:
        # The readers give their reasons in words that are meant to be shown.
        raise Problem(
            problem.DESIGNATOR_INVALID, f"{pointer}: is no {scheme}: it {error}"
        ) from error


def _read(scheme: Scheme, text: str) -> str:
    if not text or len(text) > VALUE_MAX:
        raise ValueError(f"must have 1 to {VALUE_MAX} characters")
    if _UNSTORABLE.search(text):
        raise ValueError("must not hold control characters or half a surrogate pair")
    normal_form = scheme.read(text)
    if len(normal_form) > VALUE_MAX:
        raise ValueError(f"must have at most {VALUE_MAX} characters when it is normalised")
    return normal_form
