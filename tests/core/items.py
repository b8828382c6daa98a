"""Invented items, so that the promises are tested without anybody's texts."""

from datetime import UTC, datetime
from typing import Any

from svc_core.text.evidence import EvidenceTexts

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


def item(title: str, text: str = "", **members: Any) -> EvidenceTexts:
    """An English item of one publisher; its id is its title, unless `members` say otherwise."""
    told = {
        "id": title,
        "url": "https://alpha.example/1",
        "source_id": "src_alpha",
        "source_name": "Alpha",
        "source_domain": "alpha.example",
        "published_at": NOON,
        "retrieved_at": NOON,
        "language": "en",
    }
    return EvidenceTexts(title=title, text=text, **(told | members))
