"""Reads language tags (BCP 47) from what feeds declare: `en_us`, ` EN-us `, `german`.

Only language, script and region are kept; nothing else is ever used to pick a language.
"""

import re

_TAG = re.compile(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|\d{3}))?(?:[-_].*)?")
_NO_LANGUAGE = frozenset({"und", "mul", "zxx", "mis"})


def language_tag(text: str) -> str | None:
    """The tag in its customary case (`en-US`, `zh-Hant-TW`), or `None` when there is none."""
    match = _TAG.fullmatch(text.strip())
    if match is None or match[1].lower() in _NO_LANGUAGE:
        return None
    language, script, region = match.groups()
    parts = (language.lower(), (script or "").title(), (region or "").upper())
    return "-".join(part for part in parts if part)
