"""Relations between rows, as the documents of several formats tell them."""

from collections.abc import Iterable, Mapping
from typing import Any

from svc_core.sources.model import Record
from svc_core.sources.values import web


def relation(
    kind: str,
    source: str,
    target: str,
    *,
    directed: bool = True,
    confidence: float | None = None,
    valid: tuple[str | None, str | None] = (None, None),
    attributes: Mapping[str, Any] | None = None,
    evidence: Iterable[object] = (),
    **record: Any,
) -> Record:
    """What joins the rows of two keys; `evidence` are addresses, `record` members of a `Record`.

    One that has no direction is the same whichever end is told first.
    """
    source, target = (source, target) if directed else sorted((source, target))
    urls = dict.fromkeys(url for url in map(web, evidence) if url)
    return Record(
        "relation",
        f"{kind}|{source}|{target}",
        {
            "type": kind,
            "source": source,
            "target": target,
            "directed": directed,
            "confidence": confidence,
            "validFrom": valid[0],
            "validTo": valid[1],
            "attributes": {k: v for k, v in (attributes or {}).items() if v is not None},
            "evidence": [{"url": url} for url in urls],
        },
        **record,
    )
