"""Makes strong entity tags, and checks the conditions on them (RFC 9110, 8.8.3 and 13.1).

Rule 1: a tag is a digest; it reveals neither a version number nor how many versions there were.
Rule 2: a field that cannot be read as RFC 9110 writes it matches nothing.
"""

import re
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import Final

TAG_BYTES: Final = 18
"""144 bits: 24 characters without padding, and no two versions ever share one by chance."""

# RFC 9110, 8.8.3: entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE; a comma may stand inside. Elements
# of a list may be empty (5.6.1.2). Each match consumes its separator, so the scan is linear.
_ELEMENT = re.compile(
    r'[ \t]*(?:(?P<tag>(?P<weak>W/)?(?P<opaque>"[\x21\x23-\x7e\x80-\xff]*"))[ \t]*)?(?:,|\Z)'
)


def entity_tag(*parts: str | int | bytes) -> str:
    """The strong tag of a representation, quoted; equal for equal parts and for no others.

    Name what distinguishes it: tenant, resource, version, format.
    """
    hasher = sha256()
    for part in parts:
        # Kind and length first, so that ("a", "b") is not ("ab",) and "1" is not 1.
        kind, data = _encode_part(part)
        hasher.update(b"%b%d:%b" % (kind, len(data), data))
    return f'"{urlsafe_b64encode(hasher.digest()[:TAG_BYTES]).decode()}"'


def matches(if_match: str, current: str | None) -> bool:
    """Whether `If-Match` holds: `*` where the resource exists, else by strong comparison.

    `current` is the tag of the resource, None where there is none. False is a 412.
    """
    if if_match.strip(" \t") == "*":
        return current is not None
    return any(tag == current and not weak for tag, weak in _tags(if_match))


def none_match(if_none_match: str, current: str | None) -> bool:
    """Whether `If-None-Match` holds: no tag in it is the current one, by weak comparison.

    False is a 304 for GET and HEAD, and a 412 otherwise. A field that cannot be read holds.
    """
    if if_none_match.strip(" \t") == "*":
        return current is None
    return all(tag != current for tag, _ in _tags(if_none_match))


def _tags(field: str) -> Iterator[tuple[str, bool]]:
    """Each tag of a list with whether it is weak; none at all where a part is no tag."""
    tags = []
    position = 0
    while position < len(field):
        element = _ELEMENT.match(field, position)
        if element is None:
            return
        if element["tag"]:
            tags.append((element["opaque"], element["weak"] is not None))
        position = element.end()
    yield from tags


def _encode_part(part: str | int | bytes) -> tuple[bytes, bytes]:
    if isinstance(part, bytes):
        return b"b", part
    if isinstance(part, str):
        return b"s", part.encode("utf-8", "surrogatepass")
    return b"i", b"%d" % part
