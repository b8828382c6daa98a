"""Normalises package URLs: `pkg:type/namespace/name@version?qualifiers#subpath`.

Every component is decoded and encoded again, so that one package has one text. Of the rules of
single package types only those that change names are kept: which types write names in lower case.
"""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, unquote_to_bytes

_TYPE: Final = re.compile(r"[a-z][a-z0-9.+-]*")
_NAME_AND_VERSION: Final = re.compile("(.*[^/])@([^/@]*)")
_KEY: Final = re.compile(r"[a-z][a-z0-9._-]*")
_LOWER_CASE: Final = frozenset({"bitbucket", "github", "composer", "deb", "apk", "alpm", "pypi"})


def read_purl(text: str) -> str:
    """Normalise a package URL.

    Raises:
        ValueError: type or name are missing, or a component is malformed.
    """
    scheme, _, rest = text.partition(":")
    if scheme.lower() != "pkg":
        raise ValueError("must begin with pkg:")
    rest, _, subpath = rest.partition("#")
    rest, _, qualifiers = rest.partition("?")
    kind, _, path = rest.lstrip("/").partition("/")
    if _TYPE.fullmatch(kind := kind.lower()) is None:
        raise ValueError("must have a package type, such as pkg:npm/…")
    # An @ that begins a segment begins a scope, not a version.
    match = _NAME_AND_VERSION.fullmatch(path.rstrip("/"))
    name, version = match.groups() if match else (path, "")
    parts = [_encode(part, lower=kind in _LOWER_CASE) for part in name.split("/") if part]
    if not parts:
        raise ValueError("must have a package name")
    if kind == "pypi":
        parts[-1] = parts[-1].replace("_", "-")
    return "".join(
        (
            f"pkg:{kind}/{'/'.join(parts)}",
            f"@{_encode(version)}" if version else "",
            _qualifiers(qualifiers),
            _subpath(subpath),
        )
    )


def _qualifiers(text: str) -> str:
    all_pairs = list(_pairs(text))
    pairs = dict(all_pairs)
    if len(pairs) < len(all_pairs):
        raise ValueError("has one qualifier twice")
    return "?" + "&".join(f"{key}={pairs[key]}" for key in sorted(pairs)) if pairs else ""


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for pair in filter(None, text.split("&")):
        key, _, value = pair.partition("=")
        if _KEY.fullmatch(key := key.lower()) is None:
            raise ValueError("has a qualifier whose name is not letters, digits, dots and hyphens")
        if value:
            yield key, _encode(value)


def _subpath(text: str) -> str:
    parts = [_encode(part) for part in text.split("/") if part]
    segments = [part for part in parts if part not in {".", ".."}]
    return f"#{'/'.join(segments)}" if segments else ""


def _encode(part: str, *, lower: bool = False) -> str:
    try:
        text = unquote_to_bytes(part).decode()
    except UnicodeDecodeError as error:
        raise ValueError("has percent-encoded bytes that are not UTF-8") from error
    return quote(text.lower() if lower else text, safe=":")
