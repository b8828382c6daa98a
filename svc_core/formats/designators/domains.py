"""Normalises domain names: lower-case A-labels without a trailing dot.

The `idna` codec of the standard library is that of 2003: it writes `straße` as `strasse`, which is
another domain. Here a label is mapped as UTS 46 maps it without transition (NFKC, lower case) and
must then consist of letters, marks and digits, as IDNA 2008 demands of what is registered. Its
rules for single characters in context are the registries' to keep; an A-label passes as it is.
"""

import re
import unicodedata
from typing import Final

_LABEL_DOTS: Final = re.compile("[.\u3002\uff0e\uff61]")  # RFC 3490, 3.1: these four are dots
_LABEL: Final = re.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_PREFIX: Final = "xn--"
_NAME_MAX: Final = 253  # RFC 1035, 2.3.4: 255 octets with the length of each label and the root


def read_domain(text: str) -> str:
    """Normalise a domain name of at least two labels.

    Raises:
        ValueError: the text is not such a name.
    """
    labels = [_label(label) for label in _LABEL_DOTS.split(text)]
    if not labels[-1]:
        labels.pop()  # the root
    name = ".".join(labels)
    if len(labels) < 2 or not all(labels):
        raise ValueError("must be a domain name of at least two labels")
    if labels[-1].isdigit():
        raise ValueError("must not end in a number")
    if len(name) > _NAME_MAX:
        raise ValueError(f"must have at most {_NAME_MAX} characters")
    return name


def _label(text: str) -> str:
    """Convert one label to its A-label; an empty label stays empty."""
    label = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    if not label.isascii():
        label = _PREFIX + _punycode(label)
    elif label.startswith(_PREFIX):
        _check_a_label(label)
    if label and _LABEL.fullmatch(label) is None:
        raise ValueError("must have labels of up to 63 letters, digits and inner hyphens")
    return label


def _punycode(label: str) -> str:
    if not all(unicodedata.category(c)[0] in "LMN" or c == "-" for c in label):
        raise ValueError("must have labels of letters and digits; send others as A-labels")
    if label[0] == "-" or label[-1] == "-" or unicodedata.category(label[0])[0] == "M":
        raise ValueError("must have labels that begin and end with a letter or digit")
    return label.encode("punycode").decode()


def _check_a_label(label: str) -> None:
    ascii_part = label.removeprefix(_PREFIX)
    try:
        unicode_part = ascii_part.encode().decode("punycode")
    except UnicodeError:
        unicode_part = ""
    if unicode_part.encode("punycode").decode() != ascii_part:
        raise ValueError("must have A-labels that are Punycode (RFC 3492)")
