"""Texts that sentences cite, and what is said of them."""

from svc_core.text.citations import Sieve, SupportedSentence
from svc_core.text.facts import TextFacts

STRIKE = (
    "Dockworkers at Rotterdam began a strike on Monday, 27 July 2026.\n"
    "About 1,200 workers of two unions joined it, said Maria Jansen. No ships were damaged.\n"
    "The strike costs 1.5 million euros a day; see https://quay.example/77."
)
FLAW = {
    "cveId": "CVE-2024-3400",
    "severity": "critical",
    "score": 9.8,
    "publishedAt": "2024-04-12T08:15:00Z",
    "description": "PAN-OS 11.1.4 of Palo Alto Networks allows command injection.",
    "id": "inc_65f1c0de8badf00d12345678",
}
GERMAN = "Die Hafenarbeiter in Hamburg streiken nicht mehr. Der Streik dauerte drei Tage."
CHINESE = "鹿特丹港口的工人星期一开始罢工。"
UNSURE = "The flaw may have been exploited by Acme since March. It was found by Bolt."
DEAL = (
    "Acme will acquire Bolt for $2.5 billion. Shares of Bolt rose 18% while Acme fell 3%.\n"
    "The blast killed 12 people and injured 34. Russia denied responsibility. "
    "Ukraine blamed Russia for the attack."
)
UNDATED_TEXT = "The port of Hull was closed on 3 May. In 2025 nothing of the kind took place there."
EVIDENCE = {
    number: TextFacts.of(text)
    for number, text in enumerate((STRIKE, FLAW, GERMAN, CHINESE, UNDATED_TEXT, UNSURE, DEAL), 1)
}


def sift(text: str) -> list[SupportedSentence]:
    """The sentences of a text that these texts say."""
    sieve = Sieve(EVIDENCE)
    return [*sieve.feed(text), *sieve.end()]
