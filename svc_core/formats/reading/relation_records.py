"""Makes the records of relations between two rows, for all formats."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from svc_core.formats.model import Members, Record
from svc_core.formats.reading.values import require, web_url

TYPE_FORM = "[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
_TYPE = re.compile(TYPE_FORM)
_UNKNOWN: Members = {"confidence": None, "validFrom": None, "validTo": None, "evidence": []}


def relation_record(
    kind: object, ends: Sequence[str], members: Members, *, is_directed: bool = True, **record: Any
) -> Record:
    """The record of a relation between the rows of two keys; `record` are members of a `Record`.

    The ends of a relation without direction are sorted, so that their order does not matter.

    Raises:
        RecordRefused: the kind is no word of at most 64 characters.
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
    """The URLs that are the evidence for a relation, each once."""
    return [{"url": url} for url in dict.fromkeys(map(web_url, addresses)) if url]
