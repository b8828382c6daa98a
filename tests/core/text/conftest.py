"""Invented items, so that the promises are tested without anybody's texts."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from svc_core.reports.model import Period
from svc_core.text.evidence import EvidenceTexts

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)

Make = Callable[..., EvidenceTexts]


@pytest.fixture(scope="session")
def make() -> Make:
    def build(
        title: str,
        text: str = "",
        *,
        id: str | None = None,
        source: str = "alpha",
        hours: float | None = 0.0,
        language: str | None = "en",
        topics: tuple[str, ...] = (),
    ) -> EvidenceTexts:
        return EvidenceTexts(
            id=id or f"obs_{source}_{title}",
            title=title,
            text=text,
            url=f"https://{source}.example/{abs(hash(title)) % 1000}",
            source_id=f"src_{source}",
            source_name=source.title(),
            source_domain=f"{source}.example",
            published_at=None if hours is None else NOON + timedelta(hours=hours),
            retrieved_at=NOON,
            language=language,
            topics=topics,
        )

    return build


@pytest.fixture(scope="session")
def week() -> Period:
    return Period(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 8, tzinfo=UTC))


@pytest.fixture(scope="session")
def newsroom(make: Make) -> list[EvidenceTexts]:
    """Two days of an invented world: one story told by four sources, others by one each."""
    return [
        make(
            "Earthquake in northern Chile leaves dozens injured near Iquique",
            "A strong earthquake shook northern Chile on 4 March, "
            "injuring dozens of people near Iquique. "
            "Officials evacuated the coast for several hours. It was the third tremor this year.",
            source="alpha",
            hours=-20,
        ),
        make(
            "Dozens injured as earthquake hits Iquique in northern Chile",
            "Hospitals in Iquique treated dozens of injured people after the earthquake "
            "in northern Chile. "
            "Power was cut in two districts of the city.",
            source="beta",
            hours=-18,
        ),
        make(
            "Séisme dans le nord du Chili : des dizaines de blessés près d’Iquique",
            "Un fort séisme a secoué le nord du Chili et fait des dizaines de blessés à Iquique.",
            source="gamma",
            hours=-17,
            language="fr",
        ),
        make(
            "Earthquake in northern Chile leaves dozens injured near Iquique",
            "A strong earthquake shook northern Chile on 4 March, "
            "injuring dozens of people near Iquique.",
            source="delta",
            hours=-10,
        ),
        make(
            "Chile raises copper royalty after long debate in congress",
            "The congress of Chile approved a higher royalty on copper mining on Thursday. "
            "Mining companies had warned that investment would fall.",
            source="alpha",
            hours=-3,
        ),
        make(
            "Bakers in Lyon compete for the best baguette",
            "More than fifty bakers took part in the yearly contest in Lyon. Read more",
            source="beta",
            hours=-2,
        ),
        make(
            "Northwind Bank acquires rival Southgate in cash deal",
            "Northwind Bank said it acquires its rival Southgate for two billion in cash. "
            "The merger needs the approval of regulators in Brussels.",
            source="gamma",
            hours=-1,
        ),
        make("Strong aftershock felt in Chile", "", source="epsilon", hours=-1),
    ]
