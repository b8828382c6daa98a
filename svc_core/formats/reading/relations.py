"""Relations between rows, as the documents of several formats tell them."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from svc_core.formats.model import Members, Record
from svc_core.formats.reading.values import require, web_url

TYPE_FORM = "[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
_TYPE = re.compile(TYPE_FORM)
_UNKNOWN: Members = {"confidence": None, "validFrom": None, "validTo": None, "evidence": []}


def relation(
    kind: object, ends: Sequence[str], members: Members, *, is_directed: bool = True, **record: Any
) -> Record:
    """What joins the rows of two keys; `record` are members of a `Record`.

    One that has no direction is the same whichever end is told first.

    Raises:
        Unusable: the kind is no word, or several.
    """
    word = "-".join(kind.split()) if isinstance(kind, str) else ""
    kind = require(word if _TYPE.fullmatch(word) else None, "a type of relation")
    source, target = ends if is_directed else sorted(ends)
    facts = {k: v for k, v in members.get("attributes", {}).items() if v is not None}
    edge = {"type": kind, "source": source, "target": target, "directed": is_directed}
    edge |= {"attributes": facts}
    key = f"{kind}|{source}|{target}"
    return Record("relation", key, {**_UNKNOWN, **members, **edge}, **record)


def evidence_links(addresses: Iterable[object]) -> list[Members]:
    """Where a relation is told of, each address once."""
    return [{"url": url} for url in dict.fromkeys(map(web_url, addresses)) if url]
