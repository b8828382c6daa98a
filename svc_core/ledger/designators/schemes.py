"""The registry of designator schemes, and the normalisation of their values."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.ledger.designators import (
    finance_schemes as finance,
)
from svc_core.ledger.designators import (
    name_schemes as names,
)
from svc_core.ledger.designators import (
    network_schemes as network,
)
from svc_core.ledger.designators import (
    security_schemes as security,
)
from svc_core.ledger.designators import (
    transport_schemes as transport,
)
from svc_core.ledger.designators.scheme import Scheme

VALUE_MAX: Final = 2_048
"""Characters of a designator, before and after: what web servers and browsers take as a URL."""

SCHEMES: Final[Mapping[str, Scheme]] = {
    scheme.name: scheme
    for family in (finance, security, network, transport, names)
    for scheme in family.SCHEMES
}
"""Every scheme by its name, in the order of their families."""

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
